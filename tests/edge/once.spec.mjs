// @ts-check
// One key, one effect: duplicates at once, other requests under the key, waiting, patience, and who calls.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { executed, field, refused, replayed, World } from "./gate.mjs";

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    scope: ["header:authorization", "cookie:session"],
    routes: [
      { path: "/wait/*", wait: 20 },
      { path: "/brief/*", wait: 1 },
      { path: "/patient/*", patience: 1, lease: 20 },
      { path: "/*" },
    ],
  });
});
after(() => world?.end());

describe("duplicates at once", { concurrency: 4 }, () => {
  test("five: one runs, four are told to come again, a sixth is answered from the record", async () => {
    const spot = await world.spot("/five", {
      held: true,
      lines: [
        ["Set-Cookie", "a=1"],
        ["Set-Cookie", "b=2"],
      ],
    });
    const all = Array.from({ length: 5 }, () => spot.post());
    let busy = 0;
    await new Promise((/** @type {(value?: any) => void} */ resolve) => {
      for (const one of all) one.then((answer) => answer.status === 409 && ++busy === 4 && resolve());
    });
    await spot.open();
    const answers = await Promise.all(all);
    const [first, ...others] = answers.sort((a, b) => a.status - b.status);
    executed(first);
    for (const other of others) refused(other, "request_in_progress");
    replayed(await spot.post(), first);
    await spot.ran(1);
  });

  test("two hundred over four keys: four effects, and no answer but the right one", async () => {
    const spots = await Promise.all(Array.from({ length: 4 }, () => world.spot("/many")));
    const all = Array.from({ length: 200 }, (_, n) => spots[n % 4].post());
    const answers = await Promise.all(all);
    for (const [n, spot] of spots.entries()) {
      const mine = answers.filter((_, at) => at % 4 === n);
      const first = mine.find((answer) => answer.word === "executed");
      assert.ok(first, "none was executed");
      executed(first);
      for (const answer of mine.filter((answer) => answer !== first)) {
        if (answer.status === 409) refused(answer, "request_in_progress");
        else replayed(answer, first);
      }
      await spot.ran(1);
    }
  });

  test("other keys with the same content are other intents", async () => {
    const spot = await world.spot("/keys");
    executed(await spot.post());
    executed(await spot.post({ key: randomUUID() }));
    await spot.ran(2);
  });
});

describe("another request under the key", { concurrency: 4 }, () => {
  /** @param {string} name @param {(spot: import("./gate.mjs").Spot) => import("./gate.mjs").Change} change */
  const check = (name, change) =>
    test(`${name}: refused while the first runs and after`, async () => {
      const spot = await world.spot("/other", { held: true });
      const first = spot.post();
      await spot.arrived();
      refused(await spot.post(change(spot)), "idempotency_key_reused");
      await spot.open();
      executed(await first);
      refused(await spot.post(change(spot)), "idempotency_key_reused");
      replayed(await spot.post(), await first);
      await spot.ran(1);
    });
  check("content", () => ({ content: '{"item":"desk"}' }));
  check("no content", () => ({ content: "" }));
  check("method", () => ({ method: "PATCH" }));
  check("path", () => ({ path: "/other/place" }));
  check("query", (spot) => ({ path: `${spot.path}?again=1` }));
  check("empty query", (spot) => ({ path: `${spot.path}?` }));
  check("spelling of the path", (spot) => ({ path: spot.path.replace("/o", "/%6f") }));
  check("media type", () => ({ type: "text/plain" }));
  check("no media type", () => ({ type: null }));
  check("coding", () => ({ more: [["Content-Encoding", "identity"]] }));
});

