// @ts-check
// The templates of pages: htmx, and Next behind a gate of its own. A double click in Chromium orders once.
//
// Needs CHROMIUM besides, and for Next the packages of tests/bundlers.

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launch } from "../browser/server.mjs";
import { freePort, until } from "../edge/gate.mjs";
import { checkTypes, dev, ENV, install, run, serve } from "./room.mjs";

const HTMX = readFileSync(new URL("../node_modules/htmx2/dist/htmx.min.js", import.meta.url));
const BUNDLERS = fileURLToPath(new URL("../bundlers/", import.meta.url));

describe("pages", { timeout: 170_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser?.close());

  /** @param {string} url @returns {Promise<unknown[]>} */
  const orders = async (url) => (await fetch(`${url}/orders`)).json();

  /** A page of the template; nothing else is to be had from the network. @param {string} url */
  async function open(url) {
    const page = await browser.newPage();
    await page.route(/^https:\/\//, (route) =>
      route.request().url().includes("/htmx.org@2.0.11/dist/htmx.min.js")
        ? route.fulfill({ body: HTMX, contentType: "text/javascript", headers: { "access-control-allow-origin": "*" } })
        : route.abort(),
    );
    await page.goto(url);
    await page.waitForSelector("html[data-oncekey=ready]");
    return page;
  }

  test("htmx", async () => {
    const room = install("htmx-page");
    checkTypes(room);
    const gate = await dev(room);
    try {
      const page = await open(gate.url);
      await page.dblclick("#buy");
      await page.waitForFunction(() => document.querySelector("#answer")?.textContent === "Order 1 is placed.");
      assert.equal((await orders(gate.url)).length, 1, "a double click");
      await page.click("#buy");
      await until(async () => (await orders(gate.url)).length === 2, "the next click");
    } finally {
      await gate.stop();
    }
  });

  test("Next", async () => {
    // Below what Next is installed in.
    const below = join(BUNDLERS, ".built", `next-${process.pid}`);
    const room = install("next", "shop", below);
    const next = join(BUNDLERS, "node_modules/next/dist/bin/next");
    Object.assign(ENV, { NEXT_ROOT: BUNDLERS, NEXT_TELEMETRY_DISABLED: "1" });
    try {
      run(process.execPath, [next, "build"], room);
      checkTypes(room);
      const port = await freePort();
      const shop = await serve(process.execPath, [next, "start", "--port", String(port), "--hostname", "127.0.0.1"], room, `http://127.0.0.1:${port}`);
      const gate = await dev(room, ["--config", "gate/wrangler.jsonc", "--var", `ORIGIN:${shop.url}`]);
      try {
        const page = await open(gate.url);
        for (const [at, [button, answer]] of [["#submit", "#submitted"], ["#press", "#pressed"]].entries()) {
          await page.dblclick(button);
          await page.waitForFunction((answer) => document.querySelector(answer)?.textContent === "ordered", answer);
          assert.equal((await orders(shop.url)).length, at + 1, `a double click on ${button}`);
        }
      } finally {
        await gate.stop();
        await shop.stop();
      }
    } finally {
      rmSync(below, { recursive: true, force: true });
    }
  });
});
