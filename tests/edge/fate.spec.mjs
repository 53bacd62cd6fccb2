// @ts-check
// Which answers are final: each class of answer under each policy, what the first caller and the next attempt get.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ADMIN, executed, field, pause, refused, replayed, until, World } from "./gate.mjs";

/** @typedef {import("./origin.mjs").Step} Step */
/** @typedef {{ keep?: string, server_error?: string, unanswered?: unknown }} Terms */
/** What an attempt gets: the origin's answer, that and the mark of an unknown fate, a replay, or a refusal's code. */
/** @typedef {"pass" | "pass unknown" | "replay" | "outcome_unknown" | "origin_unanswered" | "origin_unreachable"} Gets */

const PROBE = { probe: "/lookup/{key}?by=key" };
/** @param {Terms} terms */
const route = (terms) => `/${JSON.stringify(terms).replace(/[^a-z]+/g, "-")}`;

/** Each class of answer: name, answers, terms, what the first attempt and the second get. @type {[string, (number | Step)[], Terms, Gets, Gets][]} */
const TABLE = [
  ["done", [200, 202, 204, 299, 300, 301, 302, 303, 304], {}, "pass", "replay"],
  ["done", [200, 302], { keep: "definite", server_error: "hold", unanswered: "rerun" }, "pass", "replay"],
  ["declined, success", [400, 402, 404, 409, 410, 422, 428, 451], {}, "pass", "pass"],
  ["declined, definite", [400, 404, 409, 422, 451], { keep: "definite" }, "pass", "replay"],
  ["never consumes", [307, 308, 401, 403, 407, 425, 429, 503], { keep: "definite", server_error: "keep" }, "pass", "pass"],
  ["never consumes", [307, 308, 429, 503], { server_error: "hold" }, "pass", "pass"],
  ["never reached", [521, 523, 525, 526, 530], {}, "origin_unreachable", "origin_unreachable"],
  [
    "never reached",
    [521, 530],
    { server_error: "keep", unanswered: "rerun" },
    "origin_unreachable",
    "origin_unreachable",
  ],
  ["ambiguous, release", [500, 501, 505, 527, 599], {}, "pass", "pass"],
  ["ambiguous, hold", [500, 501, 507, 599], { server_error: "hold" }, "pass unknown", "outcome_unknown"],
  ["ambiguous, hold", [500], { server_error: "hold", unanswered: "rerun" }, "pass unknown", "outcome_unknown"],
  ["ambiguous, hold", [500], { server_error: "hold", unanswered: PROBE }, "pass unknown", "outcome_unknown"],
  ["ambiguous, keep", [500, 501, 505, 599], { server_error: "keep" }, "pass", "replay"],
  [
    "unanswered, hold",
    [408, 502, 504, 520, 522, 524, { cut: "before" }, { cut: "head" }],
    {},
    "outcome_unknown",
    "outcome_unknown",
  ],
  ["unanswered, hold", [408, 502], { keep: "definite", server_error: "keep" }, "outcome_unknown", "outcome_unknown"],
  [
    "unanswered, rerun",
    [408, 502, 504, 520, 522, 524, { cut: "before" }, { cut: "head" }],
    { unanswered: "rerun" },
    "origin_unanswered",
    "origin_unanswered",
  ],
  ["unanswered, rerun", [504], { server_error: "hold", unanswered: "rerun" }, "origin_unanswered", "origin_unanswered"],
];

/** @type {World} */
let world;
before(async () => {
  const terms = [
    ...new Set([...TABLE.map(([, , terms]) => JSON.stringify(terms)), JSON.stringify({ unanswered: PROBE })]),
  ];
  world = await World.start({
    routes: [
      ...terms.map((text) => ({ path: `${route(JSON.parse(text))}/*`, ...JSON.parse(text) })),
      { path: "/lease-hold/*", lease: 2, patience: 10 },
      { path: "/lease-run/*", lease: 2, patience: 10, unanswered: "rerun" },
      { path: "/lease-long/*", lease: 2, patience: 1 },
      { path: "/lease-wait/*", lease: 2, patience: 10, wait: 20 },
      // Attempts with a precondition and without one: it is not what they differ in here.
      { path: "/lease-probe/*", lease: 2, patience: 10, unanswered: PROBE, headers: [] },
    ],
  });
});
after(() => world?.end());

