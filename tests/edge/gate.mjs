// @ts-check
// Starts, stops and kills gates, each with an origin of its own, and says what a spec asks of them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { send } from "./client.mjs";
import { startOrigin } from "./origin.mjs";

/** @typedef {import("./client.mjs").Answer} Answer */

/** The operator's secret of every gate but those started without. */
export const ADMIN = "an operator's secret";
/** How long a gate may take to start where it must be built first, in ms. */
const START = 300_000;

/** A free port below those that the system hands out by itself. @returns {Promise<number>} */
export function freePort() {
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  return new Promise((resolve) => {
    const server = net.createServer().once("error", () => resolve(freePort()));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(port)));
  });
}

/** @param {number} ms */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether a process runs; one that waits to be reaped does not. @param {number} pid */
export function runs(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}

/** Whether a file below the folder holds the text. @param {string} folder @param {string} text */
export function holds(folder, text) {
  return readdirSync(folder, { recursive: true }).some((name) => {
    try {
      return readFileSync(join(folder, String(name))).includes(text);
    } catch {
      return false;
    }
  });
}

/** Asks again until it holds: for what no event tells. @param {() => unknown} holds @param {string} what */
export async function until(holds, what, ms = 15_000) {
  for (const end = Date.now() + ms; ; await pause(20)) {
    const found = await holds();
    if (found) return found;
    if (Date.now() > end) assert.fail(`not within ${ms} ms: ${what}`);
  }
}

/** What runs must not outlive its spec. @type {Set<Gate>} */
const gates = new Set();
process.once("exit", () => gates.forEach((gate) => gate.child?.kill("SIGKILL")));

/** One `serve`, which can be started again on the same port and state. */
export class Gate {
  /**
   * @param {string} origin @param {unknown} policy a text, or what becomes JSON @param {Record<string, string>} [env]
   * @param {string} [base] where its folder is made
   */
  constructor(origin, policy, env = { ONCEKEY_ADMIN: ADMIN }, base = tmpdir()) {
    this.origin = origin;
    this.room = mkdtempSync(join(base, "oncekey-edge-"));
    this.state = join(this.room, "state");
    this.config = join(this.room, "policy.json");
    this.env = env;
    this.port = 0;
    /** Where messages are taken, if they are. */
    this.queuePort = 0;
    /** How many keys of a caller its limits let pass, where the policy has any. */
    this.limits = 0;
    this.output = "";
    /** Whether its files may be kept from growing while it runs. */
    this.frail = false;
    writeFileSync(this.config, typeof policy === "string" ? policy : JSON.stringify(policy));
    gates.add(this);
  }

  /** Starts it; resolves when it says that it is ready. */
  async start() {
    this.port ||= await freePort();
    this.output = "";
    const { exit, ready } = this.launch();
    const late = setTimeout(() => this.child?.kill("SIGKILL"), START);
    const ended = exit.then((code) => assert.fail(`serve ended with ${code}: ${this.output}`));
    ended.catch(() => {});
    await Promise.race([ready, ended]).finally(() => clearTimeout(late));
    return this;
  }

