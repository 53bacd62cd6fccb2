// @ts-check
// Accepted requests: taken at once, delivered later, once, whatever the origin does and whenever the gate dies.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { ADMIN, field, pause, refused, until, World } from "./gate.mjs";
import { noise } from "./origin.mjs";

/** @typedef {import("./gate.mjs").Spot} Spot */
/** @typedef {import("./gate.mjs").Change} Change */
/** @typedef {import("./client.mjs").Answer} Answer */

const PROBE = { probe: "/lookup/{key}" };

/** @type {World} */
let world;
before(async () => {
  const mode = "accept";
  world = await World.start({
    max_content: 4_000_000,
    max_stored: 1000,
    cors: ["https://shop.example"],
    routes: [
      { path: "/definite/*", mode, unanswered: "hold", keep: "definite" },
      { path: "/held/*", mode, unanswered: "hold", server_error: "hold" },
      { path: "/kept/*", mode, unanswered: "hold", server_error: "keep" },
      { path: "/rerun/*", mode, unanswered: "rerun", lease: 2 },
      { path: "/down/*", mode, unanswered: "rerun", lease: 15 },
      { path: "/probe/*", mode, unanswered: PROBE, lease: 3 },
      { path: "/short/*", mode, unanswered: "hold", retention: 3 },
      { path: "/later/*", mode, unanswered: "hold", methods: ["POST", "PUT", "DELETE"] },
    ],
  });
});
after(() => world?.end());

/** @param {Answer} answer */
function queued(answer) {
  assert.deepEqual([answer.status, answer.json.status, answer.word], [202, "queued", "accepted"], answer.brief);
  assert.match(answer.json.id, /^[\w-]{43}$/);
  assert.equal(answer.one("content-type"), "application/json");
  return answer.json.id;
}

/** @param {Answer} answer @param {string} id */
function ignored(answer, id) {
  assert.deepEqual([answer.status, answer.word], [202, "replayed"], answer.brief);
  assert.deepEqual(answer.json, { status: "duplicate_ignored", id });
}

/** The operator's requests for a key. @param {string} id */
const operator = (id) => {
  /** @type {[string, string][]} */
  const lines = [["Authorization", `Bearer ${ADMIN}`]];
  const path = `/.oncekey/keys/${id}`;
  return {
    release: () => world.send({ method: "DELETE", path, lines }),
    deliver: () => world.send({ path: `${path}/deliver`, lines }),
  };
};

/** What is remembered once it no longer runs. @param {Spot} spot */
async function ended(spot) {
  let found;
  do found = (await spot.peek("?wait=20")).json;
  while (found.state === "running");
  return found;
}

