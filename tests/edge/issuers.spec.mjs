// @ts-check
// Keys of issuers: fetched when they matter, once for all who wait, and what comes of an issuer that fails.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Wire, bytes } from "./client.mjs";
import { World, executed, refused, until } from "./gate.mjs";
import { startOrigin } from "./origin.mjs";
import { AHEAD, by, jwks, keysAt, pairsOfKeys, seconds, sign } from "./tokens.mjs";

/** @typedef {import("./gate.mjs").Change} Change @typedef {import("./client.mjs").Answer} Answer */

/** @type {import("./origin.mjs").Origin} */
let issuer;
/** @type {Awaited<ReturnType<typeof pairsOfKeys>>} */
let pairs;
before(async () => {
  [issuer, pairs] = await Promise.all([startOrigin(), pairsOfKeys()]);
});
after(() => issuer?.end());

describe("keys of issuers", () => {
  /** Each is an issuer of its own, whose token stands in a field of its own. */
  const NAMES = ["rotated", "cold", "large", "largest", "moved", "slow", "garbage", "empty", "aged", "left"];
  /** @type {World} */
  let world;
  /** @type {Record<string, ReturnType<typeof keysAt>>} */
  const sets = {};
  before(async () => {
    for (const name of NAMES) sets[name] = keysAt(issuer, `/${name}`);
    const identity = Object.fromEntries(NAMES.map((name) => [name, jwks(/** @type {any} */ (sets[name]).url, { from: `header:X-${name}` })]));
    world = await World.start({ scope: [NAMES.map((name) => `jwt:${name}:sub`)], identity, store_failure: "open" }, AHEAD);
  });
  after(() => world?.end());
  /** @param {string} name @param {import("./tokens.mjs").Pair} [pair] @returns {Promise<Change>} */
  const from = async (name, pair = pairs.r) => by([[`X-${name}`, await sign(pair, { exp: seconds() + 1_000_000 })]]);
  /** Stops the gate's clock, so many seconds after it was stopped first. @param {number} ahead */
  const stop = (ahead) => world.send({ path: `/.test/clock?ahead=${ahead}` });
  const go = () => world.send({ path: "/.test/clock" });
  const set = (/** @type {string} */ name) => /** @type {ReturnType<typeof keysAt>} */ (sets[name]);

  /** The keys cannot be had, for a hundred that ask at once: one fetch, nothing is forwarded. @param {string} name */
  async function unavailable(name) {
    const spot = await world.spot(`/${name}`);
    const change = await from(name);
    await stop(0);
    const answers = await Promise.all(Array.from({ length: 100 }, () => spot.post(change)));
    await go();
    for (const answer of answers) refused(answer, "identity_unavailable");
    assert.equal(await set(name).fetches(), 1);
    await until(() => world.gate.told("identity"), "a line for the operator");
    await spot.ran(0);
    return { spot, change };
  }

  test("a hundred that ask at once fetch once and run", async () => {
    await set("rotated").plan({ status: 200, held: true, content: JSON.stringify({ keys: [pairs.r.jwk] }) });
    const spot = await world.spot("/at-once");
    const change = await from("rotated");
    const answers = Array.from({ length: 100 }, (_, at) => spot.post({ ...change, key: `k-${at}` }));
    await issuer.arrived("/rotated");
    await issuer.open("/rotated");
    for (const answer of await Promise.all(answers)) executed(answer);
    assert.equal(await set("rotated").fetches(), 1);
    await spot.ran(100);
  });

  test("rotated keys are fetched when a token names one, the old ones are gone", async () => {
    await set("rotated").serve(pairs.e);
    await stop(0);
    const spot = await world.spot("/rotated");
    executed(await spot.post(await from("rotated", pairs.e)));
    assert.equal(await set("rotated").fetches(), 2);
    // The caller is the same, whatever key has signed; the key that is gone is unknown.
    refused(await spot.post(await from("rotated", pairs.r)), "caller_unverified");
    assert.equal((await spot.post(await from("rotated", pairs.e))).word, "replayed");
    assert.equal(await set("rotated").fetches(), 2, "once in thirty seconds");
    await set("rotated").serve(pairs.e, pairs.next);
    await stop(31);
    assert.equal((await spot.post(await from("rotated", pairs.next))).word, "replayed");
    assert.equal(await set("rotated").fetches(), 3);
    await go();
    await spot.ran(1);
  });

  test("cold: 503 also where the store may fail open; back again the same key runs", async () => {
    await set("cold").plan({ status: 500 });
    const expired = /** @type {[string, string][]} */ ([["X-Cold", await sign(pairs.r, { exp: 1 })]]);
    refused(await (await world.spot("/cold")).post(by(expired)), "caller_unverified");
    assert.equal(await set("cold").fetches(), 0, "what is wrong without a key asks for none");
    const { spot, change } = await unavailable("cold");
    const keyless = await spot.post({ ...change, key: null });
    assert.deepEqual([keyless.status, keyless.word], [201, "bypassed;reason=no-key"]);
    await set("cold").serve(pairs.r);
    const answer = await until(async () => {
      const found = await spot.post(change);
      return found.status === 201 && found;
    }, "the keys are there");
    executed(/** @type {Answer} */ (answer));
    assert.equal(await set("cold").fetches(), 2);
    await spot.ran(2);
  });

  test("warm: fresh for ten minutes, then used for a day while they cannot be had", async () => {
    await set("aged").serve(pairs.r);
    await stop(0);
    const spot = await world.spot("/aged");
    const change = await from("aged");
    const first = await spot.post(change);
    executed(first);
    await set("aged").plan({ status: 503 });
    /** @param {number} at @param {number} fetches */
    const check = async (at, fetches) => {
      await stop(at);
      const answer = await spot.post(change);
      // A day later the answer is forgotten; what counts here is who may ask.
      assert.equal(answer.status, 201, `${at}: ${answer.brief}`);
      assert.equal(await set("aged").fetches(), fetches, `at ${at}`);
    };
    await check(599, 1);
    await check(600, 2);
    await check(629, 2);
    await check(630, 3);
    await check(86_399, 4);
    await stop(86_402);
    refused(await spot.post(change), "identity_unavailable");
    await set("aged").serve(pairs.e);
    await stop(86_405);
    refused(await spot.post(change), "caller_unverified");
    await go();
  });

  test("65,536 bytes are read, one more is not", async () => {
    const keys = JSON.stringify({ keys: [pairs.r.jwk] });
    const content = (/** @type {number} */ size) => ({ status: 200, content: keys.padEnd(size) });
    await set("large").plan(content(65_536));
    executed(await (await world.spot("/large")).post(await from("large")));
    await set("largest").plan({ ...content(65_537), framing: "chunked" });
    await unavailable("largest");
  });

  test("a redirect is not followed", async () => {
    const before = await set("large").fetches();
    await set("moved").plan({ status: 302, lines: [["Location", set("large").url]], content: "" });
    await unavailable("moved");
    assert.equal(await set("large").fetches(), before);
  });

  test("an issuer that does not answer is not waited for", async () => {
    await set("slow").plan({ cut: "hang" });
    await unavailable("slow");
  });

  test("what is no set of keys is none", async () => {
    await set("garbage").plan({ status: 200, content: "<html>" });
    await unavailable("garbage");
    await set("empty").plan({ status: 200, content: '{"keys":[]}' });
    await unavailable("empty");
  });

  test("where the one that fetches leaves, the next one fetches", async () => {
    await set("left").plan({ cut: "hang" }, { status: 200, content: JSON.stringify({ keys: [pairs.r.jwk] }) });
    const spot = await world.spot("/left");
    const change = await from("left");
    const wire = await Wire.open(world.gate.port);
    wire.write(bytes(spot.request(change)));
    await issuer.arrived("/left");
    wire.socket.resetAndDestroy();
    executed(await spot.post(change));
    assert.equal(await set("left").fetches(), 2);
    await spot.ran(1);
  });

  test("what is fetched says nothing of the request", async () => {
    const [seen] = await issuer.seen("/large");
    assert.deepEqual([seen?.method, seen?.content], ["GET", ""]);
    assert.ok(seen?.lines.every(([name]) => !/authorization|cookie|x-large|idempotency/i.test(name)), JSON.stringify(seen?.lines));
  });
});

