// @ts-check
// Who calls: one caller under changing credentials makes one effect, another one makes none and sees nothing.

import assert from "node:assert/strict";
import { randomBytes, randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { World, executed, field, refused, replayed, until } from "./gate.mjs";

/** @typedef {import("./gate.mjs").Change} Change @typedef {[string, string][]} Lines @typedef {import("./gate.mjs").Spot} Spot */

const SECRET = "what-only-the-first-may-see";

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    routes: [
      { path: "/later/*", mode: "accept", unanswered: "hold" },
      { path: "/wait/*", wait: 20 },
      { path: "/all", mode: "batch", items: "", item_key: "/idempotency_key", item_path: "/each" },
      { path: "/*" },
    ],
  });
});
after(() => world?.end());

/** @param {string} route @param {import("./origin.mjs").Step[]} steps */
async function spotOf(route, ...steps) {
  const spot = await world.spot(route, ...steps);
  spot.key = randomUUID();
  return spot;
}
/** @param {string | null} token @param {string} [session] @returns {Change} */
const by = (token, session) => ({
  caller: null,
  more: [
    .../** @type {Lines} */ (token === null ? [] : [["Authorization", token]]),
    .../** @type {Lines} */ (session === undefined ? [] : [["Cookie", `session=${session}`]]),
  ],
});
/** Another caller: told that, and nothing of what the first got. @param {import("./client.mjs").Answer} answer */
function changed(answer) {
  refused(answer, "caller_changed");
  assert.equal(answer.one("idempotency-expires"), undefined);
  assert.ok(!answer.brief.includes(SECRET) && !answer.text.includes(SECRET) && !JSON.stringify(answer.lines).includes(SECRET));
}
const answered = { content: SECRET, lines: /** @type {Lines} */ ([["Set-Cookie", `session=${SECRET}`]]) };
const hex = () => randomBytes(16).toString("hex");

describe("one caller", { concurrency: 4 }, () => {
  /** @param {string} name @param {Change} first @param {Change[]} later */
  const together = (name, first, ...later) =>
    test(`${name}: one effect`, async () => {
      const spot = await spotOf("/one", answered);
      const answer = await spot.post(first);
      executed(answer);
      for (const change of later) replayed(await spot.post(change), answer);
      await spot.ran(1);
    });
  together("a token refreshed within a session", by("Bearer a", "s"), by("Bearer b", "s"), by(null, "s"));
  together("a session rotated under a token", by("Bearer a", "s"), by("Bearer a", "t"), by("Bearer a"));
  together("a session that the first answer set", by(null), by(null, SECRET));
  together("a guest who logs in", by(null), by("Bearer a", "s"), by(null, "t"));
  together("the scheme's case", by("Bearer a"), by("bearer a"), by("BEARER  a"));
  together("the scheme's case under a natural key", { key: "k-1", ...by("Bearer a") }, { key: "k-1", ...by("bearer a") });
  for (const key of [undefined, "k-2"]) {
    const at = (/** @type {string} */ host) => ({ ...(key && { key }), caller: "ann", host });
    together(`the host's spelling, key ${key}`, at("a.example"), at("A.Example"), at("a.example:80"), at("a.example.:80"));
  }
  const aws = (/** @type {string} */ day) =>
    `AWS4-HMAC-SHA256 Credential=AKID/${day}/eu/api/aws4_request, SignedHeaders=host;x-amz-date, Signature=${hex()}`;
  const digest = () => `Digest username="ann", realm="r", nonce="${hex()}", uri="/one", response="${hex()}"`;
  const oauth = () => `OAuth oauth_consumer_key="ck", oauth_token="tk", oauth_nonce="${hex()}", oauth_signature="${hex()}"`;
  const hawk = () => `Hawk id="h", ts="1", nonce="${hex()}", mac="${hex()}="`;
  const signature = () => `Signature keyId="k", headers="date", signature="${hex()}="`;
  /** @type {[string, () => string, string][]} */
  const schemes = [
    ["AWS4-HMAC-SHA256", () => aws("20261130"), aws("20261201").replace("AKID", "OTHER")],
    ["Digest", digest, digest().replace("ann", "bob")],
    ["OAuth", oauth, oauth().replace('"tk"', '"other"')],
    ["Hawk", hawk, hawk().replace('"h"', '"other"')],
    ["Signature", signature, signature().replace('"k"', '"other"')],
  ];
  for (const [name, sign, other] of schemes) {
    together(`${name}, signed anew`, by(sign()), by(sign()), by(sign().replace(name, name.toLowerCase())));
    test(`${name}: another one is told so, and a natural key is refused`, async () => {
      const spot = await spotOf("/signed", answered);
      executed(await spot.post(by(sign())));
      changed(await spot.post(by(other)));
      await spot.ran(1);
      refused(await spot.post({ ...by(sign()), key: "order-1042" }), "key_invalid");
      executed(await spot.post({ ...by(sign(), "s"), key: `order-${randomUUID()}` }));
      await spot.ran(2);
    });
  }
  test("a UUID in capitals is the same key", async () => {
    const spot = await spotOf("/one");
    const first = await spot.post(by(null));
    executed(first);
    spot.key = spot.key.toUpperCase();
    replayed(await spot.post(by(null)), first);
    replayed(await spot.post({ ...by(null), key: `"${spot.key}"` }), first);
    assert.equal((await spot.peek()).json.state, "completed");
    await spot.ran(1);
  });
  test("a key that was given back is the next caller's", async () => {
    const spot = await spotOf("/one", { status: 401 }, answered);
    assert.equal((await spot.post(by("Bearer old"))).status, 401);
    const first = await spot.post(by("Bearer new"));
    executed(first);
    replayed(await spot.post(by("Bearer new")), first);
    changed(await spot.post(by("Bearer old")));
    // The origin's plan counted one effect for each of its answers.
    assert.equal((await spot.seen()).length, 2);
  });
});

