// @ts-check
// Verified callers: which tokens count, and that a caller is one whatever token carries it.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { UnsecuredJWT, base64url } from "jose";
import { Gate, World, executed, freePort, refused, replayed } from "./gate.mjs";
import { startOrigin } from "./origin.mjs";
import { AHEAD, AUDIENCE, ISSUER, SECRET, bearer, by, claims, hmac, jwks, keysAt, pairsOfKeys, seconds, sign } from "./tokens.mjs";

/** @typedef {import("./gate.mjs").Change} Change @typedef {import("./client.mjs").Answer} Answer */
/** @typedef {import("./tokens.mjs").Lines} Lines @typedef {import("./tokens.mjs").Claims} Claims @typedef {import("./tokens.mjs").Pair} Pair */

/** @type {import("./origin.mjs").Origin} */
let issuer;
/** @type {Awaited<ReturnType<typeof pairsOfKeys>>} */
let pairs;
before(async () => {
  [issuer, pairs] = await Promise.all([startOrigin(), pairsOfKeys()]);
});
after(() => issuer?.end());

describe("tokens", () => {
  /** @type {World} */
  let world;
  /** @type {ReturnType<typeof keysAt>} */
  let keys;
  before(async () => {
    keys = keysAt(issuer, "/main");
    const { r, e, d, two, twin, twoE, p, e384, r512 } = pairs;
    await keys.serve(r, e, d, two, twin, twoE, p, e384, r512);
    world = await World.start(
      {
        scope: [["jwt:hs:sub", "jwt:listed:sub", "jwt:app:sub", "jwt:main:sub", "header:authorization"], "cookie:session"],
        identity: {
          main: jwks(keys.url),
          listed: jwks(keys.url, { from: "header:X-Token", algorithms: ["PS256", "ES384", "RS512"], audience: ["a", AUDIENCE], leeway: 0 }),
          app: jwks(keys.url, { from: "cookie:app" }),
          hs: { from: "header:X-HS", secret: "TOKENS", issuer: ISSUER, audience: AUDIENCE },
        },
        store_failure: "open",
      },
      { TOKENS: SECRET },
    );
  });
  after(() => world?.end());

  const flip = (/** @type {string} */ token) => token.replace(/.{4}$/, (last) => (last === "AAAA" ? "BBBB" : "AAAA"));
  const part = (/** @type {unknown} */ value) => base64url.encode(typeof value === "string" ? value : JSON.stringify(value));
  const at = (/** @type {string} */ name) => (/** @type {string} */ token) => /** @type {Lines} */ ([[name, name === "Cookie" ? `app=${token}` : token]]);
  /** The claims as written, under a signature that is right. @param {string} written */
  const signedAs = async (written) => {
    const head = part({ alg: "HS256" });
    const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(SECRET), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${head}.${part(written)}`));
    return at("X-HS")(`${head}.${part(written)}.${base64url.encode(new Uint8Array(signature))}`);
  };
  const text = (/** @type {Claims} */ more) => JSON.stringify(claims(more));

  /** What is sent, and whether it runs, is refused as unverified, or has no natural key. @type {[string, () => Promise<Lines> | Lines, ("runs" | "unverified" | "anonymous")?][]} */
  const table = [
    ["RS256", async () => bearer(await sign(pairs.r))],
    ["ES256", async () => bearer(await sign(pairs.e))],
    ["EdDSA", async () => bearer(await sign(pairs.d))],
    ["HS256", async () => at("X-HS")(await sign(hmac(SECRET)))],
    ["PS256, listed", async () => at("X-Token")(await sign(pairs.p))],
    ["ES384, listed", async () => at("X-Token")(await sign(pairs.e384))],
    ["RS512, listed", async () => at("X-Token")(await sign(pairs.r512))],
    ["PS256, not listed", async () => bearer(await sign(pairs.p)), "unverified"],
    ["ES384, not listed", async () => bearer(await sign(pairs.e384)), "unverified"],
    ["RS512, not listed", async () => bearer(await sign(pairs.r512)), "unverified"],
    ["RS256 where others are listed", async () => at("X-Token")(await sign(pairs.r)), "unverified"],
    ["in a cookie", async () => at("Cookie")(await sign(pairs.r))],
    ["a bearer in small letters", async () => [["authorization", `bearer ${await sign(pairs.r)}`]]],
    ["type at+jwt", async () => bearer(await sign(pairs.r, {}, { typ: "at+jwt" }))],
    ["no key's name, one that fits", async () => bearer(await sign(pairs.d, {}, { kid: undefined }))],
    ["a name that two keys have: the first", async () => bearer(await sign(pairs.two))],
    ["a name that two keys have: the second", async () => bearer(await sign(pairs.twin))],
    ["a name that keys of two types have", async () => bearer(await sign(pairs.twoE))],
    ["a name of a key of another type", async () => bearer(await sign(pairs.r, {}, { kid: "e" })), "unverified"],
    ["one audience of several", async () => bearer(await sign(pairs.r, { aud: ["x", AUDIENCE] }))],
    ["within the leeway, late", async () => bearer(await sign(pairs.r, { exp: seconds() - 40 }))],
    ["within the leeway, early", async () => bearer(await sign(pairs.r, { nbf: seconds() + 40 }))],
    ["a time with a fraction", async () => bearer(await sign(pairs.r, { exp: seconds() + 60.5 }))],
    ["no leeway, late", async () => at("X-Token")(await sign(pairs.p, { exp: seconds() - 2 })), "unverified"],
    ["expired", async () => bearer(await sign(pairs.r, { exp: seconds() - 90 })), "unverified"],
    ["no end", async () => bearer(await sign(pairs.r, { exp: undefined })), "unverified"],
    ["an end that is a text", async () => signedAs(text({ exp: String(seconds() + 300) })), "unverified"],
    ["too early", async () => bearer(await sign(pairs.r, { nbf: seconds() + 90 })), "unverified"],
    ["another issuer", async () => bearer(await sign(pairs.r, { iss: "https://id.test" })), "unverified"],
    ["no issuer", async () => bearer(await sign(pairs.r, { iss: undefined })), "unverified"],
    ["another audience", async () => bearer(await sign(pairs.r, { aud: "Shop" })), "unverified"],
    ["other audiences", async () => bearer(await sign(pairs.r, { aud: ["x", "y"] })), "unverified"],
    ["no audience", async () => bearer(await sign(pairs.r, { aud: undefined })), "unverified"],
    ["no subject", async () => bearer(await sign(pairs.r, { sub: undefined })), "unverified"],
    ["a subject of nothing", async () => signedAs(text({ sub: null })), "unverified"],
    ["an empty subject", async () => bearer(await sign(pairs.r, { sub: "" })), "unverified"],
    ["a subject that is an object", async () => signedAs(text({ sub: { id: "ann" } })), "unverified"],
    ["two subjects", async () => signedAs(text({}).replace("{", '{"sub":"bob",')), "unverified"],
    ["two subjects, one spelled otherwise", async () => signedAs(text({}).replace("{", '{"s\\u0075b":"bob",')), "unverified"],
    ["claims that are a list", async () => signedAs("[]"), "unverified"],
    ["claims that are no JSON", async () => signedAs("ann"), "unverified"],
    ["a very long token", async () => at("X-HS")(await sign(hmac(SECRET), { groups: "g".repeat(9_000) }))],
    ["a signature changed", async () => bearer(flip(await sign(pairs.r))), "unverified"],
    ["a signature of another key under its name", async () => bearer(await sign({ ...pairs.other, kid: "r" })), "unverified"],
    ["claims changed", async () => bearer((await sign(pairs.r)).replace(/\..*\./, `.${part(claims({ sub: "bob" }))}.`)), "unverified"],
    ["no signature", async () => bearer((await sign(pairs.r)).replace(/[^.]*$/, "")), "unverified"],
    ["alg none", async () => bearer(`${new UnsecuredJWT(/** @type {any} */ (claims({}))).encode()}`), "unverified"],
    ["alg none in capitals", async () => bearer(`${part({ alg: "NONE" })}.${part(claims({}))}.`), "unverified"],
    ["HMAC under the public key", async () => bearer(await sign({ ...hmac(JSON.stringify(pairs.r.jwk)), kid: "r" })), "unverified"],
    ["HMAC under the public key's modulus", async () => bearer(await sign({ ...hmac(`${pairs.r.jwk.n}`), kid: "r" })), "unverified"],
    ["RS256 where a secret verifies", async () => at("X-HS")(await sign(pairs.r)), "unverified"],
    ["another secret", async () => at("X-HS")(await sign(hmac(`${SECRET}!`))), "unverified"],
    ["content that is not encoded", async () => bearer(`${part({ alg: "RS256", kid: "r", b64: false, crit: ["b64"] })}.${part(claims({}))}.AA`), "unverified"],
    ["critical: something unknown", async () => bearer((await sign(pairs.r)).replace(/^[^.]*/, part({ alg: "RS256", kid: "r", crit: ["x"], x: 1 }))), "unverified"],
    ["parts with padding", async () => bearer((await sign(pairs.r)).replace(".", "=.")), "unverified"],
    ["parts in plain base64", async () => bearer(`${await sign(pairs.r)}+/`), "unverified"],
    ["bytes that are not UTF-8", async () => bearer(`${await sign(pairs.r)}\xe9`), "unverified"],
    ["claims that are not UTF-8", async () => bearer(`${part({ alg: "RS256", kid: "r" })}.${base64url.encode(Buffer.from("7b22ff223a317d", "hex"))}.AA`), "unverified"],
    ["two parts", async () => bearer((await sign(pairs.r)).replace(/\.[^.]*$/, ""))],
    ["five parts", async () => bearer(`${await sign(pairs.r)}.a.b`)],
    ["an opaque token", () => bearer("opaque")],
    ["another scheme", async () => [["Authorization", `Basic ${btoa("ann:x")}`]]],
    ["nothing", () => [], "anonymous"],
  ];

  test("each runs or is refused, and the keys are fetched once for all of them", async () => {
    assert.equal(await keys.fetches(), 0, "fetched before they matter");
    for (const [name, lines, expect = "runs"] of table) {
      const spot = await world.spot("/token");
      const change = by(await lines());
      const answer = await spot.post(change);
      try {
        if (expect === "runs") {
          executed(answer);
          replayed(await spot.post(change), answer);
        } else {
          refused(answer, expect === "unverified" ? "caller_unverified" : "key_invalid");
          if (expect === "unverified") assert.equal(answer.one("www-authenticate"), 'Bearer error="invalid_token"');
        }
        await spot.ran(expect === "runs" ? 1 : 0);
      } catch (failure) {
        throw new Error(`${name}: ${answer.brief}`, { cause: failure });
      }
    }
    assert.ok(table.length >= 40, `${table.length} tokens`);
    assert.equal(await keys.fetches(), 1);
  });

  test("a key that a failed token named stays free", async () => {
    const spot = await world.spot("/free");
    spot.key = randomUUID();
    refused(await spot.post(by(bearer(await sign(pairs.r, { exp: 1 })))), "caller_unverified");
    refused(await spot.peekBy(bearer(await sign(pairs.r, { exp: 1 }))), "caller_unverified");
    const lines = bearer(await sign(pairs.r));
    assert.equal((await spot.peekBy(lines)).json.state, "absent");
    executed(await spot.post(by(lines)));
    await spot.ran(1);
  });

  test("without a key nothing is verified, nor on other methods", async () => {
    const before = await keys.fetches();
    const spot = await world.spot("/keyless");
    const wrong = bearer(await sign({ ...pairs.other, kid: "unknown" }));
    const answer = await spot.post(by(wrong, { key: null }));
    assert.deepEqual([answer.status, answer.word], [201, "bypassed;reason=no-key"]);
    assert.equal((await world.send({ method: "GET", path: spot.path, lines: wrong })).status, 201);
    assert.equal(await keys.fetches(), before);
  });

  test("numbers and texts of the same digits are two callers, spellings of a number are one", async () => {
    const spot = await world.spot("/number");
    const callers = await Promise.all([7, "7", 7.5, "7.5"].map(async (sub) => signedAs(text({ sub }))));
    for (const lines of callers) executed(await spot.post(by(lines)));
    const seven = await signedAs(text({ sub: "@" }).replace('"@"', "70e-1"));
    assert.equal((await spot.post(by(seven))).word, "replayed");
    await spot.ran(4);
  });

  test("a storm of unknown keys fetches them once more, and the others go on", async () => {
    const before = await keys.fetches();
    const wrong = await Promise.all(Array.from({ length: 60 }, (_, at) => sign({ ...pairs.other, kid: `k${at}` })));
    const spot = await world.spot("/storm");
    const [right, ...answers] = await Promise.all([
      sign(pairs.r).then((token) => spot.post(by(bearer(token)))),
      ...wrong.map((token) => spot.post(by(bearer(token), { key: randomUUID() }))),
    ]);
    executed(/** @type {Answer} */ (right));
    for (const answer of answers) refused(answer, "caller_unverified");
    for (const token of wrong.slice(0, 10)) refused(await spot.post(by(bearer(token))), "caller_unverified");
    assert.equal(await keys.fetches(), before + 1);
    await spot.ran(1);
  });
});

describe("one caller", { concurrency: 4 }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    await keysAt(issuer, "/one").serve(pairs.r, pairs.e);
    world = await World.start({
      scope: [["jwt:main:sub", "jwt:app:/sub"], "cookie:session"],
      identity: { main: jwks(`${issuer.url}/one`), app: jwks(`${issuer.url}/one`, { from: "cookie:app" }) },
      routes: [
        { path: "/later/*", mode: "accept", unanswered: "hold" },
        { path: "/all", mode: "batch", items: "", item_key: "/idempotency_key", item_path: "/each" },
        { path: "/wait/*", wait: 20 },
        { path: "/*" },
      ],
    });
  });
  after(() => world?.end());
  /** A token of its own each time. @param {string} [sub] @param {Pair} [pair] */
  const token = async (sub = "ann", pair = pairs.r) => bearer(await sign(pair, { sub }));
  /** @param {string} session @returns {Lines} */
  const session = (session) => [["Cookie", `session=${session}`]];

  for (const key of ["a natural key", "a random UUID"]) {
    const spotOf = async (/** @type {string} */ route, /** @type {import("./origin.mjs").Step[]} */ ...steps) => {
      const spot = await world.spot(route, ...steps);
      if (key === "a random UUID") spot.key = randomUUID();
      return spot;
    };
    test(`${key}: a token refreshed while the first still runs`, async () => {
      const spot = await spotOf("/refreshed", { held: true });
      const first = spot.post(by(await token()));
      await spot.arrived();
      refused(await spot.post(by(await token("ann", pairs.e))), "request_in_progress");
      await spot.open();
      const answer = await first;
      executed(answer);
      replayed(await spot.post(by(await token())), answer);
      await spot.ran(1);
    });
    test(`${key}: 200 attempts at once with 50 tokens of one subject`, async () => {
      const spot = await spotOf("/wait/storm", { held: true });
      const tokens = await Promise.all(Array.from({ length: 50 }, (_, at) => token("ann", at % 2 ? pairs.r : pairs.e)));
      const attempts = Array.from({ length: 200 }, (_, at) => spot.post(by(/** @type {Lines} */ (tokens[at % 50]))));
      await spot.arrived();
      await spot.open();
      const answers = await Promise.all(attempts);
      assert.equal(answers.filter((answer) => answer.word === "executed").length, 1);
      for (const answer of answers) assert.ok(answer.status === 201 || answer.json.code === "request_in_progress", answer.brief);
      assert.equal(new Set(answers.filter((answer) => answer.status === 201).map((answer) => answer.text)).size, 1);
      assert.equal((await spot.post(by(await token()))).word, "replayed");
      await spot.ran(1);
    });
    test(`${key}: wherever the token is`, async () => {
      const spot = await spotOf("/anywhere");
      const first = await spot.post(by(await token()));
      executed(first);
      replayed(await spot.post(by([["Cookie", `app=${await sign(pairs.e)}`]])), first);
      await spot.ran(1);
    });
    test(`${key}: a peek under another token`, async () => {
      const spot = await spotOf("/peek");
      executed(await spot.post(by(await token())));
      assert.equal((await spot.peekBy(await token())).json.status, 201);
      const other = (await spot.peekBy(await token("bob"))).json;
      assert.deepEqual(other, { state: key === "a random UUID" ? "completed" : "absent" });
    });
    test(`${key}: an accepted request, and a batch's item`, async () => {
      const spot = await spotOf("/later");
      const queued = await spot.post(by(await token()));
      assert.deepEqual([queued.status, queued.json.status], [202, "queued"]);
      const again = await spot.post(by(await token()));
      assert.deepEqual([again.status, again.json.id], [202, queued.json.id]);
      await spot.arrived();
      await spot.ran(1);
      const items = JSON.stringify([{ idempotency_key: `${spot.key.slice(0, -4)}beef` }]);
      const send = async (/** @type {Lines} */ lines) => {
        const answer = await world.send({ path: "/all", content: items, lines: [...lines, ["Content-Type", "application/json"]] });
        return answer.status === 207 ? answer.json.items[0].idempotency_status : answer.json.code;
      };
      assert.equal(await send(await token()), "executed");
      assert.equal(await send(await token()), "replayed");
      assert.equal(await send(await token("bob")), key === "a random UUID" ? "unknown" : "executed");
      assert.equal(await send(bearer("a.b.c")), "caller_unverified");
    });
  }
  test("another subject: a natural key of its own, a random UUID that is another's", async () => {
    const spot = await world.spot("/other");
    executed(await spot.post(by(await token())));
    executed(await spot.post(by(await token("bob"))));
    spot.key = randomUUID();
    executed(await spot.post(by(await token())));
    refused(await spot.post(by(await token("bob"))), "caller_changed");
    refused(await spot.post(by(bearer("a.b.c"))), "caller_unverified");
    await spot.ran(3);
  });
  test("a session that the answer rotates, under one token", async () => {
    const spot = await world.spot("/session", { lines: [["Set-Cookie", "session=new"]] });
    spot.key = randomUUID();
    const first = await spot.post(by([...(await token()), ...session("old")]));
    executed(first);
    replayed(await spot.post(by([...(await token()), ...session("new")])), first);
    replayed(await spot.post(by(await token())), first);
    await spot.ran(1);
  });
  test("a guest who logs in between two attempts", async () => {
    const spot = await world.spot("/guest");
    spot.key = randomUUID();
    const first = await spot.post(by([]));
    executed(first);
    replayed(await spot.post(by([...(await token()), ...session("new")])), first);
    await spot.ran(1);
  });
});

