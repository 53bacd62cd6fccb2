// @ts-check
// Each kind of answer: passed on as the origin gave it, replayed the same to the byte, or refused honestly.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { bytes, Wire } from "./client.mjs";
import { executed, refused, replayed, World } from "./gate.mjs";
import { noise } from "./origin.mjs";

/** @typedef {import("./origin.mjs").Step} Step */
/** @typedef {[string, string][]} Lines */

const MB = 1_000_000;
const MOST = 3 * MB;
const TEXT = "The lamp is on its way, the desk is not. ".repeat(40);
const utf8 = (/** @type {string} */ text) => Buffer.from(text).toString("latin1");
const gzip = gzipSync(TEXT).toString("latin1");
const brotli = brotliCompressSync(TEXT).toString("latin1");

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    max_stored: MOST,
    routes: [{ path: "/kept/*", keep: "definite", server_error: "keep" }, { path: "/*" }],
  });
});
after(() => world?.end());

/** Kinds of answers that are final: a name, the answer. @type {[string, Step][]} */
const EXACT = [
  ...[200, 201, 202, 203, 206, 207, 208, 226, 250, 299].map(
    (status) => /** @type {[string, Step]} */ ([`${status}`, { status }]),
  ),
  ...[300, 301, 302, 303, 305, 399].map(
    (status) =>
      /** @type {[string, Step]} */ ([
        `${status} with Location`,
        {
          status,
          lines: [
            ["Location", "/orders/1?a=b#c"],
            ["Content-Type", "text/plain"],
          ],
          content: "there",
        },
      ]),
  ),
  ...[400, 402, 404, 405, 409, 410, 413, 418, 421, 422, 423, 451, 499].map(
    (status) => /** @type {[string, Step]} */ ([`${status} where it is kept`, { status, content: "no" }]),
  ),
  ...[500, 501, 505, 507, 599].map(
    (status) => /** @type {[string, Step]} */ ([`${status} where it is kept`, { status, content: "oh" }]),
  ),
  ["204", { status: 204, lines: [["X-Left", "0"]], content: "" }],
  ["204 with Location", { status: 204, lines: [["Location", "/a"]], content: "" }],
  ["205", { status: 205, lines: [["X-Left", "0"]], content: "" }],
  ["304", { status: 304, lines: [["ETag", '"a"']], content: "" }],
  ["empty, with a length", { content: "" }],
  ["empty, in chunks", { framing: "chunked", content: "" }],
  ["empty, ended by the connection", { framing: "close", content: "" }],
  ["empty, with no line at all", { lines: [], content: "" }],
  ["content in chunks", { framing: "chunked", content: TEXT }],
  ["content ended by the connection", { framing: "close", content: TEXT }],
  ["no content type", { lines: [], content: "a" }],
  [
    "every byte",
    { lines: [["Content-Type", "application/octet-stream"]], content: String.fromCharCode(...Array(256).keys()) },
  ],
  ["bytes that are no UTF-8", { content: "\xff\xfe\x00\x80" }],
  ["text/csv", { lines: [["Content-Type", "text/csv; charset=iso-8859-1; header=present"]], content: "caf\xe9;1\r\n" }],
  ["HTML", { lines: [["Content-Type", "text/html"]], content: "<p>&amp;</p>" }],
  [
    "cookies with commas",
    {
      lines: [
        ["Set-Cookie", "a=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT"],
        ["Set-Cookie", "b=2, c; Path=/"],
        ["set-cookie", "a=3"],
      ],
    },
  ],
  [
    "a file's name with a comma",
    { lines: [["Content-Disposition", "attachment; filename=\"a, b.csv\"; filename*=UTF-8''a%2C%20b.csv"]] },
  ],
  [
    "repeated lines",
    {
      lines: [
        ["Link", "</a>; rel=next"],
        ["X-Part", "1"],
        ["Link", "</b>; rel=prev"],
        ["X-Part", "2"],
        ["X-Part", "1"],
      ],
    },
  ],
  [
    "repeated challenges",
    {
      status: 200,
      lines: [
        ["WWW-Authenticate", 'Basic realm="a, b"'],
        ["WWW-Authenticate", "Bearer"],
      ],
    },
  ],
  ["UTF-8 in a line", { lines: [["X-Name", utf8("Žofie – ☂")]] }],
  [
    "an empty line's value",
    {
      lines: [
        ["X-Empty", ""],
        ["X-After", "1"],
      ],
    },
  ],
  ["quotes and backslashes", { lines: [["X-Quote", '"a\\"b\\\\" {"c":[]}']] }],
  [
    "validators and dates",
    {
      lines: [
        ["ETag", 'W/"x"'],
        ["Last-Modified", "Wed, 09 Jun 2021 10:18:14 GMT"],
        ["Age", "7"],
        ["Cache-Control", "no-store"],
        ["Vary", "Accept, Origin"],
        ["Retry-After", "7"],
      ],
    },
  ],
  [
    "a line of 8 kB, and eighty",
    {
      lines: [
        ["X-Long", "x".repeat(8000)],
        ...Array.from({ length: 80 }, (_, n) => /** @type {[string, string]} */ ([`X-${n}`, `${n}`])),
      ],
    },
  ],
  ["an unknown coding", { lines: [["Content-Encoding", "x-rot13"]], content: "ynzc" }],
  ["1 MB less a byte", { content: noise(MB - 1) }],
  ["1 MB and a byte", { content: noise(MB + 1) }],
  ["1 MiB in chunks", { framing: "chunked", content: noise(1_048_576) }],
  ["2 MiB and a byte", { content: noise(2_097_153) }],
  ["2.5 MB ended by the connection", { framing: "close", content: noise(2.5 * MB) }],
  ["as large as is kept", { content: noise(MOST) }],
  ["as large as is kept, in chunks", { framing: "chunked", content: noise(MOST) }],
  ["early hints first", { before: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" }],
];

describe("exact answers", { concurrency: 6 }, () => {
  for (const [name, step] of EXACT) {
    test(name, async () => {
      const spot = await world.spot("/kept", step);
      const first = await spot.post();
      executed(first, step.status ?? 201);
      if (step.content !== undefined)
        assert.equal(first.content.toString("latin1") === step.content, true, "content differs");
      for (const named of new Set((step.lines ?? []).map(([n]) => n.toLowerCase()))) {
        const values = (step.lines ?? []).filter(([n]) => n.toLowerCase() === named).map(([, value]) => value);
        // The platform tells repeated lines apart for cookies only; others may be one line (RFC 9110 §5.3).
        if (named === "set-cookie") assert.deepEqual(first.all(named), values);
        else assert.equal(first.all(named).join(", "), values.join(", "), named);
      }
      replayed(await spot.post(), first);
      replayed(await spot.post(), first);
      await spot.ran(1);
    });
  }

  test("bytes of a line that are no UTF-8 are replaced, the same each time", async () => {
    const spot = await world.spot("/kept", {
      lines: [
        ["X-Name", "caf\xe9"],
        ["X-After", "1"],
      ],
    });
    const first = await spot.post();
    executed(first);
    assert.match(first.one("x-name") ?? "", /^caf/);
    replayed(await spot.post(), first);
    replayed(await spot.post(), first);
    await spot.ran(1);
  });

  test("what belongs to one connection is not kept", async () => {
    const lines = /** @type {Lines} */ ([
      ["Keep-Alive", "timeout=5"],
      ["Connection", "X-Hop"],
      ["X-Hop", "1"],
      ["X-End", "1"],
    ]);
    const spot = await world.spot("/kept", { lines });
    const first = await spot.post();
    executed(first);
    const again = await spot.post();
    replayed(again, first);
    for (const answer of [first, again]) {
      assert.deepEqual(
        [answer.one("x-hop"), answer.one("keep-alive"), answer.one("x-end")],
        [undefined, undefined, "1"],
      );
    }
  });
});

describe("codings", { concurrency: 6 }, () => {
  /** Four attempts, with and without the coding accepted, in both orders. @param {string} name @param {Step} step @param {string | undefined} accept */
  const check = (name, step, accept) =>
    test(name, async () => {
      const spot = await world.spot("/coded", step);
      const takes = (/** @type {boolean} */ yes) => ({
        more: /** @type {Lines} */ (yes && accept ? [["Accept-Encoding", accept]] : []),
      });
      for (const begin of [true, false]) {
        spot.key += begin;
        for (const [at, yes] of [begin, !begin, begin].entries()) {
          const answer = await spot.post(takes(yes));
          assert.deepEqual([answer.status, answer.word], [200, at === 0 ? "executed" : "replayed"]);
          assert.equal(answer.plain.toString(), TEXT);
          if (!yes) assert.equal(answer.one("content-encoding"), undefined);
          assert.equal(answer.one("vary"), "Accept-Encoding");
        }
      }
      await spot.ran(2);
    });
  /** @param {string} coding @returns {Lines} */
  const lines = (coding) => [
    ["Content-Type", "text/plain"],
    ["Content-Encoding", coding],
    ["Vary", "Accept-Encoding"],
  ];
  check("gzip", { status: 200, lines: lines("gzip"), content: gzip }, "gzip, br");
  check(
    "gzip in chunks",
    { status: 200, lines: lines("gzip"), content: gzip, framing: "chunked" },
    "gzip;q=0.5, *;q=0",
  );
  check("brotli", { status: 200, lines: lines("br"), content: brotli }, "br");
  check("brotli ended by the connection", { status: 200, lines: lines("br"), content: brotli, framing: "close" }, "br");
  check("gzip for a caller that takes another", { status: 200, lines: lines("gzip"), content: gzip }, undefined);

  test("coded content is sent as the origin coded it to a caller that takes it", async () => {
    const spot = await world.spot("/coded", { lines: lines("gzip"), content: gzip });
    const accept = { more: /** @type {Lines} */ ([["Accept-Encoding", "gzip"]]) };
    const first = await spot.post(accept);
    executed(first);
    assert.equal(first.content.toString("latin1") === gzip, true, "the origin's bytes");
    replayed(await spot.post(accept), first);
  });
});

describe("answers that cannot be kept or sent", { concurrency: 6 }, () => {
  for (const framing of /** @type {const} */ (["length", "chunked", "close"])) {
    test(`a byte over the limit, ${framing}: whole once, then refused with its status`, async () => {
      const content = noise(MOST + 1);
      const spot = await world.spot("/large", { status: 202, content, framing });
      const first = await spot.post();
      executed(first, 202);
      assert.equal(first.content.toString("latin1") === content, true, "content differs");
      for (const _ of [1, 2]) {
        const again = await spot.post();
        refused(again, "reply_unavailable");
        assert.ok(Object.values(again.json).includes(202) || again.text.includes("202"), again.text);
      }
      assert.deepEqual((await spot.peek()).json.status, 202);
      await spot.ran(1);
    });
  }

  for (const status of [199, 600, 700, 999]) {
    test(`${status} is no answer, and is not run again`, async () => {
      const spot = await world.spot("/odd", { status, content: "odd" });
      refused(await spot.post(), "outcome_unknown");
      refused(await spot.post(), "outcome_unknown");
      await spot.ran(1);
    });
  }

  test("101 without being asked is no answer", async () => {
    const spot = await world.spot("/odd", {
      raw: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    });
    refused(await spot.post(), "outcome_unknown");
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
  });
});

describe("streams", { concurrency: 6 }, () => {
  const events = ["data: one\n\n", "data: two\n\n", "data: three\n\n"];
  const sse = { status: 200, lines: /** @type {Lines} */ ([["Content-Type", "text/event-stream"]]), parts: events };

  test("the first event is there while the second is still to come; then all of it replays", async () => {
    const spot = await world.spot("/events", sse);
    const wire = await Wire.open(world.gate.port);
    wire.write(bytes(spot.request()));
    const first = await wire.head();
    assert.deepEqual([first.status, first.word], [200, "executed"]);
    await wire.upTo("data: one\n\n");
    refused(await spot.post(), "request_in_progress");
    assert.equal((await spot.peek()).json.state, "running");
    await spot.open();
    await wire.upTo("data: two\n\n");
    await spot.open();
    await wire.upTo("data: three\n\n");
    assert.equal((await spot.peek("?wait=20")).json.state, "completed");
    wire.socket.destroy();
    const again = await spot.post();
    assert.deepEqual([again.status, again.word, again.text], [200, "replayed", events.join("")]);
    assert.deepEqual(again.kept, first.kept);
    replayed(await spot.post(), again);
    await spot.ran(1);
  });

  test("many small parts", async () => {
    const parts = Array.from({ length: 200 }, (_, n) => `part ${n}\n`);
    const spot = await world.spot("/events", { parts });
    for (const _ of parts.slice(1)) void spot.open();
    const first = await spot.post();
    executed(first);
    assert.equal(first.text, parts.join(""));
    replayed(await spot.post(), first);
    await spot.ran(1);
  });
});
