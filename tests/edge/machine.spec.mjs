// @ts-check
// State transitions: one winner, its effect once, whoever asks and whenever the gate dies.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { field, pause, until, World } from "./gate.mjs";

/** @typedef {import("./client.mjs").Answer} Answer */

const SERVICE = "a backend's secret";
const POLICY = {
  routes: [
    { path: "/payouts/rerun", unanswered: "rerun", lease: 2 },
    { path: "/*", unanswered: "hold" },
  ],
  machines: {
    refund: {
      initial: "pending",
      transitions: {
        approve: { from: ["pending"], to: "approved", effect: "/payouts/rerun" },
        reject: { from: ["pending"], to: "rejected" },
      },
    },
    light: {
      initial: "off",
      transitions: {
        on: { from: ["off"], to: "on", effect: "/lights?by=gate" },
        off: { from: ["on"], to: "off" },
      },
    },
    bill: { initial: "open", transitions: { pay: { from: ["open"], to: "paid", effect: "/bills" } } },
  },
};

/** @type {World} */
let world;
before(async () => {
  world = await World.start(POLICY, { ONCEKEY_SERVICE: SERVICE });
});
after(() => world?.end());

/** @type {[string, string][]} */
const BEARER = [["Authorization", `Bearer ${SERVICE}`]];
let entities = 0;
const fresh = () => `${++entities}`;

/** @param {string} path @param {string | Buffer} [content] @param {[string, string][]} [lines] */
const post = (path, content, lines = BEARER) =>
  world.send({ path: `/.oncekey/machines/${path}`, content, lines: [...lines, ["Content-Type", "application/json"]] });
/** @param {string} path @param {[string, string][]} [lines] */
const get = (path, lines = BEARER) => world.send({ method: "GET", path: `/.oncekey/machines/${path}`, lines });

/** What the origin saw of an entity's effects. @param {string} path @param {string} id */
const effects = async (path, id) =>
  (await world.origin.seen(path)).filter((seen) => JSON.parse(Buffer.from(seen.content, "latin1").toString()).id === id);
/** @param {string} path @param {string} id @param {number} [count] */
const delivered = (path, id, count = 1) => until(async () => (await effects(path, id)).length >= count, "delivered", 40_000);

/** @param {Answer} answer @param {string} state @param {boolean} won */
function moved(answer, state, won) {
  assert.deepEqual([answer.status, answer.json], [200, { state, won }], answer.brief);
  assert.equal(answer.one("cache-control"), "no-store");
}

/** @param {Answer} answer @param {number} status @param {string} code */
function problem(answer, status, code) {
  assert.deepEqual([answer.status, answer.json.code, answer.json.status], [status, code, status], answer.brief);
  assert.equal(answer.one("content-type"), "application/problem+json");
  return answer.json;
}

