// @ts-check
// What axe finds on the demo page: nothing, while it is idle, while an order is under way, and once one has failed.
//
// Needs ONCEKEY_SERVE, the xtask program, and CHROMIUM.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { launch } from "./server.mjs";
import { demo } from "./shop.mjs";

const AXE = new URL("../node_modules/axe-core/axe.min.js", import.meta.url);

describe("accessibility", { timeout: 120_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  /** @type {Awaited<ReturnType<typeof demo>>} */
  let shop;
  let axe = "";
  before(async () => {
    shop = await demo();
    browser = await launch();
    axe = await readFile(AXE, "utf8");
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  /**
   * The page in a state, and what axe says of it.
   * @param {string} fault what the page's switch says
   * @param {(page: import("playwright-core").Page) => Promise<unknown>} reach
   * @param {"light" | "dark"} [colorScheme]
   */
  async function check(fault, reach, colorScheme = "light") {
    const context = await browser.newContext({ baseURL: shop.url, colorScheme });
    try {
      const page = await context.newPage();
      await page.goto("/");
      await page.waitForSelector("html[data-oncekey=ready]");
      await page.check(`input[name=fault][value="${fault}"]`);
      await reach(page);
      const found = await page.evaluate(`${axe}; axe.run().then(({ violations, passes }) => ({ passes: passes.length, violations: violations.map(({ id, nodes }) => id + ": " + nodes.map((node) => node.html).join(" ")) }))`);
      const { violations, passes } = /** @type {{ violations: string[], passes: number }} */ (found);
      assert.deepEqual(violations, []);
      assert.ok(passes > 10, "axe looked");
    } finally {
      await context.close();
    }
  }

  const HTMX = "#order-htmx button";
  for (const scheme of /** @type {const} */ (["light", "dark"])) {
    test(`idle, ${scheme}`, () => check("none", () => Promise.resolve(), scheme));

    test(`busy, ${scheme}`, () =>
      check("slow", async (page) => {
        await page.click(HTMX);
        await page.waitForSelector("#order-htmx[aria-busy=true] button[aria-disabled=true]");
        await page.click(HTMX, { force: true });
        await page.locator('#log [data-event="blocked"]').waitFor();
      }, scheme));

    test(`failed, ${scheme}`, () =>
      check("lost", async (page) => {
        await page.click(HTMX);
        await page.click("#order-fetch");
        await page.locator('#log [data-event="unknown"]').nth(1).waitFor();
        await page.waitForSelector("#order-htmx:not([aria-busy])");
      }, scheme));

    test(`ordered, ${scheme}`, () =>
      check("none", async (page) => {
        await page.click(HTMX);
        await page.locator("#htmx-answer strong").waitFor();
      }, scheme));
  }
});
