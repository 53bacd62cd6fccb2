// @ts-check
// Which key a request carries: when it stays, when it changes, whose it is.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { form, keyOf, keysOf, launch, script, until, visit } from "./server.mjs";

const BODY = form(`hx-post=/orders hx-target=#out`);
const VERSIONS = ["htmx1", "htmx2", "htmx4"];
const GONE = { drop: true };
const NO = { status: 422 };
const FREE = "#order:not([aria-busy]) #buy:not([aria-disabled])";

/** Buys, and waits until the form is free. @param {import("playwright-core").Page} page @param {any[]} sent */
async function buy(page, sent) {
  const before = sent.length;
  await page.click(FREE);
  await until(() => sent.length > before, "sent");
  await page.waitForSelector(FREE);
}

describe("keys", { timeout: 300_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  for (const htmx of VERSIONS) {
    const head = script(htmx);
    test(`${htmx}: a new key after success`, () =>
      visit(browser, { body: BODY, head }, async ({ page, sent }) => {
        await buy(page, sent);
        await buy(page, sent);
        assert.equal(keysOf(sent), 2);
        assert.equal(sent[0]?.header, sent[0]?.fields[0]);
      }));

    test(`${htmx}: the same key after no answer, also over a reload`, () =>
      visit(browser, { body: BODY, head }, async ({ page, sent, site }) => {
        await buy(page, sent);
        site.plan("/orders", {});
        const lost = sent.length;
        await page.reload();
        await page.waitForSelector("html[data-oncekey=ready]");
        await buy(page, sent);
        assert.equal(keysOf(sent), 1);
        assert.ok(sent.length > lost);
      }, { "/orders": [GONE] }));

    test(`${htmx}: declined, the same content keeps the key and other content does not`, () =>
      visit(browser, { body: BODY, head }, async ({ page, sent }) => {
        await buy(page, sent);
        await buy(page, sent);
        await page.fill("#item", "coffee");
        await buy(page, sent);
        assert.equal(keyOf(sent[0]), keyOf(sent[1]));
        assert.notEqual(keyOf(sent[1]), keyOf(sent[2]));
      }, { "/orders": [NO, NO, {}] }));

    test(`${htmx}: edited while the outcome is unknown, the key stays and the page hears of it`, () =>
      visit(browser, { body: BODY, head }, async ({ page, sent, said }) => {
        await buy(page, sent);
        await page.fill("#item", "coffee");
        await buy(page, sent);
        assert.equal(keysOf(sent), 1);
        assert.ok((await said()).some((event) => event.name === "unknown" && event.reason === "edited"));
        await buy(page, sent);
        assert.equal(keysOf(sent), 2, "a mismatch ended the intent");
      }, { "/orders": [{ status: 500 }, { status: 422, headers: { "idempotency-status": "mismatch" } }, {}] }));

    test(`${htmx}: methods with an effect only, and never in an address`, () => {
      const body = ["get", "delete", "put"].map((verb) => `<button id=${verb} hx-${verb}=/${verb} hx-target=#out>${verb}</button>`).join("");
      return visit(browser, { body, head }, async ({ page, sent }) => {
        await page.click("#delete");
        await until(() => sent.length === 1, "deleted");
        await page.click("#put");
        await until(() => sent.length === 2, "put");
        await page.click("#get");
        assert.ok(sent[0]?.header && sent[1]?.header);
        assert.ok(!sent.some((one) => one.path.includes("idempotency")));
      });
    });
  }

  test("a warm connection that breaks: the browser itself sends the click again, with the same key", () =>
    visit(browser, { body: BODY, head: script("htmx2") }, async ({ page, sent }) => {
      await page.evaluate(() => fetch("/warm", { method: "POST" }).then((answer) => answer.text()));
      await page.click("#buy");
      await page.waitForSelector(".answer");
      const orders = sent.filter((one) => one.path === "/orders");
      assert.ok(orders.length > 1, "one click, more than one request");
      assert.equal(keysOf(orders), 1);
    }, { "/orders": [GONE, {}] }));

  test("the person's own decision ends an intent", () =>
    visit(browser, { body: BODY, head: script("htmx2") }, async ({ page, sent }) => {
      await buy(page, sent);
      await page.evaluate(async () => {
        const { renew } = await import(/** @type {any} */ ("/oncekey.js"));
        await renew(document.getElementById("order"));
      });
      await buy(page, sent);
      assert.equal(keysOf(sent), 2);
    }, { "/orders": [{ status: 500 }] }));

  test("a natural key is sent as written, each time", () =>
    visit(browser, { body: form(`hx-post=/orders hx-target=#out data-once-key="order-7-shipped"`), head: script("htmx2") }, async ({ page, sent }) => {
      await buy(page, sent);
      await buy(page, sent);
      assert.deepEqual(sent.map(keyOf), ["order-7-shipped", "order-7-shipped"]);
    }));

  test("a field of the author's own is adopted", () =>
    visit(browser, { body: form(`hx-post=/orders hx-target=#out`, `<input type=hidden name=idempotency_key value=mine>`), head: script("htmx4") }, async ({ page, sent }) => {
      await buy(page, sent);
      assert.deepEqual([sent[0]?.header, sent[0]?.fields], ["mine", ["mine"]]);
    }));

  test("twins without a name are told apart by their place", () => {
    const twin = (/** @type {string} */ id) => `<form hx-post=/orders hx-target=#out><button class=${id}>x</button></form>`;
    return visit(browser, { body: twin("a") + twin("b"), head: script("htmx2") }, async ({ page, sent }) => {
      await page.click(".a");
      await page.click(".b");
      await until(() => sent.length === 2, "both");
      assert.equal(keysOf(sent), 2);
    }, { "/orders": [{ wait: 500 }] });
  });

  test("a tab that has no room for a key keeps it in memory", () =>
    visit(browser, { body: BODY, head: script("htmx2") }, async ({ page, sent }) => {
      await page.evaluate(() => {
        for (let size = 2 ** 22; size; size >>= 1)
          for (let n = 0; n < 9; n++)
            try {
              sessionStorage[`${size} ${n}`] = "x".repeat(size);
            } catch {
              break;
            }
      });
      await buy(page, sent);
      await buy(page, sent);
      assert.equal(await page.evaluate(() => Object.keys(sessionStorage).filter((name) => /^oncekey:./.test(name)).length), 0, "there was no room");
      assert.equal(keysOf(sent), 1);
    }, { "/orders": [{ status: 500 }] }));

  test("a window that the page opens has keys of its own", () =>
    visit(browser, { body: BODY, head: script("htmx2") }, async ({ page, sent, site }) => {
      await buy(page, sent);
      const [copy] = await Promise.all([page.waitForEvent("popup"), page.evaluate((url) => void open(url), site.url)]);
      await copy.waitForSelector("html[data-oncekey=ready]");
      await buy(copy, sent);
      assert.equal(keysOf(sent), 2);
      await buy(page, sent);
      assert.equal(keyOf(sent[2]), keyOf(sent[0]));
    }, { "/orders": [{ status: 500 }] }));
});
