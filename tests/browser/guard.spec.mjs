// @ts-check
// A second submit by any door is refused, and nothing else is.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { form, keyOf, launch, script, until, visit } from "./server.mjs";

const SLOW = { "/orders": [{ wait: 500 }] };
const HTMX = `hx-post=/orders hx-target=#out`;

/** @type {[string, string, string][]} a way of ordering: its name, the page, what the head loads */
const WAYS = [
  ["htmx 1.9", form(HTMX), script("htmx1")],
  ["htmx 2", form(HTMX), script("htmx2")],
  ["htmx 4", form(HTMX), script("htmx4")],
  ["boosted in htmx 2", form(`method=post action=/orders hx-boost=true`), script("htmx2")],
  ["plain", form(`method=post action=/orders`), ""],
];

/** @type {[string, () => void][]} doors, as a page's own scripts open them twice in one task */
const DOORS = [
  ["two clicks", () => (document.getElementById("buy")?.click(), document.getElementById("buy")?.click())],
  ["a click and requestSubmit()", () => (document.getElementById("buy")?.click(), document.querySelector("form")?.requestSubmit())],
  ["requestSubmit() twice", () => (document.querySelector("form")?.requestSubmit(), document.querySelector("form")?.requestSubmit())],
];

describe("guard", { timeout: 300_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  for (const [way, body, head] of WAYS) {
    for (const [door, open] of DOORS)
      test(`${way}: ${door} are one request`, () =>
        visit(browser, { body, head }, async ({ page, sent }) => {
          await page.evaluate(open);
          await page.waitForTimeout(1200);
          assert.equal(sent.length, 1);
          assert.match(keyOf(sent[0]) ?? "", /^[0-9a-f-]{36}$/);
        }, SLOW));

    test(`${way}: a double click and Enter are one request`, () =>
      visit(browser, { body, head }, async ({ page, sent }) => {
        const box = await page.locator("#buy").boundingBox();
        assert.ok(box);
        await page.mouse.dblclick(box.x + 3, box.y + 3);
        await page.keyboard.press("Enter");
        await page.waitForTimeout(1200);
        assert.equal(sent.length, 1);
      }, SLOW));
  }

  for (const htmx of ["htmx1", "htmx2", "htmx4"]) {
    test(`${htmx}: busy is said and exactly undone`, () => {
      const inner = `<button id=off disabled>off</button>`;
      return visit(browser, { body: form(HTMX, inner), head: script(htmx) }, async ({ page, sent }) => {
        const marks = () =>
          page.evaluate(() => ["order", "buy", "off"].map((id) => document.getElementById(id)?.cloneNode(false)).map((e) => /** @type {Element} */ (e).getAttributeNames().filter((n) => /^(aria-|disabled)/.test(n)).join()));
        await page.click("#buy");
        await until(() => sent.length, "sent");
        assert.deepEqual(await marks(), ["aria-busy", "aria-disabled", "disabled"]);
        assert.equal(await page.locator("[role=status]").textContent(), "Sending…");
        await page.waitForSelector(".answer");
        await until(async () => !(await marks())[0], "free");
        assert.deepEqual(await marks(), ["", "", "disabled"]);
        assert.equal(await page.locator("[role=status]").textContent(), "");
      }, { "/orders": [{ wait: 2000 }] });
    });

    test(`${htmx}: other triggers pass while a form is busy`, () => {
      const search = `<input id=q name=q hx-post=/search hx-trigger=keyup hx-target=#out>`;
      return visit(browser, { body: form(HTMX, search), head: script(htmx) }, async ({ page, sent }) => {
        await page.click("#buy");
        await until(() => sent.length, "sent");
        await page.locator("#q").press("x");
        await until(() => sent.length === 2, "the search");
        assert.equal(keyOf(sent[1]), undefined);
      }, SLOW);
    });

    test(`${htmx}: two forms are two locks`, () => {
      const other = form(HTMX).replaceAll("order ", "other ").replaceAll("buy", "sell");
      return visit(browser, { body: form(HTMX) + other, head: script(htmx) }, async ({ page, sent }) => {
        await page.click("#buy");
        await page.click("#sell");
        await until(() => sent.length === 2, "both");
        assert.notEqual(keyOf(sent[0]), keyOf(sent[1]));
      }, SLOW);
    });
  }

  test("off is off", () =>
    visit(browser, { body: `<div data-once=off>${form(HTMX)}</div>`, head: script("htmx2") }, async ({ page, sent }) => {
      await page.evaluate(() => (document.getElementById("buy")?.click(), document.getElementById("buy")?.click()));
      await until(() => sent.length === 2, "both");
      assert.equal(keyOf(sent[0]), undefined);
    }, SLOW));

  test("two copies of the module are one", () =>
    visit(browser, { body: form(HTMX), head: `${script("htmx2")}<script type=module src=/oncekey2.js></script>` }, async ({ page, sent, said }) => {
      await page.click("#buy");
      await page.waitForSelector(".answer");
      assert.equal(sent.length, 1);
      assert.deepEqual((await said()).map((event) => event.name), ["issued", "settled"]);
    }));
});
