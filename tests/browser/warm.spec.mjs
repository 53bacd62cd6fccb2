// @ts-check
// One click that arrives as two POSTs: a warm connection is dropped after the order was handed on, and the browser itself
// sends it again. Through the real gate, with orders counted at the shop.
//
// Needs ONCEKEY_SERVE, the xtask program, and CHROMIUM.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { drop } from "./drop.mjs";
import { launch, until } from "./server.mjs";
import { demo } from "./shop.mjs";

describe("a warm connection", { timeout: 120_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  /** @type {Awaited<ReturnType<typeof demo>>} */
  let shop;
  before(async () => {
    shop = await demo();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await shop?.stop();
  });

  for (const [name, button, answer] of [
    ["htmx", "#order-htmx button", "#htmx-answer"],
    ["send()", "#order-fetch", "#fetch-answer"],
  ])
    test(`${name}: one click, two POSTs, one order`, async () => {
      const between = await drop(shop.url);
      const context = await browser.newContext({ baseURL: between.url });
      try {
        const page = await context.newPage();
        /** @type {string[]} */
        const said = [];
        page.on("request", (request) => request.method() === "POST" && request.url().endsWith("/orders") && said.push(request.url()));
        await page.goto("/");
        await page.waitForSelector("html[data-oncekey=ready]");
        const before = await counted(page);
        await page.click(button ?? "");
        await page.locator(`${answer} strong`).filter({ hasText: /^Order \d+$/ }).waitFor();
        await until(() => between.seen.length > 1, "sent again");
        const keys = new Set(between.seen.map((head) => /^idempotency-key: (.*)$/im.exec(head)?.[1]));
        assert.equal(between.seen.length, 2, "two POSTs on the wire");
        assert.equal(keys.size, 1, "of one key");
        assert.equal(said.length, 1, "of which the page knows one");
        const now = await counted(page);
        assert.deepEqual([now.requests - before.requests, now.orders - before.orders], [2, 1]);
      } finally {
        await context.close();
        between.close();
      }
    });

  /** What the shop counts, past the connections of the page. @param {import("playwright-core").Page} page */
  const counted = async (page) => /** @type {{ requests: number, orders: number }} */ (await (await page.request.get(`${shop.url}/stats`)).json());
});
