// @ts-check
// What breaks in practice, at the origin and at the caller: effects are counted, and every answer comes in time.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { bytes, Wire } from "./client.mjs";
import { executed, refused, replayed, until, World } from "./gate.mjs";
import { noise } from "./origin.mjs";

/** @typedef {import("./origin.mjs").Step} Step */

/** Seconds a caller is kept waiting, and how long its answer may take, in ms. */
const PATIENCE = 3;
const IN_TIME = (PATIENCE + 1) * 1000;

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    scope: ["header:authorization"],
    routes: [
      { path: "/hold/*", patience: PATIENCE, lease: 2 },
      { path: "/rerun/*", patience: PATIENCE, lease: 2, unanswered: "rerun" },
      { path: "/job/*", patience: PATIENCE, methods: ["POST", "PATCH", "PUT", "DELETE", "MKCOL"] },
    ],
  });
});
after(() => world?.end());

/** An answer that came within patience and a second. @template T @param {Promise<T>} answer */
async function inTime(answer) {
  const begin = Date.now();
  const given = await answer;
  assert.ok(Date.now() - begin < IN_TIME, `it took ${Date.now() - begin} ms`);
  return given;
}

/** Resolves when nothing runs under the spot's key. @param {import("./gate.mjs").Spot} spot */
async function settled(spot) {
  const state = async () => (await spot.peek("?wait=20")).json.state;
  await until(async () => (await state()) !== "running", "settled");
  return state();
}

/** Another key is served as ever. */
async function well() {
  const spot = await world.spot("/job");
  const first = await spot.post();
  executed(first);
  replayed(await spot.post(), first);
  await spot.ran(1);
}

describe("the origin", { concurrency: 6 }, () => {
  /** @type {[string, Step][]} */
  const faults = [
    ["drops before the head", { cut: "before" }],
    ["drops in the head", { cut: "head" }],
    ["ends without a word", { raw: "" }],
    ["ends in the status line", { raw: "HTTP/1.1 20" }],
    ["drops in announced content", { cut: "content", content: noise(300_000) }],
    ["drops in chunks", { cut: "content", framing: "chunked", content: noise(300_000) }],
    ["ends too early", { raw: "HTTP/1.1 201 Made\r\nContent-Length: 9\r\n\r\nshort" }],
    ["ends before the last chunk", { raw: "HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n" }],
    ["sends no chunk size", { raw: "HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nshort\r\n0\r\n\r\n" }],
    ["announces nonsense", { raw: "HTTP/1.1 201 Made\r\nContent-Length: many\r\n\r\nshort" }],
    ["speaks another protocol", { raw: "SSH-2.0-OpenSSH_9.7\r\n\r\n" }],
    ["sends bytes", { raw: noise(5000) }],
    ["sends an endless head", { raw: `HTTP/1.1 201 Made\r\nX-Endless: ${"x".repeat(300_000)}` }],
    ["hangs", { cut: "hang" }],
    ["stalls in its content", { parts: ["one", "two"] }],
  ];
  for (const [name, step] of faults) {
    test(`${name}, hold: run once, and never called done`, async () => {
      const spot = await world.spot("/hold", step);
      const first = await inTime(spot.post());
      if (first.whole) refused(first, "outcome_unknown");
      assert.equal(await settled(spot), "unknown");
      refused(await inTime(spot.post()), "outcome_unknown");
      await spot.ran(1);
      await well();
    });
    test(`${name}, rerun: the next attempt runs`, async () => {
      const spot = await world.spot("/rerun", step, {});
      const first = await inTime(spot.post());
      if (first.whole) refused(first, "origin_unanswered");
      assert.equal(await settled(spot), "absent");
      const second = await inTime(spot.post());
      executed(second);
      replayed(await spot.post(), second);
      await spot.ran(2);
    });
  }

  for (const step of /** @type {Step[]} */ ([{ cut: "before" }, { raw: noise(500) }])) {
    test(`${step.cut ? "drops" : "sends bytes"}, without a key: an error, and nothing is claimed`, async () => {
      const spot = await world.spot("/hold", step, {});
      const answer = await inTime(spot.post({ key: null }));
      assert.ok(answer.status >= 500, answer.brief);
      await spot.ran(1);
    });
  }
});

// workerd sends an idempotent request without content again by itself where a connection that it is using again drops.
describe("a connection that is used again drops", { concurrency: 5 }, () => {
  for (const method of ["POST", "PATCH", "PUT", "DELETE", "MKCOL"]) {
    for (const content of ["", "x"]) {
      test(`${method} ${content ? "with" : "without"} content: one effect`, async () => {
        for (let n = 0; n < 8; n++) {
          executed(await (await world.spot("/job")).post());
          const spot = await world.spot("/job", { cut: "before" });
          refused(await inTime(spot.post({ method, content })), "outcome_unknown");
          await spot.ran(1);
        }
      });
    }
  }
});

