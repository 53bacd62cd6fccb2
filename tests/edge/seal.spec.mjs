// @ts-check
// Sealed storage: what lies in the state folder tells nothing, whoever sent the request gets the answer, and whoever has
// the storage, the scoped key or another secret does not. What cannot be opened never runs again.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { send } from "./client.mjs";
import { ADMIN, executed, freePort, Gate, holds, refused, replayed, until, World } from "./gate.mjs";
import { startOrigin } from "./origin.mjs";

/** @typedef {import("./gate.mjs").Spot} Spot */

const [FIRST, SECOND] = ["first-sealing-secret-of-more-than-32-bytes", "other-sealing-secret-of-more-than-32-bytes"];
const POLICY = {
  seal: true,
  max_stored: 4_000_000,
  routes: [
    // A stop may come before the answer is written down: what is asked again then is asked soon.
    { path: "/later/*", mode: "accept", unanswered: "rerun", lease: 2 },
    { path: "/ask/*", mode: "accept", unanswered: { probe: "/found?key={key}" }, lease: 1 },
    { path: "/wait/*", wait: 20 },
    { path: "/probe/*", unanswered: { probe: "/found?key={key}" }, lease: 1 },
    { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
    { path: "/payouts", unanswered: "hold" },
    { path: "/*" },
  ],
  queues: { mail: { path: "/mail", key: "/event_id", unanswered: "hold" } },
  machines: { refund: { initial: "pending", transitions: { approve: { from: ["pending"], to: "approved", effect: "/payouts" } } } },
};
const ENV = { ONCEKEY_ADMIN: ADMIN, ONCEKEY_SERVICE: ADMIN, ONCEKEY_SEAL: FIRST };
/** The mark of all that must not be found. */
const MARK = `plain-${randomUUID()}`;
/** @returns {import("./origin.mjs").Step} */
const marked = (more = "", step = {}) => ({ content: `${MARK} content ${more}`, lines: [["Content-Type", "text/plain"], ["X-Mark", `${MARK} head`]], ...step });
const asked = `{"card":"${MARK}"}`;

/** @type {World} */
let world;
before(async () => {
  world = await World.start(POLICY, ENV, undefined, true);
});
after(() => world?.end());

/** A place with a random UUID. @param {string} route @param {import("./origin.mjs").Step[]} steps */
async function secretSpot(route, ...steps) {
  const spot = await world.spot(route, ...steps);
  spot.key = randomUUID();
  return spot;
}
/** @param {Spot} spot */
const ended = (spot) => until(async () => (await spot.peek()).json.state !== "running", "it has ended");
const restart = async () => {
  await world.gate.kill();
  await world.gate.start();
};

describe("whoever sent it opens it", { concurrency: false }, () => {
  for (const [name, step] of /** @type {[string, import("./origin.mjs").Step][]} */ ([
    ["a small answer", marked()],
    ["one without content", marked("", { status: 204, content: "" })],
    ["one of 3 MB, in rows", marked("x".repeat(3_000_000))],
    ["one that streams", marked("", { content: undefined, parts: [`${MARK}${"a".repeat(70_000)}`, `${MARK}${"b".repeat(1_200_000)}`] })],
  ])) {
    test(`${name}: replayed, also after a kill`, async () => {
      for (const spot of [await secretSpot("/job", step), await world.spot("/job", step)]) {
        const sent = spot.post({ content: asked });
        if (step.parts) {
          await spot.arrived();
          await spot.open();
        }
        const first = await sent;
        executed(first, step.status ?? 201);
        replayed(await spot.post({ content: asked }), first);
        await restart();
        replayed(await spot.post({ content: asked }), first);
        refused(await spot.post({ content: "{}" }), "idempotency_key_reused");
        await spot.ran(1);
      }
    });
  }

  test("a random UUID: another token with one attribute of the first, and anybody where the first had none", async () => {
    const spot = await secretSpot("/job", marked());
    const cookie = (/** @type {string} */ value) => /** @type {[string, string][]} */ ([["Cookie", `session=${value}`]]);
    const first = await spot.post({ more: cookie("one") });
    executed(first);
    replayed(await spot.post({ caller: "refreshed", more: cookie("one") }), first);
    replayed(await spot.post({ more: cookie("rotated") }), first);
    refused(await spot.post({ caller: "bob", more: cookie("other") }), "caller_changed");
    const guest = await secretSpot("/job", marked());
    const as = await guest.post({ caller: null });
    replayed(await guest.post({ caller: "logged-in", more: cookie("new") }), as);
    await spot.ran(1);
    await guest.ran(1);
  });

  test("a duplicate that waited, what the origin says when it is asked, and an item of a batch", async () => {
    const spot = await secretSpot("/wait", marked("", { held: true }));
    const both = [spot.post()];
    await spot.arrived();
    both.push(spot.post());
    await spot.open();
    const [first, second] = await Promise.all(both);
    replayed(second, first);
    await spot.ran(1);
    const lost = await secretSpot("/probe", { cut: "before" });
    refused(await lost.post(), "outcome_unknown");
    await world.origin.plan("/found", marked("found", { status: 200 }));
    const found = await lost.post();
    assert.deepEqual([found.word, found.text], ["replayed", `${MARK} content found`]);
    assert.equal((await lost.post()).text, found.text);
    await world.origin.plan("/item", marked("item", { content: `{"mark":"${MARK}"}` }));
    const batch = await world.spot("/batch");
    const content = JSON.stringify({ items: [{ idempotency_key: `key-${randomUUID()}`, card: MARK }] });
    const items = async () => (await batch.post({ key: null, content })).json.items[0];
    assert.deepEqual([(await items()).idempotency_status, (await items()).idempotency_status, (await items()).body.mark], ["executed", "replayed", MARK]);
  });

  test("an accepted request is delivered, also after a kill, and its answer is opened under the scoped key", async () => {
    const spot = await secretSpot("/later", marked("", { status: 503 }), marked("", { status: 503 }), marked());
    assert.equal((await spot.post({ content: asked })).json.status, "queued");
    await spot.arrived();
    assert.equal(holds(world.gate.state, MARK), false, "it lies in the storage while it waits");
    await restart();
    await ended(spot);
    const seen = await spot.seen();
    assert.deepEqual(seen.map(({ content }) => content), seen.map(() => asked));
    assert.equal((await spot.post({ content: asked })).json.status, "duplicate_ignored");
    refused(await spot.post({ content: "{}" }), "idempotency_key_reused");
    const lost = await secretSpot("/ask", { cut: "before" });
    await world.origin.plan("/found", marked("", { status: 200 }));
    await lost.post({ content: asked });
    await ended(lost);
    assert.equal((await lost.peek()).json.state, "completed");
    await lost.ran(1);
  });

  test("a queue's message and an entity's effect", async () => {
    await world.origin.plan("/mail", marked());
    const message = async () => {
      const content = JSON.stringify([{ id: "m", body: { event_id: "one", card: MARK } }]);
      return (await send(world.gate.queuePort, { path: "/mail", content, lines: [["Content-Type", "application/json"]] })).json;
    };
    for (let n = 0; n < 2; n++) assert.deepEqual((await message()).acked, ["m"]);
    assert.equal(await world.origin.effects("/mail"), 1);
    const id = randomUUID();
    const lines = /** @type {[string, string][]} */ ([["Authorization", `Bearer ${ADMIN}`]]);
    await world.origin.plan("/payouts", marked());
    // What an entity has stands in its storage as it is; only the effect's answer is sealed.
    const won = await world.send({ path: `/.oncekey/machines/refund/${id}/approve`, content: '{"card":"of ann"}', lines });
    assert.equal(won.json.won, true, won.brief);
    await until(async () => (await world.origin.effects("/payouts")) === 1, "delivered");
    assert.equal(JSON.parse((await world.origin.seen("/payouts"))[0].content).body.card, "of ann");
  });
});

describe("storage alone tells nothing", { concurrency: false }, () => {
  test("1,800 answers, and none of their text", async () => {
    const spots = await Promise.all(Array.from({ length: 1800 }, () => secretSpot("/many")));
    for (let at = 0; at < spots.length; at += 60) {
      await Promise.all(
        spots.slice(at, at + 60).map(async (spot) => {
          await world.origin.plan(spot.path, marked(spot.key));
          executed(await spot.post({ content: asked }));
        }),
      );
    }
    assert.equal(holds(world.gate.state, MARK), false, "before it ends");
    await restart();
    assert.equal(holds(world.gate.state, MARK), false, "after a kill");
    for (const spot of spots.filter((_, n) => n % 90 === 0)) {
      const replay = await spot.post({ content: asked });
      assert.deepEqual([replay.word, replay.text], ["replayed", `${MARK} content ${spot.key}`]);
      await spot.ran(1);
    }
  });

  test("without seal the same text is found", async () => {
    const plain = await World.start({ routes: [{ path: "/*" }] }, ENV);
    const spot = await plain.spot("/job", marked());
    await spot.post();
    assert.equal(holds(plain.gate.state, MARK), true);
    await plain.end();
  });
});

describe("who does not open it", { concurrency: false }, () => {
  const BETWEEN = fileURLToPath(new URL("between", import.meta.url));

  test("by the scoped key alone, without the client's own: told so, and nothing runs", async () => {
    const here = await World.start(POLICY, { ...ENV, ONCEKEY_AROUND: BETWEEN });
    const spot = await here.spot("/job", marked());
    executed(await spot.post());
    // What somebody with the storage and the operator's access could ask: the errand without the keys that the front adds.
    const without = await spot.post({ more: [["X-Without", "!seal="]] });
    refused(without, "reply_unavailable");
    assert.equal(without.json.origin_status, 201);
    const other = await spot.post({ more: [["X-Without", "!seal="], ["X-Errand", `* !seal=${"0".repeat(64)}`]] });
    refused(other, "reply_unavailable");
    assert.deepEqual([(await spot.post()).word, (await spot.peek()).json.status], ["replayed", 201]);
    await spot.ran(1);
    await here.end();
  });

  test("a new secret opens what the old one sealed where it is named, and not otherwise; what is asked anew is sealed under the new one", async () => {
    const origin = await startOrigin();
    const gate = await new Gate(origin.url, POLICY, ENV).start();
    const here = new World(gate, origin);
    const become = async (/** @type {Record<string, string>} */ env) => {
      await gate.stop();
      gate.env = { ONCEKEY_ADMIN: ADMIN, ...env };
      await gate.start();
    };
    const one = await here.spot("/job", marked());
    const later = await here.spot("/later", marked("", { status: 503 }), marked());
    const first = await one.post();
    executed(first);
    await later.post({ content: asked });
    await later.arrived();
    await become({ ONCEKEY_SEAL: SECOND, ONCEKEY_SEAL_OLD: FIRST });
    replayed(await one.post(), first);
    await until(async () => (await later.peek()).json.state === "completed", "delivered under the old secret");
    const two = await here.spot("/job", marked());
    const second = await two.post();
    executed(second);
    await become({ ONCEKEY_SEAL: SECOND });
    refused(await one.post(), "reply_unavailable");
    replayed(await two.post(), second);
    await become({ ONCEKEY_SEAL: FIRST, ONCEKEY_SEAL_OLD: SECOND });
    replayed(await one.post(), first);
    replayed(await two.post(), second);
    for (const spot of [one, two]) await spot.ran(1);
    assert.equal(holds(gate.state, MARK), false);
    await here.end();
  });

  test("an accepted request whose secret is lost waits for it", async () => {
    const here = await World.start(POLICY, ENV);
    const { gate } = here;
    const spot = await here.spot("/later", { status: 503 }, {});
    await spot.post({ content: asked });
    await spot.arrived();
    await gate.kill();
    gate.env = { ...ENV, ONCEKEY_SEAL: SECOND };
    await gate.start();
    assert.equal((await spot.peek()).json.state, "running");
    assert.equal((await spot.post({ content: asked })).json.status, "duplicate_ignored");
    await here.end();
  });

  test("no secret, or a short one: misconfigured, and nothing is forwarded", async () => {
    for (const secret of /** @type {Record<string, string>[]} */ ([{}, { ONCEKEY_SEAL: "short" }, { ONCEKEY_SEAL: FIRST, ONCEKEY_SEAL_OLD: "short" }])) {
      const origin = await startOrigin();
      const gate = new Gate(origin.url, POLICY, { ...secret });
      gate.port = await freePort();
      gate.launch();
      await until(async () => send(gate.port, { path: "/job", lines: [] }).then((answer) => answer.status === 500 && answer.json.code === "gate_misconfigured", () => false), "it says so");
      assert.match((await send(gate.port, { path: "/job", lines: [] })).text, /ONCEKEY_SEAL/);
      await gate.end();
      origin.end();
    }
  });
});
