// @ts-check
// What matters, in WebKit, Safari's engine: its events and its page cache are its own.
//
// Needs WEBKIT, the path of its WebDriver, XVFB, that of an X server, and ONCEKEY_MODULE as the other specs do.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { DISABLE, FREE, HTMX, KEPT, LOST, PLAIN, QUIET, READY, SEND, SOME, UUID, WAYS, policy } from "./doors.mjs";
import { form, keyOf, keysOf, script, serve, until } from "./server.mjs";
import { start } from "./webkit.mjs";

/** @typedef {import("./server.mjs").Fault} Fault */

const FILE = `<script type=module>
  const list = new DataTransfer();
  list.items.add(new File([new Uint8Array([0, 255, 10, 13])], "\u00e4.bin"));
  document.getElementById("item").after(Object.assign(document.createElement("input"), { type: "file", name: "file", files: list.files }));
</script>`;
const skip = process.env.WEBKIT ? false : "WEBKIT is not set: no browser to drive";

describe("WebKit", { skip, timeout: 300_000 }, () => {
  /** @type {import("./webkit.mjs").Page} */
  let page;
  before(async () => {
    page = await start(process.env.WEBKIT ?? "", process.env.XVFB ?? "Xvfb");
  });
  after(() => page?.quit());

  /**
   * One case: a server, so an origin, of its own, the page open and the module ready. The tab is one for all: it takes the
   * engine longer to open another than to run a case.
   * @param {string} name
   * @param {{ body: string, head?: string, headers?: Record<string, string>, ready?: string }} html
   * @param {(at: At) => Promise<void>} act
   * @param {...Fault} faults the answers at `/orders`
   */
  function check(name, { body, head, headers, ready = READY }, act, ...faults) {
    test(name, async () => {
      const site = await serve();
      try {
        site.page(body, head, headers);
        if (faults.length) site.plan("/orders", ...faults);
        const open = () => page.goto(site.url, ready);
        await open();
        await act({ page, site, sent: site.sent, open });
      } finally {
        site.close();
      }
    });
  }
  /** @typedef {{ page: import("./webkit.mjs").Page, site: Awaited<ReturnType<typeof serve>>, sent: import("./server.mjs").Sent[], open: () => Promise<void> }} At */
  const quiet = () => new Promise((resolve) => setTimeout(resolve, QUIET));

  for (const [way, body, head] of WAYS) {
    /** @type {() => void} */
    let answer = () => {};
    const after = new Promise((/** @type {(value?: any) => void} */ resolve) => (answer = resolve));
    // The page that answers a plain form ends its intent.
    const [answered, first] = way === "plain" ? [`${READY} #done`, { status: 303, headers: { location: "/done" } }] : [".answer", {}];
    check(`${way}: a click is one request with a key, and so is a double click`, { body, head }, async ({ page, sent, open }) => {
      await page.click("#buy");
      await page.shows(answered);
      await quiet();
      assert.match(keyOf(sent[0]) ?? "", UUID);
      assert.equal(sent.length, 1);
      await open();
      await page.doubleClick("#buy");
      await until(() => sent.length > 1, "sent");
      answer();
      await page.shows(".answer");
      await quiet();
      assert.equal(sent.length, 2);
      assert.equal(keysOf(sent), 2);
    }, first, { after });

    check(`${way}: the answer is lost; reload, click again: the same key`, { body, head }, async ({ page, site, sent, open }) => {
      await page.click("#buy");
      await until(() => sent.length, "sent");
      // A page that is being left fails what is under way, and `send` tries again: that is lost too.
      await open();
      site.plan("/orders", {});
      await page.click("#buy");
      await page.shows(".answer");
      assert.match(keyOf(sent[0]) ?? "", UUID);
      assert.equal(keysOf(sent), 1);
    }, LOST);
  }

  for (const [way, body, head] of WAYS.filter(([way]) => way !== "send()"))
    check(`${way}: Enter twice is one request`, { body, head }, async ({ page, sent }) => {
      await page.enterTwice("#item");
      await page.shows(".answer");
      await quiet();
      assert.match(keyOf(sent[0]) ?? "", UUID);
      assert.equal(sent.length, 1);
    }, { wait: QUIET });

  const multipart = "hx-retry=10ms,3 hx-encoding=multipart/form-data enctype=multipart/form-data";
  for (const [way, body, head] of WAYS.filter(([way]) => way !== "plain"))
    check(`${way}: sent again with the same bytes, files included`, { body: body.replace("<form", `<form ${multipart}`) + (body === SEND ? "" : FILE), head }, async ({ page, sent }) => {
      await page.click("#buy");
      await until(() => sent.length, "sent");
      await page.run(() => void Object.assign(document.getElementById("item") ?? {}, { value: "coffee" }));
      await page.shows(".answer");
      assert.equal(sent.length, 3);
      assert.equal(keysOf(sent), 1);
      assert.equal(new Set(sent.map((one) => one.content)).size, 1);
      assert.match(sent[0]?.content ?? "", /\u00e4\.bin/);
    }, { status: 503, headers: { "retry-after": "1" } }, { status: 503 }, {});

  check("plain: a file goes with the key", { body: PLAIN.replace("<form", `<form ${multipart}`) + FILE }, async ({ page, sent }) => {
    await page.click("#buy");
    await page.shows(".answer");
    assert.match(keyOf(sent[0]) ?? "", UUID);
    assert.match(sent[0]?.content ?? "", /\u00e4\.bin/);
  });

  for (const [way, body, head] of SOME) {
    const page = { body: body.replace("<button", "<button id=off disabled>off</button><button"), head: head + DISABLE, headers: KEPT };
    check(`${way}: reloaded while it is under way, what the module disabled is enabled, and nothing else`, page, async ({ page, sent }) => {
      await page.run(() => void Object.assign(document.getElementById("item") ?? {}, { value: "coffee" }));
      await page.click("#buy");
      await until(() => sent.length === 1, "sent");
      await page.shows("#buy[disabled]");
      await page.leave();
      await page.run(() => void setTimeout(() => location.reload()));
      await page.shows(`${READY} ${FREE}`);
      assert.ok(await page.has("#off[disabled]"));
      await page.click("#buy");
      await page.shows(".answer");
      assert.equal(keysOf(sent), 1);
    }, LOST, {});
  }

  check("what the next page's author disables is not enabled because the module once enabled it", { body: form(HTMX), head: script("htmx2") + DISABLE, headers: KEPT }, async ({ page, site }) => {
    await page.click("#buy");
    await page.shows(".answer");
    await page.shows(FREE);
    site.page(form(HTMX).replace("<button", "<button disabled"), script("htmx2") + DISABLE, KEPT);
    await page.run(() => void setTimeout(() => location.reload()));
    await page.shows(`${READY} body:not(:has(.answer))`);
    assert.ok(await page.has("#buy[disabled]"));
  });

  for (const [name, answer, keys] of /** @type {[string, Fault, number][]} */ ([
    ["succeeded", { status: 303, headers: { location: "/done" } }, 2],
    ["failed", { status: 500, body: "<p id=done>" }, 1],
  ]))
    check(`what was left busy and ${name} is free after Back, ${keys === 1 ? "with the same key" : "with a new key"}`, { body: PLAIN, headers: KEPT }, async ({ page, sent }) => {
      await page.run(() => void Object.assign(window, { left: true }));
      await page.click("#buy");
      await page.shows("#done");
      await page.run(() => void setTimeout(() => history.back()));
      await page.shows(FREE);
      assert.ok(await page.run(() => "left" in window), "from the cache");
      await page.click("#buy");
      await until(() => sent.length === 2, "sent again");
      assert.equal(keysOf(sent), keys);
    }, answer);

  for (const [way, body, head] of SOME)
    check(`${way}: left while it is under way, it is free after Back, with the same key`, { body, head, headers: KEPT }, async ({ page, sent }) => {
      await page.click("#buy");
      await until(() => sent.length === 1, "sent");
      await page.run(() => void setTimeout(() => location.assign("/done")));
      await page.shows("#done");
      await page.run(() => void setTimeout(() => history.back()));
      await page.shows(`${READY} ${FREE}`);
      await page.click("#buy");
      await page.shows(".answer");
      assert.equal(keysOf(sent), 1);
    }, LOST, {});

  for (const [way, body, head] of SOME)
    check(`${way}: without wasm it is sent all the same, with a fresh key each time`, { body, head, headers: policy(""), ready: "#buy" }, async ({ page, sent, open }) => {
      // Nothing else tells that the module has run.
      const loaded = () => until(() => page.run(() => document.readyState === "complete"), "loaded");
      await loaded();
      await page.click("#buy");
      await page.shows(".answer");
      await open();
      await loaded();
      await page.click("#buy");
      await page.shows(".answer");
      assert.match(keyOf(sent[0]) ?? "", UUID);
      assert.equal(keysOf(sent), 2);
    });

  /** @type {() => void} */
  let come = () => {};
  const coming = new Promise((/** @type {(value?: any) => void} */ resolve) => (come = resolve));
  check("two clicks before the module are one request, with a key", { body: "", ready: "body" }, async ({ page, site, sent }) => {
    site.page(PLAIN, script("bootstrap"));
    site.plan("/oncekey.js", { after: coming });
    await page.goto(site.url, "#buy");
    await page.doubleClick("#buy");
    await quiet();
    assert.equal(sent.length, 0);
    come();
    await page.shows(".answer");
    assert.equal(sent.length, 1);
    assert.match(keyOf(sent[0]) ?? "", UUID);
  });

  check("form.submit() has a key, and twice the same", { body: PLAIN }, async ({ page, sent, open }) => {
    await page.run(() => /** @type {HTMLFormElement} */ (document.getElementById("order")).submit());
    await until(() => sent.length === 1, "sent");
    await open();
    await page.run(() => /** @type {HTMLFormElement} */ (document.getElementById("order")).submit());
    await page.shows(".answer");
    assert.match(keyOf(sent[0]) ?? "", UUID);
    assert.equal(keysOf(sent), 1);
  }, LOST, {});

  check("an answer that leaves the page where it is frees the form", { body: PLAIN }, async ({ page, sent }) => {
    await page.click("#buy");
    await until(() => sent.length === 1, "sent");
    await page.shows("#order[aria-busy]");
    await page.shows(FREE);
    await page.click("#buy");
    await until(() => sent.length === 2, "sent again");
    assert.equal(keysOf(sent), 1);
  }, { status: 204 });

  check("the page that is shown answers for the tab's name, and no page before it", { body: PLAIN }, async ({ page, open }) => {
    const name = () => page.run(() => /** @type {string} */ (JSON.parse(sessionStorage["oncekey:"] ?? `""`)));
    const isAnswered = (/** @type {string} */ name) =>
      page.run(
        (name) =>
          new Promise((resolve) => {
            const channel = new BroadcastChannel(`oncekey:${name}`);
            channel.onmessage = () => resolve(true);
            channel.postMessage(0);
            setTimeout(() => resolve(false), 500);
          }),
        name,
      );
    await until(name, "named");
    const first = await name();
    await until(() => isAnswered(first), "answered");
    await open();
    await until(name, "named again");
    assert.notEqual(await name(), first);
    assert.equal(await isAnswered(first), false);
  });

  check("under the strictest policy that lets wasm run", { body: WAYS[1]?.[1] ?? "", head: script("htmx2"), headers: policy(" 'wasm-unsafe-eval'") }, async ({ page, sent }) => {
    await page.click("#buy");
    await page.shows(".answer");
    assert.match(keyOf(sent[0]) ?? "", UUID);
  });
});
