// @ts-check
// Another attempt: when it is made, and that it is the first one's equal.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { form, keysOf, launch, script, until, visit } from "./server.mjs";

const BUSY = { status: 503, body: "<p class=busy>busy</p>", headers: { "retry-after": "1" } };
const BODY = form(`hx-post=/orders hx-target=#out hx-retry=3 hx-encoding=multipart/form-data enctype=multipart/form-data`, `<input id=file type=file name=file>`);

describe("retries", { timeout: 300_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  for (const htmx of ["htmx1", "htmx2", "htmx4"]) {
    const head = script(htmx);
    test(`${htmx}: edits and a disabled button do not change what is sent again, files included`, () =>
      visit(browser, { body: BODY, head }, async ({ page, sent, said }) => {
        await page.setInputFiles("#file", { name: "ä.bin", mimeType: "application/octet-stream", buffer: Buffer.from([0, 255, 10, 13]) });
        await page.click("#buy");
        await until(() => sent.length === 1, "sent");
        await page.evaluate(() => {
          /** @type {HTMLInputElement} */ (document.getElementById("item")).value = "coffee";
          /** @type {HTMLButtonElement} */ (document.getElementById("buy")).disabled = true;
        });
        await page.waitForSelector(".answer");
        assert.equal(sent.length, 3);
        assert.equal(keysOf(sent), 1);
        assert.deepEqual(new Set(sent.map((one) => one.content)).size, 1);
        assert.ok(sent[0]?.content.includes("ä.bin") && sent[0].content.includes(`"go"`));
        assert.ok(sent.slice(1).every((one, n) => one.at - /** @type {any} */ (sent[n]).at >= 950), "Retry-After is the least");
        assert.deepEqual((await said()).map((event) => event.name), ["issued", "retry", "retry", "settled"]);
        assert.equal(await page.locator(".busy").count(), 0);
      }, { "/orders": [BUSY, BUSY, {}] }));

    test(`${htmx}: a broken connection is tried again, a refusal is not`, () => {
      const other = `<form id=no hx-post=/no hx-target=#out hx-retry=3><button id=refused>x</button></form>`;
      return visit(browser, { body: form(`hx-post=/orders hx-target=#out hx-retry="100ms,3"`) + other, head }, async ({ page, sent }) => {
        await page.click("#buy");
        await page.waitForSelector(".answer");
        await page.click("#refused");
        await page.waitForTimeout(1500);
        assert.equal(sent.filter((one) => one.path === "/no").length, 1);
        assert.equal(keysOf(sent.filter((one) => one.path === "/orders")), 1);
      }, { "/orders": [{ drop: true }, {}], "/no": [{ status: 409 }] });
    });

    test(`${htmx}: nobody asked, so only "in progress" is tried again`, () => {
      const progress = { status: 409, headers: { "idempotency-status": "in-progress", "retry-after": "1" } };
      const other = `<form id=no hx-post=/no hx-target=#out><button id=failed>x</button></form>`;
      return visit(browser, { body: form(`hx-post=/orders hx-target=#out`) + other, head }, async ({ page, sent }) => {
        await page.click("#failed");
        await page.click("#buy");
        await page.waitForSelector(".answer");
        assert.deepEqual(sent.map((one) => one.path), ["/no", "/orders", "/orders"]);
      }, { "/orders": [progress, {}], "/no": [{ status: 503, body: "no" }] });
    });

    test(`${htmx}: so many retries, then the answer is shown and the form is free`, () =>
      visit(browser, { body: form(`hx-post=/orders hx-target=#out hx-retry="10ms,2"`), head }, async ({ page, sent, said }) => {
        await page.click("#buy");
        await page.waitForSelector("#order:not([aria-busy])");
        await until(async () => (await said()).some((event) => event.name === "unknown"), "said unknown");
        assert.equal(sent.length, 3);
      }, { "/orders": [{ status: 502 }] }));

    test(`${htmx}: a wait that is too long is not waited for`, () =>
      visit(browser, { body: form(`hx-post=/orders hx-target=#out hx-retry=3`), head }, async ({ page, sent }) => {
        await page.click("#buy");
        await until(() => sent.length, "sent");
        await page.waitForSelector("#order:not([aria-busy])");
        assert.equal(sent.length, 1);
      }, { "/orders": [{ status: 503, headers: { "retry-after": "61" } }] }));
  }
});
