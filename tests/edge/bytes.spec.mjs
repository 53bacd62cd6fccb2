// @ts-check
// Bytes of a request: what is kept or made anew reaches the origin as it came, or nothing does.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { executed, field, refused, until, World } from "./gate.mjs";
import { noise } from "./origin.mjs";

/** @typedef {[string, string][]} Lines */

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    routes: [
      { path: "/accept/*", mode: "accept", unanswered: "hold" },
      { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
      { path: "/*" },
    ],
  });
});
after(() => world?.end());

const LATIN = /** @type {Lines} */ ([["X-Name", "Ren\xe9"]]);
const UTF8 = /** @type {Lines} */ ([["X-Name", "Ren\xc3\xa9"], ["X-Twice", "1"], ["X-Twice", "2"]]);
const batch = (/** @type {string} */ key) => JSON.stringify({ items: [{ idempotency_key: key }] });

describe("fields of bytes that are not UTF-8", { concurrency: 4 }, () => {
  test("of a request that is sent at once they pass as they came", async () => {
    for (const key of [undefined, null]) {
      const spot = await world.spot("/any");
      assert.equal((await spot.post({ key, more: LATIN })).status, 201);
      const [seen] = await spot.seen();
      assert.equal(field(seen, "x-name"), "Ren\xe9");
    }
  });

  test("an accepted request is refused, and so is a batch", async () => {
    const accepted = await world.spot("/accept");
    const answer = await accepted.post({ more: LATIN });
    refused(answer, "header_invalid");
    assert.match(answer.json.detail, /x-name/);
    const many = await world.spot("/batch");
    const ran = await world.origin.effects("/item");
    refused(await many.post({ key: null, content: batch(many.key), more: LATIN }), "header_invalid");
    refused(await many.post({ key: null, content: batch(many.key), more: LATIN, caller: null }), "header_invalid");
    await accepted.ran(0);
    assert.equal(await world.origin.effects("/item"), ran);
  });

  test("where a field counts two of them would be one: refused", async () => {
    const spot = await world.spot("/any");
    for (const value of ['"\xe9"', '"\xe8"']) {
      refused(await spot.post({ more: [["If-Match", value]] }), "header_invalid");
    }
    await spot.ran(0);
    executed(await spot.post({ more: [["If-Match", '"\xc3\xa9"']] }));
  });

  test("what tells the caller is told as such", async () => {
    const spot = await world.spot("/accept");
    refused(await spot.post({ caller: null, more: [["Authorization", "Bearer Ren\xe9"]] }), "caller_invalid");
  });
});

describe("what is sent later, or for another", { concurrency: 4 }, () => {
  test("an accepted request: its fields, and any bytes of content", async () => {
    const spot = await world.spot("/accept");
    const content = noise(100_000);
    const answer = await spot.post({ content, type: "application/octet-stream", more: UTF8 });
    assert.equal(answer.status, 202, answer.brief);
    await until(async () => (await spot.seen()).length > 0, "it is delivered");
    const [seen] = await spot.seen();
    assert.equal(seen.content, Buffer.from(content).toString("latin1"));
    assert.deepEqual([field(seen, "x-name"), field(seen, "x-twice")], ["Ren\xc3\xa9", "1, 2"]);
  });

  test("an item has the fields of its batch", async () => {
    const spot = await world.spot("/batch");
    const answer = await spot.post({ key: null, content: batch(spot.key), more: UTF8 });
    assert.equal(answer.json.items[0].status, 201, answer.brief);
  });
});
