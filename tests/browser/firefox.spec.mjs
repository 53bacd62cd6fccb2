// @ts-check
// What matters, in Firefox: its events, its form restoration and its back-forward cache are its own.
//
// Needs FIREFOX, the browser's path, and ONCEKEY_MODULE as the other specs do.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import puppeteer from "puppeteer-core";
import { DISABLE, FREE, HTMX, KEPT, LOST, PLAIN, QUIET, READY, SOME, UUID, WAYS, policy } from "./doors.mjs";
import { form, keyOf, keysOf, script, serve, until } from "./server.mjs";

/** @typedef {import("puppeteer-core").Page} Page */
/** @typedef {import("./server.mjs").Fault} Fault */

const skip = process.env.FIREFOX ? false : "FIREFOX is not set: no browser to drive";

describe("Firefox", { skip, timeout: 300_000 }, () => {
  /** @type {import("puppeteer-core").Browser} */
  let browser;
  before(async () => {
    // The driver turns the back-forward cache off by itself.
    const extraPrefsFirefox = { "fission.bfcacheInParent": true };
    browser = await puppeteer.launch({ browser: "firefox", executablePath: process.env.FIREFOX ?? "", extraPrefsFirefox });
  });
  after(() => browser?.close());

  /**
   * One case: a server and a browser profile of its own, the page open and the module ready.
   * @param {string} name
   * @param {{ body: string, head?: string, headers?: Record<string, string>, ready?: string }} page
   * @param {(at: At) => Promise<void>} act
   * @param {...Fault} faults the answers at `/orders`
   */
  function check(name, { body, head, headers, ready = READY }, act, ...faults) {
    test(name, async () => {
      const site = await serve();
      const context = await browser.createBrowserContext();
      try {
        site.page(body, head, headers);
        if (faults.length) site.plan("/orders", ...faults);
        const page = await context.newPage();
        page.setDefaultTimeout(10_000);
        const open = async () => {
          await page.goto(site.url);
          await page.waitForSelector(ready);
        };
        await open();
        await act({ page, site, sent: site.sent, open });
      } finally {
        site.close();
        await context.close();
      }
    });
  }
  /** @typedef {{ page: Page, site: Awaited<ReturnType<typeof serve>>, sent: import("./server.mjs").Sent[], open: () => Promise<void> }} At */

  for (const [way, body, head] of WAYS) {
    /** @type {() => void} */
    let answer = () => {};
    const after = new Promise((/** @type {(value?: any) => void} */ resolve) => (answer = resolve));
    // The page that answers a plain form ends its intent.
    const [answered, first] = way === "plain" ? [`${READY} #done`, { status: 303, headers: { location: "/done" } }] : [".answer", {}];
    check(`${way}: a click is one request with a key, and so is a double click`, { body, head }, async ({ page, sent, open }) => {
      await page.click("#buy");
      await page.waitForSelector(answered);
      assert.match(keyOf(sent[0]) ?? "", UUID);
      assert.equal(sent.length, 1);
      await open();
      await page.click("#buy", { count: 2 });
      await until(() => sent.length > 1, "sent");
      answer();
      await page.waitForSelector(".answer");
      await new Promise((resolve) => setTimeout(resolve, QUIET));
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
      await page.waitForSelector(".answer");
      assert.match(keyOf(sent[0]) ?? "", UUID);
      assert.equal(keysOf(sent), 1);
    }, LOST);
  }

  const multipart = "hx-retry=10ms,3 hx-encoding=multipart/form-data enctype=multipart/form-data";
  for (const [way, body, head] of WAYS.filter(([way]) => way !== "plain"))
    check(`${way}: sent again with the same bytes, files included`, { body: body.replace("<form", `<form ${multipart}`), head }, async ({ page, sent }) => {
      await page.evaluate(() => {
        const list = new DataTransfer();
        list.items.add(new File([new Uint8Array([0, 255, 10, 13])], "\u00e4.bin"));
        const file = Object.assign(document.createElement("input"), { type: "file", name: "file", files: list.files });
        document.getElementById("item")?.after(file);
      });
      await page.click("#buy");
      await until(() => sent.length, "sent");
      await page.evaluate(() => Object.assign(document.getElementById("item") ?? {}, { value: "coffee" }));
      await page.waitForSelector(".answer");
      assert.equal(sent.length, 3);
      assert.equal(keysOf(sent), 1);
      assert.equal(new Set(sent.map((one) => one.content)).size, 1);
      assert.match(sent[0]?.content ?? "", /\u00e4\.bin/);
    }, { status: 503, headers: { "retry-after": "1" } }, { status: 503 }, {});

  for (const [way, body, head] of SOME) {
    const page = { body: body.replace("<button", "<button id=off disabled>off</button><button"), head: head + DISABLE, headers: KEPT };
    check(`${way}: reloaded while it is under way, what the module disabled is enabled, and nothing else`, page, async ({ page, sent }) => {
      await page.$eval("#item", (item) => Object.assign(item, { value: "coffee" }));
      await page.click("#buy");
      await until(() => sent.length === 1, "sent");
      await page.waitForSelector("#buy[disabled]");
      await page.evaluate(() => void setTimeout(() => location.reload()));
      await page.waitForSelector(`${READY} ${FREE}`);
      assert.equal(await page.$eval("#item", (item) => /** @type {HTMLInputElement} */ (item).value), "coffee", "Firefox restores the form");
      assert.ok(await page.$("#off[disabled]"));
      await page.click("#buy");
      await page.waitForSelector(".answer");
      assert.equal(keysOf(sent), 1);
    }, LOST, {});
  }

  check("what the next page's author disables is not enabled because the module once enabled it", { body: form(HTMX), head: script("htmx2") + DISABLE, headers: KEPT }, async ({ page, site }) => {
    await page.click("#buy");
    await page.waitForSelector(".answer");
    await page.waitForSelector(FREE);
    site.page(form(HTMX).replace("<button", "<button disabled"), script("htmx2") + DISABLE, KEPT);
    await page.evaluate(() => void setTimeout(() => location.reload()));
    await page.waitForSelector(`${READY} body:not(:has(.answer))`);
    assert.ok(await page.$("#buy[disabled]"));
  });

  /** Back to the page as it was left, out of the cache. @param {Page} page */
  async function back(page) {
    await page.evaluate(() => void setTimeout(() => history.back()));
    await page.waitForSelector(FREE);
    assert.ok(await page.evaluate(() => "left" in window), "from the cache");
  }

  // Firefox gives a page out of its cache the storage as it was when the page was left, so that what a later page ended is
  // not known there: the next click finds the answer.
  for (const [name, answer] of /** @type {[string, Fault][]} */ ([
    ["succeeded", { status: 303, headers: { location: "/done" } }],
    ["failed", { status: 500, body: "<p id=done>" }],
  ]))
    check(`what was left busy and ${name} is free after Back, with the same key`, { body: PLAIN, headers: KEPT }, async ({ page, sent }) => {
      await page.evaluate(() => Object.assign(window, { left: true }));
      await page.click("#buy");
      await page.waitForSelector("#done");
      await back(page);
      await page.click("#buy");
      await until(() => sent.length === 2, "sent again");
      assert.equal(keysOf(sent), 1);
    }, answer);

  for (const [way, body, head] of SOME)
    check(`${way}: left while it is under way, it is free after Back, with the same key`, { body, head, headers: KEPT }, async ({ page, sent }) => {
      await page.click("#buy");
      await until(() => sent.length === 1, "sent");
      await page.evaluate(() => void setTimeout(() => location.assign("/done")));
      await page.waitForSelector("#done");
      await page.evaluate(() => void setTimeout(() => history.back()));
      await page.waitForSelector(`${READY} ${FREE}`);
      await page.click("#buy");
      await page.waitForSelector(".answer");
      assert.equal(keysOf(sent), 1);
    }, LOST, {});

  for (const [way, body, head] of SOME)
    check(`${way}: without wasm it is sent all the same, with a fresh key each time`, { body, head, headers: policy(""), ready: "#buy" }, async ({ page, sent, open }) => {
      await page.click("#buy");
      await page.waitForSelector(".answer");
      await open();
      await page.click("#buy");
      await page.waitForSelector(".answer");
      assert.match(keyOf(sent[0]) ?? "", UUID);
      assert.equal(keysOf(sent), 2);
    });

  /** @type {() => void} */
  let come = () => {};
  const coming = new Promise((/** @type {(value?: any) => void} */ resolve) => (come = resolve));
  check("two clicks before the module are one request, with a key", { body: "" }, async ({ page, site, sent }) => {
    site.page(PLAIN, script("bootstrap"));
    site.plan("/oncekey.js", { after: coming });
    page.goto(site.url).catch(() => {});
    await page.waitForSelector("#buy");
    await page.click("#buy", { count: 2 });
    come();
    await page.waitForSelector(".answer");
    assert.equal(sent.length, 1);
    assert.match(keyOf(sent[0]) ?? "", UUID);
  });

  check("under the strictest policy that lets wasm run", { body: WAYS[1]?.[1] ?? "", head: script("htmx2"), headers: policy(" 'wasm-unsafe-eval'") }, async ({ page, sent }) => {
    await page.click("#buy");
    await page.waitForSelector(".answer");
    assert.match(keyOf(sent[0]) ?? "", UUID);
  });
});
