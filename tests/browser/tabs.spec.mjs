// @ts-check
// Whose a key is when a browser copies a tab or brings one back: a copy has keys of its own while the first tab lives, and a
// tab whose page is gone keeps its key. Measured in Chromium 156; sessionStorage comes along in each:
//
//     navigation type   the first page lives              the first page is gone
//     navigate          window.open, a link to an opener  the address typed again, also after a crash
//     back_forward      Duplicate Tab                     a closed tab opened again, a discarded one looked at
//     reload                                              a reload, also after a crash

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { form, keyOf, keysOf, script, until, visit } from "./server.mjs";
import { crash, discard, duplicate, openWindow, profiles, reopen } from "./tabs.mjs";

/** @typedef {import("playwright-core").Page} Page */

const ORDER = { body: form(`hx-post=/orders hx-target=#out`), head: script("htmx2"), headers: { "cache-control": "no-cache" } };
const FREE = "#order:not([aria-busy]) #buy:not([aria-disabled])";
const LOST = { "/orders": [{ drop: true }] };

/** Buys, and says under which key once the form is free. @param {Page} page @param {import("./server.mjs").Sent[]} sent */
async function buy(page, sent) {
  const before = sent.length;
  await page.click(FREE);
  await until(() => sent.length > before, "sent");
  await page.waitForSelector(FREE);
  // A browser repeats by itself what a warm connection has lost.
  assert.equal(keysOf(sent.slice(before)), 1);
  return keyOf(sent.at(-1));
}

/** Leaves a mark in a tab's storage. @param {Page} page */
const mark = (page) => page.evaluate(() => sessionStorage.setItem("witness", "here"));
/** How a page came to be, and whether the mark came along. @param {Page} page */
const came = (page) =>
  page.evaluate(() => [/** @type {any} */ (performance.getEntriesByType("navigation")[0]).type, sessionStorage.getItem("witness")]);

/** @param {Page} page */
async function reload(page) {
  await page.reload();
  await page.waitForSelector("html[data-oncekey=ready]");
  return page;
}

/** @param {Page} page */
async function typed(page) {
  await page.goto(page.url());
  await page.waitForSelector("html[data-oncekey=ready]");
  return page;
}

/** @param {Page} page */
async function later(page) {
  await page.goto(`${page.url()}done`);
  await page.waitForSelector("html[data-oncekey=ready]");
  const other = await duplicate(page);
  for (const one of [other, page]) {
    await one.goBack({ waitUntil: "commit" });
    await one.waitForSelector("#order");
    await one.waitForSelector("html[data-oncekey=ready]");
  }
  return other;
}

describe("tabs", { timeout: 600_000 }, () => {
  after(() => profiles.close());

  /** @type {[name: string, copy: (page: Page) => Promise<Page>][]} */
  const copies = [
    ["a duplicated tab", duplicate],
    ["a window that the page opens", (page) => openWindow(page, "script")],
    ["a window that a link opens, with its opener", (page) => openWindow(page, "link")],
    ["a copy of a copy", async (page) => duplicate(await duplicate(page))],
    ["a tab duplicated on a later page, both gone back", later],
  ];
  for (const [name, copy] of copies)
    test(`${name} has keys of its own, and so has the first tab still`, (t) =>
      visit(profiles, ORDER, async ({ page, sent }) => {
        const first = await buy(page, sent);
        await mark(page);
        const other = await copy(page);
        const [type, witness] = await came(other);
        t.diagnostic(`${name}: ${type}`);
        assert.equal(witness, "here", "a copy: what the tab keeps came along");
        const second = await buy(other, sent);
        assert.notEqual(second, first);
        assert.equal(await buy(page, sent), first, "the first tab keeps its key");
        await Promise.all([page, other].map(reload));
        assert.equal(await buy(other, sent), second, "so does the copy, reloaded");
        assert.equal(await buy(page, sent), first);
      }, LOST));

  test("a tab that crashed keeps its key where a page may not ask others", () =>
    visit(profiles, ORDER, async ({ page, sent }) => {
      const first = await buy(page, sent);
      await page.addInitScript(() => {
        window.BroadcastChannel = class extends BroadcastChannel {
          constructor() {
            super("");
            throw new DOMException("refused", "SecurityError");
          }
        };
      });
      assert.equal(await buy(await crash(page, "reload"), sent), first);
    }, LOST));

  /** @type {[name: string, bring: (page: Page) => Promise<Page>][]} */
  const kept = [
    ["reloaded", reload],
    ["whose address is typed again", typed],
    ["that is closed and opened again", reopen],
    ["that crashed and is reloaded", (page) => crash(page, "reload")],
    ["that crashed and whose address is typed again", (page) => crash(page, "address")],
    ["that the browser discarded and that is looked at again", discard],
  ];
  for (const [name, bring] of kept)
    test(`a tab ${name} keeps its key`, (t) =>
      visit(profiles, ORDER, async ({ page, sent }) => {
        const first = await buy(page, sent);
        await mark(page);
        const again = await bring(page);
        const [type, witness] = await came(again);
        t.diagnostic(`a tab ${name}: ${type}`);
        assert.equal(witness, "here");
        assert.equal(await buy(again, sent), first);
      }, LOST));
});
