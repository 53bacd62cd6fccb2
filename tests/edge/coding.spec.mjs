// @ts-check
// Content codings of answers: what is labelled is always delivered, coded, decoded or as it came.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { World } from "./gate.mjs";

/** @typedef {import("./origin.mjs").Step} Step */
/** @typedef {[string, string][]} Lines */

const TEXT = "The lamp is on its way, the desk is not. ".repeat(40);
const GZIP = gzipSync(TEXT);
const BROTLI = brotliCompressSync(TEXT);
const MOST = 200_000;
const BOMB = gzipSync(Buffer.alloc(100 * MOST));

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    max_stored: MOST,
    routes: [
      { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
      { path: "/*" },
    ],
  });
});
after(() => world?.end());

/** What the origin sends under which label, and what a caller that does not take the coding gets: a text without a label, or as it came. @type {[string, string, Buffer, string | undefined][]} */
const CODED = [
  ["GZIP", "GZIP", GZIP, TEXT],
  ["Gzip", "Gzip", GZIP, TEXT],
  ["BR", "BR", BROTLI, TEXT],
  ["x-gzip", "x-gzip", GZIP, TEXT],
  ["gzip twice", "gzip, gzip", gzipSync(GZIP), undefined],
  ["identity", "identity", Buffer.from(TEXT), undefined],
  ["deflate", "deflate", deflateSync(TEXT), undefined],
  ["two members", "gzip", Buffer.concat([gzipSync("one "), gzipSync("two")]), "one two"],
  ["empty gzip", "gzip", Buffer.alloc(0), ""],
  ["empty br", "br", Buffer.alloc(0), ""],
  ["plain gzip", "gzip", Buffer.from("hello"), undefined],
  ["plain br", "br", Buffer.from("hello, this is no brotli"), undefined],
  ["padded gzip", "gzip", Buffer.concat([GZIP, Buffer.alloc(4)]), undefined],
  ["cut-off gzip", "gzip", GZIP.subarray(0, 20), undefined],
  ["cut-off checksum", "gzip", GZIP.subarray(0, -3), undefined],
  ["cut-off br", "br", BROTLI.subarray(0, -3), undefined],
  ["corrupt gzip", "gzip", Buffer.concat([GZIP.subarray(0, 15), Buffer.from("xxx"), GZIP.subarray(18)]), undefined],
  ["more than is stored once decoded", "gzip", BOMB, undefined],
  ["an unknown coding", "x-rot13", Buffer.from("ynzc"), undefined],
];

/** The label as it is sent: `x-gzip` is `gzip` (RFC 9110 §8.4.1.3). @param {string} label */
const named = (label) => (label === "x-gzip" ? "gzip" : label.toLowerCase());

/** @type {(string | null)[]} */
const ACCEPTED = [null, "identity", "gzip;q=0, br;q=0", "gzip, br"];

describe("labelled content is delivered, first and replayed", { concurrency: 4 }, () => {
  for (const [name, label, content, text] of CODED) {
    for (const framing of /** @type {const} */ (["length", "chunked"])) {
      test(`${name}, ${framing}`, async () => {
        for (const accept of ACCEPTED) {
          const lines = /** @type {Lines} */ ([["Content-Encoding", label], ["Location", "/o/1"]]);
          const spot = await world.spot("/coded", { status: 200, lines, content: content.toString("latin1"), framing });
          const more = /** @type {Lines} */ (accept === null ? [] : [["Accept-Encoding", accept]]);
          for (const word of ["executed", "replayed", "replayed"]) {
            const answer = await spot.post({ more });
            const who = `${word} for ${accept}: ${answer.brief}`;
            assert.deepEqual([answer.status, answer.whole, answer.word, answer.one("location")], [200, true, word, "/o/1"], who);
            const decoded = accept !== "gzip, br" && text !== undefined;
            assert.ok(answer.content.equals(decoded ? Buffer.from(text) : content), who);
            const sent = answer.one("content-encoding")?.toLowerCase();
            // Of a first answer in chunks it is not known in time that it is empty.
            if (content.length > 0) assert.equal(sent, decoded ? undefined : named(label), who);
            else if (word === "replayed") assert.equal(sent, undefined, who);
          }
          await spot.ran(1);
        }
      });
    }
  }

  for (const status of [204, 205, 303, 304]) {
    test(`a ${status} without content`, async () => {
      const spot = await world.spot("/coded", { status, lines: [["Content-Encoding", "br"], ["Location", "/o/1"]], content: "" });
      for (const word of ["executed", "replayed"]) {
        const answer = await spot.post();
        assert.deepEqual([answer.status, answer.whole, answer.word, answer.content.length], [status, true, word, 0], answer.brief);
      }
      await spot.ran(1);
    });
  }

  test("a HEAD of what is coded", async () => {
    const spot = await world.spot("/coded", { status: 200, lines: [["Content-Encoding", "gzip"], ["X-Mark", "1"]], content: "" });
    const answer = await spot.post({ method: "HEAD", key: null, content: "" });
    assert.deepEqual([answer.status, answer.whole, answer.one("content-encoding"), answer.one("x-mark")], [200, true, "gzip", "1"], answer.brief);
  });
});

test("an item whose answer is coded oddly keeps its status", async () => {
  const steps = CODED.map(
    ([, label, content]) =>
      /** @type {Step} */ ({ status: 200, lines: [["Content-Encoding", label]], content: content.toString("latin1") }),
  );
  for (const [at, step] of steps.entries()) {
    const [name, , , text] = CODED[at];
    await world.origin.plan("/item", step);
    const ran = await world.origin.effects("/item");
    const items = [{ idempotency_key: `item-${at}` }];
    for (const word of ["executed", "replayed"]) {
      const path = `/batch/${at}`;
      const answer = await world.send({
        path,
        lines: [["Content-Type", "application/json"], ["Authorization", "Bearer ann"]],
        content: JSON.stringify({ items }),
      });
      assert.equal(answer.status, 207, answer.brief);
      const [item] = answer.json.items;
      assert.deepEqual([item.status, item.idempotency_status], [200, word], `${name}: ${answer.brief}`);
      if (text) assert.equal(Buffer.from(item.body, "base64").toString(), text, name);
    }
    assert.equal((await world.origin.effects("/item")) - ran, 1, name);
  }
});
