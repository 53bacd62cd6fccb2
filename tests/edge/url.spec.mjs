// @ts-check
// An origin given by its URL, the way the gate is deployed: what it sees and what comes back.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { executed, field, refused, replayed, World } from "./gate.mjs";

/** @type {World} */
let world;
before(async () => {
  world = await World.start(
    { routes: [{ path: "/pay/*", require: true }, { path: "/probe/*", unanswered: { probe: "/lookup/{key}" } }, { path: "/*", methods: ["POST", "DELETE"] }] },
    { ONCEKEY_POLICY_AS_JSON: "1" },
  );
});
after(() => world?.end());

describe("an origin by URL", () => {
  test("the request arrives as it was sent, once", async () => {
    const spot = await world.spot("/job");
    const target = `${spot.path}?a=%20b&c=+&d=%E9&e`;
    const first = await spot.post({ path: target, more: [["X-Two", "a, b"]] });
    executed(first);
    replayed(await spot.post({ path: target }), first);
    const [seen] = await spot.seen();
    assert.equal(field(seen, "x-two"), "a, b");
    assert.equal(field(seen, "authorization"), "Bearer ann");
    assert.match(field(seen, "idempotency-key"), /^"[\w-]{43}"$/);
    field(seen, "host");
    await spot.ran(1);
  });

  test("it gets its own Host, and the caller's beside it, which nobody can forge", async () => {
    for (const key of ["host-1", null]) {
      const spot = await world.spot("/job");
      const more = /** @type {[string, string][]} */ ([["X-Forwarded-Host", "evil.example"], ["x-forwarded-proto", "gopher"]]);
      await spot.post({ key, host: "shop.example", more });
      const [seen] = await spot.seen();
      const told = ["host", "x-forwarded-host", "x-forwarded-proto"].map((name) => field(seen, name));
      assert.deepEqual(told, [new URL(world.origin.url).host, "shop.example", "http"]);
      await spot.ran(1);
    }
  });

  test("a GET with content, even of no bytes, reaches it whole", async () => {
    for (const content of ["", "hello"]) {
      const spot = await world.spot("/seen");
      const answer = await world.send({ method: "GET", path: spot.path, content });
      assert.deepEqual([answer.status, answer.whole], [201, true], answer.brief);
      const [seen] = await spot.seen();
      assert.equal(seen.content, content);
    }
  });

  test("a redirect is its answer", async () => {
    const spot = await world.spot("/job", { status: 303, lines: [["Location", "/elsewhere"]] });
    const first = await spot.post();
    executed(first, 303);
    assert.equal(first.one("location"), "/elsewhere");
    replayed(await spot.post(), first);
    await spot.ran(1);
  });

  test("without a key it is passed on each time", async () => {
    const spot = await world.spot("/job");
    for (let n = 0; n < 2; n++) assert.equal((await spot.post({ key: null })).one("idempotency-status"), "bypassed;reason=no-key");
    await spot.ran(2);
  });

  test("what is sent is what was matched: every spelling of a path is the one that Node's URL reads in it", async () => {
    const pick = (/** @type {string[]} */ list) => list[Math.floor(Math.random() * list.length)];
    const PARTS = ["/", "/", "\\", "/", "pay", "%70ay", "free", ".", "..", "%2e", ".%2E", "...", "%5C", "%2F", "a", "%", "%zz", ";", "~", "%7e", "\\.oncekey", "/.oncekey\\keys"];
    const spellings = ["/pay\\x", "/free\\..\\pay/x", "/free/%2e%2e\\%70ay/x", "/.oncekey\\keys\\x", "/.well-known\\idempotency"];
    for (let n = 0; n < 300; n++) spellings.push(`/${Array.from({ length: 1 + (n % 9) }, () => pick(PARTS)).join("")}`);
    let refusals = 0;
    for (const [at, spelling] of spellings.entries()) {
      const query = `?n=${at}&q=\\..\\pay`;
      const { pathname, search } = new URL(`http://origin.example${spelling}${query}`);
      const resolved = pathname.replace(/%([0-9a-f]{2})/gi, (all, hex) => {
        const letter = String.fromCharCode(parseInt(hex, 16));
        return /[\w.~-]/.test(letter) ? letter : all;
      });
      const before = (await world.origin.targets()).length;
      const answer = await world.send({ path: spelling + query, lines: [["Authorization", "Bearer ann"]], content: "x" });
      const arrived = (await world.origin.targets()).slice(before);
      if (/^\/(\.oncekey(\/|$)|\.well-known\/idempotency$)/.test(resolved)) {
        assert.deepEqual(arrived, [], spelling);
      } else if (resolved.startsWith("/pay/")) {
        refusals++;
        refused(answer, "key_missing");
        assert.deepEqual(arrived, [], spelling);
      } else {
        assert.equal(answer.status, 201, `${spelling}: ${answer.brief}`);
        assert.deepEqual(arrived, [pathname + search], spelling);
      }
    }
    assert.ok(refusals >= 4, `${refusals} refusals`);
  });

  test("no answer: unknown, and it is not run again", async () => {
    const spot = await world.spot("/job", { cut: "before" }, {});
    refused(await spot.post(), "outcome_unknown");
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
  });

  test("DELETE without content runs once, on a connection that drops too", async () => {
    for (let n = 0; n < 4; n++) {
      executed(await (await world.spot("/job")).post());
      const spot = await world.spot("/job", { cut: "before" }, {});
      refused(await spot.post({ method: "DELETE", content: "" }), "outcome_unknown");
      await spot.ran(1);
    }
  });
});
