// @ts-check
// A page that was left and that Back shows again as it was: from the browser's own cache, with its forms as they were left.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { form, keyOf, keysOf, launch, script, until, visit } from "./server.mjs";

/** @typedef {import("playwright-core").Page} Page */

const BUSY = "#order[aria-busy=true] #buy[aria-disabled=true]";
const FREE = "#order:not([aria-busy]) #buy:not([aria-disabled])";
const HTMX = `hx-post=/orders hx-target=#out hx-retry=0`;
const PLAIN = `method=post action=/orders`;
const DONE = { status: 303, headers: { location: "/done" } };
/** A page that its server lets a browser keep. @param {string} attributes @param {string} [head] */
const kept = (attributes, head = "") => ({ body: form(attributes), head, headers: { "cache-control": "no-cache" } });
const WAYS = /** @type {const} */ ([
  ["htmx1", kept(HTMX, script("htmx1"))],
  ["htmx2", kept(HTMX, script("htmx2"))],
  ["htmx4", kept(HTMX, script("htmx4"))],
  ["plain", kept(PLAIN)],
]);

/** Back to the page that was left: the very same document, or the case is about nothing. @param {Page} page */
async function back(page) {
  await page.waitForSelector("html:not(:has(#order))", { state: "attached" });
  await page.goBack({ waitUntil: "commit" });
  await page.waitForSelector("#order");
  const [shown, why] = await page.evaluate(() => {
    const entry = /** @type {any} */ (performance.getEntriesByType("navigation")[0]);
    return [/** @type {any} */ (window).shown, JSON.stringify(entry.notRestoredReasons)];
  });
  assert.equal(shown, true, `shown as it was: ${why}`);
}

/** What says busy. @param {Page} page */
const marks = (page) =>
  page.evaluate(() => [
    document.querySelectorAll("[aria-busy], [aria-disabled], [disabled]").length,
    [...document.querySelectorAll("[role=status]")].map((region) => region.textContent).join(""),
  ]);

/** Clicks, and once sent says what is busy: in the page, since a driver waits for a navigation under way. @param {Page} page */
const start = (page) =>
  page.evaluate(
    (busy) =>
      new Promise((resolve) => {
        document.addEventListener("oncekey:issued", () => setTimeout(() => resolve(document.querySelectorAll(busy).length)), { once: true });
        setTimeout(() => document.getElementById("buy")?.click());
      }),
    BUSY,
  );

describe("Back", { timeout: 300_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch(["--disable-back-forward-cache"]);
  });
  after(() => browser?.close());

  /**
   * A page that notes how it is shown, and its way away.
   * @param {typeof WAYS[number][1]} page
   * @param {(at: Parameters<Parameters<typeof visit>[2]>[0] & { leave: () => Promise<unknown> }) => Promise<void>} act
   * @param {Parameters<typeof visit>[3]} [plans]
   */
  const check = (page, act, plans) =>
    visit(browser, page, async (at) => {
      await at.page.evaluate(() => addEventListener("pageshow", (event) => void (/** @type {any} */ (window).shown = event.persisted)));
      await act({ ...at, leave: () => at.page.goto(`${at.site.url}done`) });
    }, plans);

  for (const [way, page] of WAYS) {
    test(`${way}: an idle page is kept, twice, and its form works`, () =>
      check(page, async ({ page, sent, leave }) => {
        for (let times = 2; times--; ) {
          await leave();
          await back(page);
        }
        await page.click(FREE, { noWaitAfter: true });
        await until(() => sent.length === 1, "sent");
        assert.ok(keyOf(sent[0]));
      }));

    test(`${way}: left while busy, its answer lost: free, no marks, the same key`, () => {
      const { after, end } = latch();
      return check(page, async ({ page, sent, leave }) => {
        assert.equal(await start(page), 1);
        await until(() => sent.length === 1, "sent");
        await leave();
        end();
        await back(page);
        await page.waitForSelector(FREE);
        assert.deepEqual(await marks(page), [0, ""]);
        await page.click(FREE, { noWaitAfter: true });
        await until(() => sent.length > 1, "sent again");
        assert.equal(keysOf(sent), 1);
      }, { "/orders": [{ after, drop: true }] });
    });

    test(`${way}: left while busy, free after Back; clicked again while the first still runs: one key`, () => {
      const { after, end } = latch();
      return check(page, async ({ page, sent, leave }) => {
        assert.equal(await start(page), 1);
        await until(() => sent.length === 1, "sent");
        await leave();
        await back(page);
        await page.waitForSelector(FREE);
        assert.deepEqual(await marks(page), [0, ""]);
        await page.click(FREE, { noWaitAfter: true });
        end();
        // htmx's request goes on where it was, and the click waits for it; a plain form's was the page's way away.
        await page.waitForSelector(".answer");
        await page.waitForTimeout(500);
        assert.equal(keysOf(sent), 1, `${sent.length} requests`);
      }, { "/orders": [{ after }, {}] });
    });

    // Whoever left a plain form's page saw no answer: the next click finds it.
    const then = way === "plain" ? "the same key" : "a new key";
    test(`${way}: left while busy, successful meanwhile: free, and ${then}`, () => {
      const { after, end } = latch();
      return check(page, async ({ page, sent, leave }) => {
        assert.equal(await start(page), 1);
        await until(() => sent.length === 1, "sent");
        await leave();
        end();
        await back(page);
        await page.waitForSelector(FREE);
        assert.deepEqual(await marks(page), [0, ""]);
        if (way !== "plain") await page.waitForSelector(".answer");
        await page.click(FREE, { noWaitAfter: true });
        await until(() => sent.length === 2, "sent again");
        assert.equal(keysOf(sent), way === "plain" ? 1 : 2);
      }, { "/orders": [{ after }, {}] });
    });
  }

  /** @type {[name: string, then: string, answer: import("./server.mjs").Fault, shown: string, keys: number][]} */
  const ended = [
    ["success", "a new key", DONE, "#done", 2],
    ["a failure", "the same key", { status: 500 }, ".answer", 1],
  ];
  for (const [name, then, answer, shown, keys] of ended)
    test(`plain: after ${name} and Back, free, no marks, ${then}`, () =>
      check(kept(PLAIN), async ({ page, sent }) => {
        await page.click("#buy");
        await page.waitForSelector(shown);
        await back(page);
        await page.waitForSelector(FREE);
        assert.deepEqual(await marks(page), [0, ""]);
        await page.click(FREE);
        await until(() => sent.length === 2, "sent again");
        assert.equal(keysOf(sent), keys);
      }, { "/orders": [answer] }));

  for (const htmx of ["htmx2", "htmx4"])
    test(`${htmx}: after success, elsewhere and Back, a new key`, () =>
      check(kept(HTMX, script(htmx)), async ({ page, sent, leave }) => {
        await page.click("#buy");
        await page.waitForSelector(".answer");
        await page.waitForSelector(FREE);
        await leave();
        await back(page);
        await page.click(FREE);
        await until(() => sent.length === 2, "sent again");
        assert.equal(keysOf(sent), 2);
      }));
});

/** Something to wait for, and what ends it. */
function latch() {
  /** @type {(value?: any) => void} */
  let end = () => {};
  return { after: new Promise((resolve) => (end = resolve)), end: () => end() };
}
