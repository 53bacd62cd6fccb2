// @ts-check
// The demo page as a visitor meets it: each way of ordering under a double click, and under two of the faults.
//
// Needs ONCEKEY_DEMO, the address of a running demo, and CHROMIUM, the browser's path.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { until } from "./server.mjs";

const DEMO = process.env.ONCEKEY_DEMO;
const QUIET_MS = 300;
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** @typedef {{ name: string, button: string, answer: string }} Way */
const HTMX = { name: "htmx form", button: "#order-htmx button", answer: "#htmx-answer" };
const PLAIN = { name: "plain form", button: "#order-plain button", answer: "#plain-answer" };
const SCRIPT = { name: "send()", button: "#order-fetch", answer: "#fetch-answer" };

const skip = DEMO ? false : "ONCEKEY_DEMO is not set: no demo to open";

describe("demo", { skip, timeout: 120_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;

  before(async () => {
    browser = await chromium.launch({ executablePath: process.env.CHROMIUM || undefined, args: FLAGS });
  });
  after(() => browser?.close());

  /**
   * Orders in a fresh browser profile, and compares the shop's counters afterwards.
   * @param {string} fault
   * @param {{ requests: number, orders: number }} expected
   * @param {(page: import("playwright-core").Page) => Promise<void>} act
   */
  async function check(fault, expected, act) {
    const context = await browser.newContext({ baseURL: DEMO });
    context.setDefaultTimeout(20_000);
    try {
      const page = await context.newPage();
      await context.request.post("/reset");
      await open(page);
      await page.check(`input[name=fault][value="${fault}"]`);
      await act(page);
      // A second request that waited for the first would leave now.
      await page.waitForTimeout(QUIET_MS);
      assert.deepEqual(await (await context.request.get("/stats")).json(), expected);
    } finally {
      await context.close();
    }
  }

  /** @param {import("playwright-core").Page} page */
  async function open(page) {
    await page.goto("/");
    await ready(page);
  }

  /** @param {import("playwright-core").Page} page */
  async function ready(page) {
    await page.waitForSelector("html[data-oncekey=ready]");
  }

  /**
   * Waits until the card names an order, and another one than before; returns its name.
   * @param {import("playwright-core").Page} page
   * @param {Way} way
   * @param {string} [before]
   */
  async function ordered(page, way, before = "no order before") {
    const name = page.locator(`${way.answer} strong`).filter({ hasText: /^Order \d+$/, hasNotText: before });
    return (await name.textContent()) ?? "";
  }

  for (const way of [HTMX, PLAIN, SCRIPT]) {
    test(`${way.name}: a double click is one request and one order`, () =>
      check("none", { requests: 1, orders: 1 }, async (page) => {
        await page.dblclick(way.button);
        await ordered(page, way);
      }));

    test(`${way.name}: a double click on a slow shop is one request and one order`, () =>
      check("slow", { requests: 1, orders: 1 }, async (page) => {
        await page.dblclick(way.button);
        await ordered(page, way);
      }));

    test(`${way.name}: the next order is a new one`, () =>
      check("none", { requests: 2, orders: 2 }, async (page) => {
        await page.click(way.button);
        const first = await ordered(page, way);
        await ready(page);
        await page.click(`${way.button}:not([aria-disabled=true])`);
        await ordered(page, way, first);
      }));
  }

  for (const way of [HTMX, SCRIPT]) {
    test(`${way.name}: 503 first is retried into one order`, () =>
      check("503", { requests: 2, orders: 1 }, async (page) => {
        await page.click(way.button);
        await ordered(page, way);
      }));

    test(`${way.name}: after a lost answer the same click finds the order`, () =>
      check("lost", { requests: 2, orders: 1 }, async (page) => {
        await page.click(way.button);
        await page.locator('#log [data-event="unknown"]').waitFor();
        await page.click(`${way.button}:not([aria-disabled=true])`);
        await ordered(page, way);
      }));
  }

  for (const fault of ["503", "lost"]) {
    test(`plain form: back after ${fault}, the same submit makes one order`, () =>
      check(fault, { requests: 2, orders: 1 }, async (page) => {
        const answered = page.waitForResponse((answer) => answer.request().method() === "POST");
        await page.click(PLAIN.button);
        assert.ok((await answered).status() >= 400);
        await page.waitForLoadState();
        await page.goBack();
        await ready(page);
        await page.click(`${PLAIN.button}:not([aria-disabled=true])`);
        await ordered(page, PLAIN);
      }));
  }

  for (const way of [HTMX, PLAIN, SCRIPT]) {
    test(`${way.name}: without Oncekey a double click is two orders`, () =>
      check("slow", { requests: 2, orders: 2 }, async (page) => {
        await page.check("#without");
        await page.click(way.button, { noWaitAfter: true });
        await until(async () => (await (await page.request.get("/stats")).json()).requests === 1, "the first request");
        await page.click(way.button, { noWaitAfter: true });
        await until(async () => (await (await page.request.get("/stats")).json()).orders === 2, "the second order");
      }));
  }

  /** The words of the attempts that the page shows, the newest first. @param {import("playwright-core").Page} page */
  const words = (page) => page.locator("#attempts b").allTextContents();

  test("each attempt has a line with what the gate said of it", () =>
    check("none", { requests: 3, orders: 1 }, async (page) => {
      await page.click("#order-thrice");
      await ordered(page, SCRIPT);
      // Which of the two arrives first is open; the third comes after the answer.
      const lines = ["executed", "in-progress", "replayed"];
      await until(async () => `${(await words(page)).sort()}` === `${lines}`, "three lines");
      assert.equal((await words(page))[0], "replayed");
      assert.equal(await page.locator("#list li").count(), 1);
    }));

  test("a click that the page held back has one too", () =>
    check("none", { requests: 1, orders: 1 }, async (page) => {
      await page.dblclick(HTMX.button);
      await ordered(page, HTMX);
      await until(async () => `${(await words(page)).sort()}` === "executed,held", "two lines");
    }));

  test("what is not there is a page with a way back, and a 404", async () => {
    const page = await browser.newPage({ baseURL: DEMO });
    assert.equal((await page.goto("/nowhere"))?.status(), 404);
    await page.getByRole("link", { name: "To the shop" }).click();
    await page.waitForSelector("html[data-oncekey=ready]");
    assert.equal((await page.request.get("/favicon.svg")).headers()["content-type"], "image/svg+xml; charset=utf-8");
    await page.close();
  });

  test("a refund that two people decide at once is paid out once, or not at all", async () => {
    const context = await browser.newContext({ baseURL: DEMO });
    context.setDefaultTimeout(20_000);
    try {
      const page = await context.newPage();
      await open(page);
      const number = `${1 + Math.floor(Math.random() * 1e9)}`;
      await page.fill("#refund-number", number);
      await page.evaluate(() => {
        for (const id of ["ann-approves", "bob-approves", "ann-approves", "bob-rejects"]) document.getElementById(id)?.click();
      });
      const said = async () => (await context.request.get(`/refunds/${number}`)).text();
      await until(async () => /by \w+\./.test(await said()), "a decision");
      const approved = (await said()).includes("approve by");
      await until(async () => (await said()).includes(`made: <b>${approved ? 1 : 0}</b>`), "the payout");
      await page.click("#bob-approves:not([aria-disabled=true])");
      await page.locator("#refund-answer strong").filter({ hasText: /for Bob/ }).waitFor();
      await page.waitForTimeout(QUIET_MS);
      assert.match(await said(), new RegExp(`^<p>History: \\w+ by \\w+\\. Payouts made: <b>${approved ? 1 : 0}</b>\\.</p>$`));
    } finally {
      await context.close();
    }
  });
});
