// @ts-check
// Limits: who sends too many keys is told so before an object is made for one, and may send it again later.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { executed, Gate, replayed, World } from "./gate.mjs";
import { startOrigin } from "./origin.mjs";

const AROUND = { ONCEKEY_AROUND: fileURLToPath(new URL("around", import.meta.url)) };
/** A memory file system: objects are made faster there. */
const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : undefined;
const LIMITS = { anonymous: { binding: "GUESTS", period: 3600 }, identified: { binding: "CALLERS", period: 1800 } };
const ROUTES = [
  { path: "/later/*", mode: "accept", unanswered: "hold" },
  { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
  { path: "/*" },
];
const MOST = 5;

/** @param {object} policy @param {number} limits */
async function start(policy, limits) {
  const origin = await startOrigin();
  const gate = new Gate(origin.url, policy, AROUND, MEMORY);
  gate.limits = limits;
  return new World(await gate.start(), origin);
}

/** @param {import("./client.mjs").Answer} answer @param {number} period */
function limited(answer, period) {
  assert.deepEqual([answer.status, answer.word, answer.json.code], [429, "refused", "too_many_keys"], answer.brief);
  assert.equal(answer.one("retry-after"), String(period));
}

/** @param {string} address @returns {[string, string][]} */
const from = (address) => [["CF-Connecting-IP", address]];
let hosts = 0;
/** An address that no other test uses. */
const address = () => `192.0.2.${++hosts}`;

describe("limits", { concurrency: false }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    world = await start({ limits: LIMITS, routes: ROUTES }, MOST);
  });
  after(() => world?.end());

  /** So many new keys, one after the other. @param {import("./gate.mjs").Change} change @param {string} [route] */
  async function use(change, count = MOST, route = "/job") {
    for (let n = 0; n < count; n++) {
      const spot = await world.spot(route);
      spot.key = randomUUID();
      assert.ok([201, 202].includes((await spot.post(change)).status));
    }
  }

  test("a caller with nothing of the scope is counted by address; the key stays free", async () => {
    const more = from(address());
    await use({ caller: null, more });
    const spot = await world.spot("/job");
    spot.key = randomUUID();
    limited(await spot.post({ caller: null, more }), 3600);
    await spot.ran(0);
    const first = await spot.post({ caller: null, more: from(address()) });
    executed(first);
    await spot.ran(1);
  });

  test("of IPv6 a /64 counts as one", async () => {
    await use({ caller: null, more: from("2001:db8:1:2::1") });
    const spot = await world.spot("/job");
    spot.key = randomUUID();
    limited(await spot.post({ caller: null, more: from("2001:db8:1:2:ffff::9") }), 3600);
    executed(await spot.post({ caller: null, more: from("2001:db8:1:3::1") }));
  });

  test("any other by who it is, from wherever; duplicates count, requests without a key do not", async () => {
    const spot = await world.spot("/job");
    const first = await spot.post({ caller: "cai", more: from(address()) });
    executed(first);
    for (let n = 1; n < MOST; n++) replayed(await spot.post({ caller: "cai", more: from(address()) }), first);
    limited(await spot.post({ caller: "cai", more: from(address()) }), 1800);
    assert.equal((await spot.post({ caller: "cai", key: null })).word, "bypassed;reason=no-key");
    const other = await world.spot("/job");
    executed(await other.post({ caller: "dan" }));
    await spot.ran(2);
  });

  test("accepted requests count, and each item of a batch", async () => {
    await use({ caller: "eve" }, MOST, "/later");
    const later = await world.spot("/later");
    limited(await later.post({ caller: "eve" }), 1800);
    const batch = await world.spot("/batch");
    const items = Array.from({ length: MOST + 2 }, () => ({ idempotency_key: `key-${randomUUID()}` }));
    const answer = await batch.post({ caller: "fay", key: null, content: JSON.stringify({ items }) });
    const told = answer.json.items.map((/** @type {any} */ item) => [item.status, item.retry_after]);
    assert.deepEqual(told, [...Array(MOST).fill([201, undefined]), [429, 1800], [429, 1800]]);
    assert.equal(await world.origin.effects("/item"), MOST);
  });

  test("one that cannot count lets pass, and the log says so", async () => {
    const more = /** @type {[string, string][]} */ ([...from(address()), ["X-Env", JSON.stringify({ GUESTS: "throws" })]]);
    await use({ caller: null, more }, MOST + 1);
    assert.ok(world.gate.told("limit"), world.gate.output);
  });

  test("one that is missing makes the policy invalid", async () => {
    for (const env of [{ GUESTS: null }, { CALLERS: {} }]) {
      const spot = await world.spot("/job");
      const answer = await spot.post({ more: [["X-Env", JSON.stringify(env)]] });
      assert.deepEqual([answer.status, answer.json.code], [500, "policy_invalid"], answer.brief);
      assert.match(answer.json.detail, new RegExp(`/limits/\\w+/binding: ${Object.keys(env)[0]}`));
      await spot.ran(0);
    }
  });
});

describe("2,000 keys of nobody", { concurrency: false }, () => {
  /** Objects that have storage, their bytes, and the process's memory. @param {World} world */
  function made(world) {
    const folder = join(world.gate.state, "oncekey");
    const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.includes(".sqlite")) : [];
    // What an object that is evicted had beside its database is gone.
    const bytes = files.reduce((sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0), 0);
    const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${world.gate.children[0]}/status`, "utf8"))?.[1]);
    return { objects: new Set(files.map((name) => name.split(".")[0])).size, kB: Math.round(bytes / 1024), MB: Math.round(rss / 1024) };
  }

  for (const [name, limits, most] of /** @type {[string, object, number][]} */ ([
    ["with a limit of 50", { limits: LIMITS }, 50],
    ["without", {}, 2000],
  ])) {
    test(name, async (t) => {
      const world = await start({ ...limits, routes: ROUTES }, 50);
      t.after(() => world.end());
      const before = made(world);
      let ran = 0;
      for (let at = 0; at < 2000; at += 100) {
        const all = await Promise.all(
          Array.from({ length: 100 }, () => world.send({ path: "/many", lines: [["Idempotency-Key", randomUUID()], ...from("192.0.2.200")], content: "x" })),
        );
        ran += all.filter((answer) => answer.status === 201).length;
        for (const answer of all) if (answer.status !== 201) limited(answer, 3600);
      }
      const { objects, kB, MB } = made(world);
      t.diagnostic(`${objects - before.objects} objects, ${kB - before.kB} kB on disk, ${MB - before.MB} MB of memory`);
      assert.deepEqual([ran, objects - before.objects, await world.origin.effects("/many")], [most, most, most]);
    });
  }
});