describe("the caller", { concurrency: 6 }, () => {
  /** Vanishes in the middle of its upload. @param {string} name @param {import("./gate.mjs").Change} change */
  const upload = (name, change) =>
    test(`drops in its upload, ${name}: nothing is claimed`, async () => {
      const spot = await world.spot("/job");
      const wire = await Wire.open(world.gate.port);
      const all = bytes(spot.request(change));
      wire.write(all.subarray(0, all.length - 100));
      await well();
      wire.drop();
      await well();
      assert.equal((await spot.peek()).json.state, "absent");
      await spot.ran(0);
      executed(await spot.post(change));
      await spot.ran(1);
    });
  const large = noise(200_000);
  upload("a length", { content: "x".repeat(1000) });
  upload("a large length", { content: large });
  upload("chunks", { chunks: ["x".repeat(500), "y".repeat(500)] });
  upload("large chunks", { chunks: [large, large] });
  upload("a key in JSON", {
    key: null,
    content: JSON.stringify({ idempotency_key: "in-content", text: "x".repeat(500) }),
  });

  test("drops while it waits: the effect goes on, and its answer is there", async () => {
    const spot = await world.spot("/job", { held: true, content: "kept" });
    const wire = await Wire.open(world.gate.port);
    wire.write(bytes(spot.request()));
    await spot.arrived();
    wire.drop();
    refused(await spot.post(), "request_in_progress");
    await spot.open();
    assert.equal(await settled(spot), "completed");
    const again = await spot.post();
    assert.deepEqual([again.status, again.word, again.text], [201, "replayed", "kept"]);
    await spot.ran(1);
  });

  test("drops in a stream: the replay is whole", async () => {
    const parts = ["first,", "second,", "third"];
    const spot = await world.spot("/job", { parts });
    const wire = await Wire.open(world.gate.port);
    wire.write(bytes(spot.request()));
    await wire.upTo("first,");
    wire.drop();
    await well();
    await spot.open();
    await spot.open();
    assert.equal(await settled(spot), "completed");
    assert.equal((await spot.post()).text, parts.join(""));
    await spot.ran(1);
  });

  for (const framing of /** @type {const} */ (["length", "chunked"])) {
    test(`drops in a large answer, ${framing}: the replay is whole`, async () => {
      const content = noise(2_500_000);
      const spot = await world.spot("/job", { content, framing });
      const wire = await Wire.open(world.gate.port);
      wire.write(bytes(spot.request()));
      await wire.head();
      await wire.arrived(1000);
      wire.drop();
      assert.equal(await settled(spot), "completed");
      const again = await spot.post();
      assert.equal(again.content.toString("latin1") === content, true, again.brief.slice(0, 80));
      await spot.ran(1);
    });
  }

  test("never reads its answer: it is kept all the same", async () => {
    const content = noise(2_500_000);
    const spot = await world.spot("/job", { content });
    const wire = await Wire.open(world.gate.port);
    wire.socket.pause();
    wire.write(bytes(spot.request()));
    await spot.arrived();
    assert.equal(await settled(spot), "completed");
    const again = await spot.post();
    assert.equal(again.content.toString("latin1") === content, true, again.brief.slice(0, 80));
    wire.drop();
    await spot.ran(1);
  });

  test("ends its side once it has asked: one effect, and the answer is there", async () => {
    const spot = await world.spot("/job", { held: true, content: "kept" });
    const wire = await Wire.open(world.gate.port);
    wire.socket.end(bytes(spot.request()));
    await spot.arrived();
    await spot.open();
    assert.equal(await settled(spot), "completed");
    assert.equal((await spot.post()).text, "kept");
    await spot.ran(1);
  });

  test("pipelines duplicates: one effect", async () => {
    const spot = await world.spot("/job");
    const wire = await Wire.open(world.gate.port);
    wire.write(Buffer.concat(Array.from({ length: 5 }, () => bytes(spot.request()))));
    const first = await wire.answer();
    executed(first);
    for (let n = 1; n < 5; n++) replayed(await wire.answer(), first);
    await spot.ran(1);
  });

  test("pipelines different keys: each runs", async () => {
    const spots = await Promise.all([1, 2, 3, 4].map(() => world.spot("/job")));
    const wire = await Wire.open(world.gate.port);
    wire.write(Buffer.concat(spots.map((spot) => bytes(spot.request()))));
    for (const spot of spots) {
      executed(await wire.answer());
      await spot.ran(1);
    }
  });

  /** Served whole or refused whole. @param {string} name @param {(spot: import("./gate.mjs").Spot) => import("./gate.mjs").Change} change @param {(seen: import("./origin.mjs").Seen) => void} [sees] */
  const odd = (name, change, sees) =>
    test(`${name}: served or refused, and run once at most`, async () => {
      const spot = await world.spot("/job");
      const given = change(spot);
      const target = given.path ?? spot.path;
      const first = await inTime(spot.post(given));
      const reached = () => world.origin.seen(target.split("?")[0]);
      if (first.status === 201) {
        executed(first);
        replayed(await spot.post(given), first);
        const seen = await reached();
        assert.equal(seen.length, 1);
        sees?.(seen[0]);
      } else {
        assert.ok(first.status >= 400 && first.status < 600, first.brief);
        assert.equal((await reached()).length, 0);
      }
      await well();
    });
  odd(
    "1,000 header lines",
    () => ({ more: Array.from({ length: 1000 }, (_, n) => [`X-Line-${n}`, String(n)]) }),
    (seen) => {
      assert.equal(seen.lines.filter(([name]) => /^x-line-/i.test(name)).length, 1000);
    },
  );
  odd(
    "one name a thousand times",
    () => ({ more: Array.from({ length: 1000 }, (_, n) => ["X-Line", String(n)]) }),
    (seen) => {
      const values = seen.lines.filter(([name]) => /^x-line$/i.test(name)).flatMap(([, value]) => value.split(/,\s*/));
      assert.deepEqual(
        values,
        Array.from({ length: 1000 }, (_, n) => String(n)),
      );
    },
  );
  odd(
    "a header of 60 kB",
    () => ({ more: [["X-Long", "x".repeat(60_000)]] }),
    (seen) => {
      assert.equal(seen.lines.find(([name]) => /^x-long$/i.test(name))?.[1].length, 60_000);
    },
  );
  odd("a path of 16 kB", (spot) => ({ path: `${spot.path}/${"p".repeat(16_000)}` }));
  odd(
    "a query of 16 kB",
    (spot) => ({ path: `${spot.path}?${"q=%7E&".repeat(2700)}` }),
    (seen) => {
      assert.ok(seen.target.endsWith("?" + "q=%7E&".repeat(2700)), "the query changed");
    },
  );
  odd(
    "chunks",
    () => ({ chunks: ["a", "bc", large] }),
    (seen) => {
      assert.equal(Buffer.from(seen.content, "latin1").toString(), `abc${large}`);
      assert.equal(seen.lines.filter(([name]) => /^(content-length|transfer-encoding)$/i.test(name)).length, 1);
    },
  );
  odd("1 MB in chunks of one byte to a thousand", () => ({
    chunks: Array.from({ length: 2000 }, (_, n) => "z".repeat((n % 1000) + 1)),
  }));

  test("asks with Expect before it sends", async () => {
    const spot = await world.spot("/job");
    const wire = await Wire.open(world.gate.port);
    const all = bytes(spot.request({ more: [["Expect", "100-continue"]] }));
    const end = all.indexOf("\r\n\r\n") + 4;
    wire.write(all.subarray(0, end));
    const go = await inTime(wire.head(true));
    assert.deepEqual(go.interim, [100], go.brief);
    wire.write(all.subarray(end));
    const first = await wire.answer();
    executed(first);
    replayed(await spot.post(), first);
    await spot.ran(1);
  });

  test("sends two framings: no second request is hidden in the first", async () => {
    const hidden = "POST /job/hidden HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    for (const [length, content] of /** @type {const} */ ([
      ["5", `0\r\n\r\n${hidden}`],
      [`${hidden.length + 5}`, `0\r\n\r\n${hidden}`],
    ])) {
      const spot = await world.spot("/job");
      const wire = await Wire.open(world.gate.port);
      const head = bytes(
        spot.request({
          content: "",
          more: [
            ["Content-Length", length],
            ["Transfer-Encoding", "chunked"],
          ],
        }),
      );
      wire.write(Buffer.concat([head, Buffer.from(content)]));
      const answer = await inTime(wire.answer());
      assert.ok(answer.status === 201 || answer.status >= 400, answer.brief);
      assert.ok((await spot.effects()) <= 1);
      wire.socket.destroy();
    }
    await well();
  });

  test("sends nonsense: the next caller is served", async () => {
    for (const text of ["\r\n\r\n\r\n", "POST\r\n\r\n", `POST /job/x HTTP/9.9\r\nHost: a\r\n\r\n`, noise(2000)]) {
      const wire = await Wire.open(world.gate.port);
      wire.write(Buffer.from(text, "latin1"));
      wire.socket.end();
      await inTime(wire.answer());
      wire.socket.destroy();
    }
    await well();
  });
});

describe("the origin is away", () => {
  test("nobody listens: the caller hears it in time, nothing ran, and what may run again does", async () => {
    const kept = await world.spot("/job");
    const first = await kept.post();
    executed(first);
    const [held, free] = [await world.spot("/hold"), await world.spot("/rerun")];
    await world.origin.shut();
    refused(await inTime(held.post()), "outcome_unknown");
    refused(await inTime(free.post()), "origin_unanswered");
    refused(await inTime(free.post()), "origin_unanswered");
    replayed(await kept.post(), first);
    await world.origin.listen();
    refused(await held.post(), "outcome_unknown");
    executed(await free.post());
    await held.ran(0);
    await free.ran(1);
    await well();
  });
});
