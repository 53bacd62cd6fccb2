// @ts-check
// A person is faster than the module: what happens to a click before it is there.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { form, keyOf, launch, script, until, visit } from "./server.mjs";

const BOOT = script("bootstrap");
/** A module that never comes. */
const NEVER = { "/oncekey.js": [{ wait: 60_000 }] };
const HTMX = `hx-post=/orders hx-target=#out`;
const PLAIN = `method=post action=/orders`;

/** @type {[string, string, string][]} */
const WAYS = [
  ["plain", form(PLAIN), ""],
  ["htmx 1.9", form(HTMX), script("htmx1")],
  ["htmx 2", form(HTMX), script("htmx2")],
  ["htmx 4", form(HTMX), script("htmx4")],
];

describe("early", { timeout: 120_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  for (const [way, body, head] of WAYS)
    test(`${way}: two clicks a second before the module are one request, with a key`, () => {
      /** @type {() => void} */
      let come = () => {};
      const clicked = new Promise((/** @type {(value?: any) => void} */ resolve) => (come = resolve));
      return visit(browser, { body, head: BOOT + head, ready: false, waitUntil: "commit" }, async ({ page, sent }) => {
        await page.waitForSelector("#buy");
        await page.evaluate(() => (document.getElementById("buy")?.click(), document.getElementById("buy")?.click()));
        come();
        await page.waitForSelector(".answer");
        assert.equal(sent.length, 1);
        assert.match(keyOf(sent[0]) ?? "", /^[0-9a-f-]{36}$/);
        assert.match(sent[0]?.content ?? "", /"go","1"/);
      }, { "/oncekey.js": [{ after: clicked, wait: 1000 }] });
    });

  for (const [way, body, head] of WAYS.filter(([way]) => way !== "htmx 1.9"))
    test(`${way}: what is held is sent as it was submitted, though the form says something else by then`, () => {
      /** @type {() => void} */
      let come = () => {};
      const clicked = new Promise((/** @type {(value?: any) => void} */ resolve) => (come = resolve));
      return visit(browser, { body, head: BOOT + head, ready: false, waitUntil: "commit" }, async ({ page, sent }) => {
        await page.waitForSelector("#buy");
        await page.evaluate(() => {
          const [form, item] = /** @type {any[]} */ (["order", "item"].map((id) => document.getElementById(id)));
          form.elements.buy.click();
          item.value = "coffee";
          form.requestSubmit();
        });
        come();
        await page.waitForSelector(".answer");
        assert.equal(sent.length, 1);
        assert.match(keyOf(sent[0]) ?? "", /^[0-9a-f-]{36}$/);
        assert.equal(sent[0]?.content, JSON.stringify([["item", "tea"], ["go", "1"]]));
      }, { "/oncekey.js": [{ after: clicked, wait: 300 }] });
    });

  test("a browser that does not read base64 into bytes by itself has the module too", () =>
    visit(browser, { body: form(PLAIN), head: `<script>delete Uint8Array.fromBase64;</script>` }, async ({ page, sent }) => {
      await page.click("#buy");
      await until(() => sent.length, "sent");
      assert.ok(keyOf(sent[0]));
    }));

  test("what is switched off is not held", () =>
    visit(browser, { body: `<div data-once=off>${form(PLAIN)}</div>`, head: BOOT, ready: false, waitUntil: "commit" }, async ({ page, sent }) => {
      await page.waitForSelector("#buy");
      await page.evaluate(() => document.getElementById("buy")?.click());
      await until(() => sent.length, "sent");
      assert.equal(keyOf(sent[0]), undefined);
    }, NEVER));

  test("the module never comes: the form is sent after three seconds, once", () =>
    visit(browser, { body: "", ready: false, waitUntil: "commit" }, async ({ page, sent, site }) => {
      site.page(form(PLAIN), BOOT);
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(1000);
      await page.goto(site.url, { waitUntil: "commit" });
      await page.waitForSelector("#buy");
      await page.evaluate(() => (document.getElementById("buy")?.click(), document.getElementById("buy")?.click()));
      await page.clock.runFor(2900);
      assert.equal(sent.length, 0);
      await page.clock.runFor(200);
      await until(() => sent.length, "sent");
      assert.equal(sent.length, 1);
      assert.match(sent[0]?.content ?? "", /"go","1"/);
    }, NEVER));

  test("the module comes but wasm does not: three seconds from the click, not from the module", () => {
    const stuck = `<script>ReadableStreamDefaultReader.prototype.read = () => new Promise(() => {});</script>`;
    return visit(browser, { body: "", ready: false, waitUntil: "commit" }, async ({ page, sent, site }) => {
      site.page(form(PLAIN), stuck + BOOT);
      await page.clock.install({ time: 0 });
      await page.clock.pauseAt(1000);
      await page.goto(site.url, { waitUntil: "commit" });
      await page.waitForSelector("#buy");
      await page.evaluate(() => document.getElementById("buy")?.click());
      await page.clock.runFor(1500);
      // The page's clock stands still, and with it what Playwright would poll by.
      await until(() => page.evaluate(() => Symbol.for("oncekey") in globalThis), "the module");
      await page.clock.runFor(1600);
      await until(() => sent.length, "sent");
      assert.equal(sent.length, 1);
    });
  });
});
