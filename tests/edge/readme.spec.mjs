// @ts-check
// The READMEs' requests, as they are written there, against the demo shop: each sent twice takes effect once.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { freePort, until } from "./gate.mjs";

/** @typedef {{ url: string, method: string, headers: Record<string, string>, content: string | undefined }} Sent */

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const WORKER = readFileSync(new URL("../../crates/oncekey-worker/README.md", import.meta.url), "utf8");
const RUNBOOK = readFileSync(new URL("../../crates/oncekey-worker/RUNBOOK.md", import.meta.url), "utf8");
const room = mkdtempSync(join(tmpdir(), "oncekey-readme-"));
/** @type {import("node:child_process").ChildProcess | undefined} */
let serve;
let [port, queuePort] = [0, 0];

before(async () => {
  [port, queuePort] = [await freePort(), await freePort()];
  const program = process.env.ONCEKEY_SERVE;
  assert.ok(program, "ONCEKEY_SERVE names no program");
  const options = ["--port", port, "--queue-port", queuePort, "--state", join(room, "state")].map(String);
  serve = spawn(program, ["serve", ...options], { env: { ...process.env, ONCEKEY_SERVICE: "secret", ONCEKEY_ADMIN: "ADMIN" } });
  let output = "";
  for (const stream of [serve.stdout, serve.stderr]) stream?.on("data", (data) => (output += data));
  serve.once("exit", (code) => (output += `ended with ${code}`));
  await until(() => output.includes("ready ") || output.includes("ended with"), "ready", 60_000);
  assert.ok(output.includes("ready "), output);
});
after(async () => {
  const ended = new Promise((resolve) => serve?.once("exit", resolve));
  serve?.kill("SIGTERM");
  await ended;
  rmSync(room, { recursive: true, force: true });
});

/** A command below a heading, read as curl would. @param {string} readme @param {string} heading @param {number} [at] @returns {Sent} */
function command(readme, heading, at = 0) {
  const section = readme.split(/^##+ /m).find((text) => text.startsWith(`${heading}\n`));
  const text = [...(section ?? "").matchAll(/```(?:sh)?\n(curl [^]*?)```/g)][at]?.[1];
  assert.ok(text, `no command below ${heading}`);
  const words = [...text.replaceAll("\\\n", " ").matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain);
  /** @type {Sent} */
  const sent = { url: "", method: "", headers: {}, content: undefined };
  words.shift();
  for (let word; (word = words.shift()) !== undefined; ) {
    if (word === "-i") continue;
    if (word === "-X") sent.method = words.shift() ?? "";
    else if (word === "-d") sent.content = words.shift();
    else if (word === "-H") {
      const line = words.shift() ?? "";
      sent.headers[line.slice(0, line.indexOf(":"))] = line.slice(line.indexOf(":") + 1).trim();
    } else {
      assert.match(word, /^http:\/\/127\.0\.0\.1:878[78]\//, "a word that curl reads otherwise");
      sent.url = word.replace(":8787", `:${port}`).replace(":8788", `:${queuePort}`);
    }
  }
  sent.method ||= sent.content === undefined ? "GET" : "POST";
  if (sent.content !== undefined) sent.headers["Content-Type"] ??= "application/x-www-form-urlencoded";
  return sent;
}

/** @param {Sent} sent */
async function send({ url, method, headers, content }) {
  const answer = await fetch(url, { method, headers, body: content });
  const text = await answer.text();
  return { status: answer.status, word: answer.headers.get("idempotency-status"), json: text ? JSON.parse(text) : undefined };
}

/** @param {string} path */
const get = async (path) => (await fetch(`http://127.0.0.1:${port}${path}`)).json();
/** @param {string} path */
const effects = async (path) => (await get("/effects"))[path] ?? 0;

test("an order", async () => {
  const order = command(README, "Try it");
  const first = await send(order);
  assert.deepEqual([first.status, first.word], [201, "executed"]);
  const second = await send(order);
  assert.deepEqual([second.status, second.word, second.json], [201, "replayed", first.json]);
  assert.equal((await get("/stats")).orders, 1);
});

test("an accepted request", async () => {
  const hook = command(WORKER, "Accepted requests");
  const first = await send(hook);
  assert.deepEqual([first.status, first.json.status], [202, "queued"]);
  assert.deepEqual((await send(hook)).json, { status: "duplicate_ignored", id: first.json.id });
  await until(() => effects("/hooks/payment"), "delivered");
  assert.deepEqual((await send(hook)).json, { status: "duplicate_ignored", id: first.json.id });
  assert.equal(await effects("/hooks/payment"), 1);
});

test("a queue's message", async () => {
  const mail = command(WORKER, "Queues");
  for (const _ of [1, 2]) assert.deepEqual((await send(mail)).json, { acked: ["m1"], retried: [] });
  assert.equal(await effects("/mails"), 1);
});

test("a state change", async () => {
  const approve = command(WORKER, "State changes");
  assert.deepEqual((await send(approve)).json, { state: "approved", won: true });
  assert.deepEqual((await send(approve)).json, { state: "approved", won: false });
  const reject = await send({ ...approve, url: approve.url.replace("approve", "reject") });
  assert.deepEqual([reject.status, reject.json.code], [409, "state_conflict"]);
  const { headers } = approve;
  const entity = { url: approve.url.replace("/approve", ""), method: "GET", headers, content: undefined };
  assert.deepEqual((await send(entity)).json.history.map((/** @type {any} */ entry) => entry.by), ["ann"]);
  await until(() => effects("/payouts"), "delivered");
  assert.equal(await effects("/payouts"), 1);
});

test("a half-failed batch", async () => {
  const before = (await get("/stats")).orders;
  const batch = command(WORKER, "Batches");
  const words = async (/** @type {Sent} */ sent) => {
    const answer = await send(sent);
    assert.equal(answer.status, 207);
    return answer.json.items.map((/** @type {any} */ item) => `${item.status} ${item.idempotency_status}`);
  };
  assert.deepEqual(await words(batch), ["201 executed", "422 executed"]);
  const mended = { ...batch, content: batch.content?.replace("99", "2") };
  assert.deepEqual(await words(mended), ["201 replayed", "201 executed"]);
  assert.deepEqual(await words(mended), ["201 replayed", "201 replayed"]);
  assert.equal((await get("/stats")).orders, before + 2);
});

test("the runbook's commands", async () => {
  const [health, list] = [command(RUNBOOK, "First look"), command(RUNBOOK, "First look", 1)];
  assert.deepEqual((await send(health)).json, { healthy: true });
  const hook = command(WORKER, "Accepted requests");
  const dead = { ...hook, headers: { ...hook.headers, "Idempotency-Key": randomUUID() }, url: hook.url.replace(/[^/]*$/, "nobody-takes-this") };
  const { id } = (await send(dead)).json;
  const listed = async () => (await send(list)).json.items.find((/** @type {any} */ item) => item.key === id);
  assert.equal(/** @type {any} */ (await until(listed, "it is listed")).state, "dead");
  const deliver = command(RUNBOOK, "Many unknown fates", 1);
  assert.equal((await send({ ...deliver, url: deliver.url.replace("KEY", id) })).status, 202);
  await until(listed, "it is listed again");
  const release = command(RUNBOOK, "Many unknown fates");
  assert.equal((await send({ ...release, url: release.url.replace("KEY", id) })).status, 204);
  assert.equal(await listed(), undefined);
});