describe("another caller", { concurrency: 4 }, () => {
  const other = [by("Bearer b"), by(null, "t"), by("Bearer b", "t"), by(null)];
  test("is told so whatever it sends, and sees nothing", async () => {
    const spot = await spotOf("/two", answered);
    const first = await spot.post(by("Bearer a", "s"));
    executed(first);
    for (const change of other) {
      changed(await spot.post(change));
      changed(await spot.post({ ...change, content: "{}" }));
      changed(await spot.post({ ...change, method: "PATCH" }));
    }
    replayed(await spot.post(by("Bearer a", "s")), first);
    refused(await spot.post({ ...by("Bearer a", "t"), content: "{}" }), "idempotency_key_reused");
    await spot.ran(1);
  });
  for (const route of ["/two", "/wait"]) {
    test(`is told so at once while the first runs: ${route}`, async () => {
      const spot = await spotOf(route, { ...answered, held: true });
      const first = spot.post(by("Bearer a"));
      await spot.arrived();
      for (const change of other) changed(await spot.post(change));
      const { json } = await peek(spot, by("Bearer b"));
      assert.deepEqual(json, { state: "running" });
      await spot.open();
      executed(await first);
      changed(await spot.post(by("Bearer b")));
      await spot.ran(1);
    });
  }
  test("a batch's item is bound as a request is", async () => {
    const items = [{ idempotency_key: randomUUID(), n: 1 }];
    const send = async (/** @type {Change} */ change) => {
      const lines = /** @type {Lines} */ ([...(change.more ?? []), ["Content-Type", "application/json"]]);
      const answer = await world.send({ path: "/all", content: JSON.stringify(items), lines });
      return answer.json.items[0];
    };
    const before = await world.origin.effects("/each");
    const first = await send(by("Bearer a"));
    assert.deepEqual([first.status, first.idempotency_status], [201, "executed"]);
    const second = await send(by("Bearer b"));
    assert.deepEqual([second.status, second.idempotency_status, second.body.code], [409, "unknown", "caller_changed"]);
    assert.equal((await send(by("Bearer a", "s"))).idempotency_status, "replayed");
    assert.equal(await world.origin.effects("/each"), before + 1);
  });
  test("an accepted request is bound before and after its delivery", async () => {
    const spot = await spotOf("/later", { ...answered, held: true });
    const queued = await spot.post(by("Bearer a"));
    assert.deepEqual([queued.status, queued.json.status], [202, "queued"]);
    changed(await spot.post(by("Bearer b")));
    await spot.arrived();
    changed(await spot.post(by("Bearer b")));
    await spot.open();
    await until(async () => (await peek(spot, by("Bearer a"))).json.state === "completed", "delivered");
    changed(await spot.post(by("Bearer b")));
    const own = await spot.post(by("Bearer a", "s"));
    assert.deepEqual([own.status, own.json.status], [202, "duplicate_ignored"]);
    await spot.ran(1);
  });
  test("peeks at the state alone", async () => {
    const spot = await spotOf("/two", answered);
    executed(await spot.post(by("Bearer a")));
    assert.deepEqual((await peek(spot, by("Bearer b"))).json, { state: "completed" });
    const { expires, ...own } = (await peek(spot, by("Bearer a", "s"))).json;
    assert.deepEqual(own, { state: "completed", status: 201 });
    assert.ok(expires);
  });
  test("has a natural key of its own", async () => {
    const spot = await world.spot("/two");
    const callers = [by("Bearer a"), by("Bearer b"), by(null, "a"), by("Bearer a", "a")];
    const firsts = await Promise.all(callers.map((change) => spot.post(change)));
    firsts.forEach((answer) => executed(answer));
    for (const [at, change] of callers.entries()) replayed(await spot.post(change), /** @type {any} */ (firsts[at]));
    await spot.ran(4);
    assert.equal(new Set((await spot.seen()).map((seen) => field(seen, "idempotency-key"))).size, 4);
  });
});

