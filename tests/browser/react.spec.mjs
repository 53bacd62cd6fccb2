// @ts-check
// The demo's button in React: what two clicks, a refresh and a lost answer make of one intent, counted at the shop.
//
// Needs ONCEKEY_SERVE, the xtask program, and CHROMIUM, the browser's path.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { demo } from "./shop.mjs";

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
