// @ts-check
// Effects of transitions: each told in the history, in the order of the transitions, none lost, and none that is lost
// holds up the next; and none doubled by a transition that comes again, under its key or by the front's own repeat.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ADMIN, field, pause, until, World } from "./gate.mjs";

const SERVICE = "a backend's secret";
/** @type {[string, string][]} */
const BEARER = [["Authorization", `Bearer ${SERVICE}`]];
const NAMES = ["told", "held", "declined", "elsewhere", "silent", "order", "dead", "lost", "apart", "killed", "ended", "keyed", "body", "natural", "lostcall", "bad", "many"];

/** A pump of each name, whose effects have paths of their own. @param {string} name */
const pump = (name) => ({
  initial: "active",
  transitions: {
    pause: { from: ["active"], to: "paused", effect: `/${name}/pause` },
    resume: { from: ["paused"], to: "active", effect: `/${name}/resume` },
    stop: { from: ["active", "paused"], to: "stopped" },
  },
});

/** @type {World} */
let world;
before(async () => {
  const policy = {
    routes: [{ path: "/killed/*", unanswered: "rerun", lease: 2 }, { path: "/*", unanswered: "hold" }],
    machines: Object.fromEntries(NAMES.map((name) => [name, pump(name)])),
  };
  const around = fileURLToPath(new URL("around", import.meta.url));
  world = await World.start(policy, { ONCEKEY_SERVICE: SERVICE, ONCEKEY_ADMIN: ADMIN, ONCEKEY_AROUND: around });
});
after(() => world?.end());

/** @param {string} name @param {string} transition @param {unknown} [content] */
async function move(name, transition, content) {
  const path = `/.oncekey/machines/${name}/1/${transition}`;
  const answer = await world.send({ path, content: content === undefined ? undefined : JSON.stringify(content), lines: BEARER });
  assert.deepEqual([answer.status, answer.json.won], [200, true], answer.brief);
}

/** @param {string} name */
const history = async (name) => (await world.send({ method: "GET", path: `/.oncekey/machines/${name}/1`, lines: BEARER })).json.history;

/** What became of each effect: `dead 404`. @param {string} name @returns {Promise<string[]>} */
const fates = async (name) => (await history(name)).map((/** @type {any} */ entry) => [entry.effect, entry.status].filter(Boolean).join(" "));

/** @param {string} name @param {string[]} wanted */
const become = (name, ...wanted) => until(async () => (await fates(name)).join() === wanted.join(), `${name}: ${wanted}`, 40_000);

/** The operator has an effect delivered once more. @param {string} key */
async function deliver(key) {
  const answer = await world.send({ path: `/.oncekey/keys/${key}/deliver`, lines: [["Authorization", `Bearer ${ADMIN}`]] });
  assert.deepEqual([answer.status, answer.json], [202, { status: "queued", id: key }]);
}

describe("what became of an effect", { concurrency: 6 }, () => {
  test("it waits, then it is delivered with the origin's status; a transition without one says nothing", async () => {
    await world.origin.plan("/told/pause", { status: 503 }, { status: 202, held: true });
    await move("told", "pause", { by: { effect: "none" } });
    await move("told", "stop");
    assert.deepEqual(await fates("told"), ["waiting", ""]);
    await world.origin.arrived("/told/pause", 2);
    assert.deepEqual(await fates("told"), ["waiting", ""]);
    await world.origin.open("/told/pause");
    await become("told", "delivered 202", "");
    const [entry] = await history("told");
    assert.deepEqual(Object.keys(entry), ["transition", "time", "by", "effect", "status", "key"]);
    assert.deepEqual(entry.by, { effect: "none" });
    const [seen] = await world.origin.seen("/told/pause");
    assert.equal(field(seen, "idempotency-key"), `"${entry.key}"`);
  });

  /** @type {[string, import("./origin.mjs").Step, string][]} */
  const ENDS = [
    ["declined", { status: 404, content: "a deploy is under way" }, "dead 404"],
    ["elsewhere", { status: 307, lines: [["Location", "/elsewhere/resume"]] }, "dead 307"],
    ["silent", { cut: "before" }, "unknown"],
  ];
  for (const [name, step, fate] of ENDS) {
    test(`${name}: it says ${fate}, and the operator has it delivered`, async () => {
      await world.origin.plan(`/${name}/pause`, step, {});
      await move(name, "pause", { amount: 1 });
      await become(name, fate);
      await pause(1500);
      assert.equal(await world.origin.effects(`/${name}/pause`), 1);
      const [{ key }] = await history(name);
      await deliver(key);
      await become(name, "delivered 201");
      const seen = await world.origin.seen(`/${name}/pause`);
      assert.deepEqual([seen.length, seen[1].content], [2, seen[0].content]);
      assert.equal(field(seen[1], "idempotency-key"), `"${key}"`);
      assert.equal(await world.origin.effects(`/${name}/resume`), 0);
    });
  }

  test("one that the operator ends is not delivered any more, and the next one is", async () => {
    await world.origin.plan("/ended/pause", { status: 503, lines: [["Retry-After", "600"]] });
    await move("ended", "pause");
    await move("ended", "resume");
    await world.origin.arrived("/ended/pause");
    await until(async () => (await history("ended"))[0].key, "handed over");
    const path = `/.oncekey/keys/${(await history("ended"))[0].key}`;
    const lines = /** @type {[string, string][]} */ ([["Authorization", `Bearer ${ADMIN}`]]);
    await until(async () => (await world.send({ method: "DELETE", path, lines })).status === 204, "released");
    await become("ended", "unknown", "delivered 201");
    assert.equal(await world.origin.effects("/ended/pause"), 1);
  });
});

