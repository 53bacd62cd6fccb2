// @ts-check
// What clients make anew for each attempt, and what they say besides the content: the same request, or another.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { executed, field, refused, replayed, World } from "./gate.mjs";

/** @typedef {import("./gate.mjs").Change} Change */
/** @typedef {[string, string][]} Lines */

const MOST = 300_000;
const TEXT = JSON.stringify({ n: 1, list: Array.from({ length: 300 }, (_, i) => `entry ${i % 17}`) });
const OTHER = TEXT.replace('"n":1', '"n":2');

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    max_content: MOST,
    routes: [{ path: "/own/*", headers: ["X-Action"] }, { path: "/*" }],
  });
});
after(() => world?.end());

/** The second is the same request as the first, or another. @param {string} name @param {Change} one @param {Change} two @param {boolean} same */
const pair = (name, one, two, same, route = "/same") =>
  test(name, async () => {
    const spot = await world.spot(route);
    const first = await spot.post(one);
    executed(first);
    const second = await spot.post(two);
    if (same) replayed(second, first);
    else refused(second, "idempotency_key_reused");
    replayed(await spot.post(one), first);
    await spot.ran(1);
  });

/** @param {string} coding @param {Buffer | string} content @returns {Change} */
const coded = (coding, content) => ({ content, more: [["Content-Encoding", coding]] });

describe("coded content", { concurrency: 8 }, () => {
  const gzip = (/** @type {string} */ text, level = 9) => coded("gzip", gzipSync(text, { level }));
  const deflate = (/** @type {string} */ text, level = 9) => coded("deflate", deflateSync(text, { level }));
  pair("gzip made anew", gzip(TEXT), gzip(TEXT, 1), true);
  pair("gzip of JSON in another order", gzip('{"a":1,"b":2}'), gzip('{"b":2.0,"a":1}'), true);
  pair("gzip of other content", gzip(TEXT), gzip(OTHER), false);
  pair("deflate made anew", deflate(TEXT), deflate(TEXT, 1), true);
  pair("deflate of other content", deflate(TEXT), deflate(OTHER), false);
  pair("gzip, and none", gzip(TEXT), { content: TEXT }, false);
  pair("another coding is bytes", coded("br", brotliCompressSync(TEXT)), coded("br", brotliCompressSync(OTHER)), false);
  pair("content that is not so coded is bytes", coded("gzip", TEXT), coded("gzip", `${TEXT} `), false);
  pair("a label in capitals", coded("GZIP", gzipSync(TEXT)), coded("GZIP", gzipSync(TEXT, { level: 1 })), true);
  pair("and not the content that it would be", { ...coded("gzip", gzipSync(TEXT)), type: "text/plain" }, { ...coded("gzip", TEXT), type: "text/plain" }, false);
  pair("deflate without the head of zlib, made anew", coded("deflate", deflateRawSync(TEXT)), coded("deflate", deflateRawSync(TEXT, { level: 1 })), true);
  pair("gzip of several members", coded("gzip", Buffer.concat([gzipSync("1"), gzipSync("2")])), coded("gzip", gzipSync("12", { level: 1 })), true);
  pair("gzip with something after its end is bytes", coded("gzip", Buffer.concat([gzipSync(TEXT), Buffer.from("\n")])), coded("gzip", gzipSync(TEXT)), false);
  pair("two codings are bytes", coded("gzip, gzip", gzipSync(gzipSync(TEXT))), coded("gzip, gzip", gzipSync(gzipSync(TEXT), { level: 1 })), false);
  pair("x-gzip", coded("x-gzip", gzipSync(TEXT)), coded("X-GZip", gzipSync(TEXT, { level: 1 })), true);
  pair("empty content with a label", coded("gzip", ""), coded("gzip", ""), true);
  const bomb = (/** @type {number} */ level) => coded("gzip", gzipSync(Buffer.alloc(MOST + 1, " "), { level }));
  pair("what does not fit once decoded is bytes", bomb(9), bomb(1), false);

  test("the key is found in it, and the origin gets the bytes as they were sent", async () => {
    const spot = await world.spot("/held");
    const content = gzipSync(JSON.stringify({ idempotency_key: spot.key, text: TEXT }), { level: 1 });
    const change = { key: null, ...coded("gzip", content) };
    const first = await spot.post(change);
    executed(first);
    replayed(await spot.post(change), first);
    const [seen] = await spot.seen();
    assert.ok(Buffer.from(seen.content, "latin1").equals(content), "content at the origin");
    assert.equal(field(seen, "content-encoding"), "gzip");
    await spot.ran(1);
  });
});

describe("multipart that is no form", { concurrency: 8 }, () => {
  /** @param {string} type @param {string} boundary @param {[string, string][]} parts @returns {Change} */
  const multipart = (type, boundary, parts) => ({
    type: `multipart/${type}; boundary=${boundary}`,
    content: `${parts.map(([head, text]) => `--${boundary}\r\n${head}\r\n\r\n${text}\r\n`).join("")}--${boundary}--\r\n`,
  });
  const upload = (text = "\x00png") =>
    /** @type {[string, string][]} */ ([["Content-Type: application/json", '{"name":"a.png"}'], ["Content-Type: image/png", text]]);
  for (const type of ["related", "mixed"]) {
    pair(`${type} with a new boundary`, multipart(type, "one", upload()), multipart(type, "two", upload()), true);
    pair(`${type} with another part`, multipart(type, "one", upload()), multipart(type, "two", upload("gif")), false);
    pair(`${type} in another order`, multipart(type, "one", upload()), multipart(type, "two", upload().reverse()), false);
  }
  const nested = (/** @type {string} */ outer, /** @type {string} */ inner, text = "POST /a") => {
    const held = /** @type {string} */ (multipart("mixed", inner, [["Content-Type: application/http", text]]).content);
    return multipart("mixed", outer, [[`Content-Type: multipart/mixed; boundary=${inner}`, held]]);
  };
  pair("parts in parts", nested("one", "in"), nested("two", "an"), true);
  pair("other parts in parts", nested("one", "in"), nested("two", "an", "POST /b"), false);
});

describe("headers that say what is to be done", { concurrency: 8 }, () => {
  const NAMED = /** @type {[string, string, string][]} */ ([
    ["X-HTTP-Method-Override", "PATCH", "DELETE"],
    ["X-Amz-Target", "S.Put", "S.Delete"],
    ["SOAPAction", '"pay"', '"refund"'],
    ["If-Match", '"v1"', '"v2"'],
    ["Content-Range", "bytes 0-1/4", "bytes 2-3/4"],
    ["Upload-Offset", "0", "7"],
  ]);
  const more = (/** @type {Lines} */ ...lines) => ({ more: lines });
  for (const [name, one, two] of NAMED) {
    pair(`another ${name}`, more([name, one]), more([name, two]), false);
    pair(`no ${name} any more`, more([name, one]), {}, false);
    pair(`${name} in small letters`, more([name, one]), more([name.toLowerCase(), one], ["X-Other", "1"]), true);
  }
  pair("a header that the route names", more(["X-Action", "a"]), more(["X-Action", "b"]), false, "/own");
  pair("one that it does not name any more", more(["If-Match", "a"]), more(["If-Match", "b"]), true, "/own");
});