describe("accepted", { concurrency: 8 }, () => {
  test("answered before it is delivered, and delivered as it was sent", async () => {
    const spot = await world.spot("/later", { held: true });
    const change = {
      path: `${spot.path}?a=%20b&c=%C3%A9&d`,
      content: '{ "n": 1.0,\t"x": "é" }',
      more: /** @type {[string, string][]} */ ([
        ["X-Hook", "sig=1, t=2"],
        ["X-Name", Buffer.from("Žofie").toString("latin1")],
        ["Cookie", "theme=1; b=2"],
        ["Accept-Encoding", "br"],
      ]),
    };
    const id = queued(await spot.post(change));
    assert.equal((await spot.peek()).json.state, "running");
    ignored(await spot.post(change), id);
    await spot.arrived();
    ignored(await spot.post(change), id);
    refused(await spot.post({ ...change, content: "{}" }), "idempotency_key_reused");
    assert.equal((await spot.peek()).json.state, "running");
    await spot.open();
    assert.deepEqual([(await ended(spot)).state, (await ended(spot)).status], ["completed", 201]);
    ignored(await spot.post(change), id);
    refused(await spot.post({ ...change, content: "{}" }), "idempotency_key_reused");
    const [seen] = await spot.seen();
    assert.deepEqual([seen.method, seen.target], ["POST", change.path]);
    assert.equal(Buffer.from(seen.content, "latin1").toString(), change.content);
    for (const [name, value] of [...change.more, ["Authorization", "Bearer ann"], ["Content-Type", "application/json"]]) {
      assert.equal(field(seen, name.toLowerCase()), value);
    }
    assert.equal(field(seen, "idempotency-key"), `"${id}"`);
    assert.ok(!seen.lines.some(([name]) => /^(x-)?oncekey-/i.test(name)), JSON.stringify(seen.lines));
    await spot.ran(1);
  });

  for (const method of ["PUT", "DELETE"]) {
    test(`${method} without content`, async () => {
      const spot = await world.spot("/later");
      queued(await spot.post({ method, content: undefined, type: null }));
      assert.equal((await ended(spot)).state, "completed");
      const [seen] = await spot.seen();
      assert.deepEqual([seen.method, seen.content], [method, ""]);
      await spot.ran(1);
    });
  }

  test("fifty at once are one", async () => {
    const spot = await world.spot("/later");
    const answers = await Promise.all(Array.from({ length: 50 }, () => spot.post()));
    assert.equal(answers.filter((answer) => answer.json.status === "queued").length, 1);
    assert.deepEqual([...new Set(answers.map((answer) => `${answer.status} ${answer.json.id}`))].length, 1);
    assert.equal((await ended(spot)).state, "completed");
    await spot.ran(1);
  });

  test("the pages of a listed origin may read the answer, and no other's", async () => {
    for (const [page, allowed] of [["https://shop.example", "https://shop.example"], ["https://evil.example", undefined]]) {
      const spot = await world.spot("/later");
      const more = /** @type {[string, string][]} */ ([["Origin", page]]);
      for (const status of ["queued", "duplicate_ignored"]) {
        const answer = await spot.post({ more });
        assert.deepEqual([answer.json.status, answer.one("access-control-allow-origin")], [status, allowed]);
        assert.equal(/idempotency-status/i.test(answer.one("access-control-expose-headers") ?? ""), allowed !== undefined);
      }
    }
  });

  test("a key is required, and a well-formed one", async () => {
    const spot = await world.spot("/later");
    refused(await spot.post({ key: null }), "key_missing");
    refused(await spot.post({ key: "a,b" }), "key_invalid");
    await spot.ran(0);
  });

  test("over the limit nothing is taken", async () => {
    const spot = await world.spot("/later");
    refused(await spot.post({ content: "x".repeat(4_000_001), type: "text/plain" }), "content_too_large");
    assert.equal((await spot.peek()).json.state, "absent");
    await spot.ran(0);
  });

  test("content of several rows arrives to the byte", async () => {
    const spot = await world.spot("/later");
    const content = Buffer.from(noise(3_100_000), "latin1");
    queued(await spot.post({ content, type: "application/octet-stream" }));
    assert.equal((await ended(spot)).state, "completed");
    const [seen] = await spot.seen();
    assert.ok(Buffer.from(seen.content, "latin1").equals(content));
  });

  test("an answer that is too large to keep is an end as well", async () => {
    const spot = await world.spot("/later", { content: "x".repeat(5000) });
    const id = queued(await spot.post());
    assert.equal((await ended(spot)).status, 201);
    ignored(await spot.post(), id);
    await spot.ran(1);
  });

  test("an id releases what has ended, and nothing before", async () => {
    const spot = await world.spot("/later", { held: true });
    const { release } = operator(queued(await spot.post()));
    await spot.arrived();
    assert.equal((await release()).status, 409);
    await spot.open();
    await ended(spot);
    assert.equal((await release()).status, 204);
    queued(await spot.post());
    await spot.open();
    await ended(spot);
    await spot.ran(2);
  });
});

