// @ts-check
// send(): fetch with a key.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { keyOf, keysOf, launch, visit } from "./server.mjs";

const BUSY = { status: 503, headers: { "retry-after": "0" } };
const PAGE = { body: "", head: `<script type=module>import { send } from "/oncekey.js"; window.send = send;</script>` };

describe("send", { timeout: 120_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  test("a call is an intent of its own; a name makes one of several; GET has no key", () =>
    visit(browser, PAGE, async ({ page, sent }) => {
      await page.evaluate(async () => {
        const { send } = /** @type {any} */ (window);
        await send("/orders", { method: "POST", body: "1" });
        await send("/orders", { method: "POST", body: "1" });
        await send("/");
      });
      assert.equal(keysOf(sent), 2);
      assert.deepEqual(sent[0]?.fields, []);
    }));

  test("calls that overlap share a request, each with an answer of its own; other content is rejected", () =>
    visit(browser, PAGE, async ({ page, sent }) => {
      const answers = await page.evaluate(() => {
        const call = (/** @type {string} */ item) =>
          /** @type {any} */ (window)
            .send("/orders", { method: "POST", body: new URLSearchParams({ item }) }, { intent: "tea" })
            .then((/** @type {Response} */ answer) => answer.text(), (/** @type {Error} */ error) => error.name);
        return Promise.all([call("tea"), call("tea"), call("coffee")]);
      });
      assert.equal(sent.length, 1);
      assert.deepEqual(answers, ["<p class=answer>answer 1</p>", "<p class=answer>answer 1</p>", "TypeError"]);
    }, { "/orders": [{ wait: 300 }] }));

  test("four retries unless told, of the first attempt's content", () =>
    visit(browser, PAGE, async ({ page, sent, said }) => {
      const status = await page.evaluate(async () => {
        const body = new FormData();
        body.append("item", "tea");
        const answer = /** @type {any} */ (window).send("/orders", { method: "POST", body }, { retry: "10ms,4" });
        body.set("item", "coffee");
        return (await answer).status;
      });
      assert.equal(status, 503);
      assert.equal(sent.length, 5);
      assert.equal(keysOf(sent), 1);
      assert.ok(sent.every((one) => one.content === `[["item","tea"]]`));
      assert.equal((await said()).filter((event) => event.name === "retry").length, 4);
    }, { "/orders": [BUSY] }));

  test("a named intent keeps its key until the outcome is known; a natural key for ever", () =>
    visit(browser, PAGE, async ({ page, sent }) => {
      await page.evaluate(async () => {
        const { send } = /** @type {any} */ (window);
        for (const options of [{ intent: "a", retry: "0" }, { intent: "a", retry: "0" }, { intent: "a" }, { key: "order-7" }, { key: "order-7" }]) await send("/orders", { method: "POST", body: "x" }, options);
      });
      const keys = sent.map(keyOf);
      assert.equal(keys[0], keys[1]);
      assert.notEqual(keys[1], keys[2]);
      assert.deepEqual(keys.slice(3), ["order-7", "order-7"]);
    }, { "/orders": [{ status: 500 }, {}] }));

  test("it can be aborted while it waits, and rejects like fetch", () =>
    visit(browser, PAGE, async ({ page, sent }) => {
      const names = await page.evaluate(async () => {
        const { send } = /** @type {any} */ (window);
        const abort = new AbortController();
        setTimeout(() => abort.abort(), 300);
        const failed = (/** @type {Error} */ error) => error.name;
        return [await send("/orders", { method: "POST", signal: abort.signal }, { retry: "1" }).catch(failed), await send("http://[").catch(failed)];
      });
      assert.deepEqual(names, ["AbortError", "TypeError"]);
      assert.equal(sent.length, 1);
    }, { "/orders": [{ status: 503, headers: { "retry-after": "1" } }] }));

  test("a page's own fetch is left alone", () =>
    visit(browser, PAGE, async ({ page, sent }) => {
      await page.evaluate(() => fetch("/orders", { method: "POST", body: "x" }).then((answer) => answer.text()));
      assert.equal(keyOf(sent[0]), undefined);
    }));
});
