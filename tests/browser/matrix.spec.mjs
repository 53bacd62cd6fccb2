// @ts-check
// The matrix of the module's README: each door a request can leave by, in each way of sending it; what arrives at the
// server, and behind a real gate. POSTs and keys are counted on the wire before the gate, where what a browser repeats by
// itself is seen too; orders at the origin. The table there is what is measured here: ONCEKEY_UPDATE=1 writes it.
//
// Needs ONCEKEY_SERVE, the xtask program, and CHROMIUM.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { form, keyOf, keysOf, launch, script, until, visit } from "./server.mjs";
import { gate } from "./shop.mjs";

const README = new URL("../../crates/oncekey-web/README.md", import.meta.url);
const START = "<!-- matrix: written by tests/browser/matrix.spec.mjs -->\n";
const END = "<!-- /matrix -->";
/** Longer than a queued or repeated request takes to leave once it may. In ms. */
const QUIET = 500;

/** @typedef {import("playwright-core").Page} Page */
/** @typedef {import("./server.mjs").Fault} Fault */
/** @typedef {Awaited<ReturnType<typeof import("./server.mjs").serve>>} Site */
/**
 * A way of sending: its script, and the page of a door.
 * @typedef {{ name: string, head: string, attributes: string }} Way
 */

/** @type {Way[]} */
const WAYS = [
  { name: "htmx 1.9", head: script("htmx1"), attributes: "hx-post=/orders hx-target=#out" },
  { name: "htmx 2", head: script("htmx2"), attributes: "hx-post=/orders hx-target=#out" },
  { name: "htmx 4", head: script("htmx4"), attributes: "hx-post=/orders hx-target=#out" },
  { name: "plain", head: "", attributes: "method=post action=/orders" },
  { name: "Turbo", head: script("turbo"), attributes: "method=post action=/orders" },
  { name: "Unpoly", head: script("unpoly"), attributes: "method=post action=/orders up-submit up-target=#out up-fail-target=#out" },
  { name: "send()", head: "", attributes: "" },
];
const isHtmx = (/** @type {Way} */ way) => way.name.startsWith("htmx");
const isForm = (/** @type {Way} */ way) => way.attributes !== "";
/** Who lets no request be repeated. */
const isOnce = (/** @type {Way} */ way) => /plain|Turbo|Unpoly/.test(way.name);

/** A button whose handler calls `send`, for the way without a form. The module exports to the page what it needs. */
const SEND = `<button id=buy>Buy</button><script type=module>
  import { send } from "/oncekey.js";
  document.getElementById("buy").onclick = () => send("/orders", { method: "POST", body: "item=tea" }, { intent: "tea", retry: "10ms,3" })
    .then((answer) => answer.text(), String).then((text) => (document.getElementById("out").innerHTML = text));
</script>`;

/** A plain form's answer goes to a frame, so that its page stays. @param {Way} way */
const framed = (way) => (way.name === "plain" ? ` target=frame>` : ">");
/** @param {Way} way @param {string} [more] */
const usual = (way, more = "") => (isForm(way) ? form(`${way.attributes} ${more}`) : SEND);

/** Two clicks as fast as a hand makes them. @param {Page} page */
const doubleClick = async (page) => {
  const box = await page.locator("#buy").boundingBox();
  assert.ok(box);
  await page.mouse.dblclick(box.x + 3, box.y + 3);
};

/** A cell that takes longer has lost an input, which a browser on a loaded machine can. In ms. */
const LOST = 60_000;

/** A cell that was lost is measured once more, then it is named. @param {() => Promise<string>} measure @param {string} what */
async function surely(measure, what) {
  for (let tries = 0; tries < 2; tries++) {
    const cell = measure();
    // Its page is closed with the browser, when nobody waits for it any more.
    cell.catch(() => {});
    const lost = new Promise((resolve) => setTimeout(resolve, LOST).unref());
    const found = await Promise.race([cell, lost]);
    if (typeof found === "string") return found;
  }
  throw new Error(`${what}: no end after a minute, twice`);
}

/** The order takes place, but the page never hears of it. @param {Page} page @param {Site} site */
const again = async (page, site) => {
  site.lose(1);
  await page.click("#buy", { noWaitAfter: true });
  await until(() => site.orders() === 1 && site.isQuiet(), "the first");
  // A driver takes the end of a navigation under way for the reload's.
  await Promise.all([page.waitForEvent("domcontentloaded"), page.reload().catch(() => {})]);
  await page.waitForSelector("html[data-oncekey=ready]");
  await page.click("#buy", { noWaitAfter: true });
};

/**
 * A door: for which ways, the page, what the person does, what the server answers.
 * @typedef {object} Door
 * @property {string} name
 * @property {(way: Way) => boolean} [of]
 * @property {(way: Way) => string} [body]
 * @property {(page: Page, site: Site) => Promise<unknown>} open
 * @property {Fault[]} [plan] of the origin
 * @property {string} [head]
 */