describe("the effects of one entity", { concurrency: 6 }, () => {
  /** The transitions as they reached the origin, tries and all. @param {string} name */
  const order = async (name) => (await world.origin.targets()).filter((target) => target.startsWith(`/${name}/`)).map((target) => target.split("/")[2]);

  test("reach the origin in the order of the transitions, also where the first must be tried again", async () => {
    await world.origin.plan("/order/pause", { status: 503 }, { status: 500 }, {});
    for (const transition of ["pause", "resume", "pause", "resume"]) await move("order", transition);
    await become("order", ...Array(4).fill("delivered 201"));
    assert.deepEqual(await order("order"), ["pause", "pause", "pause", "resume", "pause", "resume"]);
  });

  test("one that is dead, and one of unknown fate, hold up none", async () => {
    await world.origin.plan("/dead/pause", { status: 422 }, { cut: "before" });
    for (const transition of ["pause", "resume", "pause", "resume"]) await move("dead", transition);
    await become("dead", "dead 422", "delivered 201", "unknown", "delivered 201");
    assert.deepEqual(await order("dead"), ["pause", "resume", "pause", "resume"]);
  });

  test("one that cannot be handed over is said to be, holds up none, and is delivered when it can be", async () => {
    await move("apart", "pause", { apart: true });
    await move("apart", "resume");
    assert.deepEqual(await fates("apart"), ["waiting", "waiting"]);
    await become("apart", "unknown", "delivered 201");
    const [{ key }] = await history("apart");
    assert.ok(world.gate.told("alarm_failed", { key }), world.gate.output);
    assert.deepEqual(await order("apart"), ["resume"]);
    await move("apart", "pause");
    await become("apart", "unknown", "delivered 201", "delivered 201");
    await world.send({ method: "GET", path: "/.test/reach", lines: [] });
    await until(async () => (await fates("apart"))[0] === "delivered 201", "delivered after all", 90_000);
    assert.deepEqual(await order("apart"), ["resume", "pause", "pause"]);
  });
});