describe("what it costs", () => {
  test("a token is verified once a request, and only where it counts", async () => {
    await keysAt(issuer, "/cost").serve(pairs.r);
    const main = jwks(`${issuer.url}/cost`);
    const world = await World.start(
      {
        scope: ["jwt:main:sub", "jwt:main:/org", ["cookie:session", "jwt:app:sub"]],
        scope_before: ["jwt:main:sub"],
        identity: { main, app: { ...main, from: "cookie:app" }, unused: { ...main, from: "header:x-unused" } },
        routes: [{ path: "/all", mode: "batch", items: "", item_key: "/key", item_path: "/each" }, { path: "/*" }],
      },
      AHEAD,
    );
    try {
      const count = async () => Number((await world.send({ method: "GET", path: "/.test/verified" })).text);
      const token = await sign(pairs.r, { org: "o" });
      const spot = await world.spot("/cost");
      /** @param {number} expect @param {() => Promise<Answer>} send */
      const check = async (expect, send) => {
        const before = await count();
        const answer = await send();
        assert.ok(answer.status < 300, answer.brief);
        assert.equal((await count()) - before, expect);
      };
      await check(1, () => spot.post(by(bearer(token))));
      await check(1, () => spot.post(by(bearer(token))));
      await check(1, () => spot.peekBy(bearer(token)));
      await check(1, () => spot.post(by([...bearer(token), ["X-Unused", token], ["Cookie", `app=${token}; session=s`]])));
      await check(2, () => spot.post(by([...bearer(token), ["Cookie", `app=${token}`]])));
      await check(0, () => spot.post(by(bearer(token), { key: null })));
      await check(0, () => spot.post(by([["Cookie", "session=s"]], { key: randomUUID() })));
      const content = JSON.stringify([1, 2, 3, 4, 5].map((n) => ({ key: `k-${n}` })));
      await check(1, () => world.send({ path: "/all", content, lines: [...bearer(token), ["Content-Type", "application/json"]] }));
      assert.equal(await world.origin.effects("/each"), 5);
    } finally {
      await world.end();
    }
  });
});

