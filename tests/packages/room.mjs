// @ts-check
// The packages as npm packs them, each template in a folder with them as its user would have it, and wrangler there.
//
// Needs ONCEKEY_PACKAGES, the folder with both packages.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePort, until } from "../edge/gate.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const TEMPLATES = fileURLToPath(new URL("../../www/templates/", import.meta.url));
const MODULES = join(HERE, "node_modules");
/** Below the tools, so that what is run there finds them; of this spec alone. */
const BUILT = join(HERE, ".built", String(process.pid));
process.once("exit", () => rmSync(BUILT, { recursive: true, force: true }));

/** A Node and a wrangler that runs on it. @typedef {{ node: string, wrangler: string }} Tools */

/** This Node and wrangler's last release for Node 20. @type {Tools} */
export const LAST_FOR_20 = { node: process.execPath, wrangler: join(MODULES, "wrangler/bin/wrangler.js") };
/** wrangler's newest release, and a Node from npm. @type {Tools} */
export const NEWEST = {
  node: join(MODULES, `node-linux-${process.arch}/bin/node`),
  wrangler: join(MODULES, "wrangler-newest/bin/wrangler.js"),
};

/** The environment of somebody who has no Rust, and whom wrangler asks and tells nothing. */
export const ENV = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(CARGO|RUST|ONCEKEY_SERVE$)/.test(name))),
  PATH: (process.env.PATH ?? "").split(delimiter).filter((dir) => !existsSync(join(dir, "cargo"))).join(delimiter),
  CI: "1",
  WRANGLER_SEND_METRICS: "false",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  XDG_CONFIG_HOME: join(BUILT, "config"),
};

/** Runs a program to its end; what it printed. @param {string} program @param {string[]} args @param {string} cwd */
export function run(program, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, env: ENV, encoding: "utf8" });
  assert.equal(status, 0, `${program} ${args.join(" ")}\n${stdout}${stderr}${error ?? ""}`);
  return stdout;
}

/** @type {Record<string, string> | undefined} */
let tarballs;

/** The tarballs of both packages, by name. @returns {Record<string, string>} */
export function pack() {
  if (tarballs) return tarballs;
  const packages = process.env.ONCEKEY_PACKAGES;
  assert.ok(packages, "ONCEKEY_PACKAGES is not set: the folder of the built packages");
  mkdirSync(BUILT, { recursive: true });
  tarballs = {};
  for (const name of ["oncekey", "oncekey-worker"]) {
    const [{ filename }] = JSON.parse(run("npm", ["pack", "--json", join(packages, name)], BUILT));
    tarballs[name] = join(BUILT, filename);
  }
  return tarballs;
}

/**
 * A template's folder with the packed packages that it names installed in it, and nothing else that is not above it.
 * @param {string} template @param {string} [as] the folder's name @param {string} [below] where it is made
 */
export function install(template, as = template, below = BUILT) {
  const room = join(below, as);
  cpSync(join(TEMPLATES, template), room, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(room, "package.json"), "utf8"));
  const packed = pack();
  const named = Object.keys(manifest.dependencies ?? {}).filter((name) => name in packed);
  assert.ok(named.length > 0, `${template} depends on no package of this repository`);
  const dependencies = Object.fromEntries(named.map((name) => [name, `file:${packed[name]}`]));
  writeFileSync(join(room, "package.json"), JSON.stringify({ ...manifest, dependencies, devDependencies: {} }));
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--no-package-lock"], room);
  return room;
}

/** What runs must not outlive its spec. @type {Set<() => void>} */
const running = new Set();
process.once("exit", () => running.forEach((kill) => kill()));

/**
 * Starts a program that serves, in a group of its own; resolves when the address gives any answer.
 * @param {string} program @param {string[]} args @param {string} cwd @param {string} url
 */
export async function serve(program, args, cwd, url) {
  const child = spawn(program, args, { cwd, env: ENV, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const kill = () => {
    try {
      process.kill(-(child.pid ?? 0), "SIGKILL");
    } catch {}
  };
  running.add(kill);
  const stop = async () => {
    kill();
    running.delete(kill);
    await ended;
  };
  const answers = () => {
    assert.equal(child.exitCode, null, output);
    return fetch(url).then(() => true, () => false);
  };
  await until(answers, `${url} answers`, 60_000).catch(async (why) => {
    await stop();
    throw new Error(`${why.message}\n${output}`);
  });
  return { url: new URL(url).origin, output: () => output, stop };
}

/** `wrangler dev` in a template's folder. @param {string} room @param {string[]} [args] @param {Tools} [tools] */
export async function dev(room, args = [], { node, wrangler } = LAST_FOR_20) {
  const port = await freePort();
  const inspector = await freePort();
  // A state of its own: what a newer runtime has written an older one does not open.
  const state = join(room, ".wrangler", String(port));
  const own = ["dev", "--ip", "127.0.0.1", "--port", String(port), "--inspector-port", String(inspector), "--persist-to", state];
  return serve(node, [wrangler, ...own, ...args], room, `http://127.0.0.1:${port}/.well-known/idempotency`);
}

/** The types of a project: wrangler writes the runtime's, then the compiler reads all of it. @param {string} room */
export function checkTypes(room) {
  if (readdirSync(room).includes("wrangler.jsonc")) run(LAST_FOR_20.node, [LAST_FOR_20.wrangler, "types"], room);
  run(process.execPath, [join(MODULES, "typescript/bin/tsc"), "--project", room, "--strict"], room);
}

/** An API that knows nothing of keys: it counts what it does. */
export async function startApi() {
  let count = 0;
  const server = createServer((request, response) => {
    if (request.method === "POST") count++;
    request.resume().on("end", () => response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify({ order: count })));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const end = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, count: () => count, end };
}

/** Sends one order with a new key twice: executed, then replayed. @param {string} url */
export async function orderTwice(url) {
  const headers = { "Idempotency-Key": `"${crypto.randomUUID()}"`, "Content-Type": "application/json" };
  const send = async () => {
    const answer = await fetch(url, { method: "POST", headers, body: '{"item":"Mug","quantity":1}' });
    return { word: answer.headers.get("idempotency-status"), status: answer.status, text: await answer.text() };
  };
  const [first, second] = [await send(), await send()];
  assert.deepEqual([first.word, second.word], ["executed", "replayed"], `${first.text} ${second.text}`);
  assert.deepEqual([second.status, second.text], [first.status, first.text]);
  return first;
}
