// @ts-check
// The gate's own endpoints and words: policy document, peek, release, module, refusals as HTML, pages of other origins,
// forged fields, and the end of retention.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { ADMIN, executed, field, Gate, pause, refused, replayed, until, World } from "./gate.mjs";
import { noise } from "./origin.mjs";

/** @typedef {import("./gate.mjs").Change} Change */
/** @typedef {[string, string][]} Lines */

const PAGE = "https://shop.example";
const EXPOSED = ["idempotency-status", "idempotency-expires", "idempotent-replayed", "retry-after"];
const RETENTION = 2;

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    cors: [PAGE],
    routes: [
      { path: "/must/*", require: true },
      { path: "/held/*", server_error: "hold" },
      { path: "/short/*", retention: RETENTION },
      { path: "/large/*", retention: 60 },
      { path: "/*" },
    ],
    max_stored: 1_000_000,
  });
});
after(() => world?.end());

/** The names in a list field of an answer. @param {import("./client.mjs").Answer} answer @param {string} name */
const names = (answer, name) =>
  answer
    .all(name)
    .join()
    .toLowerCase()
    .split(",")
    .map((item) => item.trim());

describe("the policy document", () => {
  test("says all of the policy with its defaults, but who callers are", async () => {
    const answer = await world.send({ method: "GET", path: "/.well-known/idempotency" });
    assert.equal(answer.status, 200);
    assert.equal(answer.one("content-type"), "application/json");
    const policy = answer.json;
    assert.deepEqual([policy.header, policy.field, policy.scope], ["Idempotency-Key", "idempotency_key", undefined]);
    assert.deepEqual(
      [policy.max_content, policy.max_stored, policy.store_failure, policy.cors, policy.bind, policy.anonymous],
      [10_485_760, 1_000_000, "closed", [PAGE], "inside", "uuid"],
    );
    assert.deepEqual(policy.routes[0], {
      path: "/must/*",
      methods: ["POST", "PATCH"],
      require: true,
      keep: "success",
      server_error: "release",
      unanswered: "hold",
      lease: 60,
      patience: 25,
      wait: 0,
      retention: 86_400,
      ignore: [],
      headers: ["content-range", "if-match", "soapaction", "upload-offset", "x-amz-target", "x-http-method-override"],
      keys: "any",
      no_store: "keep",
      redact: [],
      mode: "proxy",
    });
    assert.equal(policy.routes.length, 5);
  });
});

