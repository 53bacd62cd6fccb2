// @ts-check
// The operator's page in a browser: the list, release and delivery, each asked before, a wrong secret, 10,000 fates, and
// what axe finds.
//
// Needs ONCEKEY_SERVE, the xtask program, and CHROMIUM.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ADMIN, until, World } from "../edge/gate.mjs";
import { launch } from "./server.mjs";

const AXE = new URL("../node_modules/axe-core/axe.min.js", import.meta.url);
const AROUND = fileURLToPath(new URL("../edge/listed", import.meta.url));
/** Where pictures of the page go, if anybody wants some. */
const PICTURES = process.env.ONCEKEY_PICTURES;

/** @typedef {import("playwright-core").Page} Page */

describe("the operator's page", { timeout: 120_000 }, () => {
  /** @type {World} */
  let world;
  /** @type {import("playwright-core").Browser} */
  let browser;
  let axe = "";
  before(async () => {
    world = await World.start(
      { routes: [{ path: "/later/*", mode: "accept", unanswered: "hold" }, { path: "/*", server_error: "hold" }] },
      { ONCEKEY_ADMIN: ADMIN, ONCEKEY_AROUND: AROUND },
    );
    browser = await launch();
    axe = await readFile(AXE, "utf8");
  });
  after(async () => {
    await browser?.close();
    await world?.end();
  });

  /** A page with the list shown. @param {(page: Page) => Promise<unknown>} act @param {object} [options] @param {string} [secret] */
  async function check(act, options = {}, secret = ADMIN) {
    const context = await browser.newContext({ baseURL: `http://127.0.0.1:${world.gate.port}`, ...options });
    context.setDefaultTimeout(20_000);
    try {
      const page = await context.newPage();
      /** @type {string[]} */
      const wrong = [];
      page.on("pageerror", (error) => wrong.push(String(error)));
      page.on("console", (line) => line.type() === "error" && /Content Security Policy/.test(line.text()) && wrong.push(line.text()));
      await page.goto("/.oncekey/");
      await page.keyboard.type(secret);
      await page.keyboard.press("Enter");
      await act(page);
      assert.deepEqual(wrong, []);
    } finally {
      await context.close();
    }
  }

  /** A fate that is open. @param {string} route @param {import("../edge/origin.mjs").Step[]} steps */
  async function open(route, ...steps) {
    const spot = await world.spot(route, ...steps);
    await spot.post();
    await spot.arrived();
    const key = await spot.scoped();
    const list = () => world.send({ method: "GET", path: "/.oncekey/unknown", lines: [["Authorization", `Bearer ${ADMIN}`]] });
    await until(async () => (await list()).text.includes(key), "it is listed");
    return { spot, key };
  }

  /** @param {Page} page @param {string} key */
  const item = (page, key) => page.locator("li", { hasText: key });
  /** @param {Page} page @param {string} words */
  const said = (page, words) => page.locator("#said", { hasText: words }).waitFor();

  /** @param {Page} page */
  async function accessible(page) {
    const found = await page.evaluate(`${axe}; axe.run().then(({ violations, passes }) => ({ passes: passes.length, violations: violations.map(({ id, nodes }) => id + ": " + nodes.map((node) => node.html).join(" ")) }))`);
    const { violations, passes } = /** @type {{ violations: string[], passes: number }} */ (found);
    assert.deepEqual(violations, []);
    assert.ok(passes > 8, "axe looked");
  }

  test("lists, and releases after it has asked, by the keyboard alone", async () => {
    const { spot, key } = await open("/orders", { status: 500 }, { status: 201 });
    await check(async (page) => {
      const text = (await item(page, key).innerText()).replace(/\s+/g, " ");
      for (const word of ["unknown", "/*", "its answer does not tell", "500"]) assert.ok(text.includes(word), `${word}: ${text}`);
      await item(page, key).getByText("Release").focus();
      await page.keyboard.press("Enter");
      // The first answer is no.
      await page.keyboard.press("Enter");
      await page.locator("dialog[open]").waitFor({ state: "detached" }).catch(() => {});
      assert.equal(await item(page, key).count(), 1);
      await page.keyboard.press("Enter");
      await page.locator("dialog[open]").waitFor();
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await said(page, "Released");
      assert.equal(await item(page, key).count(), 0);
    });
    assert.equal((await spot.post()).word, "executed");
  });

  test("delivers again", async () => {
    const { spot, key } = await open("/later", { status: 404 }, { status: 201 });
    await check(async (page) => {
      await item(page, key).getByText("Deliver again").click();
      await page.locator("#yes").click();
      await said(page, "delivered again");
    });
    await spot.arrived(2);
  });

  test("says why it cannot, and what was resolved meanwhile", async () => {
    const one = await open("/orders", { status: 500 });
    const two = await open("/orders", { status: 500 });
    await check(async (page) => {
      await item(page, one.key).getByText("Deliver again").click();
      await page.locator("#yes").click();
      await said(page, "no accepted request");
      await world.send({ method: "DELETE", path: `/.oncekey/keys/${two.key}`, lines: [["Authorization", `Bearer ${ADMIN}`]] });
      await item(page, two.key).getByText("Release").click();
      await page.locator("#yes").click();
      await said(page, "Resolved meanwhile");
      await page.context().setOffline(true);
      await page.getByText("Show", { exact: true }).click();
      await said(page, "cannot be reached");
    });
  });

  test("a wrong secret", () => check(async (page) => {
    await said(page, "not the admin secret");
    assert.equal(await page.locator("li").count(), 0);
    assert.ok(!page.url().includes("of-nobody"));
  }, {}, "of-nobody"));

  test("10,000 fates, a page at a time; axe finds nothing, light and dark, on a phone and on a desk", async () => {
    for (let from = 0; from < 10_000; from += 500) assert.equal((await world.send({ path: `/.test/fill?from=${from}&count=500` })).status, 200);
    await open("/later", { status: 404 });
    for (const [width, colorScheme] of /** @type {const} */ ([[390, "light"], [1280, "dark"], [390, "dark"], [1280, "light"]])) {
      await check(async (page) => {
        await page.locator("li").nth(24).waitFor();
        await page.locator("#more").click();
        await page.locator("li").nth(49).waitFor();
        await page.locator("#count", { hasText: "or more open" }).waitFor();
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the page");
        await accessible(page);
        if (PICTURES) {
          await page.evaluate(() => scrollTo(0, 0));
          await page.screenshot({ path: `${PICTURES}/operator-${width}${colorScheme === "dark" ? "-dark" : ""}.png` });
        }
        await page.locator("li button").first().click();
        await page.locator("dialog[open]").waitFor();
        await accessible(page);
        if (PICTURES && width === 390) await page.screenshot({ path: `${PICTURES}/operator-${width}-asks.png` });
      }, { viewport: { width, height: 844 }, colorScheme });
    }
  });
});