/** @param {import("./client.mjs").Answer} answer @param {Gets} gets @param {number} status @param {import("./client.mjs").Answer} [first] */
function check(answer, gets, status, first) {
  switch (gets) {
    case "pass":
      return executed(answer, status);
    case "pass unknown":
      assert.deepEqual([answer.status, answer.word, answer.whole], [status, "unknown", true], answer.brief);
      return;
    case "replay":
      assert.ok(first);
      return replayed(answer, first);
    default:
      refused(answer, gets);
      // The origin's status is named where there was one.
      if (status) assert.ok(answer.text.includes(String(status)), answer.text);
  }
}

describe("class and policy", { concurrency: 8 }, () => {
  for (const [name, answers, terms, one, two] of TABLE) {
    for (const given of answers) {
      const step = typeof given === "number" ? { status: given } : given;
      const what = step.status ?? `drops ${step.cut === "head" ? "in the head" : "before the head"}`;
      test(`${name} ${JSON.stringify(terms)}: ${what}`, async () => {
        const status = step.status ?? 0;
        const spot = await world.spot(route(terms), step);
        const first = await spot.post();
        check(first, one, status);
        const held = two === "replay" || two === "outcome_unknown";
        if (held) refused(await spot.post({ content: "{}" }), "idempotency_key_reused");
        check(await spot.post(), two, status, first);
        await spot.ran(held ? 1 : 2);
        const state = two === "replay" ? "completed" : held ? "unknown" : "absent";
        assert.equal((await spot.peek()).json.state, state);
        const keys = (await spot.seen()).map((seen) => field(seen, "idempotency-key"));
        assert.equal(new Set(keys).size, 1, "the scoped key changed");
      });
    }
  }

  test("a key that stays free takes other content, and what is done then stays", async () => {
    const spot = await world.spot(route({}), { status: 422 }, { status: 201 });
    executed(await spot.post({ content: '{"item":""}' }), 422);
    const done = await spot.post();
    executed(done);
    replayed(await spot.post(), done);
    refused(await spot.post({ content: '{"item":""}' }), "idempotency_key_reused");
    await spot.ran(2);
  });

  test("Retry-After is the origin's where the answer is", async () => {
    const spot = await world.spot(route({}), { status: 503, lines: [["Retry-After", "77"]] });
    const answer = await spot.post();
    executed(answer, 503);
    assert.deepEqual(answer.all("retry-after"), ["77"]);
  });
});

test("an unknown fate names its scoped key, by which the operator releases it", async () => {
  const spot = await world.spot("/lease-hold", { cut: "before" }, { content: "second" });
  for (let n = 0; n < 2; n++) {
    const answer = await spot.post();
    refused(answer, "outcome_unknown");
    assert.equal(answer.json.instance, `/.oncekey/keys/${await spot.scoped()}`);
  }
  const { instance } = (await spot.post()).json;
  const lines = /** @type {[string, string][]} */ ([["Authorization", `Bearer ${ADMIN}`]]);
  assert.equal((await world.send({ method: "DELETE", path: instance, lines })).status, 204);
  executed(await spot.post());
  await spot.ran(2);
});