  /** Starts it; `exit` resolves with its status. */
  launch() {
    const serve = process.env.ONCEKEY_SERVE;
    assert.ok(serve, "ONCEKEY_SERVE names no program");
    const options = { port: this.port, origin: this.origin, config: this.config, state: this.state };
    if (this.queuePort) Object.assign(options, { "queue-port": this.queuePort });
    if (this.limits) Object.assign(options, { limits: this.limits });
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    const { ONCEKEY_ADMIN: _, ONCEKEY_SERVICE: __, ...env } = process.env;
    // The signal that ends a program whose file may not grow: without it the write fails, as on a full disk.
    const [program, before] = this.frail ? ["bash", ["-c", `trap '' XFSZ; exec "$0" "$@"`, serve]] : [serve, []];
    const child = spawn(program, [...before, "serve", ...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...env, ...this.env } });
    this.child = child;
    const ready = new Promise((/** @type {(value?: any) => void} */ resolve) => {
      const heard = (/** @type {Buffer} */ data) => {
        this.output += data;
        if (this.output.includes(`ready http://127.0.0.1:${this.port}\n`)) resolve();
      };
      child.stdout.on("data", heard);
      child.stderr.on("data", heard);
    });
    /** @type {Promise<number | string | null>} */
    this.exit = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
    return { exit: this.exit, ready };
  }

  /** The lines that it has written for the operator. @returns {any[]} */
  get lines() {
    const lines = this.output.split("\n").slice(0, -1);
    return lines.filter((line) => line.startsWith('{"oncekey":')).map((line) => JSON.parse(line));
  }

  /** Whether it has written a line of that kind that has this. @param {string} kind @param {object} [has] */
  told(kind, has = {}) {
    return this.lines.some((line) => line.oncekey === kind && Object.entries(has).every(([name, value]) => line[name] === value));
  }

  /** The processes that `serve` has started. @returns {number[]} */
  get children() {
    const pid = this.child?.pid ?? 0;
    const path = `/proc/${pid}/task/${pid}/children`;
    return existsSync(path) ? readFileSync(path, "utf8").split(" ").filter(Boolean).map(Number) : [];
  }

  /** Kills what is named by SIGKILL, and waits until nothing of the gate runs. @param {"both" | "serve" | "workerd"} what */
  async kill(what = "both") {
    const pids = this.children;
    assert.ok(pids.length > 0, "serve has no workerd");
    if (what !== "workerd") this.child?.kill("SIGKILL");
    if (what !== "serve") for (const pid of pids) process.kill(pid, "SIGKILL");
    const code = await this.exit;
    await until(() => !pids.some(runs), "workerd has ended");
    return code;
  }

  /** SIGTERM; resolves with the status. */
  async stop() {
    const pids = this.children;
    this.child?.kill("SIGTERM");
    const code = await this.exit;
    await until(() => !pids.some(runs), "workerd has ended");
    return code;
  }

  /** Ends it for good. */
  async end() {
    if (this.child?.exitCode === null && this.child.signalCode === null) await this.kill();
    gates.delete(this);
    rmSync(this.room, { recursive: true, force: true });
  }
}

/** A gate, its origin, and paths that no other test uses. */
export class World {
  /** @param {Gate} gate @param {import("./origin.mjs").Origin} origin */
  constructor(gate, origin) {
    this.gate = gate;
    this.origin = origin;
    this.count = 0;
  }

  /** @param {unknown} policy @param {Record<string, string>} [env] @param {string} [base] @param {boolean} [queues] */
  static async start(policy, env, base, queues = false) {
    const origin = await startOrigin();
    const gate = new Gate(origin.url, policy, env, base);
    if (queues) gate.queuePort = await freePort();
    try {
      return new World(await gate.start(), origin);
    } catch (failure) {
      origin.end();
      throw failure;
    }
  }

  /** A new path below a route, planned, and a new key. @param {string} route @param {import("./origin.mjs").Step[]} steps */
  async spot(route, ...steps) {
    const spot = new Spot(this, `${route}/${++this.count}`);
    if (steps.length > 0) await this.origin.plan(spot.path, ...steps);
    return spot;
  }

  /** @param {import("./client.mjs").Request} request */
  send = (request) => send(this.gate.port, request);

  async end() {
    await this.gate.end();
    this.origin.end();
  }
}

/**
 * What differs from the usual request: JSON content `{"item":"lamp"}` of the caller "ann", with the spot's key.
 * @typedef {Partial<import("./client.mjs").Request> & { key?: string | null, caller?: string | null, type?: string | null, more?: [string, string][] }} Change
 */

/** One path and one key. */
export class Spot {
  /** @param {World} world @param {string} path */
  constructor(world, path) {
    this.world = world;
    this.path = path;
    this.key = `key-${randomUUID()}`;
  }

  /** @param {Change} [change] @returns {import("./client.mjs").Request} */
  request({ key = this.key, caller = "ann", type = "application/json", more = [], ...rest } = {}) {
    /** @type {[string, string][]} */
    const lines = [...more];
    if (caller !== null) lines.push(["Authorization", `Bearer ${caller}`]);
    if (type !== null) lines.push(["Content-Type", type]);
    if (key !== null) lines.push(["Idempotency-Key", key]);
    return { path: this.path, lines, ...(rest.chunks ? {} : { content: '{"item":"lamp"}' }), ...rest };
  }

