// @ts-check
// An origin given by its URL, the way the gate is deployed: what it sees and what comes back.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { executed, field, refused, replayed, World } from "./gate.mjs";

/** @type {World} */
let world;
before(async () => {
  world = await World.start(
    { routes: [{ path: "/probe/*", unanswered: { probe: "/lookup/{key}" } }, { path: "/*", methods: ["POST", "DELETE"] }] },
    { ONCEKEY_ORIGIN_BY_URL: "1" },
  );
});
after(() => world?.end());

describe("an origin by URL", () => {
  test("the request arrives as it was sent, once", async () => {
    const spot = await world.spot("/job");
    const target = `${spot.path}?a=%20b&c=+&d=%E9&e`;
    const first = await spot.post({ path: target, more: [["X-Two", "a, b"]] });
    executed(first);
    replayed(await spot.post({ path: target }), first);
    const [seen] = await spot.seen();
    assert.equal(field(seen, "x-two"), "a, b");
    assert.equal(field(seen, "authorization"), "Bearer ann");
    assert.match(field(seen, "idempotency-key"), /^"[\w-]{43}"$/);
    field(seen, "host");
    await spot.ran(1);
  });

  test("a redirect is its answer", async () => {
    const spot = await world.spot("/job", { status: 303, lines: [["Location", "/elsewhere"]] });
    const first = await spot.post();
    executed(first, 303);
    assert.equal(first.one("location"), "/elsewhere");
    replayed(await spot.post(), first);
    await spot.ran(1);
  });

  test("without a key it is passed on each time", async () => {
    const spot = await world.spot("/job");
    for (let n = 0; n < 2; n++) assert.equal((await spot.post({ key: null })).one("idempotency-status"), "bypassed;reason=no-key");
    await spot.ran(2);
  });

  test("no answer: unknown, and it is not run again", async () => {
    const spot = await world.spot("/job", { cut: "before" }, {});
    refused(await spot.post(), "outcome_unknown");
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
  });

  test("DELETE without content runs once, on a connection that drops too", async () => {
    for (let n = 0; n < 4; n++) {
      executed(await (await world.spot("/job")).post());
      const spot = await world.spot("/job", { cut: "before" }, {});
      refused(await spot.post({ method: "DELETE", content: "" }), "outcome_unknown");
      await spot.ran(1);
    }
  });
});