describe("probe", { concurrency: 8 }, () => {
  /** What says how the first request's content is, or under which condition it is to be taken. @type {[string, string][]} */
  const PRECONDITIONS = [
    ["If-Match", '"a"'],
    ["If-None-Match", "*"],
    ["If-Unmodified-Since", "Mon, 01 Jan 2024 00:00:00 GMT"],
    ["If-Range", '"a"'],
    ["Range", "bytes=0-1"],
    ["Content-Digest", "sha-256=:AA==:"],
    ["Content-Language", "en"],
  ];
  /** Resolves when the lease of a first execution is over: what is said before then counts for nothing. @param {import("./gate.mjs").Spot} spot */
  const leaseOver = async (spot) => {
    const early = await spot.post({ more: PRECONDITIONS });
    refused(early, "request_in_progress");
    await spot.ran(1);
    const seconds = Number(early.one("retry-after"));
    assert.ok(seconds <= 2, `${seconds} s`);
    await pause(seconds * 1000);
  };
  /** The first attempt is lost; what the origin then says of the key decides. @param {string} name @param {Step[]} found @param {(spot: import("./gate.mjs").Spot, lookup: string) => Promise<void>} then @param {string} [at] */
  const probed = (name, found, then, at = "/lease-probe") =>
    test(name, async () => {
      const spot = await world.spot(at, { cut: "before" }, { content: "second" });
      refused(await spot.post({ more: PRECONDITIONS }), "outcome_unknown");
      const lookup = `/lookup/${await spot.scoped()}`;
      assert.equal(await world.origin.effects(lookup), 0, "asked before it had to be");
      await world.origin.plan(lookup, ...found);
      await then(spot, lookup);
    });
  const answer = { status: 200, content: "found", lines: /** @type {[string, string][]} */ ([["X-From", "lookup"]]) };

  probed("2xx is the answer, and is kept", [answer], async (spot, lookup) => {
    const learnt = await spot.post();
    assert.deepEqual([learnt.status, learnt.text, learnt.one("x-from")], [200, "found", "lookup"]);
    const again = await spot.post();
    replayed(again, again);
    assert.deepEqual([again.status, again.text], [200, "found"]);
    await spot.ran(1);
    const asked = await world.origin.seen(lookup);
    assert.deepEqual(
      asked.map(({ method, target }) => [method, target]),
      [["GET", `${lookup}?by=key`]],
    );
    assert.equal(field(asked[0], "authorization"), "Bearer ann");
  });
  probed("404 lets it run when the lease is over and not before, with the same scoped key", [{ status: 404 }], async (spot, lookup) => {
    await leaseOver(spot);
    for (const { lines } of await world.origin.seen(lookup)) {
      const told = lines.map(([name]) => name.toLowerCase()).filter((name) => /^(if-|range|content-)/.test(name));
      assert.deepEqual(told, []);
    }
    const second = await spot.post();
    executed(second);
    assert.equal(second.text, "second");
    replayed(await spot.post(), second);
    await spot.ran(2);
    assert.equal(await spot.scoped(1), await spot.scoped(0));
  });
  for (const step of /** @type {Step[]} */ ([
    { status: 500 },
    { status: 401 },
    { status: 302, lines: [["Location", "/"]] },
    { status: 410 },
    { status: 503 },
    { cut: "before" },
    { raw: "what?\r\n\r\n" },
  ])) {
    probed(
      `${step.status ?? step.cut ?? "garbage"} leaves it unknown, and it is asked again`,
      [step],
      async (spot, lookup) => {
        refused(await spot.post(), "outcome_unknown");
        assert.equal((await spot.peek()).json.state, "unknown");
        // At least one: the runtime itself repeats a GET whose connection drops.
        const asked = await world.origin.effects(lookup);
        assert.ok(asked >= 1);
        await world.origin.plan(lookup, answer);
        assert.equal((await spot.post()).text, "found");
        await spot.ran(1);
        assert.equal(await world.origin.effects(lookup), asked + 1);
      },
    );
  }
  probed("an effect that lands after an early 404 is found, and is the only one", [{ status: 404 }, answer], async (spot) => {
    await leaseOver(spot);
    assert.equal((await spot.post()).text, "found");
    await spot.ran(1);
  });
  probed("other content under the key is refused without asking", [{ status: 404 }], async (spot, lookup) => {
    refused(await spot.post({ content: "{}" }), "idempotency_key_reused");
    assert.equal(await world.origin.effects(lookup), 0);
  });
  probed("ten attempts at once after a 404: one runs", [{ status: 404 }], async (spot) => {
    await leaseOver(spot);
    const answers = await Promise.all(Array.from({ length: 10 }, () => spot.post()));
    assert.equal(answers.filter((answer) => answer.word === "executed").length, 1);
    for (const answer of answers) assert.ok(answer.status === 201 || answer.status === 409, answer.brief);
    await spot.ran(2);
  });
  probed(
    "a probe that hangs leaves it unknown",
    [{ cut: "hang" }],
    async (spot) => {
      refused(await spot.post(), "outcome_unknown");
      await spot.ran(1);
    },
    "/lease-probe",
  );
});