/** Route, answers, what is remembered in the end, and how many deliveries there were. @type {[string, import("./origin.mjs").Step[], string, number][]} */
const TABLE = [
  ["/later", [{ status: 303, lines: [["Location", "/x"]] }], "completed 303", 1],
  ["/later", [{ status: 503, content: "later" }, { status: 429 }, {}], "completed 201", 3],
  ["/later", [{ status: 503, lines: [["Retry-After", "1"]] }, {}], "completed 201", 2],
  ["/later", [{ status: 521 }, { status: 530 }, { status: 200 }], "completed 200", 3],
  ["/later", [{ status: 500 }, { status: 204, content: "" }], "completed 204", 2],
  ["/later", [{ status: 401 }, {}], "completed 201", 2],
  ["/later", [{ status: 404 }], "dead 404", 1],
  ["/definite", [{ status: 404 }], "dead 404", 1],
  ["/rerun", [{ status: 422 }], "dead 422", 1],
  ["/later", [{ status: 307, lines: [["Location", "/x"]] }], "dead 307", 1],
  ["/definite", [{ status: 308, lines: [["Location", "/x"]] }], "dead 308", 1],
  ["/held", [{ status: 500 }], "unknown 500", 1],
  ["/kept", [{ status: 500 }], "completed 500", 1],
  ["/later", [{ cut: "before" }], "unknown", 1],
  ["/later", [{ status: 504 }], "unknown 504", 1],
  ["/later", [{ cut: "content", content: "abcdef" }], "unknown 201", 1],
  ["/rerun", [{ cut: "before" }, { status: 502 }, { cut: "head" }, {}], "completed 201", 4],
  ["/rerun", [{ cut: "hang" }, {}], "completed 201", 2],
  ["/rerun", [{ status: 404, cut: "content", content: "abcdef" }, {}], "completed 201", 2],
];

describe("what comes of a delivery", { concurrency: 8 }, () => {
  for (const [route, steps, state, deliveries] of TABLE) {
    const answers = steps.map((step) => step.cut ?? step.status ?? 201).join(", ");
    test(`${route}: ${answers}`, async () => {
      const spot = await world.spot(route, ...steps);
      const id = queued(await spot.post());
      const found = await ended(spot);
      assert.equal(found.status ? `${found.state} ${found.status}` : found.state, state);
      await spot.ran(deliveries);
      const keys = new Set(await Promise.all(Array.from({ length: deliveries }, (_, at) => spot.scoped(at))));
      assert.deepEqual([...keys], [id]);
      if (state.startsWith("completed")) ignored(await spot.post(), id);
      else refused(await spot.post(), "outcome_unknown");
      refused(await spot.post({ content: "{}" }), "idempotency_key_reused");
      await spot.ran(deliveries);
    });
  }

  test("the origin is asked where nothing was heard: it took effect", async () => {
    const spot = await world.spot("/probe", { cut: "before" });
    const lookup = `/lookup/${await expected(spot)}`;
    await world.origin.plan(lookup, { status: 500 }, { status: 200, content: "found" });
    queued(await spot.post());
    assert.equal((await ended(spot)).status, 200);
    await spot.ran(1);
    assert.ok((await world.origin.effects(lookup)) >= 2);
  });

  test("the origin is asked where nothing was heard: it did not", async () => {
    const spot = await world.spot("/probe", { cut: "before" }, {});
    await world.origin.plan(`/lookup/${await expected(spot)}`, { status: 404 });
    queued(await spot.post());
    const begun = Date.now();
    assert.equal((await ended(spot)).status, 201);
    assert.ok(Date.now() - begun > 2000, "the first delivery might still have worked");
    await spot.ran(2);
  });

  test("retries run out with the retention, then it is forgotten", async () => {
    const spot = await world.spot("/short", { status: 503 });
    queued(await spot.post());
    assert.equal((await ended(spot)).state, "dead");
    refused(await spot.post(), "outcome_unknown");
    const tries = await spot.effects();
    assert.ok(tries >= 2, `${tries} deliveries`);
    await until(async () => (await spot.peek()).json.state === "absent", "forgotten");
    await spot.ran(tries);
  });
});

