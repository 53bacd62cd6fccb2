// @ts-check
// Every way out: what was marked is undone, and what ends a wait for another attempt.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { form, keysOf, launch, script, until, visit } from "./server.mjs";

const HTMX = `hx-post=/orders hx-target=#out`;
const SLOW = { "/orders": [{ wait: 800 }] };
const BUSY = "#order[aria-busy=true]";
const FREE = "#order:not([aria-busy]) #buy:not([aria-disabled])";
const SEND = { body: "", head: `<script type=module>import { send } from "/oncekey.js"; window.send = send;</script>` };

/** Sends by script, and says how it ended. @param {import("playwright-core").Page} page @param {object} options */
const send = (page, options) =>
  page.evaluate(
    (options) => /** @type {any} */ (window).send("/orders", { method: "POST", body: "x" }, options).then((/** @type {Response} */ answer) => answer.status, String),
    options,
  );

describe("ends", { timeout: 300_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  for (const htmx of ["htmx1", "htmx2"])
    test(`${htmx}: a history snapshot of a busy page shows nothing busy`, () => {
      const link = `<a id=away hx-get=/done hx-push-url=true hx-target=#out>away</a>`;
      return visit(browser, { body: form(HTMX) + link, head: script(htmx) }, async ({ page }) => {
        await page.click("#buy");
        await page.waitForSelector(BUSY);
        await page.click("#away");
        await page.waitForSelector("#done");
        const kept = await page.evaluate(() => sessionStorage.getItem("htmx-history-cache") ?? localStorage.getItem("htmx-history-cache") ?? "");
        assert.match(kept, /id=\\?"order/, "there is a snapshot");
        assert.doesNotMatch(kept, /aria-busy|aria-disabled|Sending/);
      }, { "/orders": [{ wait: 3000 }] });
    });

  for (const htmx of ["htmx1", "htmx2", "htmx4"]) {
    test(`${htmx}: of two busy forms, the first to end leaves the other's marks`, () => {
      const other = form(`hx-post=/slow hx-target=#out2`).replaceAll("id=order", "id=other").replaceAll("id=buy", "id=sell");
      /** @type {(value?: any) => void} */
      let end = () => {};
      const after = new Promise((resolve) => (end = resolve));
      return visit(browser, { body: form(HTMX) + other + `<div id=out2></div>`, head: script(htmx) }, async ({ page }) => {
        await page.click("#sell");
        await page.click("#buy");
        await page.waitForSelector(FREE);
        assert.equal(await page.locator("#other[aria-busy=true] #sell[aria-disabled=true]").count(), 1);
        assert.equal(await page.locator("[role=status]").textContent(), "Sending…");
        end();
        await page.waitForSelector("#other:not([aria-busy]) #sell:not([aria-disabled])");
        assert.equal(await page.locator("[role=status]").textContent(), "");
      }, { "/orders": [{ wait: 200 }], "/slow": [{ after }] });
    });

    test(`${htmx}: a form that its answer replaces can be sent again, with a new key`, () => {
      const answer = form(`hx-post=/orders hx-swap=outerHTML`);
      return visit(browser, { body: answer, head: script(htmx) }, async ({ page, sent }) => {
        for (const n of [1, 2]) {
          await page.click(FREE);
          await until(() => sent.length === n, "sent");
          await page.waitForSelector(FREE);
        }
        assert.equal(keysOf(sent), 2);
      }, { "/orders": [{ body: answer, wait: 100 }] });
    });

    test(`${htmx}: a form that is removed while it is busy leaves no lock behind`, () =>
      visit(browser, { body: form(HTMX), head: script(htmx) }, async ({ page, sent }) => {
        await page.click("#buy");
        await page.waitForSelector(BUSY);
        await page.evaluate(() => {
          const form = /** @type {HTMLElement} */ (document.getElementById("order"));
          const [parent, html] = [/** @type {HTMLElement} */ (form.parentElement), form.outerHTML.replace(/ aria-\w+="true"/g, "")];
          form.remove();
          setTimeout(() => {
            parent.insertAdjacentHTML("beforeend", html);
            /** @type {any} */ (window).htmx.process(document.getElementById("order"));
          }, 1500);
        });
        await page.waitForSelector(FREE);
        await page.click(FREE);
        await until(() => sent.length === 2, "sent again");
      }, SLOW));

    test(`${htmx}: a question answered with no locks nothing`, () =>
      visit(browser, { body: form(`${HTMX} hx-confirm="Really?"`), head: script(htmx) }, async ({ page, sent }) => {
        page.once("dialog", (dialog) => dialog.dismiss());
        await page.click("#buy");
        assert.equal(await page.locator(FREE).count(), 1);
        page.once("dialog", (dialog) => dialog.accept());
        await page.click("#buy");
        await page.waitForSelector(".answer");
        assert.equal(sent.length, 1);
      }));

    test(`${htmx}: Retry-After as a date is read by the server's own clock`, () => {
      const [now, then] = [784111777000, 784111778000].map((at) => new Date(at).toUTCString());
      return visit(browser, { body: form(`${HTMX} hx-retry=1`), head: script(htmx) }, async ({ page, sent, said }) => {
        await page.click("#buy");
        await page.waitForSelector(".answer");
        assert.equal(sent.length, 2);
        const retry = (await said()).find((event) => event.name === "retry");
        assert.ok(retry.delay >= 1000 && retry.delay < 2000, `${retry.delay} ms`);
      }, { "/orders": [{ status: 503, headers: { date: now ?? "", "retry-after": then ?? "" } }, {}] });
    });

    test(`${htmx}: taken back between two attempts, the form is free and nothing more is sent`, () =>
      visit(browser, { body: form(`${HTMX} hx-retry=3`), head: script(htmx) }, async ({ page, sent, said }) => {
        await page.click("#buy");
        await until(async () => (await said()).some((event) => event.name === "retry"), "waits");
        await page.evaluate(() => /** @type {any} */ (window).htmx.trigger("#order", "htmx:abort"));
        await page.waitForSelector(FREE);
        const ended = (await said()).at(-1);
        assert.deepEqual([ended.name, ended.reason], ["unknown", "aborted"]);
        await page.waitForTimeout(2500);
        assert.equal(sent.length, 1);
        await page.click(FREE);
        await until(() => sent.length === 2, "sent again");
        assert.equal(keysOf(sent), 1, "it may have arrived, so the key stays");
      }, { "/orders": [{ status: 503, headers: { "retry-after": "2" } }] }));

    test(`${htmx}: taken back while it waits for an answer, the form is free and nothing more is sent`, () =>
      visit(browser, { body: form(`${HTMX} hx-retry="10ms,3"`), head: script(htmx) }, async ({ page, sent, said }) => {
        await page.click("#buy");
        await until(() => sent.length === 1, "sent");
        await page.evaluate(() => /** @type {any} */ (window).htmx.trigger("#order", "htmx:abort"));
        await page.waitForSelector(FREE);
        assert.deepEqual((await said()).map(({ name, reason }) => [name, reason]), [["issued", "new"], ["unknown", "aborted"]]);
        await page.waitForTimeout(500);
        assert.equal(sent.length, 1);
      }, { "/orders": [{ wait: 20_000 }] }));

    test(`${htmx}: off line, another attempt waits for the line`, () =>
      visit(browser, { body: form(`${HTMX} hx-retry="10ms,2"`), head: script(htmx) }, async ({ page, sent, said }) => {
        await page.context().setOffline(true);
        await page.click("#buy");
        await until(async () => (await said()).some((event) => event.name === "retry"), "waits");
        await page.waitForTimeout(500);
        assert.deepEqual((await said()).map((event) => event.name), ["issued", "retry"], "no attempt is used up meanwhile");
        assert.equal(await page.locator(BUSY).count(), 1);
        await page.context().setOffline(false);
        await page.waitForSelector(".answer");
        await page.waitForSelector(FREE);
        assert.deepEqual((await said()).map((event) => event.name), ["issued", "retry", "settled"]);
        assert.equal(sent.length, 1);
      }));

    test(`${htmx}: taken back off line, the line's return sends nothing`, () =>
      visit(browser, { body: form(`${HTMX} hx-retry="10ms,2"`), head: script(htmx) }, async ({ page, sent, said }) => {
        await page.context().setOffline(true);
        await page.click("#buy");
        await until(async () => (await said()).some((event) => event.name === "retry"), "waits");
        await page.evaluate(() => /** @type {any} */ (window).htmx.trigger("#order", "htmx:abort"));
        await page.waitForSelector(FREE);
        await page.context().setOffline(false);
        await page.waitForTimeout(500);
        assert.equal(sent.length, 0);
        assert.equal((await said()).at(-1).reason, "aborted");
      }));

    test(`${htmx}: no attempt is made once the gate has forgotten the key`, () => {
      const other = form(`hx-post=/first hx-target=#out`).replaceAll("id=order", "id=other").replaceAll("id=buy", "id=sell");
      /** @type {(value?: any) => void} */
      let end = () => {};
      const after = new Promise((resolve) => (end = resolve));
      return visit(browser, { body: form(`${HTMX} hx-retry=3`) + other, head: script(htmx) }, async ({ page, sent, site, said }) => {
        site.publish({ routes: [{ path: "/*", retention: 1 }] });
        // The first outcome that stays unknown makes the page ask how long keys are remembered.
        const policy = page.waitForResponse(/well-known/);
        await page.click("#sell");
        await (await policy).finished();
        await page.waitForTimeout(100);
        await page.click("#buy");
        await until(async () => (await said()).filter((event) => event.name === "unknown").length === 2, "both are unknown");
        await page.waitForSelector(FREE);
        await page.waitForTimeout(2500);
        assert.deepEqual(sent.map((one) => one.path), ["/first", "/orders"], "two seconds are later than one");
      }, { "/first": [{ status: 500, body: "no" }], "/orders": [{ status: 503, body: "no", headers: { "retry-after": "2" } }] });
    });
  }

  test("shown again from the browser's cache, nothing is busy", () =>
    visit(browser, { body: form("method=post action=/orders") }, async ({ page }) => {
      // In the page itself: a driver waits for the navigation that is under way.
      const counts = await page.evaluate(
        async ([busy, free]) => {
          const count = () => [busy, free].map((selector) => document.querySelectorAll(selector).length);
          setTimeout(() => document.getElementById("buy")?.click());
          await new Promise((done) => document.addEventListener("oncekey:issued", () => setTimeout(done)));
          const before = count();
          dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
          return [before, count()];
        },
        /** @type {const} */ ([BUSY, FREE]),
      );
      assert.deepEqual(counts, [[1, 0], [0, 1]]);
    }, { "/orders": [{ wait: 3000 }] }));

  test("off line, another attempt waits for the line", () =>
    visit(browser, SEND, async ({ page, sent }) => {
      await page.context().setOffline(true);
      const ended = send(page, { retry: "10ms,2" });
      await page.waitForTimeout(500);
      assert.equal(sent.length, 0);
      await page.context().setOffline(false);
      assert.equal(await ended, 200, "the retries were not used up meanwhile");
      assert.equal(sent.length, 1);
    }));

  test("a signal ends the wait for another attempt at once, and nothing is sent", () =>
    visit(browser, SEND, async ({ page, sent, said }) => {
      await page.context().setOffline(true);
      const ended = page.evaluate(() => {
        const given = /** @type {any} */ (window);
        given.up = new AbortController();
        return given.send("/orders", { method: "POST", body: "x", signal: given.up.signal }, { retry: "10ms,2" }).then(String, (/** @type {Error} */ error) => error.name);
      });
      await until(async () => (await said()).some((event) => event.name === "retry"), "waits");
      await page.evaluate(() => /** @type {any} */ (window).up.abort());
      assert.equal(await Promise.race([ended, page.waitForTimeout(10_000)]), "AbortError");
      await page.context().setOffline(false);
      await page.waitForTimeout(500);
      assert.equal(sent.length, 0);
      assert.equal((await said()).at(-1).reason, "aborted");
    }));

  test("no attempt is made once the gate has forgotten the key", () =>
    visit(browser, SEND, async ({ page, sent, site }) => {
      site.publish({ routes: [{ path: "/*", retention: 1 }] });
      // The first outcome that stays unknown makes the page ask how long keys are remembered.
      const policy = page.waitForResponse(/well-known/);
      assert.equal(await send(page, { retry: "0" }), 503);
      await (await policy).finished();
      await page.waitForTimeout(100);
      assert.equal(await send(page, { intent: "late", retry: "3" }), 503);
      assert.equal(sent.length, 2, "two seconds are later than one");
    }, { "/orders": [{ status: 503, headers: { "retry-after": "2" } }] }));
});