describe("what identifies otherwise", () => {
  test("a claim that nobody verifies: random UUIDs alone", async () => {
    const world = await World.start({ scope: ["jwt:raw:/realm/user"], identity: { raw: { unverified: true } } });
    try {
      const token = async (/** @type {string} */ user) => bearer(await sign({ ...hmac(SECRET), kid: "" }, { realm: { user }, exp: 1 }));
      const spot = await world.spot("/raw");
      refused(await spot.post(by(await token("ann"))), "key_invalid");
      spot.key = randomUUID();
      const first = await spot.post(by(await token("ann")));
      executed(first);
      replayed(await spot.post(by(await token("ann"))), first);
      refused(await spot.post(by(await token("bob"))), "caller_changed");
      await spot.ran(1);
    } finally {
      await world.end();
    }
  });
  test("a certificate that the platform has verified", async () => {
    const world = await World.start({ scope: ["mtls"] }, AHEAD);
    try {
      /** @param {string} certFingerprintSHA256 @param {string} [certVerified] @returns {Lines} */
      const shown = (certFingerprintSHA256, certVerified = "SUCCESS") => [["X-Certificate", JSON.stringify({ certFingerprintSHA256, certVerified })]];
      const spot = await world.spot("/certificate");
      const first = await spot.post(by(shown("0AFF")));
      executed(first);
      replayed(await spot.post(by(shown("0aff"))), first);
      executed(await spot.post(by(shown("0b"))));
      for (const lines of [shown("0aff", "FAILED:expired"), shown("", "SUCCESS"), []]) refused(await spot.post(by(lines)), "key_invalid");
      await spot.ran(2);
    } finally {
      await world.end();
    }
  });
});

