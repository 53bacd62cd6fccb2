// @ts-check
// Keys that tell their own time, under clients' clocks that are right and wrong, and the gate's own that goes on: what is
// remembered is replayed, what is forgotten never runs again. A key is made for a time, the gate's clock is set.

import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { executed, refused, replayed, until, World } from "./gate.mjs";

/** @typedef {import("./gate.mjs").Spot} Spot */

const CLOCK = { ONCEKEY_AROUND: fileURLToPath(new URL("clock", import.meta.url)) };
const [MINUTE, HOUR, YEAR] = [60, 3600, 31_536_000];
const AGED = { key_age: HOUR, retention: 2 * HOUR };

/** A UUID of version 7 whose clock is off by so many seconds. */
function key(off = 0) {
  const time = (Date.now() + off * 1000).toString(16).padStart(12, "0");
  const random = randomBytes(9).toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-a${random.slice(3, 6)}-${random.slice(6)}`;
}

/** @type {World} */
let world;
/** The gate's clock from now on, in seconds ahead. @param {number} ahead */
const pass = (ahead) => world.send({ method: "GET", path: `/.test/clock?ahead=${ahead}`, lines: [] });

/** A place with a key of its own. @param {string} route @param {number} off @param {import("./origin.mjs").Step[]} steps */
async function spot(route, off, ...steps) {
  const spot = await world.spot(route, ...steps);
  spot.key = key(off);
  return spot;
}

/** @param {Spot} spot */
const state = async (spot) => (await spot.peek()).json.state;

before(async () => {
  world = await World.start(
    {
      routes: [
        { path: "/definite/*", ...AGED, keep: "definite" },
        { path: "/timed/*", ...AGED, keys: "uuidv7" },
        { path: "/later/*", ...AGED, mode: "accept", unanswered: "hold" },
        { path: "/batch/*", ...AGED, mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
        { path: "/rerun/*", ...AGED, unanswered: "rerun", lease: 1 },
        { path: "/*", ...AGED },
      ],
    },
    CLOCK,
  );
});
after(() => world?.end());

describe("a key's time against the gate's clock", { concurrency: false }, () => {
  /** @type {[string, number, "runs" | "key_expired" | "key_invalid"][]} */
  const clocks = [
    ["right", 0, "runs"],
    ["5 minutes behind", -5 * MINUTE, "runs"],
    ["5 minutes ahead, but for what the request takes", 5 * MINUTE - 2, "runs"],
    ["6 minutes ahead", 6 * MINUTE, "key_invalid"],
    ["as old as may be, but for what the request takes", -HOUR + 10, "runs"],
    ["older", -HOUR - 1, "key_expired"],
    ["a year behind", -YEAR, "key_expired"],
    ["a year ahead", YEAR, "key_invalid"],
  ];
  for (const [name, off, expect] of clocks) {
    test(name, async () => {
      await pass(0);
      const place = await spot("/job", off);
      const first = await place.post();
      if (expect === "runs") executed(first);
      else refused(first, expect);
      await place.ran(expect === "runs" ? 1 : 0);
      assert.equal(await state(place), expect === "runs" ? "completed" : expect === "key_expired" ? "expired" : "absent");
      const second = await place.post();
      if (expect === "runs") replayed(second, first);
      else refused(second, expect);
      await place.ran(expect === "runs" ? 1 : 0);
    });
  }

  test("wherever the key stands, and in an item of a batch", async () => {
    const old = key(-2 * HOUR);
    const place = await spot("/job", 0);
    refused(await place.post({ key: old.toUpperCase() }), "key_expired");
    refused(await place.post({ key: null, content: JSON.stringify({ idempotency_key: old }) }), "key_expired");
    const form = { key: null, type: "application/x-www-form-urlencoded", content: `idempotency_key=${old}` };
    refused(await place.post(form), "key_expired");
    refused(await place.post({ key: null, content: form.content, type: form.type, caller: null }), "key_expired");
    await place.ran(0);
    const batch = await world.spot("/batch");
    const items = [old, key(), key(YEAR)].map((idempotency_key) => ({ idempotency_key }));
    const answer = await batch.post({ key: null, content: JSON.stringify({ items }) });
    const said = answer.json.items.map((/** @type {any} */ item) => [item.status, item.idempotency_status, item.body.code]);
    assert.deepEqual(said, [[409, "expired", "key_expired"], [201, "executed", undefined], [400, "refused", "key_invalid"]]);
    assert.equal(await world.origin.effects("/item"), 1);
  });

  test("an accepted request is not taken under an old key", async () => {
    const place = await spot("/later", -2 * HOUR);
    refused(await place.post(), "key_expired");
    const young = await spot("/later", 0);
    assert.equal((await young.post()).status, 202);
    await until(async () => (await state(young)) === "completed", "it is delivered");
    await young.ran(1);
    await place.ran(0);
  });

  test("keys that tell no time, and routes that take none of them", async () => {
    for (const other of [randomUUID(), `order-${randomUUID()}`]) {
      const place = await spot("/job", 0);
      place.key = other;
      executed(await place.post());
      refused(await place.post({ path: `${place.path.replace("job", "timed")}`, key: other.replace(/^./, "x") }), "key_invalid");
    }
    const timed = await spot("/timed", 0);
    executed(await timed.post());
    refused(await timed.post({ key: randomUUID() }), "key_invalid");
    await timed.ran(1);
  });
});

describe("what is forgotten never runs again", { concurrency: false }, () => {
  test("what is remembered is replayed at any age", async () => {
    await pass(0);
    const place = await spot("/job", -HOUR + 30);
    const first = await place.post();
    executed(first);
    await pass(2 * HOUR - 30);
    replayed(await place.post(), first);
    refused(await place.post({ content: "{}" }), "idempotency_key_reused");
    assert.equal(await state(place), "completed");
    await place.ran(1);
  });

  test("a key ahead of the clock is remembered from its own time on", async () => {
    await pass(0);
    const place = await spot("/job", 4 * MINUTE);
    const first = await place.post();
    executed(first);
    await pass(2 * HOUR + 3 * MINUTE);
    replayed(await place.post(), first);
    await pass(2 * HOUR + 5 * MINUTE);
    refused(await place.post(), "key_expired");
    await place.ran(1);
  });

  for (const off of [0, -5 * MINUTE, 5 * MINUTE - 2, -HOUR + 30]) {
    test(`at any time, the client's clock off by ${off} s: one effect`, async () => {
      await pass(0);
      const place = await spot("/job", off);
      const first = await place.post();
      executed(first);
      for (const later of [1, HOUR - 1, HOUR + 1, 2 * HOUR - 60, 2 * HOUR + 1, 2 * HOUR + 5 * MINUTE, 3 * HOUR, YEAR]) {
        await pass(later);
        const answer = await place.post();
        const until = Math.max(0, off) + 2 * HOUR;
        if (later < until - 10) replayed(answer, first);
        else if (later > until + 10) refused(answer, "key_expired");
        await place.ran(1);
      }
    });
  }

  test("an unknown fate, and a declined request that is kept", async () => {
    await pass(0);
    const lost = await spot("/job", 4 * MINUTE, { cut: "before" });
    refused(await lost.post(), "outcome_unknown");
    const declined = await spot("/definite", 0, { status: 422 });
    executed(await declined.post(), 422);
    await pass(2 * HOUR + 3 * MINUTE);
    refused(await lost.post(), "outcome_unknown");
    refused(await declined.post(), "key_expired");
    await pass(2 * HOUR + 5 * MINUTE);
    refused(await lost.post(), "key_expired");
    assert.equal(await state(lost), "expired");
    await lost.ran(1);
    await declined.ran(1);
  });

  test("an owner that died", async () => {
    await pass(0);
    const place = await spot("/job", 0, { held: true });
    const first = place.post().catch(() => {});
    await place.arrived();
    await world.gate.kill();
    await world.gate.start();
    await first;
    refused(await place.post(), "outcome_unknown");
    await pass(2 * HOUR + 5 * MINUTE);
    refused(await place.post(), "key_expired");
    await place.ran(1);
  });

  test("what consumes no key may run again while the key is young, and no longer", async () => {
    await pass(0);
    const place = await spot("/job", 0, { status: 503 }, { status: 503 }, {});
    executed(await place.post(), 503);
    await pass(HOUR - 30);
    executed(await place.post(), 503);
    await pass(HOUR + 1);
    refused(await place.post(), "key_expired");
    await place.ran(2);
  });

  test("200 at once, at the edge of its age: at most one effect each", async () => {
    await pass(0);
    const places = await Promise.all(Array.from({ length: 20 }, (_, n) => spot("/job", -HOUR + n - 10)));
    const all = await Promise.all(places.flatMap((place) => Array.from({ length: 10 }, () => place.post())));
    for (const answer of all) assert.ok([201, 409].includes(answer.status), answer.brief);
    for (const place of places) assert.ok((await place.effects()) <= 1);
  });
});
