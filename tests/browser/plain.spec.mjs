// @ts-check
// Plain forms: the key among the fields, and how its outcome is learnt.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { form, keyOf, keysOf, launch, until, visit } from "./server.mjs";

const BODY = form(`method=post action=/orders`);
const FREE = "#order:not([aria-busy]) #buy:not([aria-disabled])";
const DONE = { status: 303, headers: { location: "/done" } };

describe("plain forms", { timeout: 300_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  test("a field and no header, and the submitter's value", () =>
    visit(browser, { body: BODY }, async ({ page, sent }) => {
      await page.click("#buy");
      await page.waitForSelector("#done");
      assert.equal(sent[0]?.header, undefined);
      assert.equal(sent[0]?.fields.length, 1);
      assert.equal(sent[0]?.content, `[["item","tea"],["go","1"]]`);
    }, { "/orders": [DONE] }));

  test("after success and Back, a new key", () =>
    visit(browser, { body: BODY }, async ({ page, sent }) => {
      await page.click("#buy");
      await page.waitForSelector("#done");
      await page.waitForSelector("html[data-oncekey=ready]");
      await page.goBack();
      await page.click(FREE);
      await until(() => sent.length === 2, "sent");
      assert.equal(keysOf(sent), 2);
    }, { "/orders": [DONE] }));

  test("a reload while it runs, the same key", () =>
    visit(browser, { body: BODY }, async ({ page, sent, site }) => {
      await page.evaluate(() => void setTimeout(() => document.getElementById("buy")?.click(), 0));
      await until(() => sent.length === 1, "sent");
      await page.goto(site.url);
      await page.waitForSelector("html[data-oncekey=ready]");
      await page.click(FREE, { noWaitAfter: true });
      await until(() => sent.length === 2, "sent again");
      assert.equal(keysOf(sent), 1);
    }, { "/orders": [{ wait: 20_000 }] }));

  for (const [name, fault] of /** @type {const} */ ([
    ["a 204", { status: 204 }],
    ["a download", { headers: { "content-disposition": "attachment; filename=a.txt" } }],
  ]))
    test(`${name} leaves the page: free once completed; the same content has the same key for a minute, other content another`, () =>
      visit(browser, { body: BODY }, async ({ page, sent }) => {
        await page.click("#buy");
        await until(() => sent.length === 1, "sent");
        await page.waitForSelector(FREE);
        await page.click(FREE);
        await until(() => sent.length === 2, "sent");
        assert.equal(keysOf(sent), 1);
        await page.waitForSelector(FREE);
        await page.fill("[name=item]", "another");
        await page.click(FREE);
        await until(() => sent.length === 3, "sent");
        assert.equal(keysOf(sent), 2);
      }, { "/orders": [fault] }));

  test("form.submit() is refused while its content is under way, and is another intent with other content", () =>
    visit(browser, { body: BODY }, async ({ page, sent }) => {
      await page.evaluate(() => {
        const form = /** @type {HTMLFormElement} */ (document.getElementById("order"));
        const item = /** @type {HTMLInputElement} */ (form.elements.namedItem("item"));
        form.target = "elsewhere";
        document.body.insertAdjacentHTML("beforeend", "<iframe name=elsewhere></iframe>");
        setTimeout(() => form.submit(), 10);
        setTimeout(() => form.submit(), 300);
        setTimeout(() => {
          item.value = "another";
          form.submit();
        }, 400);
      });
      await until(() => sent.length === 2, "both");
      await page.waitForTimeout(500);
      assert.equal(sent.length, 2);
      assert.equal(keysOf(sent), 2);
    }, { "/orders": [{ wait: 1500 }] }));

  test("a script's own FormData is left alone", () =>
    visit(browser, { body: BODY }, async ({ page }) => {
      const names = await page.evaluate(() => [...new FormData(/** @type {HTMLFormElement} */ (document.getElementById("order"))).keys()]);
      assert.deepEqual(names, ["item"]);
    }));

  test("a prevented submit and a failed validation lock nothing", () =>
    visit(browser, { body: form(`method=post action=/orders`, `<input id=must name=must required>`) }, async ({ page, sent }) => {
      await page.click("#buy");
      assert.equal(await page.locator(FREE).count(), 1);
      await page.fill("#must", "x");
      await page.evaluate(() => addEventListener("submit", (event) => event.preventDefault(), { once: true }));
      await page.click("#buy");
      assert.equal(await page.locator(FREE).count(), 1);
      await page.click("#buy");
      await until(() => sent.length === 1, "sent");
    }));

  test("controls never shadow the form's attributes", () => {
    const traps = ["id", "action", "method", "submit", "elements", "getAttribute"].map((name) => `<input name=${name} value=x>`).join("");
    return visit(browser, { body: form(`method=post action=/orders`, traps) }, async ({ page, sent }) => {
      await page.evaluate(() => document.getElementById("buy")?.click());
      await page.waitForSelector(".answer");
      assert.ok(keyOf(sent[0]));
    });
  });

  test("the submitter's own address is another intent; a GET has no key", () => {
    const body = form(`method=post action=/orders`, `<button id=draft formaction=/drafts>x</button>`) + `<form action=/find><button id=find>f</button></form>`;
    return visit(browser, { body }, async ({ page, sent, site }) => {
      await page.click("#buy");
      await page.waitForSelector(".answer");
      await page.goto(site.url);
      await page.click("#draft");
      await until(() => sent.length === 2, "draft");
      assert.equal(keysOf(sent), 2);
      assert.equal(sent[1]?.path, "/drafts");
      await page.goto(site.url);
      await page.click("#find");
      await page.waitForURL(/find/);
      assert.ok(!page.url().includes("idempotency"));
    }, { "/orders": [{ status: 500 }] });
  });
});
