// @ts-check
// What the pages of listed web origins may read: a peek, with credentials, the 202 of an accepted request, a batch's 207.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { executed, World } from "./gate.mjs";

/** @typedef {import("./client.mjs").Answer} Answer */
/** @typedef {[string, string][]} Lines */

const PAGE = "https://shop.example";

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    cors: [PAGE],
    routes: [
      { path: "/accept/*", mode: "accept", unanswered: "hold" },
      { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
      { path: "/*" },
    ],
  });
});
after(() => world?.end());

/** Open to the page, or to nobody. @param {Answer} answer @param {boolean} mine */
function open(answer, mine) {
  assert.deepEqual(answer.all("access-control-allow-origin"), mine ? [PAGE] : [], answer.brief);
  assert.deepEqual(answer.all("access-control-allow-credentials"), mine ? ["true"] : []);
  if (!mine) return;
  assert.match(answer.one("access-control-expose-headers"), /Idempotency-Status/);
  assert.match(answer.one("vary"), /Origin/i);
}

for (const [from, mine] of /** @type {[string, boolean][]} */ ([[PAGE, true], ["https://evil.example", false]])) {
  const origin = /** @type {Lines} */ ([["Origin", from]]);

  test(`a peek from ${from}`, async () => {
    const spot = await world.spot("/peeked");
    executed(await spot.post());
    const path = `/.oncekey/keys/${spot.key}`;
    const lines = /** @type {Lines} */ ([...origin, ["Authorization", "Bearer ann"]]);
    const answer = await world.send({ method: "GET", path, lines });
    assert.equal(answer.json.state, "completed", answer.brief);
    open(answer, mine);
    await spot.ran(1);
  });

  test(`the preflight of a peek from ${from}`, async () => {
    const path = `/.oncekey/keys/${randomUUID()}`;
    const asks = /** @type {Lines} */ ([
      ["Access-Control-Request-Method", "GET"],
      ["Access-Control-Request-Headers", "authorization,x-user"],
    ]);
    const answer = await world.send({ method: "OPTIONS", path, lines: [...origin, ...asks] });
    assert.equal(answer.status, mine ? 204 : 405, answer.brief);
    open(answer, mine);
    if (mine) {
      assert.match(answer.one("access-control-allow-methods"), /GET/);
      assert.equal(answer.one("access-control-allow-headers"), "authorization,x-user");
    }
    assert.deepEqual((await world.origin.targets()).filter((target) => target.startsWith("/.oncekey")), []);
  });

  test(`a 202 for ${from}, first and duplicate`, async () => {
    const spot = await world.spot("/accept");
    for (const word of ["accepted", "replayed"]) {
      const answer = await spot.post({ more: origin });
      assert.deepEqual([answer.status, answer.word], [202, word], answer.brief);
      open(answer, mine);
    }
    await spot.arrived();
    await spot.ran(1);
  });

  test(`a 207 for ${from}`, async () => {
    const lines = /** @type {Lines} */ ([...origin, ["Content-Type", "application/json"]]);
    const content = JSON.stringify({ items: [{ idempotency_key: randomUUID() }] });
    const answer = await world.send({ path: `/batch/${mine}`, lines, content });
    assert.deepEqual([answer.status, answer.json.items[0].status], [207, 201], answer.brief);
    open(answer, mine);
  });
}