describe("a secret", () => {
  const policy = { scope: ["jwt:hs:sub"], identity: { hs: { secret: "TOKENS", issuer: ISSUER, audience: AUDIENCE } } };
  for (const [name, env] of /** @type {[string, Record<string, string>][]} */ ([["missing", {}], ["short", { TOKENS: SECRET.slice(0, 31) }]])) {
    test(`${name}: serve says so and ends`, async () => {
      const gate = new Gate("http://127.0.0.1:9", policy, env);
      gate.port = await freePort();
      assert.equal(await gate.launch().exit, 1);
      assert.match(gate.output, /TOKENS/);
      await gate.end();
    });
  }
  test("missing or short where it is deployed: each request is told, nothing is forwarded", async () => {
    const world = await World.start(policy, { ...AHEAD, TOKENS: SECRET });
    try {
      const spot = await world.spot("/secret");
      const lines = bearer(await sign(hmac(SECRET)));
      for (const given of ["", SECRET.slice(0, 31)]) {
        const answer = await spot.post(by([...lines, ["X-Env", JSON.stringify({ TOKENS: given })]]));
        assert.deepEqual([answer.status, answer.json.code], [500, "gate_misconfigured"]);
        assert.match(answer.json.detail, /TOKENS/);
      }
      executed(await spot.post(by(lines)));
      const published = await world.send({ method: "GET", path: "/.well-known/idempotency" });
      for (const hidden of [`"identity"`, `"scope"`, "TOKENS", ISSUER]) assert.ok(!published.text.includes(hidden), published.text);
      await spot.ran(1);
    } finally {
      await world.end();
    }
  });
});

