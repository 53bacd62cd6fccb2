// @ts-check
// The command `oncekey`, as npm installs it: policies, explanations of requests, a gate's keys.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { describe, test } from "node:test";
import { ENV, install } from "./room.mjs";

const VECTORS = JSON.parse(readFileSync(new URL("../vectors/explain.json", import.meta.url), "utf8"));
const { fingerprint: FINGERPRINTS } = JSON.parse(readFileSync(new URL("../vectors/fingerprints.json", import.meta.url), "utf8"));

const room = install("in-front", "cli");
const BIN = join(room, "node_modules/.bin/oncekey");

/** @param {string[]} words @param {Record<string, string>} [more] @param {string | Buffer} [input] */
function oncekey(words, more = {}, input = "") {
  const { status, stdout, stderr } = spawnSync(BIN, words, { cwd: room, env: { ...ENV, ...more }, encoding: "utf8", input });
  return { status, stdout, stderr };
}

/** @param {string} name @param {string} text */
function file(name, text) {
  writeFileSync(join(room, name), text);
  return name;
}

describe("words", () => {
  /** @param {string} words @param {number} status @param {RegExp} said */
  const check = (words, status, said) =>
    test(`oncekey ${words}`, () => {
      const answer = oncekey(words.split(" ").filter(Boolean));
      assert.equal(answer.status, status, answer.stdout + answer.stderr);
      assert.match(status === 0 ? answer.stdout : answer.stderr, said);
    });
  check("--help", 0, /oncekey policy check FILE\n.*oncekey keys deliver URL KEY/s);
  for (const command of ["policy", "policy check", "policy explain", "keys", "keys get", "keys release", "keys deliver", "schema", "types"])
    check(`${command} --help`, 0, new RegExp(`oncekey ${command}`));
  check("", 2, /a command is missing/);
  check("nope", 2, /unknown command nope/);
  check("nope --help", 2, /unknown command nope/);
  check("policy", 2, /unknown command policy/);
  check("policy check", 2, /something is missing\nusage: oncekey policy check FILE/);
  check("policy check a b", 2, /unknown word b/);
  check("policy check --quiet a", 2, /unknown option --quiet/);
  check("policy check nothing.json", 2, /cannot read nothing.json/);
  check("policy explain POST", 2, /something is missing/);
  check("policy explain POST / -d", 2, /-d needs a value/);
  check("policy explain POST / -H nothing", 2, /no header line/);
  check("policy explain POST / --and", 2, /something is missing/);
  check("keys get http://127.0.0.1:1 k", 2, /ONCEKEY_ADMIN/);
  check("keys get nowhere k", 2, /no URL/);
  check("schema now", 2, /unknown word now/);
});

test("policy check", () => {
  for (const [policy, status, said] of /** @type {[string, number, string][]} */ ([
    ["{}", 0, ""],
    ['{"routes":[{"keep":"all"}]}', 1, 'p.json: /routes/0/keep: expected "success" or "definite"\n'],
    ["{", 1, "p.json: the policy: not JSON at line 1, column 2\n"],
  ])) {
    const answer = oncekey(["policy", "check", file("p.json", policy)]);
    assert.deepEqual([answer.status, answer.stdout, answer.stderr], [status, "", said], policy);
  }
  assert.equal(oncekey(["policy", "check", "-"], {}, "{}").status, 0);
});

test("schema and types are the package's", () => {
  const held = (/** @type {string} */ name) => readFileSync(join(room, "node_modules/oncekey-worker", name), "utf8");
  assert.equal(oncekey(["schema"]).stdout, held("policy.schema.json"));
  assert.equal(oncekey(["types"]).stdout, held("policy.d.ts"));
});

/** @typedef {{ method?: string, path?: string, type?: string, lines?: [string, string][], key?: string, caller?: string, content: string }} Sent */

/** @param {Sent} sent @param {string} name */
function wordsOf({ method = "POST", path = "/orders", type = "application/json", lines = [], key = "8e03978e-40d5-43dd-bc93-KEY", caller = "ann", content }, name) {
  /** @type {[string, string][]} */
  const all = [["Content-Type", type], ["Idempotency-Key", key], ["Authorization", `Bearer ${caller}`], ...lines];
  const headers = all.flatMap(([name, value]) => ["-H", `${name}: ${value.replace("KEY", "6894a57f9324")}`]);
  return [method, `http://shop.test${path}`, ...headers, "-d", `@${file(name, content.replace("KEY", "6894a57f9324"))}`];
}

