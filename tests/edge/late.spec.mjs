// @ts-check
// Answers that come when their claim was given up: nothing of the key's fate changes, but the operator has a line. And what
// the platform says of a failed fetch, without what it says of the request.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { ADMIN, executed, refused, until, World } from "./gate.mjs";

const AROUND = { ONCEKEY_AROUND: fileURLToPath(new URL("around", import.meta.url)), ONCEKEY_ADMIN: ADMIN };
const LEASE = 2;

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    routes: [
      { path: "/later/*", mode: "accept", unanswered: "hold", lease: LEASE },
      { path: "/rerun/*", unanswered: "rerun", lease: LEASE },
      { path: "/*", lease: LEASE },
    ],
  }, AROUND);
});
after(() => world?.end());

/** The line of a late answer. @param {string} key */
async function late(key) {
  await until(() => world.gate.told("late", { key }), "a line");
  return world.gate.lines.filter((line) => line.oncekey === "late" && line.key === key);
}

/** @param {string} key */
const release = (key) => world.send({ method: "DELETE", path: `/.oncekey/keys/${key}`, lines: [["Authorization", `Bearer ${ADMIN}`]] });

describe("an answer after the lease", () => {
  for (const route of ["/orders", "/later"]) {
    test(`on ${route}: a line with its status, and the fate stays unknown`, async () => {
      const spot = await world.spot(route, { held: true });
      const first = spot.post();
      await spot.arrived();
      if (route === "/orders") refused(await first, "outcome_unknown");
      const key = await spot.scoped();
      await until(() => world.gate.told("unknown", { key }), "of unknown fate");
      await spot.open();
      const [line, ...more] = await late(key);
      const { time, ms, ...rest } = line;
      assert.deepEqual([rest, more], [{ oncekey: "late", key, route: route === "/orders" ? "/*" : "/later/*", generation: 1, status: 201 }, []]);
      assert.ok(ms >= LEASE * 1000 && ms < 30_000 && Math.abs(Date.parse(time) - Date.now()) < 60_000, JSON.stringify(line));
      assert.equal((await spot.peek()).json.state, "unknown");
      await spot.ran(1);
    });
  }

  test("to a key that was released meanwhile: the same", async () => {
    const spot = await world.spot("/orders", { held: true });
    refused(await spot.post(), "outcome_unknown");
    const key = await spot.scoped();
    assert.equal((await release(key)).status, 204);
    await spot.open();
    assert.equal((await late(key))[0].status, 201);
    assert.equal((await spot.peek()).json.state, "absent");
  });

  for (const [how, route] of [["after a release", "/orders"], ["where the route says so", "/rerun"]]) {
    test(`another execution ${how} ends the request of the first before it begins`, async () => {
      const spot = await world.spot(route, { held: true }, { held: true });
      refused(await spot.post(), route === "/rerun" ? "origin_unanswered" : "outcome_unknown");
      const key = await spot.scoped();
      if (route === "/orders") assert.equal((await release(key)).status, 204);
      const second = spot.post();
      await world.origin.ended(spot.path, 1);
      await spot.open();
      await spot.open();
      executed(await second);
      await spot.ran(2);
      assert.ok(!world.gate.told("late", { key }));
    });
  }
});

test("an answer whose record another build has moved", async () => {
  const spot = await world.spot("/orders", { held: true });
  const first = spot.post();
  await spot.arrived();
  const key = await spot.scoped();
  await world.send({ method: "POST", path: `/.test/garble?key=${key}`, lines: [], content: Buffer.from([255, 1, 2]) });
  await spot.open();
  executed(await first);
  const [line] = await late(key);
  assert.deepEqual([line.status, line.generation, line.route], [201, 1, "/*"]);
});

describe("what the platform says", () => {
  test("of a connection that is lost stands in the line", async () => {
    const spot = await world.spot("/orders", { cut: "before" });
    refused(await spot.post(), "outcome_unknown");
    const key = await spot.scoped();
    await until(() => world.gate.told("unknown", { key, cause: "Network connection lost." }), "its words");
  });

  test("of a request in its words does not", async () => {
    const spot = await world.spot("/orders");
    const { length } = world.gate.lines;
    refused(await spot.post({ more: [["X-Origin", "tell"]], content: '{"card":"4111"}' }), "outcome_unknown");
    await until(() => world.gate.lines.slice(length).some(({ oncekey }) => oncekey === "unknown"), "a line");
    const line = world.gate.lines.slice(length).find(({ oncekey }) => oncekey === "unknown");
    assert.equal(line.cause, "Fetch API cannot load: … reset by peer");
  });

  test("of a storage that fails, before and after the effect", async () => {
    const [before, after] = [await world.spot("/orders"), await world.spot("/orders")];
    const { length } = world.gate.lines;
    await before.post({ more: [["X-Storage", "put 1"]] });
    executed(await after.post({ more: [["X-Storage", "put 2"]] }));
    const key = await after.scoped();
    await until(() => world.gate.told("store", { key, cause: "… fails" }), "the second");
    const first = world.gate.lines.slice(length).find(({ oncekey }) => oncekey === "store");
    assert.deepEqual([first.cause, first.key.length], ["… fails", 43]);
  });

  test("of an alarm that fails", async () => {
    const spot = await world.spot("/later", { status: 503 });
    await spot.post();
    await spot.arrived();
    const key = await spot.scoped();
    await world.send({ method: "GET", path: `/.test/ring?key=${key}&fail=get`, lines: [] });
    await until(() => world.gate.told("alarm_failed", { cause: "… fails" }), "a line");
  });
});