describe("transitions", () => {
  test("one wins, its effect is sent once, and the others hear the truth", async () => {
    const id = fresh();
    assert.deepEqual((await get(`refund/${id}`)).json, { state: "pending", version: 0, history: [] });
    moved(await post(`refund/${id}/approve`, '{"by": "ann", "amount": 1.50}'), "approved", true);
    moved(await post(`refund/${id}/approve`, '{"by":"bob"}'), "approved", false);
    const conflict = problem(await post(`refund/${id}/reject`), 409, "state_conflict");
    assert.equal(conflict.state, "approved");
    assert.match(conflict.detail, /approved/);
    const { state, version, history } = (await get(`refund/${id}`)).json;
    assert.deepEqual([state, version, history.length], ["approved", 1, 1]);
    assert.deepEqual([history[0].transition, history[0].by], ["approve", "ann"]);
    assert.match(history[0].time, /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    await delivered("/payouts/rerun", id);
    const [seen] = await effects("/payouts/rerun", id);
    assert.deepEqual([seen.method, seen.target], ["POST", "/payouts/rerun"]);
    assert.equal(seen.content, `{"machine":"refund","id":"${id}","transition":"approve","body":{"by": "ann", "amount": 1.50}}`);
    assert.equal(field(seen, "content-type"), "application/json");
    assert.match(field(seen, "idempotency-key"), /^"[\w-]{43}"$/);
    assert.ok(!seen.lines.some(([name]) => /^authorization$/i.test(name)), "the secret stays here");
  });

  test("a cycle has an effect for each time round", async () => {
    const id = fresh();
    for (const [name, state] of [["on", "on"], ["off", "off"], ["on", "on"], ["off", "off"], ["on", "on"]]) {
      moved(await post(`light/${id}/${name}`), state, true);
    }
    await delivered("/lights", id, 3);
    const seen = await effects("/lights", id);
    assert.equal(seen.length, 3);
    assert.equal(new Set(seen.map((each) => field(each, "idempotency-key"))).size, 3);
    assert.deepEqual(new Set(seen.map((each) => each.target)), new Set(["/lights?by=gate"]));
    assert.equal((await get(`light/${id}`)).json.version, 5);
  });

  test("an effect that is not taken is sent again, and one that is declined is not", async () => {
    const [again, declined] = [fresh(), fresh()];
    await world.origin.plan("/bills", { status: 503 }, { status: 500 }, {});
    moved(await post(`bill/${again}/pay`), "paid", true);
    await delivered("/bills", again, 3);
    await world.origin.plan("/bills", { status: 422 });
    moved(await post(`bill/${declined}/pay`), "paid", true);
    await delivered("/bills", declined);
    moved(await post(`bill/${declined}/pay`), "paid", false);
    await pause(3000);
    assert.deepEqual([(await effects("/bills", again)).length, (await effects("/bills", declined)).length], [3, 1]);
  });

  test("an entity's name may be any text", async () => {
    const id = `a/b ü ${fresh()}`;
    const path = encodeURIComponent(id);
    moved(await post(`refund/${path}/approve`), "approved", true);
    assert.equal((await get(`refund/${path}`)).json.state, "approved");
    await delivered("/payouts/rerun", id);
  });

  test("content that is no JSON changes nothing", async () => {
    const id = fresh();
    assert.match(problem(await post(`refund/${id}/approve`, '{"by":'), 400, "content_invalid").detail, /line 1, column 7/);
    assert.match(problem(await post(`refund/${id}/approve`, '{"by":1,"by":2}'), 400, "content_invalid").detail, /twice/);
    problem(await post(`refund/${id}/approve`, `"${"x".repeat(900_000)}"`), 413, "content_too_large");
    assert.equal((await get(`refund/${id}`)).json.version, 0);
    moved(await post(`refund/${id}/approve`, `"${"x".repeat(800_000)}"`), "approved", true);
    await delivered("/payouts/rerun", id);
  });

  test("for backends with the secret alone", async () => {
    for (const lines of /** @type {[string, string][][]} */ ([[], [["Authorization", "Bearer x"]], [["Authorization", SERVICE]]])) {
      problem(await post("refund/1/approve", undefined, lines), 401, "unauthorized");
      problem(await get("refund/1", lines), 401, "unauthorized");
      problem(await get("none/1", lines), 401, "unauthorized");
    }
    for (const path of ["none/1", "refund", "refund/1/approve/x", "refund/%20"]) problem(await get(path), 404, "no_such_endpoint");
    problem(await post("refund/1/pay"), 404, "no_such_endpoint");
    problem(await get("refund/1/approve"), 405, "method_not_allowed");
    problem(await post("refund/1"), 405, "method_not_allowed");
    assert.equal((await world.send({ method: "HEAD", path: "/.oncekey/machines/refund/1", lines: BEARER })).status, 200);
  });

  test("50 approve and 50 reject at once: one winner, one payout or none", async () => {
    const ids = [fresh(), fresh(), fresh()];
    for (const id of ids) {
      const names = Array.from({ length: 100 }, (_, at) => (at % 2 ? "approve" : "reject"));
      const answers = await Promise.all(names.map(async (name) => ({ name, answer: await post(`refund/${id}/${name}`) })));
      const winners = answers.filter(({ answer }) => answer.status === 200 && answer.json.won);
      assert.equal(winners.length, 1);
      const { state } = winners[0].answer.json;
      for (const { name, answer } of answers) {
        if (answer === winners[0].answer) continue;
        if (`${name.replace(/e$/, "")}ed` === state) moved(answer, state, false);
        else assert.equal(problem(answer, 409, "state_conflict").state, state);
      }
      const history = (await get(`refund/${id}`)).json;
      assert.deepEqual([history.state, history.version], [state, 1]);
      if (state === "approved") await delivered("/payouts/rerun", id);
    }
    await pause(2000);
    for (const id of ids) {
      const { state } = (await get(`refund/${id}`)).json;
      assert.equal((await effects("/payouts/rerun", id)).length, state === "approved" ? 1 : 0);
    }
  });
});

describe("the gate dies", () => {
  test("between the write and the delivery: the payout is made once after the restart", async () => {
    const ids = Array.from({ length: 10 }, fresh);
    await world.origin.shut();
    for (const id of ids) moved(await post(`refund/${id}/approve`, '{"by":"ann"}'), "approved", true);
    await world.gate.kill("both");
    await world.gate.start();
    const last = fresh();
    // Written, and perhaps not even handed over.
    const answer = post(`refund/${last}/approve`);
    moved(await answer, "approved", true);
    await world.gate.kill("both");
    await world.gate.start();
    await world.origin.listen();
    for (const id of [...ids, last]) await delivered("/payouts/rerun", id);
    for (const id of [...ids, last]) moved(await post(`refund/${id}/approve`), "approved", false);
    await pause(4000);
    for (const id of [...ids, last]) assert.equal((await effects("/payouts/rerun", id)).length, 1, `payouts of ${id}`);
  });
});

describe("a changed policy", () => {
  test("loses no entity's state", async () => {
    const id = fresh();
    moved(await post(`refund/${id}/approve`), "approved", true);
    await world.gate.stop();
    const { writeFileSync } = await import("node:fs");
    const machines = { refund: { initial: "new", transitions: { close: { from: ["new"], to: "closed" } } } };
    writeFileSync(world.gate.config, JSON.stringify({ ...POLICY, machines }));
    await world.gate.start();
    assert.deepEqual([(await get(`refund/${id}`)).json.state, (await get(`refund/${id}`)).json.version], ["approved", 1]);
    assert.equal(problem(await post(`refund/${id}/close`), 409, "state_conflict").state, "approved");
    moved(await post(`refund/${fresh()}/close`), "closed", true);
    await delivered("/payouts/rerun", id);
  });

  test("without the secret there is no such endpoint", async () => {
    await world.gate.stop();
    world.gate.env = {};
    await world.gate.start();
    problem(await post("refund/1/close"), 404, "no_such_endpoint");
    problem(await get("refund/1"), 404, "no_such_endpoint");
  });
});
