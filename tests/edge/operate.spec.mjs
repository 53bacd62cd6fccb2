// @ts-check
// What the operator sees: lines in the log, one JSON text each, with nothing of a request that is nobody's business; and
// what is behind one key.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { ADMIN, executed, refused, until, World } from "./gate.mjs";

/** Stands in everything that must not be in a line. */
const MARK = "s3cr3t";
/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    log: 1,
    routes: [
      { path: "/later/*", mode: "accept", unanswered: "hold" },
      { path: "/hold/*", server_error: "hold" },
      { path: "/*", lease: 5 },
    ],
  });
});
after(() => world?.end());

/** The lines of one kind about a scoped key, once there are so many. @param {string} kind @param {string} key @param {number} [count] */
async function told(kind, key, count = 1) {
  const found = () => world.gate.lines.filter((line) => line.oncekey === kind && key.startsWith(line.key));
  await until(() => found().length >= count, `${count} lines of ${kind}`);
  return found();
}

/** @param {import("./gate.mjs").Spot} spot @param {object} [change] */
const attempt = (spot, change) => spot.post({
  caller: `${MARK}1`,
  content: `{"card":"${MARK}2"}`,
  more: [["Cookie", `session=${MARK}3`], ["X-Forwarded-For", "203.0.113.77"]],
  ...change,
});

/** @param {string} name @param {string} [secret] */
const look = (name, secret = ADMIN) => world.send({ method: "GET", path: `/.oncekey/keys/${name}`, lines: [["Authorization", `Bearer ${secret}`]] });

describe("lines of attempts", () => {
  test("each attempt with a key has one, of its word, and nothing of the request is in it", async () => {
    const spot = await world.spot("/orders", { content: `${MARK}4`, lines: [["Set-Cookie", `a=${MARK}5`]] });
    spot.key = `${MARK}-${randomUUID()}`;
    const path = `${spot.path}?q=${MARK}6`;
    executed(await attempt(spot, { path }));
    assert.equal((await attempt(spot, { path })).word, "replayed");
    refused(await attempt(spot, { path, content: `{"card":"${MARK}7"}` }), "idempotency_key_reused");
    const key = await spot.scoped();
    const found = await told("attempt", key, 3);
    const { version } = found[0];
    const common = { oncekey: "attempt", route: "/*", method: "POST", key: key.slice(0, 8), caller: "identified", bytes: 18, version };
    const say = (/** @type {any} */ line) => ({ ...line, time: typeof line.time, ms: typeof line.ms, ...(line.origin_ms === undefined ? {} : { origin_ms: typeof line.origin_ms }) });
    const kinds = { time: "string", ms: "number" };
    assert.deepEqual(found.map(say), [
      { ...common, ...kinds, word: "executed", status: 201, origin_status: 201, origin_ms: "number" },
      { ...common, ...kinds, word: "replayed", status: 201 },
      { ...common, ...kinds, word: "mismatch", code: "idempotency_key_reused", status: 422 },
    ]);
    for (const { time } of found) assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000, time);
    for (const secret of [MARK, key, "203.0.113.77"]) assert.ok(!world.gate.output.includes(secret), secret);
  });

  test("an anonymous caller is called so, and a request without a key has no line", async () => {
    const spot = await world.spot("/orders");
    spot.key = randomUUID();
    await spot.post({ key: null, caller: null });
    executed(await spot.post({ caller: null }));
    const key = await spot.scoped(1).catch(() => spot.scoped(0));
    const found = await told("attempt", key);
    assert.deepEqual(found.map(({ caller, word }) => [caller, word]), [["anonymous", "executed"]]);
  });

  test("without `log` ordinary attempts have none, and what is out of the ordinary has its own", async () => {
    const quiet = await World.start({ routes: [{ path: "/*" }] });
    try {
      const plain = await quiet.spot("/orders");
      executed(await plain.post());
      const lost = await quiet.spot("/orders", { cut: "before" });
      refused(await lost.post(), "outcome_unknown");
      await until(() => quiet.gate.lines.length > 0, "a line");
      assert.deepEqual(quiet.gate.lines.map(({ oncekey, key }) => [oncekey, key]), [["unknown", await lost.scoped()]]);
    } finally {
      await quiet.end();
    }
  });
});

describe("what a person has to look at", () => {
  /** Route, what the origin does, the line, its status, what the operator is told. @type {[string, import("./origin.mjs").Step, string, number | undefined, object][]} */
  const CASES = [
    ["/orders", { cut: "before" }, "unknown", undefined, { state: "unknown", cause: "unanswered", route: "/*" }],
    ["/hold", { status: 500 }, "unknown", 500, { state: "unknown", cause: "ambiguous", route: "/hold/*" }],
    ["/later", { cut: "before" }, "unknown", undefined, { state: "unknown", cause: "unanswered", route: "/later/*" }],
    ["/later", { status: 404 }, "dead", 404, { state: "dead", cause: "declined", route: "/later/*" }],
  ];
  for (const [route, step, kind, status, state] of CASES) {
    test(`${JSON.stringify(step)} on ${route}: a line with all of the scoped key, by which the operator looks`, async () => {
      const spot = await world.spot(route, step);
      await attempt(spot);
      await spot.arrived();
      const key = await spot.scoped();
      const [line] = await told(kind, key);
      assert.deepEqual([line.key, line.status], [key, status]);
      const answer = await look(key);
      assert.deepEqual([answer.status, answer.one("cache-control")], [200, "no-store"]);
      const { since, expires, generation, tries, status: _, ...rest } = answer.json;
      assert.deepEqual(rest, state);
      assert.deepEqual([generation, tries], [1, 1]);
      assert.ok(Math.abs(Date.parse(since) - Date.now()) < 60_000 && Date.parse(expires) > Date.now(), answer.text);
      assert.ok(!world.gate.output.includes(MARK));
    });
  }

  test("what is completed or absent, and what nobody but the operator is told", async () => {
    const spot = await world.spot("/orders");
    executed(await spot.post());
    const key = await spot.scoped();
    const { state, status, generation, route } = (await look(key)).json;
    assert.deepEqual([state, status, generation, route], ["completed", 201, 1, "/*"]);
    assert.deepEqual((await look("A".repeat(43))).json.state, "absent");
    // Another secret is a caller's own token, and the scoped key a key of that caller's.
    assert.deepEqual((await look(key, "of-nobody")).json, { state: "absent" });
  });
});
