// @ts-check
// A page whose clock is wrong, before the real gate on a route that takes young keys alone: it orders once, with one
// request more at most. Orders are counted at the origin.
//
// Needs ONCEKEY_SERVE, the xtask program, and CHROMIUM.

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, request as ask } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { launch } from "./server.mjs";
import { start } from "./shop.mjs";

const POLICY = { routes: [{ path: "/orders", require: true, keys: "uuidv7", key_age: 3600, retention: 7200 }] };
const HTMX = createRequire(import.meta.url).resolve("htmx2/dist/htmx.min.js");
const PAGE = `<!doctype html><html lang=en><meta charset=utf-8><link rel=icon href=data:,><title>Shop</title>
<script src=/htmx.js></script><script type=module src=/.oncekey/oncekey.js></script>
<form hx-post=/orders hx-target=#out><input name=item value=tea><button id=htmx>Buy</button></form><button id=send>Buy</button><p id=out></p>
<script type=module>
  import { send } from "/.oncekey/oncekey.js";
  document.getElementById("send").onclick = () => send("/orders", { method: "POST", body: "item=tea" }, { intent: "tea" })
    .then((answer) => answer.text(), String).then((text) => (document.getElementById("out").textContent = text));
</script>`;
/** @param {import("node:http").Server} server */
const portOf = (server) => /** @type {import("node:net").AddressInfo} */ (server.address()).port;
const YEAR = 365 * 86_400_000;

describe("a page whose clock is wrong", { timeout: 120_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  /** @type {Awaited<ReturnType<typeof start>>} */
  let gate;
  /** @type {string} */
  let room;
  let orders = 0;
  /** The platform gives each answer its date (RFC 9110 §6.6.1), as Node does here; workerd alone gives none. */
  const edge = createServer((request, response) => {
    const { method, url, headers } = request;
    const { hostname, port } = new URL(gate.url);
    const on = ask({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(on);
  });
  let address = "";
  const origin = createServer(async (request, response) => {
    if (request.method === "POST") {
      orders++;
      request.resume().on("end", () => response.writeHead(201, { "content-type": "text/html" }).end("ordered"));
    } else if (request.url === "/htmx.js") response.writeHead(200, { "content-type": "text/javascript" }).end(await readFile(HTMX));
    else response.writeHead(200, { "content-type": "text/html" }).end(PAGE);
  });
  before(async () => {
    await new Promise((resolve) => origin.listen(0, "127.0.0.1", () => resolve(undefined)));
    await new Promise((resolve) => edge.listen(0, "127.0.0.1", () => resolve(undefined)));
    const port = portOf(origin);
    address = `http://127.0.0.1:${portOf(edge)}/`;
    room = await mkdtemp(join(tmpdir(), "oncekey-clock-"));
    await writeFile(join(room, "policy.json"), JSON.stringify(POLICY));
    [browser, gate] = await Promise.all([
      launch(),
      start("--origin", `http://127.0.0.1:${port}`, "--config", join(room, "policy.json")),
    ]);
  });
  after(async () => {
    await browser?.close();
    await gate?.stop();
    for (const server of [origin, edge]) {
      server.close();
      server.closeAllConnections();
    }
    await rm(room, { recursive: true, force: true });
  });

  for (const button of ["htmx", "send"])
    for (const [name, off, most] of /** @type {[string, number, number][]} */ ([
      ["right", 0, 1],
      ["four minutes ahead", 240_000, 1],
      ["ten minutes ahead", 600_000, 2],
      ["a year ahead", YEAR, 2],
      ["half an hour behind", -1_800_000, 1],
      ["a year behind", -YEAR, 2],
    ]))
      test(`${button}, ${name}: one order, and the next one at once`, async () => {
        const context = await browser.newContext();
        try {
          await context.addInitScript((off) => {
            const now = Date.now;
            Date.now = () => now() + off;
          }, off);
          const page = await context.newPage();
          let sent = 0;
          page.on("request", (request) => void (request.method() === "POST" && sent++));
          await page.goto(address);
          await page.waitForSelector("html[data-oncekey=ready]");
          for (const [before, allowed] of [[orders, most], [orders + 1, 1]]) {
            sent = 0;
            await page.evaluate(() => void (/** @type {HTMLElement} */ (document.getElementById("out")).textContent = ""));
            await page.click(`#${button}`);
            await page.locator("#out").filter({ hasText: /^ordered$/ }).waitFor({ timeout: 10_000 });
            assert.equal(orders, before + 1);
            assert.ok(sent >= 1 && sent <= allowed, `${sent} requests`);
          }
        } finally {
          await context.close();
        }
      });
});
