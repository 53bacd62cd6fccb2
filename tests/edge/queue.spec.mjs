// @ts-check
// Queues: the runtime's own dispatch of batches, each message acknowledged or retried on its own.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { send } from "./client.mjs";
import { field, until, World } from "./gate.mjs";

/** @typedef {{ id: string, body: unknown, attempts?: number }} Message */
/** @typedef {{ acked: string[], retried: { id: string, delay: number }[] }} Result */

/** @type {World} */
let world;
before(async () => {
  const queues = {
    mail: { path: "/mail", key: "/event_id", unanswered: "hold" },
    ids: { path: "/ids", unanswered: "hold" },
    deep: { path: "/deep?by=queue", key: "/a/0/k", unanswered: "hold" },
    rerun: { path: "/rerun", unanswered: "rerun", lease: 2 },
    probe: { path: "/probe", unanswered: { probe: "/lookup/{key}" } },
    hang: { path: "/hang", unanswered: "hold", lease: 2 },
  };
  world = await World.start({ queues }, {}, undefined, true);
});
after(() => world?.end());

/** @param {string} queue @param {Message[]} messages @returns {Promise<Result>} */
async function dispatch(queue, ...messages) {
  const answer = await send(world.gate.queuePort, {
    path: `/${queue}`,
    content: JSON.stringify(messages),
    lines: [["Content-Type", "application/json"]],
  });
  assert.equal(answer.status, 200, answer.brief);
  return answer.json;
}

let count = 0;
/** @param {object} [more] */
const event = (more = {}) => ({ event_id: `event-${++count}`, ...more });
const ids = (/** @type {Result} */ result) => result.retried.map(({ id }) => id);

/** What the origin saw of an event. @param {string} path @param {string} event_id */
const effects = async (path, event_id) =>
  (await world.origin.seen(path)).filter(({ content }) => JSON.parse(content).event_id === event_id);