describe("what is refused", { concurrency: 4 }, () => {
  for (const [name, lines] of /** @type {[string, Lines][]} */ ([
    ["a token", [["Authorization", "Bearer Ren\xe8"]]],
    ["a session", [["Cookie", "theme=x; session=Ren\xe9"]]],
    ["a signed request", [["Authorization", 'Digest username="Ren\xe9"']]],
  ])) {
    test(`${name} of bytes that are not UTF-8, with any key, and in a peek`, async () => {
      for (const key of [randomUUID(), "k"]) {
        const spot = await world.spot("/bytes");
        refused(await spot.post({ key, caller: null, more: lines }), "caller_invalid");
        await spot.ran(0);
        const answer = await world.send({ method: "GET", path: `/.oncekey/keys/${key}`, lines });
        refused(answer, "caller_invalid");
      }
    });
  }
  test("bytes that are not UTF-8 elsewhere, and UTF-8 itself, are not", async () => {
    const spot = await spotOf("/bytes");
    executed(await spot.post({ caller: "ann", more: [["X-User", "Ren\xe9"], ["Cookie", "theme=\xe9; session=s"]] }));
    executed(await (await spotOf("/bytes")).post({ caller: null, more: [["Cookie", "session=Ren\xc3\xa9"]] }));
  });
  for (const key of ["00000000-0000-0000-0000-000000000000", "8e03978e-40d5-53dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-cc93-6894a57f9324"]) {
    test(`from nobody: ${key}, which is no random UUID`, async () => {
      const spot = await world.spot("/guess");
      refused(await spot.post({ key, caller: null }), "key_invalid");
      await spot.ran(0);
    });
  }
});

describe("other policies", { concurrency: 2 }, () => {
  test("apart: each caller has a random UUID of its own", async () => {
    const apart = await World.start({ bind: "apart" });
    try {
      const spot = await apart.spot("/apart");
      spot.key = randomUUID();
      const callers = [by("Bearer a"), by("Bearer b"), by(null)];
      const firsts = [];
      for (const change of callers) firsts.push(await spot.post(change));
      firsts.forEach((answer) => executed(answer));
      for (const [at, change] of callers.entries()) replayed(await spot.post(change), firsts[at]);
      await spot.ran(3);
    } finally {
      await apart.end();
    }
  });
  test("anonymous refused: 401 with a key, the key stays free, keyless requests pass", async () => {
    const known = await World.start({ anonymous: "refuse" });
    try {
      const spot = await known.spot("/known");
      spot.key = randomUUID();
      const answer = await spot.post(by(null));
      refused(answer, "caller_unverified");
      assert.equal(answer.one("www-authenticate"), "Bearer");
      await spot.ran(0);
      executed(await spot.post(by("Bearer a")));
      const keyless = await spot.post({ ...by(null), key: null });
      assert.deepEqual([keyless.status, keyless.word], [201, "bypassed;reason=no-key"]);
      await spot.ran(2);
    } finally {
      await known.end();
    }
  });
});

/** @param {Spot} spot @param {Change} change */
const peek = (spot, change) =>
  world.send({ method: "GET", path: `/.oncekey/keys/${spot.key}`, lines: /** @type {Lines} */ (change.more) });
