// @ts-check
// What outlives whom: callers that leave give back all that they held, and a stream that nobody reads ends.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bytes, Wire } from "./client.mjs";
import { ADMIN, executed, pause, refused, until, World } from "./gate.mjs";

const AROUND = { ONCEKEY_AROUND: fileURLToPath(new URL("around", import.meta.url)) };
/** A memory file system: objects are made faster there. */
const MEMORY = "/dev/shm";

/** Callers of each kind that leave. */
const CALLERS = Number(process.env.ONCEKEY_CALLERS ?? 1000);
/** How many of them are there at once. */
const AT_ONCE = 60;
/** The key of an execution that does not end. @type {[string, string]} */
const WAITED = ["Idempotency-Key", "waited-for"];

/** Bytes by which the wasm's memory may have grown after ten thousand callers have left, fewer after fewer. */
const GROWTH = Math.max(524_288, (CALLERS * 2 * 1024 * 1024) / 10_000);

describe("callers that leave give back all that they held", { concurrency: false }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    const routes = [
      { path: "/wait", wait: 30, lease: 600, patience: 1 },
      { path: "/batch", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
      { path: "/*" },
    ];
    world = await World.start({ routes }, AROUND, existsSync(MEMORY) ? MEMORY : undefined);
    await world.origin.plan("/wait", { cut: "hang" });
    const wire = await Wire.open(world.gate.port);
    wire.write(whole("/wait", [WAITED]));
    await world.origin.arrived("/wait");
    // Told that it runs: what waits from now on are the callers that leave.
    assert.equal((await wire.answer()).status, 409);
  });
  after(() => world?.end());

  const spy = async () => (await world.send({ method: "GET", path: "/.test/spy", lines: [] })).json;

  /** The process's memory, in MB. */
  const rss = () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${world.gate.children[0]}/status`, "utf8"))?.[1]) / 1024);

  /** @param {string} path @param {[string, string][]} [more] @param {string | Buffer} [content] @param {string} [method] */
  const whole = (path, more = [], content = '{"item":"lamp"}', method = "POST") =>
    bytes({ method, path, lines: [["Content-Type", "application/json"], ["Authorization", "Bearer ann"], ...more], ...(method === "GET" ? {} : { content }) });
  /** @returns {[string, string]} */
  const key = () => ["Idempotency-Key", randomUUID()];
  /** Half of a request. @param {Buffer} request */
  const half = (request) => request.subarray(0, request.length - 10_000);
  const large = Buffer.alloc(20_000, " ");
  /** @param {[string, string][]} [more] */
  const chunks = (more = []) => {
    const lines = /** @type {[string, string][]} */ ([["Content-Type", "application/json"], ["Authorization", "Bearer ann"], ...more]);
    return half(bytes({ path: "/job", lines, chunks: [large, large] }));
  };

  /**
   * What a caller sends, how the gate shows that it holds something for it, and what runs of it at the origin: an
   * execution goes on without its caller.
   * @type {Record<string, { sends: () => Buffer, held: "fronts" | "calls" | "origin" | "head", runs?: { path: string, count: number, step: import("./origin.mjs").Step } }>}
   */
  const kinds = {
    "a plain GET": { sends: () => whole("/hang", [], "", "GET"), held: "origin" },
    "a POST without a key": { sends: () => whole("/hang"), held: "origin" },
    "an upload of known length": { sends: () => half(whole("/job", [key()], large)), held: "fronts" },
    "an upload in chunks": { sends: () => chunks([key()]), held: "fronts" },
    "an upload in chunks without a key": { sends: () => chunks(), held: "fronts" },
    "an execution": { sends: () => whole("/job", [key()]), held: "origin", runs: { path: "/job", count: 1, step: { held: true } } },
    "a wait for another execution": { sends: () => whole("/wait", [WAITED]), held: "calls" },
    "a wait at peek": { sends: () => whole(`/.oncekey/keys/${WAITED[1]}?wait=30`, [], "", "GET"), held: "calls" },
    "an answer that streams": { sends: () => whole("/stream", [key()]), held: "head", runs: { path: "/stream", count: 1, step: { parts: ["a", "b"] } } },
    "a batch": {
      sends: () => whole("/batch", [], `{"items":[${Array.from({ length: 3 }, () => `{"idempotency_key":"${randomUUID()}"}`)}]}`),
      held: "origin",
      runs: { path: "/item", count: 3, step: { held: true } },
    },
  };

  /** So many callers come and leave. @param {(typeof kinds)[string]} kind @param {number} count */
  async function leave({ sends, held, runs }, count) {
    const path = runs?.path ?? "/hang";
    const counted = async () => (held === "origin" ? world.origin.effects(path) : (await spy())[held]);
    const { timers } = await spy();
    const effects = await world.origin.effects(path);
    const wires = await Promise.all(Array.from({ length: count }, () => Wire.open(world.gate.port)));
    const end = held === "head" ? 0 : (await counted()) + count * (runs?.count ?? 1);
    for (const wire of wires) wire.write(sends());
    if (held === "head") await Promise.all(wires.map(async (wire) => assert.equal((await wire.head()).status, 201)));
    else await until(async () => (await counted()) >= end, `${count} are held`);
    for (const wire of wires) wire.drop();
    if (runs) {
      for (let n = 0; n < count * runs.count; n++) await world.origin.open(path);
      await until(async () => (await spy()).timers <= timers, "what was claimed has ended");
      assert.equal(await world.origin.effects(path), effects + count * runs.count);
    }
  }

  for (const [name, kind] of Object.entries(kinds)) {
    test(name, async (t) => {
      await world.origin.plan(kind.runs?.path ?? "/hang", kind.runs?.step ?? { cut: "hang" });
      const leaves = async (/** @type {number} */ count) => {
        const { timers } = await spy();
        for (let left = count; left > 0; left -= AT_ONCE) await leave(kind, Math.min(left, AT_ONCE));
        await until(async () => (await spy()).timers <= timers, "nobody waits");
      };
      await leaves(2 * AT_ONCE);
      const warm = await spy();
      const resident = rss();
      await leaves(CALLERS);
      const grown = (await spy()).memory - warm.memory;
      t.diagnostic(`${CALLERS} callers: wasm memory ${warm.memory / 1024} kB, grown by ${grown / 1024} kB; RSS ${resident} MB, then ${rss()} MB`);
      assert.ok(grown <= GROWTH, `grown by ${grown} bytes`);
      executed(await (await world.spot("/well")).post());
    });
  }
});

describe("a stream that nobody reads", { concurrency: 8 }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    world = await World.start({ max_stored: 1000, routes: [{ path: "/*", lease: 2, patience: 1 }] });
  });
  after(() => world?.end());

  const endless = { parts: ["a".repeat(600)], endless: true };
  const lines = /** @type {[string, string][]} */ ([["Authorization", `Bearer ${ADMIN}`]]);

  /** The execution has ended, and its fate is not known. @param {import("./gate.mjs").Spot} spot */
  async function ended(spot) {
    refused(await spot.post(), "request_in_progress");
    await Promise.race([world.origin.left(spot.path), pause(10_000).then(() => assert.fail("the origin goes on"))]);
    await until(async () => (await spot.peek()).json.state === "unknown", "it has ended");
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
    assert.equal((await world.send({ method: "DELETE", path: `/.oncekey/keys/${await spot.scoped()}`, lines })).status, 204);
    await world.origin.plan(spot.path, {});
    executed(await spot.post());
    await spot.ran(2);
  }

  test("over max_stored, its caller gone: it ends with its lease, and the key can be released", async () => {
    const spot = await world.spot("/job", endless);
    const wire = await Wire.open(world.gate.port);
    wire.write(bytes(spot.request()));
    assert.equal((await wire.head()).status, 201);
    await wire.arrived(2000);
    wire.drop();
    await ended(spot);
  });

  test("over max_stored, its caller told that it runs before it began: the same", async () => {
    const spot = await world.spot("/job", { ...endless, held: true });
    refused(await spot.post(), "request_in_progress");
    await spot.open();
    await ended(spot);
  });

  test("while its caller reads it goes on", async () => {
    const spot = await world.spot("/job", endless);
    const wire = await Wire.open(world.gate.port);
    wire.write(bytes(spot.request()));
    const head = await wire.head();
    const begin = Date.now();
    while (Date.now() < begin + 5_000) await wire.arrived(wire.bytes.length + 600);
    assert.deepEqual([head.status, wire.ended], [201, false]);
    refused(await spot.post(), "request_in_progress");
    wire.drop();
  });

  test("one that can be stored goes on, and is stored", async () => {
    const spot = await world.spot("/job", { parts: ["a", "b", "c", "d"] });
    const wire = await Wire.open(world.gate.port);
    wire.write(bytes(spot.request()));
    assert.equal((await wire.head()).status, 201);
    wire.drop();
    for (let n = 0; n < 3; n++) {
      // Longer than a lease in all.
      await pause(1_200);
      await spot.open();
    }
    await until(async () => (await spot.peek()).json.state === "completed", "stored");
    const replay = await spot.post();
    assert.deepEqual([replay.text, replay.word], ["abcd", "replayed"]);
    await spot.ran(1);
  });
});