describe("a transition that comes again", () => {
  /** @param {string} name @param {string} transition @param {{ key?: string, content?: string, calls?: string }} [more] */
  const call = (name, transition, { key, content, calls } = {}) => {
    const lines = [...BEARER];
    if (key !== undefined) lines.push(["Idempotency-Key", key]);
    if (calls) lines.push(["x-calls", calls]);
    return world.send({ path: `/.oncekey/machines/${name}/1/${transition}`, content, lines });
  };
  /** @param {import("./client.mjs").Answer} answer @param {string} state @param {boolean} won */
  const told = (answer, state, won) => assert.deepEqual([answer.status, answer.json], [200, { state, won }], answer.brief);
  /** @param {string} name */
  const state = async (name) => {
    const { state, version } = (await world.send({ method: "GET", path: `/.oncekey/machines/${name}/1`, lines: BEARER })).json;
    return [state, version];
  };
  /** How often each effect reached the origin. @param {string} name */
  const ran = (name) => Promise.all(["pause", "resume"].map((transition) => world.origin.effects(`/${name}/${transition}`)));

  test("a late duplicate under its key gets the first answer again, and moves nothing", async () => {
    const [first, second] = [`"${randomUUID()}"`, `"${randomUUID()}"`];
    told(await call("keyed", "pause", { key: first }), "paused", true);
    told(await call("keyed", "pause", { key: first }), "paused", true);
    told(await call("keyed", "pause"), "paused", false);
    told(await call("keyed", "pause", { key: second }), "paused", false);
    told(await call("keyed", "resume"), "active", true);
    for (const _ of [1, 2]) {
      told(await call("keyed", "pause", { key: first.toUpperCase() }), "paused", true);
      told(await call("keyed", "pause", { key: second }), "paused", false);
    }
    // An effect that is under way when the gate dies would be of unknown fate.
    await become("keyed", "delivered 201", "delivered 201");
    await world.gate.kill("both");
    await world.gate.start();
    told(await call("keyed", "pause", { key: first }), "paused", true);
    assert.deepEqual(await state("keyed"), ["active", 2]);
    assert.deepEqual(await ran("keyed"), [1, 1]);
    told(await call("keyed", "pause", { key: `"${randomUUID()}"` }), "paused", true);
  });

  test("fifty at once under one key are one, and each hears that it won", async () => {
    const key = `"${randomUUID()}"`;
    const answers = await Promise.all(Array.from({ length: 50 }, () => call("many", "pause", { key })));
    for (const answer of answers) told(answer, "paused", true);
    await become("many", "delivered 201");
    assert.deepEqual(await ran("many"), [1, 0]);
  });

  test("under another transition or content a key is refused", async () => {
    const key = `"${randomUUID()}"`;
    told(await call("body", "pause", { key, content: '{"by":"ann","n":1.0}' }), "paused", true);
    told(await call("body", "pause", { key, content: '{ "n": 1, "by": "ann" }' }), "paused", true);
    for (const [transition, content] of [["pause", '{"by":"bob"}'], ["pause", undefined], ["resume", '{"by":"ann","n":1.0}']]) {
      const answer = await call("body", /** @type {string} */ (transition), { key, content });
      assert.deepEqual([answer.status, answer.json.code], [422, "idempotency_key_reused"], answer.brief);
    }
    assert.deepEqual(await state("body"), ["paused", 1]);
    // It is the entity's own.
    const other = await world.send({ path: "/.oncekey/machines/body/2/resume", lines: [...BEARER, ["Idempotency-Key", key]] });
    assert.equal(other.json.state, "active");
  });

  test("a conflict is not remembered, and any key will do", async () => {
    const stopped = await call("natural", "stop", { key: "stop-1" });
    told(stopped, "stopped", true);
    assert.equal((await call("natural", "pause", { key: "pause-1" })).json.code, "state_conflict");
    assert.equal((await call("natural", "pause", { key: "pause-1", content: "{}" })).json.code, "state_conflict");
    told(await call("natural", "stop", { key: "stop-1" }), "stopped", true);
  });

  test("a malformed key is a 400, and moves nothing", async () => {
    for (const key of ["", '"', "a b", '"a', "é", "x".repeat(256), "a,b"]) {
      const answer = await call("bad", "pause", { key: Buffer.from(key).toString("latin1") });
      assert.deepEqual([answer.status, answer.json.code], [400, "key_invalid"], `${key}: ${answer.brief}`);
    }
    assert.deepEqual(await state("bad"), ["active", 0]);
  });

  test("the front repeats a call whose answer was lost: the winner hears that it won", async () => {
    told(await call("lostcall", "pause", { calls: `${randomUUID()} +t` }), "paused", true);
    told(await call("lostcall", "pause", { calls: `${randomUUID()} +t` }), "paused", false);
    told(await call("lostcall", "resume", { key: `"${randomUUID()}"`, calls: `${randomUUID()} +t` }), "active", true);
    assert.deepEqual(await state("lostcall"), ["active", 2]);
    await become("lostcall", "delivered 201", "delivered 201");
    assert.deepEqual(await ran("lostcall"), [1, 1]);
  });
});

test("killed between an effect and the next: each is made once, in its turn", async () => {
  await world.origin.plan("/killed/pause", { status: 503 }, { status: 503 }, {});
  for (const transition of ["pause", "resume", "pause"]) await move("killed", transition);
  for (const ms of [0, 300, 1500]) {
    await pause(ms);
    await world.gate.kill("both");
    await world.gate.start();
  }
  await become("killed", ...Array(3).fill("delivered 201"));
  const targets = (await world.origin.targets()).filter((target) => target.startsWith("/killed/"));
  const turns = targets.filter((target, at) => target !== targets[at - 1]);
  assert.deepEqual(turns, ["/killed/pause", "/killed/resume", "/killed/pause"]);
});
