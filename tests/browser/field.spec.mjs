// @ts-check
// Pages as people have written them. Each is played without the module too: what arrives must be the same but for the key.

import assert from "node:assert/strict";
import { dirname } from "node:path";
import { after, before, describe, test } from "node:test";
import { form, keyOf, keysOf, launch, script, until, visit } from "./server.mjs";

/** @typedef {import("./server.mjs").Fault} Fault */
/** @typedef {import("playwright-core").Page} Page */

const READY = "html[data-oncekey=ready]";
const PLAIN = "method=post action=/orders";
const HTMX = "hx-post=/orders hx-swap=none";
const FRAME = `<iframe name=frame></iframe>`;
/** Longer than whatever is still to come takes, in ms. */
const QUIET = 600;
const DONE = { status: 303, headers: { location: "/done" } };

describe("pages as they are", { timeout: 600_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  /**
   * One page with the module and without: the same requests arrive, in order, and with it each has a key.
   * @param {string} name @param {{ body: string, head?: string }} page @param {number} count how many requests there are
   * @param {(page: Page) => Promise<unknown>} act @param {Record<string, Fault[]>} [plans]
   */
  function same(name, page, count, act, plans = {}, keys = count) {
    test(name, async () => {
      /** @type {string[][]} */
      const arrived = [];
      for (const module of [undefined, ""])
        await visit(browser, { ...page, module, ready: module === undefined }, async ({ page, sent }) => {
          await act(page);
          await until(() => sent.length >= count, `${count} requests`);
          await page.waitForTimeout(QUIET);
          arrived.push(sent.map((one) => `${one.method} ${one.path} ${one.content}`));
          if (module === undefined) assert.equal(keysOf(sent.filter((one) => keyOf(one))), keys);
        }, structuredClone(plans));
      assert.deepEqual(arrived[0], arrived[1], "with the module, and without");
      assert.equal(arrived[0]?.length, count);
    });
  }

  /** One page with the module. @param {string} name @param {{ body: string, head?: string, files?: string, module?: string }} page @param {Parameters<typeof visit>[2]} act @param {Record<string, Fault[]>} [plans] */
  const check = (name, page, act, plans = {}) => test(name, () => visit(browser, page, act, plans));

  /** @param {Page} page @param {string} code */
  const run = (page, code) => page.evaluate((code) => void new Function(code)(), code);

  // Which submit entries belong to.
  same("a named button whose click submits the form by script: its value arrives", {
    body: `<form ${PLAIN}><input name=a value=1><button id=buy name=op value=save onclick="this.form.submit()">Save</button></form>`,
  }, 1, (page) => page.click("#buy", { noWaitAfter: true }));
  same("a button whose click submits the form by script, on a slow page: each content arrives, under a key of its own", {
    body: `<form id=order ${PLAIN} target=frame><input id=item name=item><button id=buy onclick="this.form.submit()">Buy</button></form>${FRAME}`,
    head: `<script>addEventListener("submit", () => { for (const since = performance.now(); performance.now() < since + 5; ); }, true);</script>`,
  }, 2, async (page) => {
    for (const value of ["A", "B"]) {
      await page.fill("#item", value);
      await page.click("#buy");
      await page.waitForTimeout(1500);
    }
  });
  same("a submit that starts another form's", {
    body: form(`${PLAIN} onsubmit="document.getElementById('log').submit()"`) + `<form id=log method=post action=/log target=frame><input name=l value=2></form>${FRAME}`,
  }, 2, (page) => page.click("#buy", { noWaitAfter: true }), { "/orders": [{ wait: 300 }] });
  same("an event that the page makes itself is its own", {
    body: form(PLAIN) + `<script>order.addEventListener("submit", async (event) => { if (event.isTrusted) return; await null; fetch("/orders", { method: "POST", body: new FormData(order) }); });</script>`,
  }, 1, (page) => run(page, `order.dispatchEvent(new Event("submit"))`), {}, 0);
  check("a FormData that a script makes after the submit has no key", {
    body: form(`${PLAIN} target=frame`) + FRAME + `<script>order.addEventListener("submit", () => Promise.resolve().then(() => fetch("/track", { method: "POST", body: new FormData(order) })));</script>`,
  }, async ({ page, sent }) => {
    await run(page, `order.requestSubmit()`);
    await until(() => sent.length === 2, "both");
    assert.equal(keyOf(sent.find((one) => one.path === "/track")), undefined);
    assert.ok(keyOf(sent.find((one) => one.path === "/orders")));
  });
  same("three contents by form.submit() are three requests", {
    body: form(PLAIN) + `<iframe name=i1></iframe><iframe name=i2></iframe><iframe name=i3></iframe>`,
  }, 3, (page) => run(page, `for (const n of [1, 2, 3]) { item.value = n; order.target = "i" + n; order.submit(); }`), { "/orders": [{ wait: 500 }] });
  same("formmethod=put is a GET, without a key in its address", {
    body: `<form id=order method=post action=/done target=frame><input name=a value=1><button id=put formmethod=put>Put</button></form><form ${PLAIN} target=frame><button id=buy>Buy</button></form>${FRAME}`,
  }, 1, async (page) => {
    const [request] = await Promise.all([page.waitForRequest((request) => request.url().includes("/done")), page.click("#put")]);
    assert.ok(request.url().endsWith("/done?a=1"), request.url());
    await page.click("#buy");
  });

  // What tells two intents apart, and what does not.
  same("preview and save of one form", {
    body: `<form ${PLAIN}><button id=preview name=op value=preview formtarget=frame>Preview</button><button id=buy name=op value=save>Save</button></form>${FRAME}`,
  }, 2, async (page) => {
    await page.click("#preview");
    await page.waitForTimeout(200);
    await page.click("#buy", { noWaitAfter: true });
  }, { "/orders": [{ wait: 2000 }, {}] });
  const row = (/** @type {number} */ n) => `<div class=row><button id=r${n} hx-post=/rows hx-vals='{"id":${n}}' hx-target="closest .row" hx-swap=delete>delete</button></div>`;
  for (const htmx of ["htmx1", "htmx2", "htmx4"]) {
    same(`${htmx}: a row leaves while the next is under way`, { body: [1, 2, 3].map(row).join(""), head: script(htmx) }, 3, async (page) => {
      await page.click("#r2");
      await page.waitForTimeout(200);
      await page.click("#r1");
      await page.waitForSelector("#r1", { state: "detached" });
      await page.click("#r3");
    }, { "/rows": [{ wait: 2500 }, {}] });
    same(`${htmx}: one dialog for all rows`, {
      body: `<form id=order ${HTMX}><input type=hidden id=row name=row><button id=buy>Save</button></form>`, head: script(htmx),
    }, 2, async (page) => {
      for (const value of [1, 2]) {
        await run(page, `row.value = ${value}`);
        await page.click("#buy");
        await page.waitForTimeout(200);
      }
    }, { "/orders": [{ wait: 1500 }] });
    check(`${htmx}: a token that a script sets on each submit makes no other intent`, {
      body: `<form id=order ${HTMX}><input type=hidden name=g-captcha-response><button id=buy>Buy</button></form><script>let n = 0; addEventListener("submit", () => { order.elements[0].value = "t" + ++n; }, true);</script>`, head: script(htmx),
    }, async ({ page, sent }) => {
      await run(page, `for (const ms of [0, 200, 400]) setTimeout(() => buy.click(), ms)`);
      await page.waitForTimeout(1200);
      assert.equal(sent.length, 1);
    }, { "/orders": [{ wait: 2000 }] });
    check(`${htmx}: role=button, and data-once=on on a trigger of its own`, {
      body: `<div id=buy role=button hx-post=/orders hx-swap=none>Buy</div><div id=own data-once=on hx-post=/own hx-trigger=confirmed hx-swap=none></div>`, head: script(htmx),
    }, async ({ page, sent }) => {
      await run(page, `for (const ms of [0, 200]) setTimeout(() => { buy.click(); htmx.trigger("#own", "confirmed"); }, ms)`);
      await page.waitForTimeout(1000);
      assert.deepEqual(sent.map((one) => one.path).sort(), ["/orders", "/own"]);
      assert.equal(keysOf(sent), 2);
    }, { "/orders": [{ wait: 1500 }], "/own": [{ wait: 1500 }] });
    same(`${htmx}: what the author queues is sent`, {
      body: `<button id=buy ${HTMX} hx-sync="this:queue all" hx-vals='{"by":1}'>+1</button>`, head: script(htmx),
    }, 3, (page) => run(page, `for (const ms of [0, 100, 200]) setTimeout(() => buy.click(), ms)`), { "/orders": [{ wait: 400 }] });
  }
  for (const htmx of ["htmx1", "htmx2", "htmx4"])
    for (const sync of ["queue all", "replace"])
      check(`${htmx}: the same again by hx-sync=${sync}, after an outcome that is not known, has the same key`, { body: form(`${HTMX} hx-sync="this:${sync}"`), head: script(htmx) }, async ({ page, sent }) => {
        await run(page, `for (const ms of [0, 150]) setTimeout(() => order.requestSubmit(), ms)`);
        await until(() => sent.length === 2, "both");
        assert.equal(keysOf(sent), 1);
      }, { "/orders": [{ wait: 400, status: 500 }, {}] });
  for (const htmx of ["htmx1", "htmx2"])
    same(`${htmx}: a form that saves itself: what it has in the end is saved`, { body: `<form id=order ${HTMX}><input id=item name=item></form>`, head: script(htmx) }, 2, (page) =>
      run(page, `["A", "B", "C"].forEach((value, n) => setTimeout(() => { item.value = value; order.requestSubmit(); }, n * 150))`), { "/orders": [{ wait: 800 }, {}] });
  check("a form that waits to be saved is not submitted after the person's own decision", { body: `<form id=order ${HTMX}><input id=item name=item></form>`, head: script("htmx2") }, async ({ page, sent }) => {
    await page.evaluate(async () => {
      const { renew } = await import(/** @type {any} */ ("/oncekey.js"));
      const form = /** @type {HTMLFormElement} */ (document.getElementById("order"));
      const item = /** @type {HTMLInputElement} */ (document.getElementById("item"));
      for (const value of ["A", "B"]) {
        item.value = value;
        form.requestSubmit();
      }
      await renew(form);
    });
    await page.waitForTimeout(1200);
    assert.equal(sent.length, 1);
  }, { "/orders": [{ wait: 500 }] });
  same("a script's submit of one form, and another form's own", {
    body: form(`${PLAIN} target=frame`) + `<form id=other method=post action=/other target=frame2><button>x</button></form>${FRAME}<iframe name=frame2></iframe>`,
  }, 2, (page) => run(page, `order.submit(); other.requestSubmit();`), { "/orders": [{ wait: 300 }] });
  check("naming: an element keeps its name while others come and go", { body: form(`${HTMX} data-once-name=one`) + form(HTMX).replaceAll(/ id=\w+/g, ""), head: script("htmx2") }, async ({ page, sent }) => {
    await run(page, `const [, second] = document.forms; const copy = second.cloneNode(true); second.requestSubmit(); second.before(copy); htmx.process(copy); setTimeout(() => second.requestSubmit(), 100);`);
    await page.waitForTimeout(800);
    assert.equal(sent.length, 1, "refused, since it is the same form");
  }, { "/orders": [{ wait: 1500 }] });
  same("equal forms in two shadow roots", {
    body: `<x-order></x-order><x-order></x-order>`,
    head: script("htmx2") + `<script>customElements.define("x-order", class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: "open" }).innerHTML = '<form hx-post=/orders hx-swap=none><button>Buy</button></form>'; htmx.process(this.shadowRoot); } });</script>`,
  }, 2, (page) => run(page, `for (const host of document.querySelectorAll("x-order")) host.shadowRoot.querySelector("button").click()`), { "/orders": [{ wait: 500 }] });
  check("watch(): a form in a shadow root", {
    body: `<div id=host></div>${FRAME}`,
  }, async ({ page, sent }) => {
    await page.evaluate(async () => {
      const { watch } = await import(/** @type {any} */ ("/oncekey.js"));
      const root = /** @type {HTMLElement} */ (document.getElementById("host")).attachShadow({ mode: "open" });
      root.innerHTML = "<form method=post action=/orders target=frame><button>Buy</button></form>";
      await watch(root);
      const button = /** @type {HTMLElement} */ (root.querySelector("button"));
      for (const ms of [0, 150, 300]) setTimeout(() => button.click(), ms);
    });
    await page.waitForTimeout(1000);
    assert.equal(sent.length, 1);
    assert.ok(keyOf(sent[0]));
  }, { "/orders": [{ wait: 1500 }] });

  // When an intent ends.
  check("the page that answers a plain form ends its intent, whatever a look says", { body: form(PLAIN) }, async ({ page, site, sent }) => {
    for (let n = 1; n < 3; n++) {
      await page.click("#buy", { noWaitAfter: true });
      await page.waitForSelector(`${READY} #done`);
      await page.goto(site.url);
      await page.waitForSelector(READY);
    }
    assert.equal(keysOf(sent), 2);
  }, { "/orders": [DONE] });
  check("a key goes with every content that it was sent with", { body: form(HTMX), head: script("htmx2") }, async ({ page, site, sent }) => {
    for (const value of ["one", "two"]) {
      await page.fill("#item", value);
      await page.click("#buy");
      await page.waitForSelector("#order:not([aria-busy])");
    }
    await page.goto(site.url);
    await page.waitForSelector(READY);
    await page.fill("#item", "two");
    await page.click("#buy");
    await until(() => sent.length === 3, "three");
    assert.equal(keysOf(sent), 1);
  }, { "/orders": [{ status: 503 }, { status: 503 }, {}] });
  check("a frame's form: a key of unknown fate takes no other content, so that a third content has another", { body: form(`${PLAIN} target=frame`) + FRAME }, async ({ page, sent }) => {
    for (const value of ["one", "two", "three"]) {
      await page.fill("#item", value);
      await page.click("#buy");
      await page.waitForSelector("#order[aria-busy]");
      await page.waitForSelector("#order:not([aria-busy])");
    }
    assert.deepEqual(sent.map((one) => keyOf(one) === keyOf(sent[0])), [true, true, false]);
  }, { "/orders": [{ status: 500, state: "unknown" }, { status: 422, state: "unknown" }, {}] });
  check("a click while the answer is still on its way is refused", { body: form(PLAIN) }, async ({ page, sent }) => {
    await run(page, `for (const ms of [0, 1500, 2500]) setTimeout(() => buy.click(), ms)`);
    await page.waitForSelector(".answer");
    assert.equal(sent.length, 1);
  }, { "/orders": [{ wait: 3500 }] });

  // htmx 4 itself takes it for the form.
  for (const htmx of ["htmx1", "htmx2"])
    check(`${htmx}: a control named form is not the form`, { body: form(HTMX, `<input name=form>`), head: script(htmx) }, async ({ page, sent }) => {
      await run(page, `buy.click(); setTimeout(() => buy.click(), 150)`);
      await page.waitForSelector("#order[aria-busy]");
      await page.waitForSelector("#order:not([aria-busy])");
      assert.equal(sent.length, 1);
    }, { "/orders": [{ wait: 700 }] });

  // Other people's requests, and whatever throws.
  const OWN_SEND = `<script>{ const Native = XMLHttpRequest; window.XMLHttpRequest = function () { const xhr = new Native(), send = xhr.send; xhr.send = function (body) { xhr.setRequestHeader("X-Signature", "s" + String(body ?? "").length); return send.call(xhr, body); }; return xhr; }; }</script>`;
  for (const htmx of ["htmx1", "htmx2"]) {
    check(`${htmx}: a send of an xhr's own is called, at each attempt, and header lines are the first ones`, {
      body: form(`${HTMX} hx-retry="10ms,3"`) + `<script>let n = 0; addEventListener("htmx:beforeSend", ({ detail }) => detail.xhr.setRequestHeader("X-Token", "t" + ++n));</script>`, head: OWN_SEND + script(htmx),
    }, async ({ page }) => {
      /** @type {Record<string, string>[]} */
      const heads = [];
      page.on("request", (request) => request.method() === "POST" && heads.push(request.headers()));
      await page.click("#buy");
      await until(() => heads.length === 2, "two attempts");
      assert.deepEqual(heads[1], heads[0]);
      assert.match(heads[0]?.["x-signature"] ?? "", /^s\d+$/);
      assert.equal(heads[0]?.["x-token"], "t1");
    }, { "/orders": [{ status: 503 }, {}] });
    check(`${htmx}: an abort while a retry waits takes it back`, {
      body: form(`${HTMX} hx-retry="3s,3"`) + `<script>addEventListener("htmx:beforeRequest", ({ detail }) => (window.xhr = detail.xhr));</script>`, head: script(htmx),
    }, async ({ page, sent }) => {
      await page.click("#buy");
      await until(() => sent.length === 1, "sent");
      await page.waitForTimeout(300);
      assert.equal(await page.getAttribute("#order", "aria-busy"), "true");
      await run(page, `xhr.abort()`);
      await page.waitForSelector("#order:not([aria-busy])");
      await page.waitForTimeout(3500);
      assert.equal(sent.length, 1);
    }, { "/orders": [{ status: 503, headers: { "retry-after": "2" } }] });
    check(`${htmx}: a swap that throws leaves no lock`, { body: form("hx-post=/orders hx-target=#out"), head: script(htmx) }, async ({ page, sent }) => {
      await page.click("#buy");
      await until(() => sent.length === 1, "sent");
      await page.waitForSelector("#order:not([aria-busy])");
    }, { "/orders": [{ headers: { "hx-retarget": "#[bad" }, body: '<p class=answer></p><div hx-swap-oob="innerHTML:#[bad">x</div>' }] });
    check(`${htmx}: a request that a listener of beforeRequest starts is another`, {
      body: form(HTMX) + `<div id=st hx-get=/done hx-trigger=refresh hx-swap=none></div><script>addEventListener("htmx:beforeRequest", ({ target }) => target.id === "order" && htmx.trigger("#st", "refresh"));</script>`, head: script(htmx),
    }, async ({ page, sent }) => {
      await run(page, `for (const ms of [0, 200]) setTimeout(() => buy.click(), ms)`);
      await page.waitForTimeout(1200);
      assert.equal(sent.length, 1);
      assert.ok(keyOf(sent[0]));
      await page.waitForSelector("#order:not([aria-busy])");
    }, { "/orders": [{ wait: 700 }] });
  }

  // Marks.
  const DISABLE = `<script type=module>import { start } from "/oncekey.js"; start({ disable: true });</script>`;
  check("disabled beside hx-disabled-elt is undone", { body: form(`${HTMX} hx-disabled-elt="find button"`) + DISABLE, head: script("htmx2") }, async ({ page, sent }) => {
    for (let n = 1; n < 3; n++) {
      await page.click("#buy");
      await until(() => sent.length === n, "sent");
      await page.waitForSelector("#order:not([aria-busy]) #buy:not([disabled])");
    }
  }, { "/orders": [{ wait: 300 }] });
  check("what an answer sets while busy stays", { body: form("hx-post=/orders hx-target=#out") + `<script>addEventListener("htmx:afterSwap", () => buy.setAttribute("aria-disabled", "true"));</script>`, head: script("htmx2") }, async ({ page }) => {
    await page.click("#buy");
    await page.waitForSelector(".answer");
    await page.waitForSelector("#order:not([aria-busy])");
    assert.equal(await page.getAttribute("#buy", "aria-disabled"), "true");
  });
  check("within a modal dialog the words are there too", { body: `<dialog>${form(HTMX)}</dialog>`, head: script("htmx2") }, async ({ page }) => {
    await run(page, `document.querySelector("dialog").showModal()`);
    await page.click("#buy");
    await page.waitForSelector("dialog [role=status]", { state: "attached" });
  }, { "/orders": [{ wait: 1000 }] });
  for (const to of ["#there", "/#there"])
    check(`HX-Redirect to ${to}: the page stays, and is free at once`, { body: form(HTMX), head: script("htmx2") }, async ({ page, sent }) => {
      await page.click("#buy");
      await until(() => sent.length === 1, "sent");
      await page.waitForSelector("#order:not([aria-busy])", { timeout: 2000 });
    }, { "/orders": [{ headers: { "hx-redirect": to } }] });

  // Keys.
  const EXPIRED = { status: 409, headers: { "idempotency-status": "expired" } };
  const AHEAD = { status: 400, headers: { "idempotency-status": "refused" } };
  for (const [htmx, what, answer] of /** @type {const} */ ([["htmx1", "is expired", EXPIRED], ["htmx2", "is expired", EXPIRED], ["htmx4", "is expired", EXPIRED], ["htmx2", "is ahead of the gate's clock", AHEAD]]))
    check(`${htmx}: a fresh key that ${what}: once more with another`, { body: form(HTMX), head: script(htmx) }, async ({ page, sent }) => {
      await page.click("#buy");
      await until(() => sent.length === 2, "two");
      assert.equal(keysOf(sent), 2);
      assert.equal(sent[1]?.content, sent[0]?.content);
      for (const one of sent) assert.match(keyOf(one) ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    }, { "/orders": [answer, {}] });
  check("send(): who aborts leaves alone, and the last takes the request along", { body: "" }, async ({ page, sent }) => {
    const ends = await page.evaluate(async () => {
      const { send } = await import(/** @type {any} */ ("/oncekey.js"));
      const [one, two] = [new AbortController(), new AbortController()];
      const end = (/** @type {AbortController} */ { signal }) => send("/orders", { method: "POST", body: "a", signal }, { intent: "i" }).then((/** @type {Response} */ answer) => answer.status, (/** @type {Error} */ error) => error.name);
      const calls = [end(one), end(two)];
      setTimeout(() => one.abort(), 200);
      return Promise.all(calls);
    });
    assert.deepEqual(ends, ["AbortError", 200]);
    assert.equal(sent.length, 1);
  }, { "/orders": [{ wait: 800 }] });
  check("in a worker, which has no document, send is fetch with a key", { body: "" }, async ({ page, sent }) => {
    const status = await page.evaluate(() => {
      const code = `import("${location.origin}/oncekey.js").then((m) => m.send("${location.origin}/orders", { method: "POST", body: "a" })).then((a) => postMessage(a.status), (e) => postMessage(String(e)))`;
      const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { type: "module" });
      return new Promise((resolve) => (worker.onmessage = ({ data }) => resolve(data)));
    });
    assert.deepEqual([status, sent.length], [200, 1]);
    assert.ok(keyOf(sent[0]));
  });

  // What it says to whoever asks.
  const saidBy = (/** @type {Page} */ page) => {
    /** @type {string[]} */
    const lines = [];
    page.on("console", (line) => line.text().startsWith("oncekey: ") && lines.push(line.text()));
    return lines;
  };
  const BOTH = form(`${PLAIN} target=frame`) + `<form id=search action=/done target=other><button>Search</button></form>${FRAME}<iframe name=other></iframe>`;
  const pressAll = async (/** @type {Page} */ page) => {
    await run(page, `buy.click(); buy.click(); search.requestSubmit()`);
    await page.waitForSelector("#order:not([aria-busy])");
  };
  check("data-once-debug: a line says what was decided, and why", { body: BOTH, head: `<script>document.documentElement.dataset.onceDebug = "";</script>` }, async ({ page }) => {
    const lines = saidBy(page);
    await pressAll(page);
    await until(() => lines.length >= 5, "five lines");
    const words = lines.map((line) => /^oncekey: ([a-z ]+(, [a-z]+( [a-z]+)*)?)/.exec(line)?.[1]?.trim());
    assert.deepEqual(words, ["issued, new", "blocked, busy", "left alone, its method", "looked at a key", "settled, success"]);
  });
  check("without it nothing is said", { body: BOTH }, async ({ page }) => {
    const lines = saidBy(page);
    await pressAll(page);
    assert.deepEqual(lines, []);
  });
  check("debug.js, to read, is the same", { body: form(PLAIN), files: dirname(process.env.ONCEKEY_MODULE ?? ""), module: `<script type=module src=/debug.js></script>` }, async ({ page, sent }) => {
    await run(page, `buy.click(); buy.click()`);
    await page.waitForSelector(".answer");
    assert.equal(sent.length, 1);
    assert.ok(keyOf(sent[0]));
  });

  // Libraries that submit forms by themselves.
  for (const [library, attributes] of [["turbo", PLAIN], ["unpoly", `${PLAIN} up-submit up-target=#out up-fail-target=#out`]])
    check(`${library}: a double click is one request, its key in header and field, and success ends it`, { body: form(attributes ?? ""), head: `<script src=/${library}.js></script>` }, async ({ page, sent }) => {
      const box = await page.locator("#buy").boundingBox();
      assert.ok(box);
      await page.mouse.dblclick(box.x + 3, box.y + 3);
      await page.waitForTimeout(1200);
      assert.equal(sent.length, 1);
      assert.equal(sent[0]?.fields[0], sent[0]?.header);
      assert.match(keyOf(sent[0]) ?? "", /^[0-9a-f-]{36}$/);
    }, { "/orders": [{ wait: 500, status: 422, body: "<!doctype html><title>x</title><div id=out>no</div>" }] });
  const UNPOLY = `${PLAIN} up-submit up-target=#out up-fail-target=#out`;
  check("unpoly: a button outside its form is the form's", { body: `<form id=order ${UNPOLY}><input name=item value=tea></form><button id=buy form=order name=go value=1>Buy</button>`, head: `<script src=/unpoly.js></script>` }, async ({ page, sent }) => {
    await run(page, `buy.click(); setTimeout(() => buy.click(), 150)`);
    await page.waitForTimeout(1200);
    assert.equal(sent.length, 1);
    assert.equal(sent[0]?.fields[0], sent[0]?.header);
    assert.ok(keyOf(sent[0]));
  }, { "/orders": [{ wait: 500 }] });
  check("unpoly: what waits to be saved is sent, though the answer has replaced its form", { body: `<form id=order ${UNPOLY}><input id=item name=item></form>`, head: `<script src=/unpoly.js></script>` }, async ({ page, sent }) => {
    await run(page, `["A", "B", "C"].forEach((value, n) => setTimeout(() => { item.value = value; order.requestSubmit(); }, n * 100))`);
    await until(() => sent.length === 2, "the last");
    assert.match(sent[1]?.content ?? "", /"C"/);
    assert.equal(keysOf(sent), 2);
  }, { "/orders": [{ wait: 600 }, {}] });
  // What a library sends where a script names no button: htmx 1.9 and 2 the last that was pressed, Unpoly the first.
  for (const [library, attributes] of [["htmx1", HTMX], ["htmx2", HTMX], ["htmx4", HTMX], ["turbo", PLAIN], ["unpoly", UNPOLY]])
    check(`${library}: requestSubmit() after an outcome that is not known: the same content has the same key, whoever names the button`, { body: form(attributes ?? ""), head: `<script src=/${library}.js></script>` }, async ({ page, sent }) => {
      await page.click("#buy");
      await until(() => sent.length === 1, "a click");
      await page.waitForSelector("#order:not([aria-busy])");
      await run(page, `order.requestSubmit()`);
      await until(() => sent.length === 2, "both");
      assert.equal(keysOf(sent), new Set(sent.map(({ content }) => content)).size);
    }, { "/orders": [{ status: 500, body: `<!doctype html><title>x</title>${form(attributes ?? "")}<div id=out>no</div>` }, {}] });
  for (const [library, attributes] of [["htmx1", HTMX], ["htmx2", HTMX], ["htmx4", HTMX], ["turbo", PLAIN], ["unpoly", UNPOLY]])
    check(`${library}: requestSubmit() while a click's request is under way: the same content is refused, other content is sent afterwards`, { body: form(attributes ?? ""), head: `<script src=/${library}.js></script>` }, async ({ page, sent }) => {
      await run(page, `buy.click(); for (const [ms, value] of [[100, "tea"], [200, "B"], [300, "C"]]) setTimeout(() => { item.value = value; order.requestSubmit(); }, ms)`);
      await until(() => sent.length === 2, "the last");
      await page.waitForTimeout(QUIET);
      assert.deepEqual(sent.map(({ content }) => /"item","(\w+)"/.exec(content)?.[1]), ["tea", "C"]);
      assert.equal(keysOf(sent), 2);
    }, { "/orders": [{ wait: 1000, body: `<!doctype html><title>x</title>${form(attributes ?? "")}<div id=out></div>` }, {}] });
  check("turbo: an answer that leads nowhere ends its intent too", { body: form(PLAIN), head: `<script src=/turbo.js></script>` }, async ({ page, sent }) => {
    for (const value of ["one", "two"]) {
      await page.fill("#item", value);
      await page.click("#buy");
      await until(() => sent.some(({ content }) => content.includes(value)), value);
      await page.waitForSelector("#order:not([aria-busy])");
    }
    assert.equal(keysOf(sent), 2);
  });
});
