// @ts-check
// The npm package in an app: built by each bundler, run in Chromium under a strict policy, by one smoke test.
//
// Needs ONCEKEY_NPM, the folder of the package, and ONCEKEY_MODULE and CHROMIUM as the browser specs do.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFile, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";
import { publint } from "publint";
import { build as vite } from "vite";
import webpack from "webpack";
import { form, keyOf, launch, until, visit } from "../browser/server.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TSC = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));
const BODY = form("method=post action=/orders");
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'self'";
const STRICT = POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'");

/**
 * Makes an app: its source, the folder it goes to, the package's folder. Returns how a page loads it.
 * @typedef {(entry: string, out: string, npm: string) => Promise<string>} Bundler
 */

/** @type {Record<string, Bundler>} */
const BUNDLERS = {
  async vite(entry, out) {
    const output = { entryFileNames: "app.js" };
    await vite({ root: join(entry, ".."), configFile: false, logLevel: "error", build: { outDir: out, rollupOptions: { input: entry, output } } });
    return `<script type=module src=/app.js></script>`;
  },
  async webpack(entry, out) {
    const stats = await new Promise((resolve, reject) =>
      webpack({ mode: "production", context: join(entry, ".."), entry, output: { path: out, filename: "app.js", publicPath: "auto" } }, (error, done) => (error ? reject(error) : resolve(done))),
    );
    assert.ok(!stats.hasErrors(), stats.toString("errors-only"));
    return `<script defer src=/app.js></script>`;
  },
  async esbuild(entry, out, npm) {
    await esbuild({ entryPoints: [entry], bundle: true, minify: true, format: "esm", outfile: join(out, "app.js"), logLevel: "silent" });
    // esbuild leaves the address of the wasm as it is: the file goes beside what it made.
    await copyFile(join(npm, "oncekey.wasm"), join(out, "oncekey.wasm"));
    return `<script type=module src=/app.js></script>`;
  },
  async "a script tag"(entry, out, npm) {
    await cp(npm, out, { recursive: true });
    const source = await readFile(entry, "utf8");
    const own = source.replace(`"oncekey/external"`, `"./external.js"`).replace(`"oncekey"`, `"./oncekey.js"`);
    await writeFile(join(out, "app.js"), own);
    return `<script type=module src=/app.js></script>`;
  },
};

describe("bundlers", { timeout: 300_000 }, () => {
  /** @type {import("playwright-core").Browser} */
  let browser;
  let room = "";
  const npm = process.env.ONCEKEY_NPM ?? "";

  before(async () => {
    assert.ok(npm, "ONCEKEY_NPM is not set: the folder of the built npm package");
    browser = await launch();
    room = await mkdtemp(join(tmpdir(), "oncekey-bundlers-"));
    await cp(join(HERE, "app"), room, { recursive: true });
    await writeFile(join(room, "package.json"), `{ "type": "module" }`);
    await mkdir(join(room, "node_modules"));
    await cp(npm, join(room, "node_modules/oncekey"), { recursive: true });
  });
  after(async () => {
    await browser?.close();
    await rm(room, { recursive: true, force: true });
  });

  for (const [name, bundle] of Object.entries(BUNDLERS))
    for (const entry of ["inlined", "external"])
      test(`${name}, ${entry}`, async () => {
        const files = join(room, `${name}-${entry}`.replaceAll(" ", "-"));
        await mkdir(files);
        const module = await bundle(join(room, `${entry}.js`), files, npm);
        await smoke(module, files);
        if (entry === "inlined") await blocked(module, files);
      });

  /** Ready; a double click is one request with a key; so is `send`. @param {string} module @param {string} files */
  const smoke = (module, files) =>
    visit(browser, { body: BODY, module, files, headers: { "content-security-policy": STRICT } }, async ({ page, sent }) => {
      const status = await page.evaluate(async () => (await /** @type {any} */ (window).app.send("/jobs", { method: "POST", body: "1" })).status);
      assert.equal(status, 200);
      assert.match(keyOf(sent[0]) ?? "", /^[0-9a-f-]{36}$/);
      await page.dblclick("#buy", { noWaitAfter: true });
      await page.waitForSelector(".answer");
      assert.equal(sent.length, 2, "two clicks, one request");
      assert.match(keyOf(sent[1]) ?? "", /^[0-9a-f-]{36}$/);
      assert.notEqual(keyOf(sent[0]), keyOf(sent[1]));
    });

  /** Where wasm may not run, forms still do. @param {string} module @param {string} files */
  const blocked = (module, files) =>
    visit(browser, { body: BODY, module, files, headers: { "content-security-policy": POLICY }, ready: false }, async ({ page, sent }) => {
      await page.evaluate(() => /** @type {any} */ (window).app.start());
      await page.click("#buy");
      await until(() => sent.length, "sent");
      assert.ok(keyOf(sent[0]));
    });

  for (const resolution of ["bundler", "nodenext"])
    test(`types, as ${resolution} finds them`, () => {
      const module = resolution === "bundler" ? "esnext" : "nodenext";
      const flags = ["--ignoreConfig", "--strict", "--noEmit", "--skipLibCheck", "false", "--target", "esnext", "--lib", "esnext,dom", "--types", ""];
      const run = spawnSync(process.execPath, [TSC, ...flags, "--module", module, "--moduleResolution", resolution, "example.ts"], { cwd: room, encoding: "utf8" });
      assert.equal(run.status, 0, run.stdout + run.stderr);
    });
});

test("publint has nothing to say of the package", async () => {
  const { messages } = await publint({ pkgDir: process.env.ONCEKEY_NPM, strict: true });
  assert.deepEqual(messages, []);
});

for (const entry of ["oncekey.js", "debug.js", "external.js"])
  test(`on a server ${entry} is imported, does nothing, and sends with a fresh key`, async () => {
    const module = join(process.env.ONCEKEY_NPM ?? "", entry);
    const code = `
      const { createServer } = await import("node:http");
      const keys = [];
      const server = createServer((request, response) => (keys.push(request.headers["idempotency-key"]), response.end("{}"))).listen(0);
      const { start, send, renew, watch } = await import(${JSON.stringify(`file://${module}`)});
      await Promise.all([start({ field: "k" }), renew(), watch()]);
      for (const method of ["POST", "GET"]) await send("http://127.0.0.1:" + server.address().port, { method });
      await new Promise((resolve) => setTimeout(resolve, 200));
      server.close();
      console.log(JSON.stringify(keys));`;
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const [key, none] = JSON.parse(stdout);
    assert.match(key, /^"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}"$/);
    assert.equal(none, null);
  });