/** @type {Door[]} */
const DOORS = [
  { name: "one click", open: (page) => page.click("#buy", { noWaitAfter: true }) },
  { name: "a double click", open: doubleClick },
  { name: "Enter twice in a field", of: isForm, open: async (page) => { await page.focus("#item"); await page.keyboard.press("Enter"); await page.keyboard.press("Enter"); } },
  { name: "a click, then Enter", of: isForm, open: async (page) => { await page.click("#buy", { noWaitAfter: true }); await page.keyboard.press("Enter"); } },
  {
    name: "`requestSubmit()` twice",
    of: isForm,
    open: (page) => page.evaluate(() => void setTimeout(() => { const form = document.querySelector("form"); form?.requestSubmit(); form?.requestSubmit(); }, 10)),
  },
  {
    name: "a click, then `form.submit()`",
    of: (way) => way.name === "plain",
    open: (page) => page.evaluate(() => { setTimeout(() => document.getElementById("buy")?.click(), 10); setTimeout(() => document.querySelector("form")?.submit(), 150); }),
  },
  { name: "a button outside the form, double click", of: isForm, body: (way) => `<form id=order ${way.attributes}><input name=item value=tea></form><button id=buy form=order>Buy</button>`, open: doubleClick },
  { name: "`hx-post` on a button, double click", of: isHtmx, body: (way) => `<button id=buy ${way.attributes}>Buy</button>`, open: doubleClick },
  { name: "`hx-post` on a link, double click", of: isHtmx, body: (way) => `<a id=buy href="#" ${way.attributes}>Buy</a>`, open: doubleClick },
  { name: "a boosted form, double click", of: isHtmx, body: () => form(`method=post action=/orders hx-boost=true hx-target=#out`), open: doubleClick },
  {
    name: "two submitters, one after the other",
    of: isForm,
    body: (way) => `<form id=order ${way.attributes}${framed(way)}<input name=item value=tea><button id=save name=op value=save>Save</button><button id=buy name=op value=buy>Buy</button></form>`,
    open: (page) => page.evaluate(() => { document.getElementById("save")?.click(); setTimeout(() => document.getElementById("buy")?.click(), 100); }),
  },
  {
    name: "a form that saves itself: three edits while it is busy",
    of: isForm,
    body: (way) => `<form id=order ${way.attributes}${framed(way)}<input id=item name=item></form>`,
    open: (page) => page.evaluate(() => ["one", "two", "three"].forEach((value, at) => setTimeout(() => {
      /** @type {HTMLInputElement} */ (document.getElementById("item")).value = value;
      /** @type {HTMLFormElement} */ (document.getElementById("order")).requestSubmit();
    }, at * 100))),
    plan: [{ wait: 800 }, { wait: 100 }],
  },
  {
    name: "three rows with a button each, all double-clicked",
    of: isHtmx,
    body: (way) => [1, 2, 3].map((row) => `<button class=row ${way.attributes} hx-vals='{"row":${row}}'>delete</button>`).join(""),
    open: (page) => page.evaluate(() => { for (const button of document.querySelectorAll(".row")) for (const ms of [0, 60]) setTimeout(() => /** @type {HTMLElement} */ (button).click(), ms); }),
  },
  { name: "two copies of the module, double click", head: `<script type=module src=/oncekey2.js></script>`, open: doubleClick },
  { name: "503, and a retry by itself", of: (way) => !isOnce(way), body: (way) => usual(way, `hx-retry="10ms,3"`), open: doubleClick, plan: [{ status: 503 }, {}] },
  { name: "the answer is lost; reload, click again", body: (way) => usual(way, `hx-retry=0`), open: again, plan: [{}] },
  { name: "`hx-trigger=load` (no key: nobody clicked)", of: isHtmx, body: () => `<div hx-post=/orders hx-trigger="load" hx-target=#out></div>`, open: () => Promise.resolve() },
  { name: "`data-once=off`, double click", of: isHtmx, body: (way) => form(`${way.attributes} data-once=off`), open: doubleClick },
];

describe("matrix", { timeout: 600_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  /** @type {Awaited<ReturnType<typeof gate>>} */
  let behind;
  before(async () => {
    [browser, behind] = await Promise.all([launch(), gate()]);
  });
  after(async () => {
    await browser?.close();
    await behind?.stop();
  });

  test("README says what happens", async () => {
    const rows = [["", ...WAYS.map((way) => way.name)], ["---", ...WAYS.map(() => "---")]];
    for (const door of DOORS) {
      const cells = WAYS.map((way) => (door.of?.(way) ?? true ? surely(() => measure(door, way), `${door.name}, ${way.name}`) : "–"));
      rows.push([door.name, ...(await Promise.all(cells))]);
    }
    const table = rows.map((row) => `| ${row.join(" | ")} |\n`).join("");
    const readme = await readFile(README, "utf8");
    const [head, rest] = readme.split(START);
    const [old, tail] = (rest ?? "").split(END);
    assert.ok(tail !== undefined, "README has a place for the matrix");
    if (process.env.ONCEKEY_UPDATE) await writeFile(README, head + START + table + END + tail);
    else assert.equal(old, table, "README's matrix is not what happens; ONCEKEY_UPDATE=1 writes it");
  });

  /** @param {Door} door @param {Way} way */
  async function measure(door, way) {
    let cell = "";
    const body = door.body?.(way) ?? usual(way);
    /** @type {() => void} */
    let answer = () => {};
    // The first request is under way until all of the door has been done.
    const after = new Promise((/** @type {(value?: any) => void} */ resolve) => (answer = resolve));
    const plan = door.plan ?? [{ after, wait: 300 }];
    await visit(browser, { body: body + (body.includes("target=frame") ? "<iframe name=frame></iframe>" : ""), head: way.head + (door.head ?? ""), gate: behind }, async ({ page, sent, site }) => {
      await door.open(page, site);
      answer();
      await until(() => sent.length, `${door.name}, ${way.name}`);
      // Nothing tells of a request that does not come; one that was queued follows an answer.
      for (let seen = 0; seen !== sent.length || !site.isQuiet(); await page.waitForTimeout(QUIET)) {
        await until(site.isQuiet, "the gate has answered");
        seen = sent.length;
      }
      const keyed = sent.filter((one) => keyOf(one));
      cell = `${sent.length} / ${keyed.length ? keysOf(keyed) : 0} / ${site.orders()}`;
    }, { "/orders": plan });
    return cell;
  }
});
