// @ts-check
// The wasm traps: a panic and an exhausted memory, in the front, in the object before its claim, and after the effect.
// All objects of an isolate share the instance. A test build of the worker traps where the field `x-fault` says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { bytes, Wire } from "./client.mjs";
import { executed, pause, refused, replayed, until, World } from "./gate.mjs";

/** @type {World} */
let world;
before(async () => {
  world = await World.start({ routes: [{ path: "/accept/*", mode: "accept", unanswered: "hold" }, { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" }, { path: "/*", patience: 5, lease: 10 }] }, { ONCEKEY_PACKAGE: "oncekey-worker-faults" });
});
after(() => world?.end());

/** A key of another caller's still runs once and replays. */
async function well() {
  const spot = await world.spot("/well");
  const first = await spot.post();
  executed(first);
  replayed(await spot.post(), first);
  await spot.ran(1);
}

/** The rest of an answer, which breaks off at once. @param {Wire} wire @param {import("./client.mjs").Answer} head */
const broken = (wire, head) => Promise.race([wire.answer("POST", head), pause(5_000).then(() => assert.fail("the caller hangs"))]);

for (const fault of ["panic", "memory"]) {
  describe(fault, { concurrency: false }, () => {
    /** @param {string} place */
    const trapping = async (place) => {
      const spot = await world.spot("/job");
      const answer = await spot.post({ more: [["X-Fault", `${fault}-${place}`]] });
      assert.ok(answer.status >= 500, `an error: ${answer.brief}`);
      return spot;
    };

    for (const place of ["front", "before"]) {
      test(`in the ${place === "front" ? "front" : "object, before the claim"}: nothing ran, the key is free`, async () => {
        const spot = await trapping(place);
        await spot.ran(0);
        await well();
        executed(await spot.post());
        await spot.ran(1);
      });
    }

    test("in the object, after the effect: unknown, and it is not run again", async () => {
      const spot = await trapping("after");
      await spot.ran(1);
      refused(await spot.post(), "outcome_unknown");
      await well();
      refused(await spot.post(), "outcome_unknown");
      await spot.ran(1);
    });

    test("in a delivery, after the effect: unknown, and it is not delivered again", async () => {
      const spot = await world.spot("/accept");
      assert.equal((await spot.post({ more: [["X-Fault", `${fault}-after`]] })).status, 202);
      await spot.arrived();
      await until(async () => (await spot.peek()).json.state === "unknown", "known to be lost");
      await well();
      // The alarm that looks after it has rung by then.
      await pause(12_000);
      assert.equal((await spot.peek()).json.state, "unknown");
      refused(await spot.post(), "outcome_unknown");
      await spot.ran(1);
    });

    test("while another key's effect runs: each has an answer, and no effect doubles", async () => {
      const other = await world.spot("/other", { cut: "hang" });
      const running = other.post();
      await other.arrived();
      await trapping("before");
      const answer = await running;
      assert.ok(answer.status === 409 || answer.status >= 500, answer.brief);
      refused(await other.post(), "outcome_unknown");
      await other.ran(1);
      await well();
    });

    for (const size of [1, 200_000]) {
      test(`while another key's answer of ${size + 1} bytes streams: it breaks off, and no effect doubles`, async () => {
        const other = await world.spot("/other", { parts: ["a".repeat(size), "b"] });
        const wire = await Wire.open(world.gate.port);
        wire.write(bytes(other.request()));
        const head = await wire.head();
        assert.equal(head.status, 201);
        await trapping("before");
        const answer = await broken(wire, head);
        assert.deepEqual([answer.whole, wire.ended], [false, true]);
        refused(await other.post(), "outcome_unknown");
        await other.ran(1);
        await well();
      });
    }

    test("while a batch's answer streams: it breaks off, and sent again nothing doubles", async () => {
      const item = (/** @type {string} */ key) => `{"idempotency_key":"${key}"}`;
      const effects = await world.origin.effects("/item");
      await world.origin.plan("/item", ...Array(effects + 1).fill({}), { held: true });
      const spot = await world.spot("/batch");
      const content = `{"items":[${item(`${spot.key}-1`)},${item(`${spot.key}-2`)}]}`;
      const wire = await Wire.open(world.gate.port);
      wire.write(bytes(spot.request({ key: null, content })));
      const head = await wire.head();
      assert.equal(head.status, 207);
      await world.origin.arrived("/item", effects + 2);
      const { lines } = spot.request({ key: null, type: null });
      const states = () => Promise.all([1, 2].map(async (n) => (await world.send({ method: "GET", path: `/.oncekey/keys/${spot.key}-${n}`, lines })).json.state));
      await until(async () => (await states()).includes("completed"), "the one that is not held is stored");
      await trapping("before");
      const answer = await broken(wire, head);
      assert.deepEqual([answer.whole, wire.ended], [false, true]);
      await world.origin.open("/item");
      const again = (await spot.post({ key: null, content })).json.items;
      assert.deepEqual(again.map((/** @type {any} */ item) => item.idempotency_status).sort(), ["replayed", "unknown"]);
      assert.equal(await world.origin.effects("/item"), effects + 2);
    });

    test("what was answered before is still replayed", async () => {
      const spot = await world.spot("/job");
      const first = await spot.post();
      executed(first);
      await trapping("after");
      replayed(await spot.post(), first);
      await spot.ran(1);
    });
  });
}

test("the script leaves the globals of its Worker alone", () => {
  const target = join(dirname(process.env.ONCEKEY_SERVE ?? ""), "..");
  const script = readFileSync(join(target, "pkg/oncekey-worker/index.mjs"), "utf8");
  const set = script.match(/globalThis(?:\.\w+|\[[^\]]+\])\s*=(?!=)|(?:assign|defineProperty|set)\(globalThis/g);
  assert.deepEqual(set, null);
});
