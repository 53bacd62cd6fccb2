// @ts-check
// The policy: what is wrong in it is said before anything starts, and its names, scope and limits are what counts.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { executed, field, Gate, refused, replayed, World } from "./gate.mjs";
import { noise } from "./origin.mjs";

/** @typedef {[string, string][]} Lines */
/** @typedef {import("./gate.mjs").Change} Change */

describe("a wrong policy", { concurrency: 4 }, () => {
  /** @param {unknown} policy @param {string} pointer */
  const wrong = (policy, pointer) =>
    test(`${typeof policy === "string" ? policy : JSON.stringify(policy)} is refused at ${pointer || "the top"}`, async () => {
      const gate = new Gate("http://127.0.0.1:9", policy);
      try {
        gate.port = 20_000;
        const { exit, ready } = gate.launch();
        const code = await Promise.race([exit, ready.then(() => "ready")]);
        assert.ok(typeof code === "number" && code > 0, `${code}: ${gate.output}`);
        assert.ok(gate.output.includes(pointer), gate.output);
        assert.ok(!gate.output.includes("ready"), gate.output);
      } finally {
        await gate.end();
      }
    });
  wrong("{", "line 1");
  wrong("[]", "policy");
  wrong({ header: "Idempotency Key" }, "/header");
  wrong({ headers: "Idempotency-Key" }, "/headers");
  wrong({ scope: ["header:authorization", "session"] }, "/scope/1");
  wrong({ max_stored: "4 MB" }, "/max_stored");
  wrong({ store_failure: "ajar" }, "/store_failure");
  wrong({ cors: ["https://shop.example", "*"] }, "/cors/1");
  wrong({ routes: {} }, "/routes");
  wrong({ routes: [{}, { path: "orders" }] }, "/routes/1/path");
  wrong({ routes: [{ path: "/a*b" }] }, "/routes/0/path");
  wrong({ routes: [{ methods: ["POST", "GET"] }] }, "/routes/0/methods/1");
  wrong({ routes: [{ methods: ["HEAD"] }] }, "/routes/0/methods/0");
  wrong({ routes: [{ methods: ["OPTIONS"] }] }, "/routes/0/methods/0");
  wrong({ routes: [{ require: "yes" }] }, "/routes/0/require");
  wrong({ routes: [{ keep: "all" }] }, "/routes/0/keep");
  wrong({ routes: [{ server_error: true }] }, "/routes/0/server_error");
  wrong({ routes: [{ unanswered: { probe: "/lookup" } }] }, "/routes/0/unanswered/probe");
  wrong({ routes: [{ lease: 0 }] }, "/routes/0/lease");
  wrong({ routes: [{ patience: 1.5 }] }, "/routes/0/patience");
  wrong({ routes: [{ wait: null }] }, "/routes/0/wait");
  wrong({ routes: [{ retention: -1 }] }, "/routes/0/retention");
  wrong({ routes: [{ mode: "later" }] }, "/routes/0/mode");
  wrong('{"field":"a","field":"b"}', "/field");
});

describe("what the lack of an answer means has no default", { concurrency: 3 }, () => {
  const machine = { initial: "a", transitions: { go: { from: ["a"], to: "b", effect: "/fx" } } };
  /** @type {[string, object, string][]} */
  const policies = [
    ["in accept mode", { routes: [{ path: "/a", mode: "accept" }] }, "/routes/0/unanswered: the member is missing: what the lack"],
    ["of a queue", { queues: { mail: { path: "/m" } } }, "/queues/mail/unanswered: the member is missing: what the lack"],
    ["of an effect", { machines: { m: machine } }, '/machines/m/transitions/go/effect: expected a path whose route says "unanswered"'],
  ];
  for (const [name, policy, said] of policies) {
    test(name, async () => {
      const gate = new Gate("http://127.0.0.1:9", policy);
      try {
        gate.port = 20_000;
        const { exit, ready } = gate.launch();
        const code = await Promise.race([exit, ready.then(() => "ready")]);
        assert.ok(typeof code === "number" && code > 0, `${code}: ${gate.output}`);
        assert.ok(gate.output.includes(said), gate.output);
      } finally {
        await gate.end();
      }
    });
  }
});