describe("peek", { concurrency: 4 }, () => {
  /** @param {import("./client.mjs").Answer} answer @param {Record<string, unknown>} state */
  const says = (answer, state) => {
    assert.equal(answer.status, 200, answer.brief);
    assert.equal(answer.one("content-type"), "application/json");
    assert.match(answer.one("cache-control") ?? "", /no-store/);
    const { expires, ...rest } = answer.json;
    assert.deepEqual(rest, state);
    assert.equal(expires !== undefined, state.state === "completed" || state.state === "unknown");
    if (expires) {
      assert.match(expires, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
      assert.ok(Math.abs(Date.parse(expires) - Date.now() - 86_400_000) < 60_000, expires);
    }
  };
  test("absent, running, completed, and nothing of it changes anything", async () => {
    const spot = await world.spot("/peek", { held: true, status: 202 });
    says(await spot.peek(), { state: "absent" });
    const first = spot.post();
    await spot.arrived();
    says(await spot.peek(), { state: "running" });
    says(await spot.peek("?wait=1"), { state: "running" });
    const waiting = spot.peek("?wait=30");
    await spot.open();
    says(await waiting, { state: "completed", status: 202 });
    executed(await first, 202);
    says(await spot.peek(), { state: "completed", status: 202 });
    replayed(await spot.post(), await first);
    await spot.ran(1);
  });
  test("unknown, and absent once the key is free again", async () => {
    const [held, free] = [await world.spot("/held", { status: 500 }), await world.spot("/peek", { status: 422 })];
    await held.post();
    says(await held.peek("?wait=5"), { state: "unknown" });
    await free.post();
    says(await free.peek("?wait=5"), { state: "absent" });
  });
  test("too large to keep is completed", async () => {
    const spot = await world.spot("/peek", { status: 203, content: noise(1_000_001) });
    executed(await spot.post(), 203);
    says(await spot.peek(), { state: "completed", status: 203 });
  });
  test("is the caller's own", async () => {
    const spot = await world.spot("/peek");
    executed(await spot.post());
    const lines = /** @type {Lines} */ ([["Authorization", "Bearer bob"]]);
    says(await world.send({ method: "GET", path: `/.oncekey/keys/${spot.key}`, lines }), { state: "absent" });
    const nobody = await world.send({ method: "GET", path: `/.oncekey/keys/${spot.key}` });
    assert.equal(nobody.status, 400);
    says(await world.send({ method: "GET", path: `/.oncekey/keys/${randomUUID()}` }), { state: "absent" });
  });
  test("takes a key in quotes or escaped", async () => {
    const spot = await world.spot("/peek");
    spot.key = `a/b c-${randomUUID()}`;
    executed(await spot.post({ key: `"${spot.key}"` }));
    for (const name of [spot.key, `"${spot.key}"`]) {
      const lines = /** @type {Lines} */ ([["Authorization", "Bearer ann"]]);
      says(await world.send({ method: "GET", path: `/.oncekey/keys/${encodeURIComponent(name)}`, lines }), {
        state: "completed",
        status: 201,
      });
    }
  });
  for (const key of ["%20", "a%2Cb%22", "cl%C3%A9", "k".repeat(256), "%ff", "%2"]) {
    test(`${key.slice(0, 8)} is no key`, async () => {
      const answer = await world.send({
        method: "GET",
        path: `/.oncekey/keys/${key}`,
        lines: [["Authorization", "Bearer ann"]],
      });
      assert.ok(answer.status === 400 || answer.status === 404 || answer.json.state === "absent", answer.brief);
    });
  }
});

describe("release", { concurrency: 4 }, () => {
  /** @param {World} at @param {string} scoped @param {string | null} secret */
  const release = (at, scoped, secret) =>
    at.send({
      method: "DELETE",
      path: `/.oncekey/keys/${scoped}`,
      lines: secret === null ? [] : [["Authorization", secret]],
    });

  test("frees a completed key and an unknown one", async () => {
    for (const [route, status] of /** @type {const} */ ([
      ["/release", 201],
      ["/held", 500],
    ])) {
      const spot = await world.spot(route, { status }, {});
      await spot.post();
      const scoped = await spot.scoped();
      const freed = await release(world, scoped, `Bearer ${ADMIN}`);
      assert.deepEqual([freed.status, freed.text], [204, ""]);
      assert.equal((await release(world, scoped, `Bearer ${ADMIN}`)).status, 404);
      assert.equal((await spot.peek()).json.state, "absent");
      executed(await spot.post());
      await spot.ran(2);
    }
  });
  test("not while it runs", async () => {
    const spot = await world.spot("/release", { held: true });
    const first = spot.post();
    await spot.arrived();
    assert.equal((await release(world, await spot.scoped(), `Bearer ${ADMIN}`)).status, 409);
    await spot.open();
    executed(await first);
    replayed(await spot.post(), await first);
    await spot.ran(1);
  });
  test("a wrong secret, or none, changes nothing", async () => {
    const spot = await world.spot("/release");
    const first = await spot.post();
    for (const secret of [
      null,
      "",
      "Bearer",
      "Bearer ",
      `Bearer ${ADMIN}x`,
      `Bearer ${ADMIN.slice(1)}`,
      `Basic ${ADMIN}`,
      ADMIN,
      "Bearer ann",
    ]) {
      const answer = await release(world, await spot.scoped(), secret);
      assert.equal(answer.status, 401, `${secret}: ${answer.brief}`);
    }
    replayed(await spot.post(), first);
  });
  test("what is no scoped key is nothing", async () => {
    for (const name of ["x", "a%20b", "..%2f", "k".repeat(300)]) {
      assert.equal((await release(world, name, `Bearer ${ADMIN}`)).status, 404);
    }
  });
  for (const env of /** @type {Record<string, string>[]} */ ([{}, { ONCEKEY_ADMIN: "" }])) {
    test(`without a secret (${JSON.stringify(env)}) there is no such endpoint`, async () => {
      const gate = await new Gate(world.origin.url, {}, env).start();
      const bare = new World(gate, world.origin);
      try {
        const spot = await bare.spot("/no-secret");
        const first = await spot.post();
        for (const secret of ["Bearer ", "Bearer x", null]) {
          assert.equal((await release(bare, await spot.scoped(), secret)).status, 404);
        }
        replayed(await spot.post(), first);
      } finally {
        await gate.end();
      }
    });
  }
});

for (const [name, code] of /** @type {const} */ ([["oncekey", /export\s*\{/], ["bootstrap", /oncekey\.early/]]))
  test(`${name}.js is a script, known again by its tag, and has an address that never changes`, async () => {
    const get = (/** @type {string} */ path, /** @type {Lines} */ lines = []) => world.send({ method: "GET", path, lines });
    const answer = await get(`/.oncekey/${name}.js`);
    assert.deepEqual([answer.status, answer.whole], [200, true]);
    assert.match(answer.one("content-type") ?? "", /^text\/javascript/);
    assert.match(answer.plain.toString(), code);
    const tag = answer.one("etag") ?? "";
    const again = await get(`/.oncekey/${name}.js`, [["If-None-Match", `"other", W/${tag}`]]);
    assert.deepEqual([again.status, again.one("etag"), again.content.length], [304, tag, 0]);
    const own = answer.one("content-location") ?? "";
    assert.equal(own, `/.oncekey/${name}.${tag.slice(1, -1)}.js`);
    const kept = await get(own);
    assert.deepEqual([kept.status, kept.one("cache-control"), kept.plain.equals(answer.plain)], [200, "public, max-age=31536000, immutable", true]);
    assert.equal((await get(own.replace("-", "-0"))).status, 404);
    assert.equal((await world.send({ path: own })).status, 405);
  });

test("health: an object answers", async () => {
  const answer = await world.send({ method: "GET", path: "/.oncekey/health" });
  assert.deepEqual([answer.status, answer.json.healthy, answer.one("cache-control")], [200, true, "no-store"]);
  assert.equal((await world.send({ path: "/.oncekey/health" })).status, 405);
});

describe("refusals as HTML", { concurrency: 4 }, () => {
  const evil = "<script>alert('&\"')</script>";
  /** @param {string} name @param {Lines} lines @param {"fragment" | "page" | false} html */
  const check = (name, lines, html) =>
    test(`${name}: ${html || "problem details"}`, async () => {
      const spot = await world.spot("/must");
      for (const [key, code, status] of /** @type {const} */ ([
        [null, "key_missing", 400],
        [evil, "key_invalid", 400],
      ])) {
        const answer = await spot.post({
          key,
          path: `${spot.path}?${encodeURI(evil)}`,
          content: JSON.stringify({ evil }),
          more: [...lines, ["X-Evil", evil]],
        });
        assert.equal(answer.status, status);
        assert.equal(answer.word, "refused");
        assert.equal(answer.one("content-type"), html ? "text/html; charset=utf-8" : "application/problem+json");
        assert.ok(answer.text.includes(code) && answer.text.includes(String(status)), answer.text);
        assert.ok(!/alert\(|<script/i.test(answer.text), answer.text);
        if (html) assert.equal(/<(html|body|script|!doctype)/i.test(answer.text), html === "page", answer.text);
        if (html === "page") assert.match(answer.text, /<a href="\/" [^>]*>Back<\/a>/);
      }
      await spot.ran(0);
    });
  check("htmx", [["HX-Request", "true"]], "fragment");
  check(
    "htmx that asks for anything",
    [
      ["HX-Request", "true"],
      ["Accept", "*/*"],
    ],
    "fragment",
  );
  check("a boosted link of htmx", [["HX-Request", "true"], ["Sec-Fetch-Mode", "navigate"]], "fragment");
  check("a navigation", [["Sec-Fetch-Mode", "navigate"], ["Accept", "*/*"]], "page");
  check("a browser's form", [["Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"]], "page");
  check("nothing said", [], false);
  check("anything", [["Accept", "*/*"]], false);
  check("JSON before HTML", [["Accept", "text/html;q=0.4, application/json"]], false);
  check("problem details", [["Accept", "application/problem+json"]], false);

  test("with the facts of an unknown fate, and of one in progress", async () => {
    const more = /** @type {Lines} */ ([["HX-Request", "true"]]);
    const [held, busy] = [await world.spot("/held", { status: 500 }), await world.spot("/html", { held: true })];
    await held.post();
    const unknown = await held.post({ more });
    assert.deepEqual([unknown.status, unknown.word, unknown.one("retry-after")], [409, "unknown", undefined]);
    assert.match(unknown.text, /outcome_unknown/);
    const first = busy.post();
    await busy.arrived();
    const again = await busy.post({ more });
    assert.deepEqual([again.status, again.word], [409, "in-progress"]);
    assert.match(again.one("retry-after") ?? "", /^[1-9]\d*$/);
    await busy.open();
    executed(await first);
  });
});

describe("pages of other origins", { concurrency: 4 }, () => {
  /** @param {string} allowed @param {Lines} lines @param {string} page @param {import("./gate.mjs").Spot} spot */
  const preflight = async (allowed, lines, page, spot, method = "POST") => {
    await world.origin.plan(spot.path, {
      status: 204,
      content: "",
      lines: [["Access-Control-Allow-Origin", allowed], ...lines],
    });
    return world.send({
      method: "OPTIONS",
      path: spot.path,
      lines: [
        ["Origin", page],
        ["Access-Control-Request-Method", method],
        ["Access-Control-Request-Headers", "content-type,idempotency-key"],
      ],
    });
  };
  const listed = /** @type {Lines} */ ([
    ["Access-Control-Allow-Headers", "Content-Type, X-A"],
    ["Access-Control-Allow-Methods", "POST"],
    ["Access-Control-Max-Age", "60"],
  ]);

  for (const allowed of [PAGE, "*"]) {
    test(`a preflight that the origin allows (${allowed}) allows the key too`, async () => {
      const spot = await world.spot("/cors");
      const answer = await preflight(allowed, listed, PAGE, spot);
      assert.equal(answer.status, 204);
      const headers = names(answer, "access-control-allow-headers");
      assert.deepEqual(headers.filter((name) => ["content-type", "x-a", "idempotency-key"].includes(name)).sort(), [
        "content-type",
        "idempotency-key",
        "x-a",
      ]);
      assert.deepEqual(
        [answer.one("access-control-allow-origin"), answer.one("access-control-max-age")],
        [allowed, "60"],
      );
      await spot.ran(1);
    });
  }
  test("the origin's own mention of the key is not doubled", async () => {
    const answer = await preflight(
      PAGE,
      [["Access-Control-Allow-Headers", "idempotency-key"]],
      PAGE,
      await world.spot("/cors"),
    );
    assert.deepEqual(names(answer, "access-control-allow-headers"), ["idempotency-key"]);
  });
  test("a preflight for another page, or a method of no route, is left as it is", async () => {
    for (const [page, method] of [
      ["https://evil.example", "POST"],
      [PAGE, "PUT"],
    ]) {
      const answer = await preflight(PAGE, listed, page, await world.spot("/cors"), method);
      assert.deepEqual(names(answer, "access-control-allow-headers"), ["content-type", "x-a"]);
    }
  });
  test("a preflight that the origin does not allow opens nothing", async () => {
    const spot = await world.spot("/cors", { status: 405, content: "" });
    const answer = await world.send({
      method: "OPTIONS",
      path: spot.path,
      lines: [
        ["Origin", PAGE],
        ["Access-Control-Request-Method", "POST"],
      ],
    });
    assert.equal(answer.status, 405);
    assert.deepEqual(
      answer.lines.filter(([name]) => /^access-control/i.test(name)),
      [],
    );
  });

  test("an answer that a page may read shows the gate's fields, first and replay", async () => {
    const spot = await world.spot("/cors", {
      lines: [
        ["Access-Control-Allow-Origin", PAGE],
        ["Access-Control-Expose-Headers", "X-Own"],
      ],
    });
    const more = /** @type {Lines} */ ([["Origin", PAGE]]);
    for (const answer of [await spot.post({ more }), await spot.post({ more }), await spot.post({ more, key: null })]) {
      assert.equal(answer.status, 201);
      const exposed = names(answer, "access-control-expose-headers");
      for (const name of [...EXPOSED, "x-own"]) assert.ok(exposed.includes(name), `${name} in ${exposed}`);
    }
  });
  test("an answer that no page may read opens nothing", async () => {
    const spot = await world.spot("/cors");
    for (const _ of [1, 2]) {
      const answer = await spot.post({ more: [["Origin", PAGE]] });
      assert.deepEqual(
        answer.lines.filter(([name]) => /^access-control/i.test(name)),
        [],
      );
    }
  });
  test("refusals are for the listed pages", async () => {
    const spot = await world.spot("/must");
    for (const [page, allowed] of [
      [PAGE, PAGE],
      ["https://evil.example", undefined],
      [`${PAGE}.evil.example`, undefined],
      ["null", undefined],
    ]) {
      const answer = await spot.post({ key: null, more: [["Origin", /** @type {string} */ (page)]] });
      refused(answer, "key_missing");
      assert.equal(answer.one("access-control-allow-origin"), allowed);
      if (allowed) for (const name of EXPOSED) assert.ok(names(answer, "access-control-expose-headers").includes(name));
    }
    const plain = await spot.post({ key: null });
    assert.equal(plain.one("access-control-allow-origin"), undefined);
  });
});

describe("forged fields", { concurrency: 4 }, () => {
  const said = /** @type {Lines} */ ([
    ["Idempotency-Status", "replayed"],
    ["Idempotency-Expires", "Thu, 01 Jan 1970 00:00:00 GMT"],
    ["idempotent-replayed", "true"],
  ]);
  const forged = /** @type {Lines} */ ([
    ...said,
    ["Oncekey-Errand", "release"],
    ["oncekey-anything", "1"],
    ["X-Oncekey-Anything", "1"],
  ]);
  const gates = (/** @type {[string, string]} */ [name]) =>
    /^(idempotency-status|idempotency-expires|idempotent-replayed|(x-)?oncekey-.*)$/i.test(name);

  for (const [name, key] of /** @type {const} */ ([
    ["with a key", undefined],
    ["without", null],
  ])) {
    test(`of the caller, ${name}, do not reach the origin`, async () => {
      const spot = await world.spot("/forged");
      const answer = await spot.post({ more: forged, key });
      assert.equal(answer.word, key === null ? "bypassed;reason=no-key" : "executed");
      const [seen] = await spot.seen();
      assert.deepEqual(seen.lines.filter(gates), []);
      assert.equal(seen.content, '{"item":"lamp"}');
    });
    test(`of the origin, ${name}, are replaced`, async () => {
      const spot = await world.spot("/forged", { lines: said });
      const answers = [await spot.post({ key }), await spot.post({ key })];
      const words = key === null ? ["bypassed;reason=no-key", "bypassed;reason=no-key"] : ["executed", "replayed"];
      for (const [at, answer] of answers.entries()) {
        assert.deepEqual(answer.all("idempotency-status"), [words[at]]);
        assert.deepEqual(answer.all("idempotent-replayed"), words[at] === "replayed" ? ["true"] : []);
        assert.ok(!answer.all("idempotency-expires").some((value) => value.includes("1970")));
      }
    });
  }
  test("on no route either", async () => {
    const spot = await world.spot("/forged", { status: 200, lines: said });
    const answer = await spot.post({ method: "PUT", more: forged });
    assert.deepEqual(answer.lines.filter(gates), []);
    const [seen] = await spot.seen();
    assert.deepEqual(seen.lines.filter(gates), []);
  });
  test("the key reaches the origin once, scoped, and beside it all else as sent", async () => {
    const spot = await world.spot("/forged");
    const more = /** @type {Lines} */ ([
      ["X-One", "a"],
      ["Cookie", "b=2; a=1"],
      ["Accept", "text/plain, */*"],
      ["X-Two", "b"],
    ]);
    executed(await spot.post({ more, host: "shop.example:8080" }));
    const [seen] = await spot.seen();
    assert.match(field(seen, "idempotency-key"), /^"[A-Za-z0-9_-]{1,64}"$/);
    assert.ok(!field(seen, "idempotency-key").includes(spot.key));
    for (const [name, value] of more) assert.equal(field(seen, name.toLowerCase()), value);
    assert.deepEqual([field(seen, "host"), field(seen, "x-forwarded-host")], [new URL(world.origin.url).host, "shop.example:8080"]);
  });
});

describe("the end of retention", { concurrency: 4 }, () => {
  /** Bytes below a folder. @param {string} dir @returns {number} */
  const size = (dir) =>
    readdirSync(dir, { withFileTypes: true }).reduce((sum, entry) => {
      const path = join(dir, entry.name);
      if (entry.isDirectory()) return sum + size(path);
      // A file may go while it is looked for.
      return sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }, 0);

  test("Idempotency-Expires is retention from completion, fixed", async () => {
    const spot = await world.spot("/expires");
    const first = await spot.post();
    const expires = first.one("idempotency-expires") ?? "";
    assert.match(expires, /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/);
    assert.ok(Math.abs(Date.parse(expires) - Date.now() - 86_400_000) < 60_000, expires);
    await pause(1100);
    assert.equal((await spot.post()).one("idempotency-expires"), expires);
  });

  test("the key is free for other content then, and remembered anew", async () => {
    const spot = await world.spot("/short");
    const first = await spot.post();
    const expires = Date.parse(first.one("idempotency-expires") ?? "");
    assert.ok(Math.abs(expires - Date.now()) <= (RETENTION + 2) * 1000);
    // The date has whole seconds: it may be almost one early.
    await pause(expires + 1100 - Date.now());
    const other = { content: '{"item":"desk"}' };
    const second = await spot.post(other);
    executed(second);
    replayed(await spot.post(other), second);
    refused(await spot.post(), "idempotency_key_reused");
    await spot.ran(2);
    assert.equal(await spot.scoped(1), await spot.scoped(0));
  });

  test("the storage is given back without another request", async () => {
    const spots = await Promise.all(Array.from({ length: 6 }, () => world.spot("/short", { content: noise(900_000) })));
    for (const spot of spots) executed(await spot.post());
    const full = size(world.gate.state);
    assert.ok(full > 5_000_000, `${full} bytes`);
    await until(() => size(world.gate.state) < full - 4_500_000, "the storage is given back", 40_000);
    for (const spot of spots) assert.equal((await spot.peek()).json.state, "absent");
  });
});
