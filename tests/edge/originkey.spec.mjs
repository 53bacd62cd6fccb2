// @ts-check
// The form in which the origin gets the key: a UUID made of the scoped key, or the client's own line.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { executed, field, replayed, World } from "./gate.mjs";

const UUID8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const FORM = "application/x-www-form-urlencoded";

/** @param {string} form @param {(world: () => World) => void} tests */
const kind = (form, tests) =>
  describe(form, () => {
    /** @type {World} */
    let world;
    before(async () => {
      world = await World.start({
        origin_key: form,
        routes: [
          { path: "/accept/*", mode: "accept", unanswered: "hold" },
          { path: "/batch/*", mode: "batch", items: "/items", item_key: "/id", item_path: "/item" },
          { path: "/probe/*", unanswered: { probe: "/lookup/{key}" } },
          { path: "/*" },
        ],
      });
    });
    after(() => world?.end());
    tests(() => world);
  });

kind("uuid", (world) => {
  test("a bare version 8 UUID, the same for each attempt, another for another caller", async () => {
    const spot = await world().spot("/job", { status: 422 });
    for (const caller of ["ann", "ann", "bob"]) await spot.post({ caller });
    const [one, same, other] = (await spot.seen()).map((seen) => field(seen, "idempotency-key"));
    assert.match(one, UUID8);
    assert.match(other, UUID8);
    assert.equal(same, one);
    assert.notEqual(other, one);
    await spot.ran(3);
  });

  test("an accepted request", async () => {
    const spot = await world().spot("/accept");
    await spot.post();
    await spot.arrived();
    assert.match(field((await spot.seen())[0], "idempotency-key"), UUID8);
    await spot.ran(1);
  });
});

kind("original", (world) => {
  for (const [name, line] of [
    ["bare", "order-1042;x"],
    ["quoted, with parameters", '"order-1043";a=1'],
  ]) {
    test(`the client's own line, ${name}, and the scoped key beside it`, async () => {
      const spot = await world().spot("/job");
      const first = await spot.post({ key: line });
      executed(first);
      replayed(await spot.post({ key: line }), first);
      const [seen] = await spot.seen();
      assert.equal(field(seen, "idempotency-key"), line);
      assert.match(field(seen, "oncekey-scoped-key"), /^"[\w-]{43}"$/);
      await spot.ran(1);
    });
  }

  test("a key in the content, as a structured-field String", async () => {
    const spot = await world().spot("/job");
    const content = `idempotency_key=${encodeURIComponent('a "b"')}&n=1`;
    // In a form the header is ignored altogether.
    executed(await spot.post({ type: FORM, content, key: "another" }));
    executed(await (await world().spot("/job")).post({ key: null, content: '{"idempotency_key":"in-json"}' }));
    assert.equal(field((await spot.seen())[0], "idempotency-key"), '"a \\"b\\""');
    await spot.ran(1);
  });

  test("a client cannot send the scoped key itself", async () => {
    const spot = await world().spot("/job");
    executed(await spot.post({ more: [["Oncekey-Scoped-Key", "forged"]] }));
    assert.match(field((await spot.seen())[0], "oncekey-scoped-key"), /^"[\w-]{43}"$/);
  });

  test("an accepted request, and an item, which has the scoped key alone", async () => {
    const spot = await world().spot("/accept");
    await spot.post({ key: "order-1044" });
    await spot.arrived();
    assert.equal(field((await spot.seen())[0], "idempotency-key"), "order-1044");
    const answer = await (await world().spot("/batch")).post({ content: '{"items":[{"id":"item-1"}]}', key: "of-the-batch" });
    assert.equal(answer.json.items[0].status, 201, answer.brief);
    const [item] = await world().origin.seen("/item");
    assert.equal(field(item, "idempotency-key"), field(item, "oncekey-scoped-key"));
  });
});
