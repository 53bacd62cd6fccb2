// @ts-check
// The operator's list: what is of unknown fate or dead, newest first, without what was resolved.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { ADMIN, executed, refused, until, World } from "./gate.mjs";

const ROUTES = [
  { path: "/later/*", mode: "accept", unanswered: "hold" },
  { path: "/hold/*", server_error: "hold" },
  { path: "/dies/*", lease: 1 },
  { path: "/*", unanswered: { probe: "/lookup/{key}" } },
];

/** @param {World} world @param {string} [query] @param {string} [secret] */
const page = (world, query = "", secret = ADMIN) =>
  world.send({ method: "GET", path: `/.oncekey/unknown${query}`, lines: [["Authorization", `Bearer ${secret}`]] });

/** All that is listed. @param {World} world @returns {Promise<any[]>} */
async function listed(world) {
  const items = [];
  let cursor = "";
  do {
    const answer = await page(world, cursor && `?cursor=${cursor}`);
    assert.equal(answer.status, 200, answer.brief);
    items.push(...answer.json.items);
    cursor = answer.json.cursor ?? "";
  } while (cursor);
  return items;
}

/** @param {World} world @param {string} key */
const found = async (world, key) => (await listed(world)).find((item) => item.key === key);
/** Once it is listed. @param {World} world @param {string} key */
const shown = async (world, key) => /** @type {any} */ (await until(() => found(world, key), `${key} is listed`));

/** @param {World} world @param {string} key @param {"DELETE" | "POST"} method */
const operate = (world, key, method) =>
  world.send({ method, path: `/.oncekey/keys/${key}${method === "POST" ? "/deliver" : ""}`, lines: [["Authorization", `Bearer ${ADMIN}`]] });

describe("the list", () => {
  /** @type {World} */
  let world;
  before(async () => {
    world = await World.start({ routes: ROUTES });
  });
  after(() => world?.end());

  test("what is unknown or dead, with what the operator is told of it; what ended well is not there", async () => {
    const held = await world.spot("/hold", { status: 500 });
    await held.post();
    const dead = await world.spot("/later", { status: 404 });
    await dead.post();
    await dead.arrived();
    const well = await world.spot("/orders");
    executed(await well.post());
    const [first, second] = [await shown(world, await held.scoped()), await shown(world, await dead.scoped())];
    const { since, expires, ...rest } = first;
    assert.deepEqual(rest, { key: await held.scoped(), state: "unknown", status: 500, cause: "ambiguous", generation: 1, tries: 1, route: "/hold/*" });
    assert.ok(Date.parse(since) <= Date.now() && Date.parse(expires) > Date.now());
    assert.deepEqual([second.state, second.status, second.cause], ["dead", 404, "declined"]);
    assert.equal(await found(world, await well.scoped()), undefined);
    const times = (await listed(world)).map((item) => Date.parse(item.since));
    assert.deepEqual(times, [...times].sort((a, b) => b - a));
  });

  test("what is released, delivered or answered by a probe is listed no more", async () => {
    const spots = [
      await world.spot("/hold", { status: 500 }),
      await world.spot("/later", { status: 404 }, {}),
      await world.spot("/orders", { cut: "before" }),
    ];
    for (const spot of spots) await spot.post();
    const keys = [];
    for (const spot of spots) {
      await spot.arrived();
      keys.push(await spot.scoped());
      await shown(world, keys[keys.length - 1]);
    }
    assert.equal((await operate(world, keys[0], "DELETE")).status, 204);
    assert.equal((await operate(world, keys[1], "POST")).status, 202);
    await world.origin.plan(`/lookup/${keys[2]}`, { status: 200 });
    assert.equal((await spots[2].post()).word, "replayed");
    for (const key of keys) await until(async () => !(await found(world, key)), `${key} is resolved`);
    // One that is delivered again and dies again is there again.
    await world.origin.plan(spots[1].path, { status: 404 });
    assert.equal((await operate(world, keys[1], "POST")).status, 409);
  });

  test("an owner that died, once somebody comes again", async () => {
    const spot = await world.spot("/dies", { cut: "hang" });
    const gone = spot.post().catch(() => undefined);
    await spot.arrived();
    const key = await spot.scoped();
    await world.gate.kill();
    await gone;
    await world.gate.start();
    assert.equal(await found(world, key), undefined);
    refused(await spot.post(), "outcome_unknown");
    assert.deepEqual((await shown(world, key)).cause, "owner_died");
  });

  test("who may ask, and how", async () => {
    assert.equal((await page(world, "", "of-nobody")).status, 401);
    assert.equal((await page(world, "?cursor=x")).status, 404);
    assert.equal((await world.send({ path: "/.oncekey/unknown" })).status, 405);
    assert.equal((await page(world)).one("cache-control"), "no-store");
    for (const [path, type] of [["", "text/html"], ["operator.js", "text/javascript"], ["operator.css", "text/css"]]) {
      const part = await world.send({ method: "GET", path: `/.oncekey/${path}` });
      assert.equal(part.status, 200, part.brief);
      assert.ok(part.one("content-type")?.startsWith(type));
      assert.match(part.one("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/);
      assert.equal(part.one("cache-control"), "no-store");
      assert.doesNotMatch(part.text, /<script>|style=|onclick="/);
    }
  });
});

test("without the secret there is neither list nor page", async () => {
  const world = await World.start({ routes: ROUTES }, {});
  try {
    for (const path of ["", "unknown", "operator.js", "operator.css"]) {
      assert.equal((await world.send({ method: "GET", path: `/.oncekey/${path}` })).status, 404);
    }
  } finally {
    await world.end();
  }
});

test("10,000 of several hours: each once, newest first, page by page", async () => {
  const around = fileURLToPath(new URL("listed", import.meta.url));
  const world = await World.start({ routes: ROUTES }, { ONCEKEY_ADMIN: ADMIN, ONCEKEY_AROUND: around });
  try {
    for (let from = 0; from < 10_000; from += 500) assert.equal((await world.send({ path: `/.test/fill?from=${from}&count=500` })).status, 200);
    const keys = (await listed(world)).map((item) => item.key);
    assert.equal(new Set(keys).size, 10_000);
    assert.deepEqual(keys, [...keys].sort().reverse());
  } finally {
    await world.end();
  }
});
