// @ts-check
// Under a Content-Security-Policy: with the one directive that wasm needs, and without it. And a click that is early.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { form, keyOf, keysOf, launch, script, until, visit } from "./server.mjs";

const PLAIN = form(`method=post action=/orders`);
const policy = (/** @type {string} */ more) => ({ "content-security-policy": `default-src 'self'; script-src 'self'${more}; style-src 'self'` });

describe("content security policy", { timeout: 120_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  test("the strictest that lets wasm run", () =>
    visit(browser, { body: form(`hx-post=/orders hx-target=#out`), head: script("htmx2"), headers: policy(" 'wasm-unsafe-eval'") }, async ({ page, sent }) => {
      await page.click("#buy");
      await page.waitForSelector(".answer");
      assert.ok(keyOf(sent[0]));
    }));

  for (const [name, body, head] of [
    ["plain", PLAIN, ""],
    ["htmx 1.9", form(`hx-post=/orders hx-target=#out`), script("htmx1")],
    ["htmx 2", form(`hx-post=/orders hx-target=#out`), script("htmx2")],
    ["htmx 4", form(`hx-post=/orders hx-target=#out`), script("htmx4")],
  ])
    test(`without wasm, ${name} forms work with a fresh key each, and one line says why`, () =>
      visit(browser, { body: body ?? "", head, headers: policy(""), ready: false }, async ({ page, sent, site }) => {
        /** @type {string[]} */
        const lines = [];
        page.on("console", (line) => line.text().startsWith("oncekey") && lines.push(line.text()));
        for (const n of [1, 2]) {
          await page.goto(site.url);
          await until(() => lines.length === n, "the line");
          await page.click("#buy");
          await until(() => sent.length === n, "sent");
        }
        assert.match(lines[0] ?? "", /'wasm-unsafe-eval'/);
        assert.equal(keysOf(sent), 2);
        assert.ok(keyOf(sent[0]));
      }));

  test("a browser that compiles what it does not run, as WebKit does: a fresh key each, and one line says why", () => {
    const refusing = `<script>WebAssembly.Instance = function () { throw new WebAssembly.CompileError("refused"); };</script>`;
    return visit(browser, { body: PLAIN, head: refusing, ready: false }, async ({ page, sent, site }) => {
      for (const n of [1, 2]) {
        const line = page.waitForEvent("console", (line) => line.text().includes("'wasm-unsafe-eval'"));
        await page.goto(site.url);
        await line;
        await page.click("#buy");
        await until(() => sent.length === n, "sent");
      }
      assert.ok(keyOf(sent[0]));
      assert.equal(keysOf(sent), 2);
    });
  });

  test("a click before wasm is ready is held, once, and keyed", () => {
    // As slow as a slow phone: what the module inflates comes late.
    const slow = `<script>const own = ReadableStreamDefaultReader.prototype, read = own.read; own.read = function () { return new Promise((r) => setTimeout(() => r(read.call(this)), 400)); };</script>`;
    return visit(browser, { body: PLAIN, head: slow, ready: false }, async ({ page, sent }) => {
      await page.evaluate(() => (document.getElementById("buy")?.click(), document.getElementById("buy")?.click()));
      await until(() => sent.length, "sent");
      await page.waitForTimeout(300);
      assert.equal(sent.length, 1);
      assert.ok(keyOf(sent[0]));
      assert.match(sent[0]?.content ?? "", /"go","1"/);
    });
  });
});
