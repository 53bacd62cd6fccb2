// @ts-check
// A deploy that changes what counts of a request: what was sent before is the same request still.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { executed, refused, replayed, World } from "./gate.mjs";

/** @typedef {import("./gate.mjs").Change} Change */
/** @typedef {[string, string][]} Lines */

const BATCH = { mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" };
const BEFORE = {
  routes: [
    { path: "/accept/*", mode: "accept", unanswered: "hold" },
    { path: "/batch/*", ...BATCH },
    { path: "/less/*", ignore: ["/t"] },
    { path: "/*" },
  ],
};
const AFTER = {
  field: "once",
  routes: [
    { path: "/accept/*", mode: "accept", unanswered: "hold", ignore: ["/t"] },
    { path: "/batch/*", ...BATCH, ignore: ["/t"] },
    { path: "/less/*" },
    { path: "/*", ignore: ["/t", "csrf"], headers: ["If-Match", "X-Action"] },
  ],
};
const FORM = "application/x-www-form-urlencoded";

/** @type {World} */
let world;
before(async () => {
  world = await World.start(BEFORE);
});
after(() => world?.end());

/** What is sent before the deploy, and what of it after. @type {[string, () => Promise<() => Promise<void>>][]} */
const CASES = [];

/** @param {string} name @param {Change} first @param {Change} second @param {string | null} code nothing for a replay @param {string} [route] */
const pair = (name, first, second, code, route = "/any") =>
  CASES.push([
    name,
    async () => {
      const spot = await world.spot(route);
      const answer = await spot.post(first);
      executed(answer);
      return async () => {
        const again = await spot.post(second);
        if (code === null) replayed(again, answer);
        else refused(again, code);
        // What was sent first is known whatever was asked meanwhile.
        replayed(await spot.post(first), answer);
        await spot.ran(1);
      };
    },
  ]);

const one = { content: '{"a":1,"t":1}' };
/** @param {Lines} more @returns {Change} */
const lines = (...more) => ({ ...one, more });
pair("the same bytes", one, one, null);
pair("other bytes in what counts no longer", one, { content: '{"a":1,"t":2}' }, "outcome_unknown");
pair("other bytes in what counted and counts: a digest does not tell", one, { content: '{"a":2,"t":1}' }, "outcome_unknown");
pair("another media type", one, { ...one, type: "text/plain" }, "idempotency_key_reused");
pair("a header that counts for both", lines(["If-Match", "1"]), lines(["If-Match", "1"]), null);
pair("a form", { content: "a=1&csrf=x", type: FORM }, { content: "a=1&csrf=x", type: FORM }, null);
pair("a form with another token", { content: "a=1&csrf=x", type: FORM }, { content: "a=1&csrf=y", type: FORM }, "outcome_unknown");
pair("the same bytes where more counts", one, one, null, "/less");
pair("other bytes in what did not count", one, { content: '{"a":1,"t":2}' }, "outcome_unknown", "/less");

CASES.push([
  "a fate that is unknown stays so",
  async () => {
    const spot = await world.spot("/any", { cut: "before" });
    refused(await spot.post(one), "outcome_unknown");
    return async () => {
      refused(await spot.post(one), "outcome_unknown");
      refused(await spot.post({ ...one, type: "text/plain" }), "idempotency_key_reused");
      await spot.ran(1);
    };
  },
]);
CASES.push([
  "the field that held the key",
  async () => {
    const spot = await world.spot("/less");
    const change = { content: JSON.stringify({ idempotency_key: spot.key }) };
    const first = await spot.post(change);
    executed(first);
    return async () => {
      replayed(await spot.post(change), first);
      refused(await spot.post({ content: "{}" }), "outcome_unknown");
      await spot.ran(1);
    };
  },
]);
CASES.push([
  "an accepted request",
  async () => {
    const spot = await world.spot("/accept");
    const queued = await spot.post(one);
    assert.deepEqual([queued.status, queued.word], [202, "accepted"], queued.brief);
    return async () => {
      const again = await spot.post(one);
      assert.deepEqual([again.status, again.json.status, again.json.id], [202, "duplicate_ignored", queued.json.id], again.brief);
      refused(await spot.post({ content: '{"a":1,"t":2}' }), "outcome_unknown");
      await spot.ran(1);
    };
  },
]);
CASES.push([
  "an item of a batch",
  async () => {
    const spot = await world.spot("/batch");
    const items = [{ idempotency_key: spot.key, t: 1 }];
    const send = () => spot.post({ key: null, content: JSON.stringify({ items }) });
    const first = await send();
    assert.equal(first.json.items[0].idempotency_status, "executed", first.brief);
    return async () => assert.equal((await send()).json.items[0].idempotency_status, "replayed");
  },
]);

describe("what is sent again after a deploy", { concurrency: 8 }, () => {
  /** @type {(() => Promise<void>)[]} */
  let again;
  before(async () => {
    again = await Promise.all(CASES.map(([, first]) => first()));
    await world.gate.stop();
    writeFileSync(world.gate.config, JSON.stringify(AFTER));
    await world.gate.start();
  });
  for (const [at, [name]] of CASES.entries()) test(name, () => again[at]());
});