describe("what is dead or of unknown fate is not lost", { concurrency: 8 }, () => {
  /** How it ends, and with what state. @type {[string, string, import("./origin.mjs").Step[], string][]} */
  const ENDS = [
    ["declined", "/later", [{ status: 404, content: "a deploy is under way" }, {}], "dead 404"],
    ["sent elsewhere", "/definite", [{ status: 307, lines: [["Location", "/x"]] }, {}], "dead 307"],
    ["without an answer", "/later", [{ cut: "before" }, {}], "unknown"],
    ["of an ambiguous answer", "/held", [{ status: 500 }, {}], "unknown 500"],
  ];
  for (const [name, route, steps, state] of ENDS) {
    test(`${name}: the operator has it delivered once more, as it was sent`, async () => {
      const spot = await world.spot(route, ...steps);
      const change = { content: '{"n": 1.0}', more: /** @type {[string, string][]} */ ([["X-Hook", "sig=1"]]) };
      const id = queued(await spot.post(change));
      const found = await ended(spot);
      assert.equal(found.status ? `${found.state} ${found.status}` : found.state, state);
      assert.ok(Date.parse(found.expires) > Date.now() + 80_000_000, found.expires);
      await pause(1500);
      await spot.ran(1);
      const again = await operator(id).deliver();
      assert.deepEqual([again.status, again.json], [202, { status: "queued", id }]);
      assert.deepEqual([(await ended(spot)).state, (await ended(spot)).status], ["completed", 201]);
      ignored(await spot.post(change), id);
      const seen = await spot.seen();
      const [first, second] = seen.map(({ content, lines }) => [content, lines.filter(([line]) => /^(x-|idem|auth|content)/i.test(line))]);
      assert.deepEqual(second, first);
      await spot.ran(2);
      assert.equal((await operator(id).deliver()).status, 409);
    });
  }

  test("it goes on being tried after that, and its refusals are counted anew", async () => {
    const spot = await world.spot("/later", { status: 422 }, { status: 503 }, { status: 401 }, {});
    const id = queued(await spot.post());
    assert.equal((await ended(spot)).state, "dead");
    assert.equal((await operator(id).deliver()).status, 202);
    assert.equal((await ended(spot)).state, "completed");
    await spot.ran(4);
  });

  test("nothing else is delivered by the operator", async () => {
    const held = await world.spot("/later", { held: true });
    const id = queued(await held.post());
    await held.arrived();
    const problem = await operator(id).deliver();
    assert.deepEqual([problem.status, problem.json.code], [409, "not_deliverable"]);
    await held.open();
    await ended(held);
    await held.ran(1);
    const absent = await operator("a".repeat(43)).deliver();
    assert.deepEqual([absent.status, absent.json.code], [404, "nothing_remembered"]);
    assert.equal((await operator("none").deliver()).status, 404);
    const path = `/.oncekey/keys/${id}/deliver`;
    assert.equal((await world.send({ path, lines: [["Authorization", "Bearer another"]] })).status, 401);
    const asked = await world.send({ method: "GET", path, lines: [["Authorization", `Bearer ${ADMIN}`]] });
    assert.deepEqual([asked.status, asked.one("allow")], [405, "POST"]);
  });

  for (const status of [401, 403, 407, 425]) {
    test(`${status} is tried again at most five times, and then dead`, async () => {
      const spot = await world.spot("/later", { status });
      queued(await spot.post());
      const found = await ended(spot);
      assert.deepEqual([found.state, found.status], ["dead", status]);
      await spot.ran(6);
    });
  }

  test("what waits is ended by the operator, and nothing of it is delivered any more", async () => {
    const spot = await world.spot("/later", { status: 503, lines: [["Retry-After", "2"]] }, {});
    const { release } = operator(queued(await spot.post()));
    await spot.arrived();
    await until(async () => (await release()).status === 204, "the delivery has ended");
    assert.equal((await spot.peek()).json.state, "absent");
    await pause(4000);
    await spot.ran(1);
  });

  test("each end has a line in the log, with all of the key", async () => {
    const spot = await world.spot("/later", { status: 410 });
    const id = queued(await spot.post());
    await ended(spot);
    await until(() => world.gate.told("dead", { key: id, status: 410 }), "the line");
  });
});