describe("other names, scope and limits", { concurrency: 4 }, () => {
  const CONTENT = 500;
  const STORED = 900;
  /** @type {World} */
  let world;
  before(async () => {
    world = await World.start({
      header: "X-Request-Once",
      field: "once",
      scope: ["header:x-tenant", "cookie:sid"],
      max_content: CONTENT,
      max_stored: STORED,
      routes: [
        { path: "/ignore/*", ignore: ["/sent_at", "/meta/trace~1id", "/list/0", "csrf"] },
        { path: "/first/*", keep: "definite" },
        { path: "/first/deep/*", keep: "success" },
        { path: "/*", methods: ["POST", "DELETE"] },
      ],
    });
  });
  after(() => world?.end());

  /** @param {Lines} more @param {Partial<Change>} [rest] @returns {Change} */
  const by = (more, rest) => ({ key: null, caller: null, more, ...rest });
  /** @param {string} name @param {(key: string) => [Change, Change]} two @param {number} [effects] */
  const check = (name, two, effects = 1) =>
    test(name, async () => {
      const spot = await world.spot("/names");
      const [a, b] = two(spot.key);
      const first = await spot.post(a);
      executed(first);
      if (effects === 1) replayed(await spot.post(b), first);
      else executed(await spot.post(b));
      await spot.ran(effects);
    });
  const tenant = /** @type {[string, string]} */ (["X-Tenant", "t1"]);

  check("the header", (key) => [by([tenant, ["X-Request-Once", key]]), by([tenant, ["x-request-once", `"${key}"`]])]);
  check("the field", (key) => [
    by([tenant], { content: `{"once":"${key}"}` }),
    by([tenant, ["X-Request-Once", key]], { content: "{}" }),
  ]);
  check("a tenant's callers are one", (key) => [
    by([tenant, ["X-Request-Once", key]], { caller: "ann" }),
    by([tenant, ["X-Request-Once", key]], { caller: "bob" }),
  ]);
  check(
    "tenants are apart",
    (key) => [
      by([tenant, ["X-Request-Once", key]]),
      by([
        ["X-Tenant", "t2"],
        ["X-Request-Once", key],
      ]),
    ],
    2,
  );
  check(
    "sessions of a tenant are apart",
    (key) => [
      by([tenant, ["Cookie", "sid=a"], ["X-Request-Once", key]]),
      by([tenant, ["Cookie", "sid=b"], ["X-Request-Once", key]]),
    ],
    2,
  );
  check("DELETE and not PATCH", (key) => [
    by([tenant, ["X-Request-Once", key]], { method: "DELETE" }),
    by([tenant, ["X-Request-Once", key]], { method: "DELETE" }),
  ]);

  test("the usual names mean nothing", async () => {
    const spot = await world.spot("/names");
    for (const _ of [1, 2]) {
      const answer = await spot.post({ content: '{"idempotency_key":"a"}' });
      assert.deepEqual([answer.status, answer.word], [201, "bypassed;reason=no-key"]);
    }
    const [seen] = await spot.seen();
    assert.equal(field(seen, "idempotency-key"), spot.key);
    const patch = await spot.post({ ...by([tenant, ["X-Request-Once", "a"]]), method: "PATCH" });
    assert.equal(patch.word, undefined);
  });

  test("the origin gets the scoped key in that header", async () => {
    const spot = await world.spot("/names");
    executed(await spot.post(by([tenant, ["X-Request-Once", spot.key]])));
    const [seen] = await spot.seen();
    assert.match(field(seen, "x-request-once"), /^"[A-Za-z0-9_-]{1,64}"$/);
    assert.ok(!seen.lines.some(([name]) => /^idempotency-key$/i.test(name)));
  });

  test("Authorization identifies nobody here", async () => {
    const spot = await world.spot("/names");
    refused(await spot.post({ key: null, caller: "ann", more: [["X-Request-Once", spot.key]] }), "key_invalid");
    executed(await spot.post({ key: null, caller: "ann", more: [["X-Request-Once", randomUUID()]] }));
  });

  test("content up to its limit", async () => {
    const spot = await world.spot("/limits");
    const sized = (/** @type {number} */ size) =>
      by([tenant, ["X-Request-Once", spot.key]], { type: "text/plain", content: "x".repeat(size) });
    refused(await spot.post(sized(CONTENT + 1)), "content_too_large");
    await spot.ran(0);
    executed(await spot.post(sized(CONTENT)));
    await spot.ran(1);
  });

  for (const [size, code] of /** @type {[number, string | null][]} */ ([
    [STORED, null],
    [STORED + 1, "reply_unavailable"],
  ])) {
    test(`an answer of ${size} bytes is ${code ? "told but not kept" : "kept"}`, async () => {
      const spot = await world.spot("/limits", { content: noise(size) });
      const change = by([tenant, ["X-Request-Once", spot.key]]);
      const first = await spot.post(change);
      executed(first);
      assert.equal(first.content.length, size);
      if (code) refused(await spot.post(change), code);
      else replayed(await spot.post(change), first);
      await spot.ran(1);
    });
  }

  test("the first route that matches decides", async () => {
    const spot = await world.spot("/first/deep", { status: 404 });
    const change = by([tenant, ["X-Request-Once", spot.key]]);
    const first = await spot.post(change);
    executed(first, 404);
    replayed(await spot.post(change), first);
    await spot.ran(1);
  });

  /** Content that counts, and content that does not. @param {string} name @param {Change} a @param {Change} b @param {boolean} same */
  const ignored = (name, a, b, same) =>
    test(`${name} ${same ? "does not count" : "counts"}`, async () => {
      const spot = await world.spot("/ignore");
      const more = /** @type {Lines} */ ([tenant, ["X-Request-Once", spot.key]]);
      const first = await spot.post(by(more, a));
      executed(first);
      const again = await spot.post(by(more, b));
      if (same) replayed(again, first);
      else refused(again, "idempotency_key_reused");
      await spot.ran(1);
    });
  const json = (/** @type {unknown} */ value) => ({ content: JSON.stringify(value) });
  const form = (/** @type {string} */ content) => ({ type: "application/x-www-form-urlencoded", content });
  ignored("a member", json({ a: 1, sent_at: 1 }), json({ a: 1, sent_at: 2 }), true);
  ignored("a member that is missing", json({ a: 1, sent_at: 1 }), json({ a: 1 }), true);
  ignored(
    "a nested member with a slash",
    json({ meta: { "trace/id": 1, b: 2 } }),
    json({ meta: { b: 2, "trace/id": 9 } }),
    true,
  );
  ignored("an element", json({ list: [1, 2] }), json({ list: [9, 2] }), true);
  ignored("a form's field", form("a=1&csrf=x"), form("csrf=y&csrf=z&a=1"), true);
  ignored("a member of that name elsewhere", json({ meta: { sent_at: 1 } }), json({ meta: { sent_at: 2 } }), false);
  ignored("another element", json({ list: [1, 2] }), json({ list: [1, 3] }), false);
  ignored("a form's other field", form("a=1&sent_at=1"), form("a=1&sent_at=2"), false);
});

test("an empty policy means the defaults", async () => {
  const world = await World.start({});
  try {
    const spot = await world.spot("/anything");
    const first = await spot.post();
    executed(first);
    replayed(await spot.post(), first);
    const put = await spot.post({ method: "PUT" });
    assert.deepEqual([put.status, put.word], [201, undefined]);
    await spot.ran(2);
  } finally {
    await world.end();
  }
});