describe("lease", { concurrency: 8 }, () => {
  test("hold: the end of the lease is the end of knowing, and the origin is let go", async () => {
    const spot = await world.spot("/lease-hold", { cut: "hang" });
    refused(await spot.post(), "outcome_unknown");
    await world.origin.left(spot.path);
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
  });
  test("rerun: the next attempt runs", async () => {
    const spot = await world.spot("/lease-run", { cut: "hang" }, {});
    refused(await spot.post(), "origin_unanswered");
    executed(await spot.post());
    await spot.ran(2);
  });
  test("patience ends before the lease: in progress, then unknown", async () => {
    const spot = await world.spot("/lease-long", { cut: "hang" });
    refused(await spot.post(), "request_in_progress");
    refused(await spot.post(), "request_in_progress");
    assert.equal((await spot.peek("?wait=20")).json.state, "unknown");
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
  });
  test("a duplicate that waits hears of the end, too", async () => {
    const spot = await world.spot("/lease-wait", { cut: "hang" });
    const first = spot.post();
    await spot.arrived();
    refused(await spot.post(), "outcome_unknown");
    refused(await first, "outcome_unknown");
    await spot.ran(1);
  });
  test("an answer that keeps talking outlives its lease", async () => {
    const parts = Array.from({ length: 5 }, (_, n) => `${n}`);
    const spot = await world.spot("/lease-hold", { parts });
    const first = spot.post();
    await spot.arrived();
    for (const _ of parts) await new Promise((resolve) => setTimeout(resolve, 700)).then(() => spot.open());
    executed(await first);
    assert.equal((await first).text, "01234");
    replayed(await spot.post(), await first);
    await spot.ran(1);
  });
  test("silence in the middle of an answer is a broken one", async () => {
    const spot = await world.spot("/lease-hold", { parts: ["one", "two"] });
    const first = await spot.post();
    assert.ok(!first.whole || first.status === 409, first.brief);
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
  });
});

describe("content that breaks off", { concurrency: 8 }, () => {
  const long = "x".repeat(200_000);
  /** @param {string} name @param {Step} step */
  const breaks = (name, step) => {
    test(`${name}, hold: never half an answer twice`, async () => {
      const spot = await world.spot(route({}), step);
      const first = await spot.post();
      if (first.whole) refused(first, "outcome_unknown");
      await until(async () => (await spot.peek("?wait=10")).json.state !== "running", "settled");
      refused(await spot.post(), "outcome_unknown");
      await spot.ran(1);
    });
    test(`${name}, rerun: the next attempt runs`, async () => {
      const spot = await world.spot(route({ unanswered: "rerun" }), step, {});
      const first = await spot.post();
      if (first.whole) refused(first, "origin_unanswered");
      await until(async () => (await spot.peek("?wait=10")).json.state !== "running", "settled");
      executed(await spot.post());
      await spot.ran(2);
    });
  };
  breaks("announced, no byte of it", { cut: "content", content: "x" });
  breaks("announced, half", { cut: "content", content: "abcdef" });
  breaks("announced, half of much", { cut: "content", content: long });
  breaks("chunked, no byte", { cut: "content", framing: "chunked", content: "x" });
  breaks("chunked, half", { cut: "content", framing: "chunked", content: "abcdef" });
  breaks("chunked, half of much", { cut: "content", framing: "chunked", content: long });

  test("a 503 without its content leaves the key free", async () => {
    const spot = await world.spot(route({}), { status: 503, cut: "content", content: "abcdef" }, {});
    const first = await spot.post();
    assert.ok(!first.whole || first.status === 503, first.brief);
    executed(await spot.post());
    await spot.ran(2);
  });
});

describe("without a key", { concurrency: 8 }, () => {
  const BYPASSED = "bypassed;reason=no-key";
  for (const step of /** @type {Step[]} */ ([
    { cut: "before" },
    { cut: "head" },
    { raw: "what?\r\n\r\n" },
    { status: 999, content: "no" },
  ])) {
    test(`${step.status ?? step.cut ?? "garbage"}: 502, nobody knows, and nobody is told to try again`, async () => {
      const spot = await world.spot(route({}), step);
      const answer = await spot.post({ key: null });
      assert.deepEqual([answer.status, answer.json.code, answer.word], [502, "origin_unanswered", BYPASSED], answer.brief);
      assert.equal(answer.one("retry-after"), undefined);
      assert.match(answer.json.detail, /not known/);
      assert.doesNotMatch(answer.text, /nothing was run|honours it/i);
      await spot.ran(1);
    });
  }
  test("an origin that is a gateway to a silent one is passed on as it is", async () => {
    const spot = await world.spot(route({}), { status: 504, content: "late" });
    const answer = await spot.post({ key: null });
    assert.deepEqual([answer.status, answer.text, answer.word], [504, "late", BYPASSED]);
  });
  test("under a key a status that nobody can read is of unknown fate", async () => {
    const spot = await world.spot(route({}), { status: 999, content: "no" });
    const answer = await spot.post();
    refused(answer, "outcome_unknown");
    assert.doesNotMatch(answer.text, /nothing was run|honours it/i);
    await spot.ran(1);
  });
});
