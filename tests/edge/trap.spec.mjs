// @ts-check
// The wasm traps: a panic and an exhausted memory, in the front, in the object before its claim, and after the effect.
// All objects of an isolate share the instance. A test build of the worker traps where the field `x-fault` says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { executed, pause, refused, replayed, until, World } from "./gate.mjs";

/** @type {World} */
let world;
before(async () => {
  world = await World.start({ routes: [{ path: "/accept/*", mode: "accept", unanswered: "hold" }, { path: "/*", patience: 5, lease: 10 }] }, { ONCEKEY_PACKAGE: "oncekey-worker-faults" });
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