describe("policy explain, of two", () => {
  file("policy.json", JSON.stringify(VECTORS.policy));
  const OUTCOMES = { same: /^the same request/m, other: /422 idempotency_key_reused/, other_caller: /409 caller_changed/, apart: /^not compared/m };
  for (const { name, first, second, outcome, differences } of VECTORS.pairs)
    test(name, () => {
      const words = [...wordsOf(first, "first"), "--policy", "policy.json", "--and", ...wordsOf(second, "second")];
      const answer = oncekey(["policy", "explain", ...words]);
      assert.equal(answer.status, outcome === "same" ? 0 : 1, answer.stdout + answer.stderr);
      const [, said] = answer.stdout.split(/\n(?=the same|another|not compared)/);
      assert.match(said, OUTCOMES[/** @type {keyof typeof OUTCOMES} */ (outcome)]);
      assert.deepEqual(said.split("\n").slice(1, -1), differences.map((/** @type {string} */ text) => `  ${text}`));
    });
});

test("policy explain gives the fingerprint of the gate", () => {
  let count = 0;
  for (const { name, method, target, type, encoding, ignore = [], content, expect } of FINGERPRINTS) {
    if (!["POST", "PATCH"].includes(method)) continue;
    file("policy.json", JSON.stringify({ routes: [{ headers: [], ignore }] }));
    file("content", content);
    // A content gives a request a type unless it has one of its own; without one it has to have none.
    const words = ["-H", "Idempotency-Key: k", "-H", "Authorization: Bearer ann"];
    if (type !== undefined) words.push("-H", `Content-Type: ${type}`);
    if (encoding !== undefined) words.push("-H", `Content-Encoding: ${encoding}`);
    if (content !== "" && type === undefined) continue;
    if (content !== "") words.push("-d", "@content");
    const answer = oncekey(["policy", "explain", method, target, "--policy", "policy.json", ...words]);
    assert.ok(answer.stdout.includes(`fingerprint  ${expect}\n`), `${name}\n${answer.stdout}${answer.stderr}`);
    count++;
  }
  assert.ok(count >= 5, `${count} fingerprints`);
});

test("keys asks the gate as its operator", async () => {
  /** @type {string[]} */
  const asked = [];
  const gate = createServer(({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${headers.authorization}`);
    if (url?.includes("none")) response.writeHead(404).end('{"code":"nothing_remembered"}');
    else response.writeHead(method === "DELETE" ? 204 : 200).end(method === "DELETE" ? "" : '{"state":"dead"}');
  });
  await new Promise((resolve) => gate.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (gate.address());
  /** @param {string[]} words @returns {Promise<[number | null, string]>} */
  const keys = (...words) =>
    new Promise((resolve) => {
      const child = spawn(BIN, ["keys", ...words], { cwd: room, env: { ...ENV, ONCEKEY_ADMIN: "secret" } });
      let output = "";
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (output += data));
      child.once("close", (status) => resolve([status, output.trim()]));
    });
  const url = `http://127.0.0.1:${port}/`;
  assert.deepEqual(await keys("get", url, "a-key"), [0, '{"state":"dead"}']);
  assert.deepEqual(await keys("release", url, "a-key"), [0, "204"]);
  assert.deepEqual(await keys("deliver", url, "a-key"), [0, '{"state":"dead"}']);
  assert.deepEqual(await keys("get", url, "none"), [1, '{"code":"nothing_remembered"}']);
  gate.close();
  const paths = ["GET /.oncekey/keys/a-key", "DELETE /.oncekey/keys/a-key", "POST /.oncekey/keys/a-key/deliver", "GET /.oncekey/keys/none"];
  assert.deepEqual(asked, paths.map((path) => `${path} Bearer secret`));
  const [status, said] = await keys("get", url, "a-key");
  assert.deepEqual([status, /does not answer/.test(said)], [1, true]);
});
