// @ts-check
// The gate dies: at each phase of a request, by SIGKILL of each of its processes, and by SIGTERM.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bytes, Wire } from "./client.mjs";
import { executed, pause, refused, replayed, runs, World } from "./gate.mjs";
import { noise } from "./origin.mjs";

/** @typedef {import("./gate.mjs").Spot} Spot */
/** @typedef {import("./client.mjs").Answer} Answer */

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    routes: [
      { path: "/rerun/*", unanswered: "rerun", lease: 8 },
      { path: "/probe/*", unanswered: { probe: "/lookup/{key}" }, lease: 2 },
      { path: "/*" },
    ],
  });
});
after(() => world?.end());

/** A request that the origin has and does not answer. @param {string} route @param {import("./origin.mjs").Step[]} then */
async function working(route, ...then) {
  const spot = await world.spot(route, { cut: "hang" }, ...then);
  const answer = spot.post().catch(() => undefined);
  await spot.arrived();
  return { spot, answer };
}

/** The effect ran, nobody knows how it ended: said at once, and not run again. @param {Spot} spot */
async function unknown(spot) {
  refused(await spot.post(), "outcome_unknown");
  refused(await spot.post({ content: "{}" }), "idempotency_key_reused");
  assert.equal((await spot.peek()).json.state, "unknown");
  await spot.ran(1);
}

/** Answered in full before; large and coded as well. */
async function answered() {
  /** @type {import("./origin.mjs").Step[]} */
  const steps = [
    {
      lines: [
        ["Set-Cookie", "a=1"],
        ["Set-Cookie", "b=2"],
        ["X-Name", Buffer.from("Žofie").toString("latin1")],
      ],
    },
    { status: 204, content: "" },
    { status: 303, lines: [["Location", "/orders/1"]] },
    { lines: [["Content-Type", "application/octet-stream"]], content: noise(2_100_000) },
  ];
  const spots = await Promise.all(steps.map((step) => world.spot("/answered", step)));
  const firsts = await Promise.all(spots.map((spot) => spot.post()));
  for (const [at, first] of firsts.entries()) executed(first, steps[at].status ?? 201);
  return async () => {
    for (const [at, spot] of spots.entries()) {
      replayed(await spot.post(), firsts[at]);
      await spot.ran(1);
    }
  };
}

/** The next attempt. The old execution may still run at the origin until its lease has ended. @param {Spot} spot */
async function afterLease(spot) {
  const early = await spot.post();
  if (early.status !== 409) return early;
  refused(early, "request_in_progress");
  await spot.ran(1);
  await pause(Number(early.one("retry-after")) * 1000);
  return spot.post();
}

describe("the gate dies", () => {
  test("serve and workerd by SIGKILL, at each phase at once", async () => {
    const replays = await answered();
    const held = await working("/held");
    const rerun = await working("/rerun", {});
    const lost = await working("/probe", {});
    const found = await working("/probe");
    const streaming = await world.spot("/stream", { parts: ["one", "two"] });
    const stream = await Wire.open(world.gate.port);
    stream.write(bytes(streaming.request()));
    await stream.upTo("one");
    const last = await world.spot("/last");
    const first = await last.post();
    await world.gate.kill("both");
    executed(first);
    assert.equal((await held.answer)?.status ?? 0, 0);
    await world.gate.start();

    replayed(await last.post(), first);
    await last.ran(1);
    await replays();
    await unknown(held.spot);
    await unknown(streaming);

    await world.origin.plan(`/lookup/${await lost.spot.scoped()}`, { status: 404 });
    await world.origin.plan(`/lookup/${await found.spot.scoped()}`, { status: 200, content: "found" });
    executed(await afterLease(lost.spot));
    await lost.spot.ran(2);
    const learnt = await found.spot.post();
    assert.deepEqual([learnt.status, learnt.text], [200, "found"]);
    await found.spot.ran(1);

    const second = await afterLease(rerun.spot);
    executed(second);
    replayed(await rerun.spot.post(), second);
    await rerun.spot.ran(2);
    assert.equal(await rerun.spot.scoped(1), await rerun.spot.scoped(0));
  });

  test("workerd alone by SIGKILL: serve ends and says so", async () => {
    const replays = await answered();
    const { spot } = await working("/held");
    assert.notEqual(await world.gate.kill("workerd"), 0);
    await world.gate.start();
    await unknown(spot);
    await replays();
  });

  test("serve alone by SIGKILL: no workerd is left, and a new serve works on the same state at once", async () => {
    const replays = await answered();
    const { spot } = await working("/held");
    const pids = world.gate.children;
    assert.equal(await world.gate.kill("serve"), "SIGKILL");
    assert.deepEqual(pids.filter(runs), []);
    await world.gate.start();
    await unknown(spot);
    await replays();
  });

  test("SIGTERM while requests hang: status 0, nothing left, and what was known is known", async () => {
    const replays = await answered();
    const { spot } = await working("/held");
    const open = await Wire.open(world.gate.port);
    const pids = world.gate.children;
    assert.equal(await world.gate.stop(), 0);
    assert.deepEqual(pids.filter(runs), []);
    open.socket.destroy();
    await world.gate.start();
    await unknown(spot);
    await replays();
  });

  test("SIGINT as well", async () => {
    world.gate.child?.kill("SIGINT");
    assert.equal(await world.gate.exit, 0);
    await world.gate.start();
    executed(await (await world.spot("/after")).post());
  });

  test("killed twice over one key, its fate stays unknown", async () => {
    const { spot } = await working("/held");
    await world.gate.kill("both");
    await world.gate.start();
    await unknown(spot);
    await world.gate.kill("both");
    await world.gate.start();
    await unknown(spot);
  });
});
