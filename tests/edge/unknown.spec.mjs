// @ts-check
// Fates that a person has to look at: whoever the policy names is told of each at least once, also where the gate was
// killed and nobody comes again.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ADMIN, executed, field, refused, until, World } from "./gate.mjs";

/** @typedef {import("./gate.mjs").Spot} Spot */

const MARK = "s3cr3t";
const SERVICE = "a backend's secret";
const ROUTES = [
  { path: "/later/*", mode: "accept", unanswered: "hold", lease: 1 },
  { path: "/hold/*", server_error: "hold", lease: 1 },
  { path: "/probe/*", unanswered: { probe: "/lookup/{key}" }, lease: 1 },
  { path: "/many/*", lease: 15 },
  { path: "/effects", unanswered: "hold", lease: 1 },
  { path: "/*", lease: 1 },
];
const POLICY = {
  on_unknown: { post: "/told" },
  routes: ROUTES,
  queues: { mail: { path: "/mail", key: "/id", lease: 1, unanswered: "hold" } },
  machines: { bill: { initial: "open", transitions: { pay: { from: ["open"], to: "paid", effect: "/effects" } } } },
};

/** What was told at a path, of a key where one is given. @param {World} world @param {string} [key] @param {string} [path] */
async function told(world, key, path = "/told") {
  const seen = await world.origin.seen(path);
  const all = seen.map((each) => ({ ...each, said: JSON.parse(each.content) }));
  return all.filter(({ said }) => key === undefined || said.key === key);
}

/** The same, once it is said so often. @param {World} world @param {string} key @param {number} [count] @param {string} [path] */
async function heard(world, key, count = 1, path = "/told") {
  await until(async () => (await told(world, key, path)).length >= count, `told of ${key} ${count} times`, 20_000);
  return told(world, key, path);
}

/** @param {World} world @param {string} key @param {string} act */
const operate = (world, key, act) =>
  world.send({
    method: act === "deliver" ? "POST" : "DELETE",
    path: `/.oncekey/keys/${key}${act === "deliver" ? "/deliver" : ""}`,
    lines: [["Authorization", `Bearer ${ADMIN}`]],
  });

describe("by POST", () => {
  /** @type {World} */
  let world;
  before(async () => {
    world = await World.start(POLICY, { ONCEKEY_ADMIN: ADMIN, ONCEKEY_SERVICE: SERVICE }, undefined, true);
  });
  after(() => world?.end());

  /** Route, what the origin does, and what is told. @type {[string, import("./origin.mjs").Step, object][]} */
  const CASES = [
    ["/orders", { cut: "before" }, { state: "unknown", route: "/*" }],
    ["/orders", { status: 504 }, { state: "unknown", route: "/*", status: 504 }],
    ["/hold", { status: 500 }, { state: "unknown", route: "/hold/*", status: 500 }],
    ["/probe", { cut: "content" }, { state: "unknown", route: "/probe/*", status: 201 }],
    ["/later", { cut: "before" }, { state: "unknown", route: "/later/*" }],
    ["/later", { status: 404 }, { state: "dead", route: "/later/*", status: 404 }],
  ];
  for (const [route, step, expect] of CASES) {
    test(`${JSON.stringify(step)} on ${route}`, async () => {
      const spot = await world.spot(route, step);
      spot.key = `${MARK}-${spot.key}`;
      await spot.post({ caller: MARK, content: JSON.stringify({ card: MARK }) });
      await spot.arrived();
      const key = await spot.scoped();
      const [{ said, method, content, lines }] = await heard(world, key);
      const { since, ...rest } = said;
      assert.deepEqual(rest, { key, ...expect });
      assert.ok(Math.abs(Date.parse(since) - Date.now()) < 60_000, since);
      assert.equal(method, "POST");
      assert.equal(lines.find(([name]) => name.toLowerCase() === "content-type")?.[1], "application/json");
      assert.ok(!JSON.stringify([content, lines]).includes(MARK));
    });
  }

  test("what ends well, is declined or is free again is told to nobody", async () => {
    const [well, declined, busy] = [await world.spot("/a"), await world.spot("/a", { status: 422 }), await world.spot("/a", { status: 503 })];
    executed(await well.post());
    await declined.post();
    await busy.post();
    const last = await world.spot("/a", { cut: "before" });
    await last.post();
    await heard(world, await last.scoped());
    for (const spot of [well, declined, busy]) assert.deepEqual(await told(world, await spot.scoped()), []);
  });

  test("an owner that died: once the lease has ended, though nobody comes again", async () => {
    const spot = await world.spot("/dies", { cut: "hang" });
    const gone = spot.post().catch(() => undefined);
    await spot.arrived();
    const key = await spot.scoped();
    await world.gate.kill();
    await gone;
    await world.gate.start();
    const [{ said }] = await heard(world, key);
    assert.deepEqual([said.state, said.route, said.status], ["unknown", "/*", undefined]);
    assert.ok(world.gate.told("unknown", { key }));
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
  });

  test("a delivery whose owner died", async () => {
    const spot = await world.spot("/later", { cut: "hang" });
    await spot.post();
    await spot.arrived();
    const key = await spot.scoped();
    await world.gate.kill();
    await world.gate.start();
    assert.equal((await heard(world, key))[0].said.state, "unknown");
  });

  test("a queue's message, and an entity's effect", async () => {
    await world.origin.plan("/mail", { cut: "before" });
    await world.origin.plan("/effects", { status: 410 });
    /** @type {[string, string][]} */
    const lines = [["Authorization", `Bearer ${SERVICE}`]];
    const { send } = await import("./client.mjs");
    await send(world.gate.queuePort, { path: "/mail", content: JSON.stringify([{ id: "1", body: { id: "m" } }]) });
    await world.send({ path: "/.oncekey/machines/bill/7/pay", lines });
    await world.origin.arrived("/effects");
    const key = async (/** @type {string} */ path) => field((await world.origin.seen(path))[0], "idempotency-key").slice(1, -1);
    assert.deepEqual((await heard(world, await key("/mail")))[0].said.state, "unknown");
    const { state, status } = (await heard(world, await key("/effects")))[0].said;
    assert.deepEqual([state, status], ["dead", 410]);
  });

  test("delivered again and of unknown fate again: told twice, by two keys", async () => {
    const spot = await world.spot("/later", { cut: "before" });
    await spot.post();
    await spot.arrived();
    const key = await spot.scoped();
    await heard(world, key);
    assert.equal((await operate(world, key, "deliver")).status, 202);
    const both = await heard(world, key, 2);
    const keys = new Set(both.map((seen) => field(seen, "idempotency-key")));
    assert.equal(keys.size, 2);
    for (const name of keys) assert.match(name, /^"[\w-]{43}"$/);
    await spot.ran(2);
  });
});