describe("waiting", { concurrency: 4 }, () => {
  test("a duplicate that may wait is held, and gets the answer", async () => {
    const spot = await world.spot("/wait", { held: true });
    const first = spot.post();
    await spot.arrived();
    let held = true;
    const duplicate = spot.post().finally(() => (held = false));
    // Another key's round trip, so that the duplicate has had the time to be refused.
    executed(await (await world.spot("/wait")).post());
    assert.ok(held, "the duplicate was not held");
    await spot.open();
    executed(await first);
    replayed(await duplicate, await first);
    await spot.ran(1);
  });

  test("a wait that ends is a 409 and changes nothing", async () => {
    const spot = await world.spot("/brief", { held: true });
    const first = spot.post();
    await spot.arrived();
    refused(await spot.post(), "request_in_progress");
    await spot.open();
    executed(await first);
    replayed(await spot.post(), await first);
    await spot.ran(1);
  });

  test("another request under the key does not wait", async () => {
    const spot = await world.spot("/wait", { held: true });
    const first = spot.post();
    await spot.arrived();
    refused(await spot.post({ content: "{}" }), "idempotency_key_reused");
    await spot.open();
    executed(await first);
  });

  test("a duplicate that waited for a declined request runs itself", async () => {
    const spot = await world.spot("/wait", { held: true, status: 422 }, { status: 201 });
    const first = spot.post();
    await spot.arrived();
    const duplicate = spot.post();
    executed(await (await world.spot("/wait")).post());
    await spot.open();
    executed(await first, 422);
    executed(await duplicate, 201);
    await spot.ran(2);
  });

  test("patience ends: 409 for the first as well, and the late answer is kept", async () => {
    const spot = await world.spot("/patient", { held: true, content: "late" });
    refused(await spot.post(), "request_in_progress");
    refused(await spot.post(), "request_in_progress");
    await spot.open();
    assert.equal((await spot.peek("?wait=20")).json.state, "completed");
    const late = await spot.post();
    assert.deepEqual([late.status, late.text, late.word], [201, "late", "replayed"]);
    replayed(await spot.post(), late);
    await spot.ran(1);
  });
});

describe("who calls", { concurrency: 4 }, () => {
  /** Under a natural key: a random UUID is bound to its first caller (`caller`). @param {string} name @param {import("./gate.mjs").Change} a @param {import("./gate.mjs").Change} b */
  const apart = (name, a, b) =>
    test(`${name}: two callers, each with an effect and an answer of their own`, async () => {
      const spot = await world.spot("/who");
      const [one, two] = [await spot.post(a), await spot.post(b)];
      executed(one);
      executed(two);
      assert.notEqual(one.text, two.text);
      replayed(await spot.post(a), one);
      replayed(await spot.post(b), two);
      const [left, right] = await spot.seen();
      assert.match(field(left, "idempotency-key"), /^"[A-Za-z0-9_-]{1,64}"$/);
      assert.notEqual(field(left, "idempotency-key"), field(right, "idempotency-key"));
      await spot.ran(2);
    });
  /** @param {string} name @param {import("./gate.mjs").Change} a @param {import("./gate.mjs").Change} b */
  const together = (name, a, b) =>
    test(`${name}: one caller`, async () => {
      const spot = await world.spot("/who");
      spot.key = randomUUID();
      const first = await spot.post(a);
      executed(first);
      replayed(await spot.post(b), first);
      await spot.ran(1);
    });
  const cookie = (/** @type {string} */ value) => ({
    caller: null,
    more: /** @type {[string, string][]} */ ([["Cookie", value]]),
  });
  apart("two tokens", { caller: "ann" }, { caller: "bob" });
  apart("a token and a session", { caller: "ann" }, cookie("session=ann"));
  apart("two sessions", cookie("session=a"), cookie("session=b"));
  apart("a token with and without a session", { caller: "ann", more: [["Cookie", "session=a"]] }, { caller: "ann" });
  apart("two hosts", { host: "a.example" }, { host: "b.example" });
  together("other cookies", cookie("session=a; x=1"), cookie("theme=dark; session=a"));
  together(
    "other fields",
    { more: [["X-Request-Id", "1"]] },
    {
      more: [
        ["X-Request-Id", "2"],
        ["User-Agent", "two"],
      ],
    },
  );
  together("anonymous with a UUID", { caller: null }, { caller: null });

  for (const key of ["order-1", '"order-1"', "12345678-1234-1234-1234-12345678901", `${randomUUID()}0`]) {
    test(`anonymous: ${key.length} characters that are no UUID are refused`, async () => {
      const spot = await world.spot("/nobody");
      refused(await spot.post({ caller: null, key }), "key_invalid");
      await spot.ran(0);
    });
  }
});
