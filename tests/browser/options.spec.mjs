// @ts-check
// What `start` can be told, and what htmx can be told that concerns the module.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { form, keyOf, launch, script, serve, until, visit } from "./server.mjs";

const BODY = form(`hx-post=/orders hx-target=#out`, `<button id=off disabled>off</button>`);
const SLOW = { "/orders": [{ wait: 500 }] };
const CONFIG = (/** @type {object} */ config) => `<meta name=htmx-config content='${JSON.stringify(config)}'>`;

/** Sets options as a page's own script does. @param {import("playwright-core").Page} page @param {object} options */
const start = (page, options) =>
  page.evaluate(async (options) => {
    const { start } = await import(/** @type {any} */ ("/oncekey.js"));
    await start(options);
  }, options);

/** @param {import("playwright-core").Page} page @param {string} url @param {object} [options] */
const send = (page, url, options) =>
  page.evaluate(
    async ([url, options]) => {
      const { send } = await import(/** @type {any} */ ("/oncekey.js"));
      return (await send(url, { method: "POST", body: "x" }, options)).status;
    },
    /** @type {const} */ ([url, options]),
  );

describe("options", { timeout: 300_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  test("disable: the submitter is disabled too, and only it is enabled again", () =>
    visit(browser, { body: BODY, head: script("htmx2") }, async ({ page, sent }) => {
      await start(page, { disable: true });
      await page.click("#buy");
      await until(() => sent.length, "sent");
      assert.equal(await page.locator("#buy[disabled][aria-disabled=true]").count(), 1);
      assert.match(sent[0]?.content ?? "", /"go","1"/, "its value is sent all the same");
      await page.waitForSelector("#buy:not([disabled]):not([aria-disabled])");
      assert.equal(await page.locator("#off[disabled]").count(), 1);
    }, { "/orders": [{ wait: 2000 }] }));

  test("disable: a page whose form nobody's button sent leaves without an error", () =>
    visit(browser, { body: BODY, head: script("htmx2") }, async ({ page, sent, site }) => {
      await start(page, { disable: true });
      await page.evaluate(() => {
        addEventListener("error", () => void navigator.sendBeacon("/error"));
        document.querySelector("form")?.requestSubmit();
      });
      await page.waitForSelector(".answer");
      await page.evaluate(() => addEventListener("pagehide", () => void navigator.sendBeacon("/left")));
      await page.goto(`${site.url}done`);
      await until(() => sent.some((one) => one.path === "/left"), "left");
      assert.ok(!sent.some((one) => one.path === "/error"));
    }));

  test("origins: another web origin gets the key only where it is listed", async () => {
    const other = await serve();
    const headers = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
    other.plan("/orders", { headers });
    const posts = () => other.sent.filter((one) => one.method === "POST").map(keyOf);
    try {
      await visit(browser, { body: "" }, async ({ page }) => {
        const url = new URL("/orders", other.url);
        assert.equal(await send(page, url.href), 200);
        await start(page, { origins: [url.origin] });
        assert.equal(await send(page, url.href), 200);
        const [without, listed] = posts();
        assert.equal(without, undefined);
        assert.match(listed ?? "", /^[0-9a-f-]{36}$/);
      });
    } finally {
      other.close();
    }
  });

  test("field: the form's field has the name that the policy says", () =>
    visit(browser, { body: form("method=post action=/orders") }, async ({ page, sent }) => {
      await start(page, { field: "once" });
      await page.click("#buy");
      await page.waitForSelector(".answer");
      assert.match(sent[0]?.content ?? "", /\["once","[0-9a-f-]{36}"\]/);
      assert.deepEqual(sent[0]?.fields, []);
    }));

  test("retry: what holds where an element or a call says nothing", () =>
    visit(browser, { body: BODY, head: script("htmx2") }, async ({ page, sent }) => {
      await start(page, { retry: "10ms,2" });
      await page.click("#buy");
      await until(() => sent.length === 3, "two retries");
      await page.waitForSelector("#order:not([aria-busy])");
      assert.equal(await send(page, "/jobs", {}), 503);
      assert.equal(sent.filter((one) => one.path === "/jobs").length, 3);
    }, { "/orders": [{ status: 503 }], "/jobs": [{ status: 503 }] }));

  test("htmx 4: its own time limit counts for each attempt, not for all of them", () =>
    visit(browser, { body: form(`hx-post=/orders hx-target=#out hx-retry=3`), head: CONFIG({ defaultTimeout: 2500 }) + script("htmx4") }, async ({ page, sent }) => {
      await page.click("#buy");
      await page.waitForSelector(".answer");
      assert.equal(sent.length, 2);
    }, { "/orders": [{ status: 503, headers: { "retry-after": "3" } }, {}] }));

  test("htmx 4: an attempt that takes too long is tried again", () =>
    visit(browser, { body: form(`hx-post=/orders hx-target=#out hx-retry="10ms,3"`), head: CONFIG({ defaultTimeout: 1500 }) + script("htmx4") }, async ({ page, sent }) => {
      await page.click("#buy");
      await page.waitForSelector(".answer");
      assert.equal(sent.length, 2);
      assert.equal(keyOf(sent[0]), keyOf(sent[1]));
    }, { "/orders": [{ wait: 30_000 }, {}] }));

  for (const [name, head] of [
    ["htmx 4 with its compatibility extension", script("htmx4") + script("htmx4-compat")],
    ["htmx 4 with names of events of its own", CONFIG({ metaCharacter: "-" }) + script("htmx4")],
  ])
    test(`${name}: two clicks, one request, one issue`, () =>
      visit(browser, { body: BODY, head }, async ({ page, sent, said }) => {
        await page.evaluate(() => (document.getElementById("buy")?.click(), document.getElementById("buy")?.click()));
        await page.waitForSelector(".answer");
        await page.waitForTimeout(700);
        assert.equal(sent.length, 1);
        assert.equal(sent[0]?.header, sent[0]?.fields[0]);
        assert.ok(keyOf(sent[0]));
        assert.deepEqual((await said()).map((event) => event.name), ["blocked", "issued", "settled"].sort((a) => (a === "issued" ? -1 : 0)));
      }, SLOW));
});