  /** @param {Change} [change] */
  post = (change) => this.world.send(this.request(change));

  /** What the gate remembers of the key. @param {string} [query] */
  peek = (query = "") => {
    const { lines } = this.request({ key: null, type: null });
    return this.world.send({ method: "GET", path: `/.oncekey/keys/${this.key}${query}`, lines });
  };

  /** The same for whoever these lines tell. @param {[string, string][]} lines */
  peekBy = (lines) => this.world.send({ method: "GET", path: `/.oncekey/keys/${this.key}`, lines });

  effects = () => this.world.origin.effects(this.path);
  seen = () => this.world.origin.seen(this.path);
  arrived = (count = 1) => this.world.origin.arrived(this.path, count);
  open = () => this.world.origin.open(this.path);

  /** The scoped key as the origin saw it. @param {number} [at] */
  scoped = async (at = 0) => field((await this.seen())[at], "idempotency-key").replaceAll('"', "");

  /** @param {number} count */
  async ran(count) {
    assert.equal(await this.effects(), count, `effects at ${this.path}`);
  }
}

/** The one value of a field that the origin saw. @param {import("./origin.mjs").Seen | undefined} seen @param {string} name */
export function field(seen, name) {
  const values = (seen?.lines ?? []).filter(([n]) => n.toLowerCase() === name).map(([, value]) => value);
  assert.equal(values.length, 1, `${name} at the origin: ${JSON.stringify(values)}`);
  return values[0];
}

/** The origin ran for this very request. @param {Answer} answer @param {number} [status] */
export function executed(answer, status = 201) {
  assert.equal(answer.status, status, answer.brief);
  assert.ok(answer.whole, answer.brief);
  assert.deepEqual(answer.all("idempotency-status"), ["executed"]);
  assert.equal(answer.one("idempotent-replayed"), undefined);
}

/** The same answer from the record. @param {Answer} answer @param {Answer} first */
export function replayed(answer, first) {
  assert.deepEqual(answer.all("idempotency-status"), ["replayed"], answer.brief);
  assert.deepEqual(answer.all("idempotent-replayed"), ["true"]);
  assert.equal(answer.status, first.status);
  assert.ok(answer.whole, "the replay is not whole");
  assert.deepEqual(answer.kept, first.kept);
  assert.ok(answer.content.equals(first.content), `content differs: ${answer.brief}`);
}

/** What each refusal is: status, word, and whether it says when to come again. @type {Record<string, [number, string, boolean]>} */
const REFUSALS = {
  request_in_progress: [409, "in-progress", true],
  idempotency_key_reused: [422, "mismatch", false],
  key_missing: [400, "refused", false],
  key_invalid: [400, "refused", false],
  caller_invalid: [400, "refused", false],
  header_invalid: [400, "refused", false],
  caller_unverified: [401, "refused", false],
  identity_unavailable: [503, "refused", true],
  caller_changed: [409, "unknown", false],
  key_expired: [409, "expired", false],
  outcome_unknown: [409, "unknown", false],
  reply_unavailable: [409, "refused", false],
  origin_unreachable: [503, "refused", true],
  origin_unanswered: [504, "refused", true],
  content_too_large: [413, "refused", false],
};

/** A refusal in all its parts. @param {Answer} answer @param {string} code */
export function refused(answer, code) {
  const [status, word, again] = REFUSALS[code];
  assert.equal(answer.status, status, answer.brief);
  assert.equal(answer.one("content-type"), "application/problem+json");
  assert.deepEqual([answer.json.code, answer.json.status], [code, status]);
  assert.ok(answer.json.type.endsWith(code) && answer.json.title && answer.json.detail, answer.text);
  if (code !== "reply_unavailable") assert.deepEqual(answer.all("idempotency-status"), [word]);
  assert.match(answer.one("retry-after") ?? "", again ? /^[1-9]\d*$/ : /^$/);
  assert.equal(answer.one("idempotent-replayed"), undefined);
}
