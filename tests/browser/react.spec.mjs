// @ts-check
// The demo's button in React: what two clicks, a refresh and a lost answer make of one intent, counted at the shop.
//
// Needs ONCEKEY_DEMO, the address of a running demo, and CHROMIUM, the browser's path.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";

const DEMO = process.env.ONCEKEY_DEMO;
const skip = DEMO ? false : "ONCEKEY_DEMO is not set: no demo to open";

describe("a button of React's", { skip, timeout: 120_000, concurrency: false }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM || undefined, args: ["--no-sandbox", "--disable-gpu"] });
  });
  after(() => browser?.close());

  /**
   * @param {string} name @param {string} fault of the demo's @param {{ requests: number, orders: number }} expected
   * @param {(page: import("playwright-core").Page) => Promise<unknown>} act
   */
  const check = (name, fault, expected, act) =>
    test(name, async () => {
      const context = await browser.newContext({ baseURL: DEMO });
      context.setDefaultTimeout(30_000);
      await context.addCookies([{ name: "demo_fault", value: fault, url: /** @type {string} */ (DEMO) }]);
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
    await page.waitForSelector("button");
  };
  /** @param {import("playwright-core").Page} page @param {number} times */
  const click = (page, times) =>
    page.evaluate((times) => {
      for (let n = 0; n < times; n++) document.querySelector("button")?.click();
    }, times);
  /** @param {import("playwright-core").Page} page */
  const ordered = (page) => page.getByText("Ordered.").waitFor();

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
    await page.getByText("Sending…").waitFor();
    assert.equal(await page.getAttribute("button", "aria-disabled"), "true");
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