describe("a scope that is changed under way", () => {
  const routes = [
    { path: "/later/*", mode: "accept", unanswered: "hold" },
    { path: "/batch", mode: "batch", items: "", item_key: "/idempotency_key", item_path: "/item" },
    { path: "/*" },
  ];
  const BEFORE = { scope: ["cookie:session"], routes };
  const identity = () => ({ main: jwks(`${issuer.url}/scope`) });
  const NOW = () => ({ scope: ["jwt:main:sub"], identity: identity(), routes });

  test("a token that the old one alone looks at is refused for nobody", async () => {
    const world = await World.start({ scope: BEFORE.scope, scope_before: ["jwt:main:sub"], identity: identity() });
    try {
      const spot = await world.spot("/turned");
      const change = by([["Cookie", "session=of-ann"], ...bearer(await sign(pairs.r, { exp: 1 }))]);
      const first = await spot.post(change);
      executed(first);
      replayed(await spot.post(change), first);
      await spot.ran(1);
    } finally {
      await world.end();
    }
  });

  test("what was remembered is found under its old name, what comes under the new one", async () => {
    await keysAt(issuer, "/scope").serve(pairs.r);
    const world = await World.start(BEFORE, undefined);
    const restart = async (/** @type {object} */ policy) => {
      await world.gate.stop();
      writeFileSync(world.gate.config, JSON.stringify(policy));
      await world.gate.start();
    };
    try {
      const session = /** @type {Lines} */ ([["Cookie", "session=of-ann"]]);
      const token = async () => bearer(await sign(pairs.r));
      const both = async () => by([...session, ...(await token())]);
      const natural = await world.spot("/natural");
      const random = await world.spot("/random");
      random.key = randomUUID();
      const unknown = await world.spot("/unknown", { cut: "before" });
      const queued = await world.spot("/later");
      const items = JSON.stringify([{ idempotency_key: `item-${randomUUID()}` }]);
      const batch = (/** @type {Change} */ change) =>
        world.send({ path: "/batch", content: items, lines: [...(change.more ?? []), ["Content-Type", "application/json"]] });

      const firsts = [await natural.post(by(session)), await random.post(by(session))];
      firsts.forEach((answer) => executed(answer));
      refused(await unknown.post(by(session)), "outcome_unknown");
      const accepted = await queued.post(by(session));
      assert.equal(accepted.json.status, "queued");
      assert.equal((await batch(by(session))).json.items[0].idempotency_status, "executed");

      await restart({ ...NOW(), scope_before: BEFORE.scope });
      replayed(await natural.post(await both()), /** @type {Answer} */ (firsts[0]));
      replayed(await random.post(await both()), /** @type {Answer} */ (firsts[1]));
      refused(await natural.post({ ...(await both()), content: "{}" }), "idempotency_key_reused");
      refused(await unknown.post(await both()), "outcome_unknown");
      const again = await queued.post(await both());
      assert.deepEqual([again.status, again.json.id], [202, accepted.json.id]);
      assert.equal((await batch(await both())).json.items[0].idempotency_status, "replayed");
      assert.equal((await natural.peekBy((await both()).more ?? [])).json.status, 201);
      // Without the old attribute nobody finds it: another caller, as far as the old names tell.
      assert.equal((await natural.peekBy(await token())).json.state, "absent");

      const fresh = await world.spot("/fresh", { held: true });
      const first = fresh.post(await both());
      await fresh.arrived();
      refused(await fresh.post(await both()), "request_in_progress");
      await fresh.open();
      executed(await first);
      await restart(NOW());
      replayed(await fresh.post(by(await token())), await first);
      for (const spot of [natural, random, unknown, queued, fresh]) await spot.ran(1);
      assert.equal(await world.origin.effects("/item"), 1);
    } finally {
      await world.end();
    }
  });
});