/** The scoped key that a spot's key will have: what the caller's other path of the same key had. @param {Spot} spot */
async function expected(spot) {
  const path = spot.path.replace("/probe/", "/later/first/");
  await world.origin.plan(path, { status: 404 });
  const id = queued(await spot.post({ path }));
  await ended(spot);
  assert.equal((await operator(id).release()).status, 204);
  return id;
}

describe("the gate dies", () => {
  test("at each phase by SIGKILL", async () => {
    const done = await world.spot("/later");
    const again = await world.spot("/later", { status: 503 }, {});
    const held = await world.spot("/later", { cut: "hang" });
    const rerun = await world.spot("/rerun", { cut: "hang" }, {});
    const lost = await world.spot("/probe", { cut: "hang" }, {});
    const found = await world.spot("/probe", { cut: "hang" });
    await world.origin.plan(`/lookup/${await expected(lost)}`, { status: 404 });
    await world.origin.plan(`/lookup/${await expected(found)}`, { status: 200 });
    const spots = [done, again, held, rerun, lost, found];
    const ids = [];
    for (const spot of spots) ids.push(queued(await spot.post()));
    await Promise.all(spots.map((spot) => spot.arrived()));
    assert.equal((await ended(done)).state, "completed");
    const last = await world.spot("/later");
    const id = queued(await last.post());
    await world.gate.kill("both");
    await world.gate.start();

    // Nobody can know what became of it: said at once, and not run again.
    assert.equal((await held.peek()).json.state, "unknown");
    refused(await held.post(), "outcome_unknown");
    for (const [at, spot] of spots.entries()) if (spot !== held) ignored(await spot.post(), ids[at]);
    const states = await Promise.all([...spots, last].map(async (spot) => (await ended(spot)).state));
    const fate = states.pop();
    assert.deepEqual(states, ["completed", "completed", "unknown", "completed", "completed", "completed"]);
    // The last one may have been under way when the gate died, or about to leave.
    assert.ok(fate === "completed" || fate === "unknown", fate);
    const ran = await last.effects();
    assert.ok(ran === 1 || (ran === 0 && fate === "unknown"), `${ran} effects, ${fate}`);
    for (const [at, spot] of spots.entries()) await spot.ran([1, 2, 1, 2, 2, 1][at]);
  });

  test("200 accepted while the origin is down, and the gate killed twice: each takes effect once", async () => {
    await world.origin.shut();
    const spots = await Promise.all(Array.from({ length: 200 }, () => world.spot("/down")));
    const ids = await Promise.all(spots.map(async (spot) => queued(await spot.post())));
    await world.gate.kill("both");
    await world.gate.start();
    assert.equal((await spots[0].peek()).json.state, "running");
    await world.gate.kill("both");
    await world.gate.start();
    await world.origin.listen();
    for (const spot of spots) assert.equal((await ended(spot)).state, "completed");
    assert.deepEqual(await Promise.all(spots.map((spot) => spot.effects())), Array(200).fill(1));
    assert.deepEqual(await Promise.all(spots.map((spot) => spot.scoped())), ids);
    for (const [at, spot] of spots.entries()) ignored(await spot.post(), ids[at]);
  });
});

describe("a policy that changes", () => {
  test("the terms are those of the moment in which it was accepted", async () => {
    const spot = await world.spot("/later", { status: 503, lines: [["Retry-After", "6"]] }, { cut: "before" }, {});
    const id = queued(await spot.post());
    await spot.arrived();
    await world.gate.stop();
    const before = readFileSync(world.gate.config, "utf8");
    writeFileSync(world.gate.config, JSON.stringify({ routes: [{ path: "/*", mode: "accept", unanswered: "rerun" }] }));
    await world.gate.start();
    assert.equal((await ended(spot)).state, "unknown", "it was accepted with hold");
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(2);
    assert.equal((await operator(id).deliver()).status, 202);
    assert.equal((await ended(spot)).state, "completed");
    await world.gate.stop();
    writeFileSync(world.gate.config, before);
    await world.gate.start();
  });
});
