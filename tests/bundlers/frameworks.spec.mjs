// @ts-check
// The npm package in frameworks whose server imports it too: Next, SvelteKit, Vite's server builds. Each is built, its page is
// served, and a double click orders once.
//
// Needs ONCEKEY_NPM, the folder of the package, and ONCEKEY_MODULE and CHROMIUM as the browser specs do.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build as vite } from "vite";
import { keyOf, launch, until, visit } from "../browser/server.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
/** Below the packages, so that what is built there finds them without links. */
const ROOM = join(HERE, ".built");
const UUID = /^"[0-9a-f-]{36}"$/;

describe("frameworks", { timeout: 300_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  before(async () => {
    assert.ok(process.env.ONCEKEY_NPM, "ONCEKEY_NPM is not set: the folder of the built npm package");
    await rm(ROOM, { recursive: true, force: true });
    await mkdir(join(ROOM, "node_modules"), { recursive: true });
    await cp(process.env.ONCEKEY_NPM, join(ROOM, "node_modules/oncekey"), { recursive: true });
    for (const app of ["app", "next", "kit", "ssr"]) await cp(join(HERE, app), join(ROOM, app), { recursive: true });
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await rm(ROOM, { recursive: true, force: true });
  });

  /**
   * An app is built and served; where its shop says what was ordered.
   * @param {string} name @param {string} folder @param {string} program @param {string} orders @param {(port: number) => string[]} serve
   */
  const check = (name, folder, program, orders, serve) =>
    test(name, async () => {
      const cwd = join(ROOM, folder);
      const env = { ...process.env, ONCEKEY_ROOT: HERE, NEXT_TELEMETRY_DISABLED: "1", CI: "1" };
      const bin = join(HERE, "node_modules", program);
      const built = spawnSync(process.execPath, [bin, "build"], { cwd, env, encoding: "utf8" });
      assert.equal(built.status, 0, built.stdout + built.stderr);
      const port = await free();
      const server = spawn(process.execPath, [bin, ...serve(port)], { cwd, env, stdio: "ignore" });
      try {
        const url = `http://127.0.0.1:${port}`;
        await until(() => fetch(url).then(({ ok }) => ok, () => false), `${name} serves`);
        await orderTwice(url, `${url}${orders}`);
      } finally {
        server.kill();
      }
    });

  /** A double click is one order; the next click is another. @param {string} url @param {string} orders */
  async function orderTwice(url, orders) {
    const page = await browser.newPage();
    /** @type {string[]} */
    const errors = [];
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(url);
    assert.equal(await page.getAttribute("main", "data-server"), "function false");
    await page.waitForSelector("html[data-oncekey=ready]");
    const ordered = async () => /** @type {{ key: string, item: string }[]} */ (await (await fetch(orders)).json());
    await page.dblclick("#buy");
    await page.waitForFunction(() => document.querySelector("#answer")?.textContent === "ordered");
    assert.equal((await ordered()).length, 1, "a double click");
    await page.click("#buy");
    await until(async () => (await ordered()).length === 2, "the next click");
    const keys = (await ordered()).map(({ key }) => key);
    for (const key of keys) assert.match(key, UUID);
    assert.notEqual(keys[0], keys[1]);
    assert.deepEqual(errors, []);
    await page.close();
  }

  check("Next, a form action of React's", "next", "next/dist/bin/next", "/orders", (port) => ["start", "--port", String(port), "--hostname", "127.0.0.1"]);
  check("SvelteKit, use:enhance", "kit", "vite/bin/vite.js", "/count", (port) => ["preview", "--port", String(port), "--host", "127.0.0.1"]);

  test("README shows what is built here", async () => {
    const linesOf = (/** @type {string} */ text) => text.split("\n").map((line) => line.trim());
    const readme = linesOf(await readFile(join(HERE, "../../crates/oncekey-web/README.md"), "utf8"));
    for (const [file, from, to] of [["next/app/order.jsx", "const order", "return"], ["kit/src/routes/+page.svelte", "const once", "</script>"]]) {
      const source = linesOf(await readFile(join(HERE, String(file)), "utf8"));
      const [start, end] = [from, to].map((part) => source.findIndex((line) => line.startsWith(String(part))));
      for (const line of source.slice(start, end)) assert.ok(readme.includes(line), line);
    }
  });

  test("Vite's server build", async () => {
    const [root, files] = [join(ROOM, "ssr"), join(ROOM, "ssr/client")];
    const quiet = /** @type {const} */ ({ root, configFile: false, logLevel: "error" });
    await vite({ ...quiet, ssr: { noExternal: true }, build: { ssr: "server.js", outDir: "server" } });
    const output = { entryFileNames: "app.js" };
    await vite({ ...quiet, build: { outDir: files, rollupOptions: { input: join(ROOM, "app/inlined.js"), output } } });
    const { render } = await import(pathToFileURL(join(root, "server/server.js")).href);
    await visit(browser, { body: await render(), module: `<script type=module src=/app.js></script>`, files }, async ({ page, sent }) => {
      assert.equal(await page.getAttribute("main", "data-server"), "function false");
      await page.dblclick("#buy", { noWaitAfter: true });
      await page.waitForSelector(".answer");
      assert.equal(sent.length, 1);
      assert.match(keyOf(sent[0]) ?? "", /^[0-9a-f-]{36}$/);
    });
  });
});

/** A free port. @returns {Promise<number>} */
const free = () =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
