// @ts-check
// The demo's button in React: what two clicks, a refresh and a lost answer make of one intent, counted at the shop.
//
// Needs ONCEKEY_SERVE, the xtask program, and CHROMIUM, the browser's path. What `onceOptions` rejects with is told by the
// package itself, ONCEKEY_MODULE's folder.

import assert from "node:assert/strict";
import { dirname } from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { demo } from "./shop.mjs";
import { launch, visit } from "./server.mjs";

describe("a React button", { timeout: 120_000, concurrency: false }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  /** @type {Awaited<ReturnType<typeof demo>>} */
  let shop;
  before(async () => {
    shop = await demo();
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM || undefined, args: ["--no-sandbox", "--disable-gpu"] });
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  /**
   * @param {string} name @param {string} fault of the demo's @param {{ requests: number, orders: number }} expected
   * @param {(page: import("playwright-core").Page) => Promise<unknown>} act
   */
  const check = (name, fault, expected, act) =>
    test(name, async () => {
      const context = await browser.newContext({ baseURL: shop.url });
      context.setDefaultTimeout(30_000);
      await context.addCookies([{ name: "demo_fault", value: fault, url: shop.url }]);
      await context.request.post("/reset");
      const page = await context.newPage();
      await page.goto("/react");
      await ready(page);
      await act(page);
      const stats = async () => await (await context.request.get("/stats")).json();
      await page.waitForTimeout(300);
      assert.deepEqual(await stats(), expected);
      await context.close();
    });

  /** Which comes first is left open: the module, or the button. @param {import("playwright-core").Page} page */
  const ready = async (page) => {
    await page.waitForSelector("html[data-oncekey=ready]");
    await page.waitForSelector("#root button");
  };
  /** @param {import("playwright-core").Page} page @param {number} times */
  const click = (page, times) =>
    page.evaluate((times) => {
      for (let n = 0; n < times; n++) /** @type {HTMLElement | null} */ (document.querySelector("#root button"))?.click();
    }, times);
  /** @param {import("playwright-core").Page} page */
  const ordered = (page) => page.locator("#root").getByText("Ordered.").waitFor();

  check("one click", "none", { requests: 1, orders: 1 }, async (page) => {
    await click(page, 1);
    await ordered(page);
  });
  check("two clicks in one frame", "none", { requests: 1, orders: 1 }, async (page) => {
    await click(page, 2);
    await ordered(page);
  });
  check("clicks while it is under way", "slow", { requests: 1, orders: 1 }, async (page) => {
    await click(page, 1);
    await page.locator("#root").getByText("Sending…").waitFor();
    assert.equal(await page.getAttribute("#root button", "aria-disabled"), "true");
    await click(page, 3);
    await ordered(page);
  });
  check("after success the next click is a new intent", "none", { requests: 2, orders: 2 }, async (page) => {
    for (let n = 0; n < 2; n++) {
      const answer = page.waitForResponse("**/orders");
      await click(page, 1);
      await answer;
      await ordered(page);
    }
  });
  check("without Oncekey two clicks are two orders", "none", { requests: 2, orders: 2 }, async (page) => {
    await page.check("#without");
    await click(page, 2);
    await ordered(page);
  });
  check("turned away once, tried again by itself", "503", { requests: 2, orders: 1 }, async (page) => {
    await click(page, 2);
    await ordered(page);
  });
  check("the answer was lost, then the page: the next click learns of the order", "slow", { requests: 2, orders: 1 }, async (page) => {
    const sent = page.waitForRequest("**/orders");
    await click(page, 1);
    await sent;
    await page.waitForTimeout(500);
    await page.reload();
    await ready(page);
    await click(page, 1);
    await ordered(page);
  });
});

describe("what onceOptions rejects with", { timeout: 120_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  const PROBLEM = { "content-type": "application/problem+json; charset=utf-8" };
  const FILES = dirname(process.env.ONCEKEY_MODULE ?? "");

  /** @param {string} name @param {import("./server.mjs").Fault} fault of the server's @param {object} expected members of what it rejects with */
  const check = (name, fault, expected) =>
    test(name, () =>
      visit(browser, { body: "", files: FILES }, async ({ page }) => {
        const told = await page.evaluate(async () => {
          const { AnswerError, onceOptions } = await import(/** @type {any} */ ("/react.js"));
          const { start } = await import(/** @type {any} */ ("/oncekey.js"));
          await start({ retry: "1ms,1" });
          const { mutationFn } = onceOptions("order", (/** @type {string} */ body) => ["/orders", { method: "POST", body }]);
          const error = await mutationFn("Mug").catch((/** @type {any} */ error) => error);
          const { name, message, status, problem, response } = error;
          const [isError, isAnswerError] = [error instanceof Error, error instanceof AnswerError];
          const read = response instanceof Response ? [response.status, response.bodyUsed, await response.text()] : undefined;
          return { isError, isAnswerError, name, message, status, problem, read };
        });
        assert.deepEqual(told, { isError: true, ...expected });
      }, { "/orders": [fault] }));

  /** @param {number} status @param {string} message @param {string} text @param {object | undefined} problem */
  const answered = (status, message, text, problem) => ({ isAnswerError: true, name: "AnswerError", message, status, problem, read: [status, false, text] });
  const MISMATCH = { type: "about:blank#idempotency_key_reused", title: "Reused", status: 422, detail: "The key belongs to another request.", code: "idempotency_key_reused" };
  const TITLED = { title: "Not that one" };
  const HTML = "<p>none</p>";
  const BROKEN = "{ no JSON";
  check("a problem: its members, its detail as message, and the answer unread", { status: 422, headers: PROBLEM, body: JSON.stringify(MISMATCH) }, answered(422, MISMATCH.detail, JSON.stringify(MISMATCH), MISMATCH));
  check("a problem without detail: its title", { status: 400, headers: PROBLEM, body: JSON.stringify(TITLED) }, answered(400, TITLED.title, JSON.stringify(TITLED), TITLED));
  check("an answer that is no problem", { status: 404, body: HTML }, answered(404, "answered 404", HTML, undefined));
  check("JSON that is no problem", { status: 403, headers: { "content-type": "application/json" }, body: JSON.stringify(TITLED) }, answered(403, "answered 403", JSON.stringify(TITLED), undefined));
  check("a problem that cannot be read", { status: 409, headers: PROBLEM, body: BROKEN }, answered(409, "answered 409", BROKEN, undefined));
  check("after retries the last answer", { status: 503, headers: PROBLEM, body: JSON.stringify(MISMATCH) }, answered(503, MISMATCH.detail, JSON.stringify(MISMATCH), MISMATCH));
  check("no answer: as fetch rejects", { drop: true }, { isAnswerError: false, name: "TypeError", message: "Failed to fetch", status: undefined, problem: undefined, read: undefined });
});