describe("queues", () => {
  test("a message is POSTed as JSON under the key of its event", async () => {
    const body = event({ to: "ann", n: [1, 2.5, null] });
    assert.deepEqual(await dispatch("mail", { id: "m1", body }), { acked: ["m1"], retried: [] });
    const [seen] = await effects("/mail", body.event_id);
    assert.deepEqual([seen.method, seen.target, seen.content], ["POST", "/mail", JSON.stringify(body)]);
    assert.equal(field(seen, "content-type"), "application/json");
    assert.match(field(seen, "idempotency-key"), /^"[\w-]{43}"$/);
    assert.ok(!seen.lines.some(([name]) => /oncekey/i.test(name)));
  });

  test("three times, twice in one batch and once after a kill: one effect, three acknowledgements", async () => {
    const message = { id: "m1", body: event() };
    assert.deepEqual(await dispatch("mail", message, message), { acked: ["m1", "m1"], retried: [] });
    await world.gate.kill("both");
    await world.gate.start();
    assert.deepEqual(await dispatch("mail", { ...message, attempts: 2 }), { acked: ["m1"], retried: [] });
    assert.equal((await effects("/mail", message.body.event_id)).length, 1);
  });

  test("one event in two messages is one effect; without a pointer the id is the key", async () => {
    const body = event();
    assert.deepEqual((await dispatch("mail", { id: "a", body }, { id: "b", body })).acked, ["a", "b"]);
    assert.equal((await effects("/mail", body.event_id)).length, 1);
    const other = event();
    assert.deepEqual((await dispatch("ids", { id: "a", body: other }, { id: "b", body: other })).acked, ["a", "b"]);
    assert.equal((await effects("/ids", other.event_id)).length, 2);
    assert.deepEqual((await dispatch("ids", { id: "a", body: other, attempts: 2 })).acked, ["a"]);
    assert.equal((await effects("/ids", other.event_id)).length, 2);
  });

  test("queues do not share keys, and a deep pointer finds its own", async () => {
    await dispatch("deep", { id: "a", body: { a: [{ k: "x" }], n: 1 } }, { id: "b", body: { a: [{ k: "y" }] } });
    await dispatch("ids", { id: "x", body: {} });
    const keys = (await world.origin.seen("/deep")).map((seen) => field(seen, "idempotency-key"));
    const [other] = (await world.origin.seen("/ids")).slice(-1);
    assert.equal(new Set([...keys, field(other, "idempotency-key")]).size, 3);
    assert.equal((await world.origin.seen("/deep"))[0].target, "/deep?by=queue");
  });

  test("a poison message holds nobody up: nine acknowledged, one retried", async () => {
    const known = event({ n: 1 });
    await dispatch("mail", { id: "known", body: known });
    const messages = Array.from({ length: 10 }, (_, at) => ({ id: `p${at}`, body: /** @type {any} */ (event()) }));
    messages[4].body = { ...known, n: 2 };
    const result = await dispatch("mail", ...messages);
    assert.deepEqual(result.acked, messages.map(({ id }) => id).filter((id) => id !== "p4"));
    assert.deepEqual(ids(result), ["p4"]);
    assert.ok(result.retried[0].delay >= 1);
    assert.equal((await effects("/mail", known.event_id)).length, 1);
  });

  for (const [what, body] of /** @type {[string, unknown][]} */ ([
    ["over-long", { event_id: "x".repeat(256) }],
    ["blank", { event_id: " " }],
    ["outside ASCII", { event_id: "é" }],
  ])) {
    test(`a key that is ${what} is retried and never sent`, async () => {
      const before = await world.origin.effects("/mail");
      const good = event();
      const result = await dispatch("mail", { id: "bad", body }, { id: "good", body: good });
      assert.deepEqual([result.acked, ids(result)], [["good"], ["bad"]]);
      assert.equal(await world.origin.effects("/mail"), before + 1);
    });
  }

  for (const value of [true, null, 7.5, { a: 1 }, [], 2 ** 53, "\ud800", 1e21]) {
    test(`${JSON.stringify(value)} at the pointer is no key: retried and never sent, and its id is not in its place`, async () => {
      const before = await world.origin.effects("/mail");
      const bad = { id: "bad", body: { event_id: value } };
      for (const attempts of [1, 2]) assert.deepEqual(ids(await dispatch("mail", { ...bad, attempts })), ["bad"]);
      assert.equal(await world.origin.effects("/mail"), before);
    });
  }

  test("a whole number is a key by its digits, and a text that is JSON is that JSON", async () => {
    const n = 1_000_000 + Math.floor(Math.random() * 1_000_000);
    const before = await world.origin.effects("/mail");
    const body = { event_id: n, x: 1 };
    for (const id of ["a", "b"]) assert.deepEqual((await dispatch("mail", { id, body })).acked, [id]);
    assert.deepEqual((await dispatch("mail", { id: "c", body: JSON.stringify(body) })).acked, ["c"]);
    assert.equal(await world.origin.effects("/mail"), before + 1);
    assert.deepEqual(ids(await dispatch("mail", { id: "d", body: { event_id: `${n}`, x: 1 } })), ["d"]);
    assert.deepEqual((await dispatch("mail", { id: "e", body: { event_id: -n, x: 1 } })).acked, ["e"]);
    assert.equal(await world.origin.effects("/mail"), before + 2);
    const text = `{ "event_id" : "t-${n}" }`;
    assert.deepEqual((await dispatch("mail", { id: "f", body: text })).acked, ["f"]);
    assert.equal((await world.origin.seen("/mail")).at(-1)?.content, text);
  });

  test("an id is no key: the same text in the one place and in the other are two", async () => {
    const before = await world.origin.effects("/mail");
    const text = `both-${++count}`;
    const result = await dispatch("mail", { id: "x", body: { event_id: text } }, { id: text, body: {} });
    assert.deepEqual(result.acked, ["x", text]);
    assert.equal(await world.origin.effects("/mail"), before + 2);
  });

  test("where nothing is at the pointer the id is the key, and any JSON is content", async () => {
    const bodies = [{}, "text", 5, null, [1], true, { event: 7 }];
    const before = await world.origin.effects("/mail");
    const messages = bodies.map((body, at) => ({ id: `any-${at}`, body }));
    assert.equal((await dispatch("mail", ...messages)).acked.length, bodies.length);
    assert.equal((await dispatch("mail", ...messages)).acked.length, bodies.length);
    const seen = (await world.origin.seen("/mail")).slice(before);
    assert.deepEqual(seen.map(({ content }) => content).sort(), bodies.map((body) => JSON.stringify(body)).sort());
  });

  /** A place that nobody may be sent to. @type {[string, string][]} */
  const AWAY = [["Location", "/elsewhere"]];
  /** The queue, answers, what becomes of the message at each delivery, and how many effects there are. @typedef {[string, import("./origin.mjs").Step[], string[], number]} Row */
  /** @type {Row[]} */
  const TABLE = [
    ["ids", [{ status: 204, content: "" }], ["acked", "acked"], 1],
    ["ids", [{ status: 422 }], ["acked", "acked"], 1],
    ["ids", [{ status: 503 }, {}], ["retried", "acked", "acked"], 2],
    ["ids", [{ status: 429 }, { status: 500 }, { status: 403 }, {}], ["retried", "retried", "retried", "acked"], 4],
    ["ids", [{ status: 307 }, { status: 308 }, {}], ["retried", "retried", "acked", "acked"], 3],
    ["ids", [{ status: 307, lines: AWAY }, { status: 308, lines: AWAY }, {}], ["retried", "retried", "acked", "acked"], 3],
    ...[301, 302, 303].map((status) => /** @type {Row} */ (["ids", [{ status, lines: AWAY }, {}], ["acked", "acked"], 1])),
    ["ids", [{ status: 521 }, {}], ["retried", "acked"], 2],
    ["ids", [{ cut: "before" }, {}], ["retried", "retried", "retried"], 1],
    ["ids", [{ status: 504 }, {}], ["retried", "retried"], 1],
    ["hang", [{ cut: "hang" }, {}], ["retried", "retried"], 1],
    ["rerun", [{ cut: "before" }, {}], ["retried", "acked", "acked"], 2],
    ["ids", [{ content: "x".repeat(5_000_000) }], ["acked", "acked"], 1],
  ];
  for (const [at, [queue, steps, fates, effects]] of TABLE.entries()) {
    test(`${queue}: ${steps.map((step) => step.cut ?? step.status ?? 201).join(", ")}`, async () => {
      const id = `table-${at}`;
      const before = await world.origin.effects(`/${queue}`);
      await world.origin.plan(`/${queue}`, ...Array(before).fill({}), ...steps);
      for (const [delivery, fate] of fates.entries()) {
        const result = await dispatch(queue, { id, body: { at }, attempts: delivery + 1 });
        assert.deepEqual([result.acked.length, ids(result).length], fate === "acked" ? [1, 0] : [0, 1], `delivery ${delivery + 1}`);
      }
      assert.equal(await world.origin.effects(`/${queue}`), before + effects);
      assert.equal(await world.origin.effects("/elsewhere"), 0, "a redirect was followed");
      await world.origin.plan(`/${queue}`);
    });
  }

  test("the origin's wish is a lower bound, the back-off grows", async () => {
    const seen = await world.origin.effects("/ids");
    const later = new Date(Date.now() + 3_600_000).toUTCString();
    await world.origin.plan(
      "/ids",
      ...Array(seen).fill({}),
      { status: 503, lines: [["Retry-After", "120"]] },
      { status: 429, lines: [["Retry-After", later]] },
      { status: 503 },
    );
    const delay = async (/** @type {number} */ attempts) =>
      (await dispatch("ids", { id: "wish", body: {}, attempts })).retried[0].delay;
    assert.ok((await delay(1)) >= 120);
    assert.ok((await delay(1)) >= 3_500);
    assert.ok((await delay(1)) <= 2);
    assert.ok((await delay(8)) >= 128);
    assert.ok((await delay(1000)) <= 600);
    await world.origin.plan("/ids");
  });

  test("a probe is asked at the next delivery", async () => {
    await world.origin.plan("/probe", { cut: "before" }, {});
    assert.equal((await dispatch("probe", { id: "p", body: {} })).retried.length, 1);
    const [seen] = await world.origin.seen("/probe");
    const lookup = `/lookup/${field(seen, "idempotency-key").replaceAll('"', "")}`;
    await world.origin.plan(lookup, { status: 500 }, { status: 200 });
    assert.equal((await dispatch("probe", { id: "p", body: {}, attempts: 2 })).retried.length, 1);
    assert.equal((await dispatch("probe", { id: "p", body: {}, attempts: 3 })).acked.length, 1);
    assert.equal(await world.origin.effects("/probe"), 1);
  });

  test("one that runs is retried and not run", async () => {
    const seen = await world.origin.effects("/ids");
    await world.origin.plan("/ids", ...Array(seen).fill({}), { held: true });
    const first = dispatch("ids", { id: "slow", body: {} });
    await world.origin.arrived("/ids", seen + 1);
    assert.deepEqual(ids(await dispatch("ids", { id: "slow", body: {} })), ["slow"]);
    await world.origin.open("/ids");
    assert.deepEqual((await first).acked, ["slow"]);
    assert.deepEqual((await dispatch("ids", { id: "slow", body: {} })).acked, ["slow"]);
    assert.equal(await world.origin.effects("/ids"), seen + 1);
    await world.origin.plan("/ids");
  });

  test("a hundred messages are under way six at a time, and all are done", async () => {
    const messages = Array.from({ length: 100 }, (_, at) => ({ id: `many-${at}`, body: { at } }));
    const before = await world.origin.effects("/ids");
    assert.equal((await dispatch("ids", ...messages)).acked.length, 100);
    assert.equal(await world.origin.effects("/ids"), before + 100);
  });

  test("a queue that the policy does not name retries everything", async () => {
    assert.deepEqual(ids(await dispatch("none", { id: "a", body: {} }, { id: "b", body: {} })), ["a", "b"]);
    await until(() => world.gate.lines.some(({ oncekey, detail }) => oncekey === "misconfigured" && /no queue "none"/.test(detail)), "a line for the operator");
  });
});