describe("the target is down", () => {
  /** @type {World} */
  let world;
  before(async () => {
    world = await World.start(POLICY);
  });
  after(() => world?.end());

  test("tried until it takes it, each time under the same key, and not after", async () => {
    await world.origin.plan("/told", { status: 500 }, { status: 302, lines: [["Location", "/elsewhere"]] }, { cut: "before" }, { status: 204 });
    const spot = await world.spot("/orders", { cut: "before" });
    await spot.post();
    const key = await spot.scoped();
    const all = await heard(world, key, 4);
    assert.equal(new Set(all.map((seen) => field(seen, "idempotency-key"))).size, 1);
    assert.equal(await world.origin.effects("/elsewhere"), 0);
    // The next fate is told of once, and the first no more.
    const next = await world.spot("/orders", { cut: "before" });
    await next.post();
    await heard(world, await next.scoped());
    assert.equal((await told(world, key)).length, 4);
  });

  test("what is released meanwhile is told no more", async () => {
    await world.origin.plan("/told", { held: true, status: 500 }, {});
    const before = await world.origin.effects("/told");
    const spot = await world.spot("/orders", { cut: "before" });
    await spot.post();
    const key = await spot.scoped();
    await world.origin.arrived("/told", before + 1);
    assert.equal((await operate(world, key, "release")).status, 204);
    await world.origin.plan("/told", {});
    await world.origin.open("/told");
    const next = await world.spot("/orders", { cut: "before" });
    await next.post();
    await heard(world, await next.scoped());
    assert.equal((await told(world, key)).length, 1);
  });

  test("500 effects under way, the gate killed, the target down at first: none is lost", async () => {
    await world.origin.plan("/told", {});
    const spots = await Promise.all(Array.from({ length: 500 }, () => world.spot("/many", { cut: "hang" })));
    const gone = spots.map((spot) => spot.post().catch(() => undefined));
    /** @type {string[]} */
    const keys = [];
    for (const spot of spots) {
      await spot.arrived();
      keys.push(await spot.scoped());
    }
    await world.gate.kill();
    await Promise.all(gone);
    await world.origin.plan("/told", ...Array.from({ length: (await world.origin.effects("/told")) + 40 }, () => ({ status: 503 })), {});
    await world.gate.start();
    const missing = async () => {
      const found = new Set((await told(world)).map(({ said }) => said.key));
      return keys.filter((key) => !found.has(key)).length === 0;
    };
    await until(missing, "all of them", 90_000);
  });
});

describe("by a queue", () => {
  test("a message of JSON, sent until the queue takes it; without the binding nothing is forwarded", async () => {
    const { startOrigin } = await import("./origin.mjs");
    const queue = await startOrigin();
    const world = await World.start({ ...POLICY, on_unknown: { queue: "ALERTS" } }, { ONCEKEY_ADMIN: ADMIN, ONCEKEY_TOLD: queue.url });
    try {
      await queue.plan("/message", { status: 500 }, { status: 200, content: "{}" });
      const spot = await world.spot("/hold", { status: 500 });
      await spot.post();
      await until(async () => (await queue.effects("/message")) >= 2, "two messages");
      const [first, second] = await queue.seen("/message");
      const { since, ...rest } = JSON.parse(second.content);
      assert.deepEqual(rest, { key: await spot.scoped(), state: "unknown", route: "/hold/*", status: 500 });
      assert.equal(first.content, second.content);
      assert.ok(Date.parse(since) > 0);
    } finally {
      await world.end();
      queue.end();
    }
  });
});

describe("nobody is named", () => {
  test("nothing is told", async () => {
    const world = await World.start({ routes: ROUTES }, {});
    try {
      const spot = await world.spot("/hold", { status: 500 });
      await spot.post();
      executed(await (await world.spot("/a")).post());
      assert.equal(await world.origin.effects("/told"), 0);
    } finally {
      await world.end();
    }
  });
});
