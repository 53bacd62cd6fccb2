// @ts-check
// What is told of attempts: points of measurement, lines with the origin's part and each refusal's code, Server-Timing, and
// the caller's trace that goes on as it came.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { executed, field, refused, until, World } from "./gate.mjs";
import { noise } from "./origin.mjs";
import { Sink } from "./sink.mjs";

/** @typedef {import("./origin.mjs").Step} Step @typedef {import("./gate.mjs").Change} Change @typedef {[string, string][]} Lines */

const AROUND = { ONCEKEY_AROUND: fileURLToPath(new URL("around", import.meta.url)) };
const LONG = `/long/${"x".repeat(6_000)}/*`;
const ROUTES = [
  { path: "/aged/*", key_age: 60, retention: 3_600 },
  { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
  { path: "/later/*", mode: "accept", unanswered: "hold" },
  { path: "/hold/*", server_error: "hold" },
  { path: "/rerun/*", unanswered: "rerun" },
  { path: "/small/*", no_store: "forget" },
  { path: LONG },
  { path: "/*", patience: 1 },
];
const ITEMS = 260;

/** @type {Sink} */
let sink;
/** @type {World} */
let world;
before(async () => {
  sink = await Sink.start();
  world = await World.start({ log: 1, server_timing: true, max_content: 500_000, cors: ["https://shop.test"], routes: ROUTES }, { ...AROUND, ...sink.env });
});
after(async () => {
  await world?.end();
  sink?.end();
});

/** What is told while something happens, once so many points have come. @param {number} count @param {() => Promise<unknown>} act */
async function told(count, act) {
  const [points, lines] = [sink.texts.length, attempts().length];
  await act();
  await until(() => sink.texts.length >= points + count && attempts().length >= lines + count, `${count} points and lines`);
  return { points: sink.points.slice(points), lines: attempts().slice(lines) };
}

const attempts = () => world.gate.lines.filter(({ oncekey }) => oncekey === "attempt");

describe("points", { concurrency: false }, () => {
  test("each attempt with a key is one, with its columns; one without a key is none", async () => {
    const spot = await world.spot("/orders");
    const { points, lines } = await told(3, async () => {
      await spot.post({ key: null });
      executed(await spot.post());
      await spot.post();
      refused(await spot.post({ content: "{}" }), "idempotency_key_reused");
    });
    const { version } = lines[0];
    assert.deepEqual(points.map(({ index, blobs }) => [index, ...blobs]), [
      ["/*", "/*", "POST", "executed", "", "201", "201", version],
      ["/*", "/*", "POST", "replayed", "", "201", "", version],
      ["/*", "/*", "POST", "mismatch", "idempotency_key_reused", "422", "", version],
    ]);
    const [first, replay, other] = points.map(({ doubles }) => doubles);
    assert.deepEqual([first[0], first[3], replay[0], replay[2], other[3]], [1, 15, 1, 0, 2]);
    assert.deepEqual([first[1], first[2]], [lines[0].ms, lines[0].origin_ms]);
    assert.ok(first[1] >= first[2] && lines[1].origin_ms === undefined, JSON.stringify(first));
  });

  test("what the origin takes is in it", async () => {
    const spot = await world.spot("/orders", { held: true });
    const { points } = await told(1, async () => {
      const first = spot.post();
      await spot.arrived();
      await new Promise((resolve) => setTimeout(resolve, 60));
      await spot.open();
      executed(await first);
    });
    const [, ms, originMs] = points[0].doubles;
    assert.ok(originMs >= 50 && ms >= originMs, `${ms} of which ${originMs}`);
  });

  test("a route over the platform's limits is cut, so that its point comes", async () => {
    const spot = await world.spot(LONG.slice(0, -2));
    const { points } = await told(1, async () => executed(await spot.post()));
    assert.deepEqual([points[0].index, points[0].blobs[0]], [LONG.slice(0, 96), LONG.slice(0, 4_096)]);
  });

  test("each item of a batch is one, as many as an invocation may write", async () => {
    const items = Array.from({ length: ITEMS }, () => ({ idempotency_key: randomUUID(), item: "mug" }));
    const spot = await world.spot("/batch");
    const { points, lines } = await told(250, async () => {
      const { json } = await spot.post({ key: null, content: JSON.stringify({ items }) });
      assert.equal(json.items.filter((/** @type {any} */ { status }) => status === 201).length, ITEMS);
    });
    assert.ok(points.every(({ index, blobs }) => index === "/batch/*" && blobs[2] === "executed" && blobs[5] === "201"));
    assert.equal(lines.length, 250);
    assert.deepEqual(new Set(lines.map(({ caller }) => caller)), new Set(["identified"]));
  });

  for (const [what, METRICS, faults] of /** @type {[string, unknown, number][]} */ ([
    ["one that throws", "throws", 0],
    ["one that is unfit", { write: 1 }, 1],
    // It is said once.
    ["a text", "a dataset", 0],
  ])) {
    test(`${what} breaks no request`, async () => {
      const { length } = world.gate.lines;
      const more = /** @type {Lines} */ ([["X-Env", JSON.stringify({ METRICS })]]);
      const spot = await world.spot("/orders");
      executed(await spot.post({ more }));
      assert.equal((await spot.post({ more })).word, "replayed");
      await spot.ran(1);
      await until(() => world.gate.lines.slice(length).filter(({ oncekey }) => oncekey === "attempt").length >= 2, "its lines");
      const said = world.gate.lines.slice(length).filter(({ oncekey }) => oncekey === "misconfigured");
      assert.equal(said.length, faults, JSON.stringify(said));
      for (const { detail, time } of said) assert.ok(/\bMETRICS\b/.test(detail) && time, detail);
    });
  }
});

describe("what a refused attempt is told by", { concurrency: false }, () => {
  const OLD = "01890a5d-ac96-774b-bcce-b302099a8057";
  /** Route, the origin's answers, the last attempt, and what is told of that: code, status, the origin's status. @type {[string, Step[], (spot: import("./gate.mjs").Spot) => Promise<unknown>, [string, number, number?]][]} */
  const CASES = [
    ["/orders", [], (spot) => spot.post({ key: "a b" }), ["key_invalid", 400]],
    ["/orders", [], (spot) => spot.post({ caller: null }), ["key_invalid", 400]],
    ["/orders", [], (spot) => spot.post({ content: "x".repeat(500_001) }), ["content_too_large", 413]],
    ["/aged", [], (spot) => spot.post({ key: OLD }), ["key_expired", 409]],
    ["/orders", [{ cut: "before" }], (spot) => spot.post(), ["outcome_unknown", 409]],
    ["/orders", [{ status: 502 }], (spot) => spot.post(), ["outcome_unknown", 409, 502]],
    ["/rerun", [{ status: 504 }], (spot) => spot.post(), ["origin_unanswered", 504, 504]],
    ["/orders", [{ status: 521 }], (spot) => spot.post(), ["origin_unreachable", 503, 521]],
    ["/orders", [{ held: true }], (spot) => spot.post(), ["request_in_progress", 409]],
    ["/orders", [], (spot) => spot.post({ more: [["X-Storage", "put 1"]] }), ["store_unavailable", 503]],
    ["/orders", [], (spot) => spot.post({ more: [["X-Calls", "a-name m"]] }), ["store_unavailable", 503]],
    ["/small", [{ lines: [["Cache-Control", "no-store"]] }], async (spot) => (await spot.post(), spot.post()), ["reply_unavailable", 409]],
    ["/later", [], async (spot) => (await spot.post(), spot.post({ content: "{}" })), ["idempotency_key_reused", 422]],
  ];
  for (const [route, steps, act, expect] of CASES) {
    test(`${expect.join(" ")} on ${route}`, async () => {
      const spot = await world.spot(route, ...steps);
      const { length } = attempts();
      await act(spot);
      await until(() => attempts().slice(length).some(({ code }) => code === expect[0]), "a line");
      const line = attempts().slice(length).find(({ code }) => code === expect[0]);
      const said = [line.code, line.status, line.origin_status].filter((word) => word !== undefined);
      assert.deepEqual(said, expect);
      await until(() => sink.points.some(({ blobs: [at, , , code, status, origin] }) => at === line.route && code === expect[0] && status === `${expect[1]}` && origin === `${expect[2] ?? ""}`), "a point");
    });
  }

  test("another caller's key", async () => {
    const spot = await world.spot("/orders");
    spot.key = randomUUID();
    executed(await spot.post());
    const { lines } = await told(1, async () => refused(await spot.post({ caller: "eve" }), "caller_changed"));
    assert.deepEqual([lines[0].code, lines[0].word, lines[0].key.length], ["caller_changed", "unknown", 43]);
  });
});

describe("the note of an object", { concurrency: false }, () => {
  test("goes no further than the front, and a caller's own goes nowhere", async () => {
    const spot = await world.spot("/orders", { lines: [["Oncekey-Note", "of the origin"]] });
    const more = /** @type {Lines} */ ([["Oncekey-Note", "forged 200 1"]]);
    for (const answer of [await spot.post({ more }), await spot.post({ more }), await spot.post({ more, content: "{}" })]) {
      assert.deepEqual(answer.lines.filter(([name]) => /^oncekey-/i.test(name)), []);
    }
    assert.ok(!(await spot.seen())[0].lines.some(([name]) => /^oncekey-/i.test(name)));
  });

  /** @type {[string, Step][]} */
  const ANSWERS = [
    ["JSON", {}],
    ["no content", { status: 204 }],
    ["empty content", { content: "" }],
    ["a large one of known length", { content: noise(300_000) }],
    ["a large one in chunks", { content: noise(300_000), framing: "chunked" }],
    ["gzip", { content: gzipSync(noise(3_000)).toString("latin1"), lines: [["Content-Encoding", "gzip"]] }],
    ["large gzip", { content: gzipSync(noise(200_000)).toString("latin1"), lines: [["Content-Encoding", "gzip"]] }],
    ["br", { content: brotliCompressSync(noise(3_000)).toString("latin1"), lines: [["Content-Encoding", "br"]] }],
    ["a coding that nobody knows", { content: "abc", lines: [["Content-Encoding", "x-own"]] }],
    ["cookies", { lines: [["Set-Cookie", "a=1, b"], ["Set-Cookie", "c=2"]] }],
  ];
  for (const [what, step] of ANSWERS) {
    test(`${what}: the answer is the origin's all the same, and so is its replay`, async () => {
      const spot = await world.spot("/orders", step);
      const more = /** @type {Lines} */ ([["Accept-Encoding", "gzip, br"]]);
      const answers = [await spot.post({ more }), await spot.post({ more })];
      for (const answer of answers) {
        assert.ok(answer.whole, answer.brief);
        if (step.content !== undefined) assert.ok(answer.content.equals(Buffer.from(step.content, "latin1")), answer.brief);
        for (const [name, value] of step.lines ?? []) assert.ok(answer.all(name.toLowerCase()).includes(value), `${name}: ${value}`);
        assert.ok(answer.one("server-timing"), answer.brief);
      }
      if (step.content && step.framing === undefined) assert.equal(answers[0].one("content-length"), String(step.content.length));
      await spot.ran(1);
    });
  }
});

describe("Server-Timing", { concurrency: false }, () => {
  const EXECUTED = /^oncekey;desc="executed";dur=\d+, origin;dur=\d+$/;

  test("says what the gate did beside what the origin said, and is in no replay", async () => {
    const spot = await world.spot("/orders", { lines: [["Server-Timing", "db;dur=3"]] });
    const joined = (/** @type {import("./client.mjs").Answer} */ answer) => answer.all("server-timing").join(", ");
    assert.match(joined(await spot.post()), /^db;dur=3, oncekey;desc="executed";dur=\d+, origin;dur=\d+$/);
    for (let n = 0; n < 2; n++) assert.match(joined(await spot.post()), /^db;dur=3, oncekey;desc="replayed";dur=\d+$/);
    assert.match(joined(await spot.post({ content: "{}" })), /^oncekey;desc="mismatch";dur=\d+$/);
    assert.match(joined(await spot.post({ key: "a b" })), /^oncekey;desc="refused";dur=\d+$/);
  });

  test("pages of other origins may read it where they may read the gate's fields", async () => {
    const [open, shut] = [await world.spot("/orders", { lines: [["Access-Control-Allow-Origin", "https://shop.test"]] }), await world.spot("/orders")];
    const more = /** @type {Lines} */ ([["Origin", "https://shop.test"]]);
    const exposed = (/** @type {import("./client.mjs").Answer} */ answer) => answer.all("access-control-expose-headers").join(", ");
    for (const answer of [await open.post({ more }), await open.post({ more }), await open.post({ more, content: "{}" })]) {
      assert.match(exposed(answer), /Idempotency-Status.*Server-Timing/);
      assert.match(answer.one("server-timing") ?? "", /^oncekey;/);
    }
    assert.equal(exposed(await shut.post({ more })), "");
  });

  test("stands on what is passed on while the objects cannot be reached, whose content is as it came", async () => {
    const open = await World.start({ log: 1, server_timing: true, store_failure: "open", routes: [{}] }, AROUND);
    try {
      const content = gzipSync("abc".repeat(1_000));
      const lines = /** @type {Lines} */ ([["Content-Encoding", "gzip"], ["Oncekey-Note", "of-the-origin 200 7"], ["Server-Timing", "db;dur=3"]]);
      const spot = await open.spot("/orders", { content: content.toString("latin1"), lines });
      const answer = await spot.post({ more: [["X-Calls", "unseen o"], ["Accept-Encoding", "gzip"]] });
      assert.equal(answer.word, "bypassed;reason=store-unavailable", answer.brief);
      assert.ok(answer.content.equals(content), answer.brief);
      assert.match(answer.all("server-timing").join(", "), /^db;dur=3, oncekey;desc="bypassed;reason=store-unavailable";dur=\d+$/);
      await until(() => open.gate.told("attempt") && open.gate.told("store"), "its lines");
      assert.equal(open.gate.lines.find(({ oncekey }) => oncekey === "attempt").code, undefined);
    } finally {
      await open.end();
    }
  });

  test("is there only where the policy says so, and without a key there is none", async () => {
    const quiet = await World.start({ log: 1, routes: [{}] });
    try {
      const spot = await quiet.spot("/orders");
      for (let n = 0; n < 2; n++) assert.equal((await spot.post()).one("server-timing"), undefined);
    } finally {
      await quiet.end();
    }
    const spot = await world.spot("/orders");
    assert.equal((await spot.post({ key: null })).one("server-timing"), undefined);
    assert.match((await spot.post()).one("server-timing") ?? "", EXECUTED);
  });
});

describe("a trace goes on as it came", { concurrency: false }, () => {
  const TRACE = /** @type {Lines} */ ([
    ["Traceparent", "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
    ["Tracestate", "congo=t61rcWkgMzE,  rojo=00f067aa0ba902b7 ,x@y="],
  ]);
  /** @param {import("./origin.mjs").Seen} seen */
  const traced = (seen) => assert.deepEqual([field(seen, "traceparent"), field(seen, "tracestate")], TRACE.map(([, value]) => value));

  for (const [route, change] of /** @type {[string, Change][]} */ ([["/orders", { key: null }], ["/orders", {}], ["/later", {}]])) {
    test(`on ${route}${change.key === null ? " without a key" : ""}`, async () => {
      const spot = await world.spot(route);
      await spot.post({ ...change, more: TRACE });
      await spot.arrived();
      traced((await spot.seen())[0]);
    });
  }

  test("with each item of a batch", async () => {
    const before = (await world.origin.seen("/item")).length;
    const items = [1, 2].map((n) => ({ idempotency_key: randomUUID(), n }));
    await (await world.spot("/batch")).post({ key: null, more: TRACE, content: JSON.stringify({ items }) });
    const seen = (await world.origin.seen("/item")).slice(before);
    assert.equal(seen.length, 2);
    seen.forEach(traced);
  });
});

describe("what it costs", { concurrency: false }, () => {
  test("no further call and no further row", async () => {
    const spy = async () => (await world.send({ method: "GET", path: "/.test/spy", lines: [] })).json;
    const spot = await world.spot("/orders");
    const begin = await spy();
    executed(await spot.post());
    await spot.post();
    const end = await spy();
    assert.deepEqual([end.calls - begin.calls, end.rows - begin.rows], [2, 3]);
  });
});
