// @ts-check
// Two builds of the gate side by side, as in an upgrade or a rollback: a front asks objects of another build, and each
// build finds what the other has stored. The old one is the last before version 2 of the stored forms; `cargo xtask
// test` builds it once. What was asked, what was answered and how often the origin ran is printed at the end.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { send } from "./client.mjs";
import { executed, pause, refused, replayed, Spot, until, World } from "./gate.mjs";

/** @typedef {import("./client.mjs").Answer} Answer */
/** @typedef {import("./gate.mjs").Change} Change */
/** @typedef {"old" | "new"} Build */

const SECRET = "a backend's secret";
/** @type {[string, string][]} */
const BEARER = [["Authorization", `Bearer ${SECRET}`]];
const AROUND = { ONCEKEY_AROUND: fileURLToPath(new URL("between", import.meta.url)) };
const POLICY = {
  max_stored: 1000,
  routes: [
    { path: "/later/*", mode: "accept", unanswered: "rerun" },
    { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/orders" },
    { path: "/*", unanswered: "hold" },
  ],
  queues: { mail: { path: "/mail", key: "/event_id", unanswered: "hold" } },
  machines: {
    refund: {
      initial: "pending",
      transitions: {
        approve: { from: ["pending"], to: "approved", effect: "/payouts" },
        reject: { from: ["pending"], to: "rejected" },
        reopen: { from: ["approved"], to: "pending", effect: "/mails" },
        block: { from: ["approved"], to: "blocked", effect: "/stuck" },
      },
    },
  },
};

/** What became of each request, for the table. @type {string[][]} */
const told = [];
after(() => {
  const head = ["builds", "what", "answer", "effects"];
  const widths = head.map((name, at) => Math.max(name.length, ...told.map((row) => row[at].length)));
  for (const row of [head, widths.map((width) => "-".repeat(width)), ...told]) {
    console.log(`| ${row.map((cell, at) => cell.padEnd(widths[at])).join(" | ")} |`);
  }
});

/** The variables by which `serve` takes these builds. @param {Build} front @param {Build} objects */
function builds(front, objects) {
  const old = process.env.ONCEKEY_OLD;
  assert.ok(old, "ONCEKEY_OLD names no build: cargo xtask test edge/versions makes it");
  const folder = { old, new: "oncekey-worker" };
  return { ONCEKEY_PACKAGE: folder[front], ...(front === objects ? {} : { ONCEKEY_OBJECTS: folder[objects] }) };
}

/** A gate, and what is asked of it. */
class Meeting {
  /** @param {World} world @param {string} name of the builds, as the table has it */
  constructor(world, name) {
    this.world = world;
    this.name = name;
  }

  /** @param {Build} front @param {Build} objects @param {Record<string, string>} [more] @param {object} [policy] */
  static async start(front, objects, more = {}, policy = POLICY) {
    const env = { ONCEKEY_ADMIN: SECRET, ONCEKEY_SERVICE: SECRET, ...builds(front, objects), ...more };
    const world = await World.start(policy, env, undefined, true);
    return new Meeting(world, front === objects ? front : `${front} front, ${objects} object`);
  }

  /** The other build takes over what is stored. @param {Build} build @param {Record<string, string>} [more] @param {boolean} [killed] */
  async become(build, more = {}, killed = false) {
    const { gate } = this.world;
    await (killed ? gate.kill() : gate.stop());
    gate.env = { ONCEKEY_ADMIN: SECRET, ONCEKEY_SERVICE: SECRET, ...builds(build, build), ...more };
    await gate.start();
    this.name = `${this.name}, then ${build}`;
  }

  /** A line of the table. @param {string} what @param {Answer | string} answer @param {number} effects */
  tell(what, answer, effects) {
    const words = typeof answer === "string" ? answer : [answer.status, answer.word, answer.status >= 400 && answer.text ? answer.json.code : ""];
    told.push([this.name, what, [words].flat().filter(Boolean).join(" "), String(effects)]);
  }

  /** Sends it, and counts. @param {string} what @param {Spot} spot @param {number} effects @param {Change} [change] */
  async post(what, spot, effects, change) {
    const answer = await spot.post(change);
    await spot.ran(effects);
    this.tell(what, answer, effects);
    return answer;
  }

  /** @param {string} what @param {Spot} spot @param {string} state */
  async peek(what, spot, state) {
    const answer = await spot.peek();
    assert.equal(answer.json.state, state, answer.brief);
    this.tell(what, `${answer.status} ${state}`, await spot.effects());
  }

  /** @param {Spot} spot */
  async ended(spot) {
    let found;
    do found = (await spot.peek("?wait=20")).json;
    while (found.state === "running");
    return found.state;
  }

  /** The operator forgets a key. @param {string} key */
  release = (key) => this.world.send({ method: "DELETE", path: `/.oncekey/keys/${key}`, lines: BEARER });

  /** @param {string} path @param {[string, string][]} [more] */
  move = (path, more = []) => this.world.send({ path: `/.oncekey/machines/refund/${path}`, lines: [...BEARER, ...more] });
  /** @param {string} id */
  look = (id) => this.world.send({ method: "GET", path: `/.oncekey/machines/refund/${id}`, lines: BEARER });
  /** How often the origin was sent an entity's effect. @param {string} path @param {string} id */
  effects = async (path, id) => (await this.world.origin.seen(path)).filter(({ content }) => JSON.parse(content).id === id).length;

  /** @param {string} key */
  batch = async (key) => {
    const content = JSON.stringify({ items: [{ idempotency_key: key, item: "lamp" }] });
    const lines = /** @type {[string, string][]} */ ([["Authorization", "Bearer ann"], ["Content-Type", "application/json"]]);
    const answer = await this.world.send({ path: "/batch/orders", content, lines });
    assert.equal(answer.status, 207, answer.brief);
    const [{ status, idempotency_status }] = answer.json.items;
    return `${status} ${idempotency_status}`;
  };
  /** @param {string} key */
  ordered = async (key) => (await this.world.origin.seen("/orders")).filter(({ content }) => JSON.parse(content).idempotency_key === key).length;

  /** @param {string} event_id */
  message = async (event_id) => {
    const content = JSON.stringify([{ id: "m", body: { event_id } }]);
    const { json } = await send(this.world.gate.queuePort, { path: "/mail", content, lines: [["Content-Type", "application/json"]] });
    return json.acked.length === 1 ? "acknowledged" : "retried";
  };
  /** @param {string} event_id */
  mailed = async (event_id) => (await this.world.origin.seen("/mail")).filter(({ content }) => JSON.parse(content).event_id === event_id).length;

  /** @param {string} what @param {string} expect @param {(key: string) => Promise<string>} ask @param {(key: string) => Promise<number>} count @param {string} [key] */
  async once(what, expect, ask, count, key = `key-${randomUUID()}`) {
    const answer = await ask(key);
    assert.equal(answer, expect, what);
    assert.equal(await count(key), 1, `${what}: effects`);
    this.tell(what, answer, 1);
    return key;
  }

  end = () => this.world.end();
}

/** @param {Answer} answer */
function unavailable(answer) {
  assert.deepEqual([answer.status, answer.word], [503, "refused"], answer.brief);
  assert.match(answer.text, /store_unavailable/);
  assert.match(answer.one("retry-after") ?? "", /^[1-9]\d*$/);
}

/** @param {Answer} answer @param {string} status */
function accepted(answer, status) {
  assert.deepEqual([answer.status, answer.json.status], [202, status], answer.brief);
}

for (const [front, objects] of /** @type {[Build, Build][]} */ ([["old", "new"], ["new", "old"], ["old", "old"], ["new", "new"]])) {
  describe(`${front} front, ${objects} object`, { concurrency: false }, () => {
    /** @type {Meeting} */
    let meeting;
    before(async () => {
      meeting = await Meeting.start(front, objects);
    });
    after(() => meeting?.end());

    test("an attempt and its duplicates", async () => {
      const spot = await meeting.world.spot("/job");
      const first = await meeting.post("first request", spot, 1);
      executed(first);
      replayed(await meeting.post("duplicate", spot, 1), first);
      refused(await meeting.post("other content", spot, 1, { content: "{}" }), "idempotency_key_reused");
      await meeting.peek("peek after it", spot, "completed");
      const scoped = await spot.scoped();
      const released = await meeting.release(scoped);
      assert.equal(released.status, 204, released.brief);
      meeting.tell("release", released, 1);
      await meeting.peek("peek after the release", spot, "absent");
      const nothing = await meeting.release(scoped);
      assert.deepEqual([nothing.status, nothing.json.code], [404, "nothing_remembered"], nothing.brief);
      meeting.tell("release of nothing", nothing, 1);
      executed(await meeting.post("first request after the release", spot, 2));
    });

    test("while the first runs", async () => {
      const spot = await meeting.world.spot("/job", { held: true });
      const first = spot.post();
      await spot.arrived();
      refused(await meeting.post("duplicate meanwhile", spot, 1), "request_in_progress");
      refused(await meeting.post("other content meanwhile", spot, 1, { content: "{}" }), "idempotency_key_reused");
      await meeting.peek("peek meanwhile", spot, "running");
      const kept = await meeting.release(await spot.scoped());
      assert.deepEqual([kept.status, kept.json.code], [409, "still_running"], kept.brief);
      meeting.tell("release meanwhile", kept, 1);
      await spot.open();
      executed(await first);
      replayed(await meeting.post("duplicate after it", spot, 1), await first);
    });

    test("an unknown fate", async () => {
      const spot = await meeting.world.spot("/job", { cut: "before" });
      refused(await meeting.post("no answer", spot, 1), "outcome_unknown");
      refused(await meeting.post("duplicate after no answer", spot, 1), "outcome_unknown");
      await meeting.peek("peek after no answer", spot, "unknown");
    });

    test("an accepted request", async () => {
      const spot = await meeting.world.spot("/later");
      const queued = await spot.post();
      accepted(queued, "queued");
      meeting.tell("accepted request", queued, 0);
      assert.equal(await meeting.ended(spot), "completed");
      const again = await meeting.post("duplicate of the accepted request", spot, 1);
      accepted(again, "duplicate_ignored");
      refused(await meeting.post("other content", spot, 1, { content: "{}" }), "idempotency_key_reused");
    });

    test("a transition", async () => {
      const id = randomUUID();
      const won = await meeting.move(`${id}/approve`);
      assert.deepEqual([won.status, won.json], [200, { state: "approved", won: true }], won.brief);
      await until(async () => (await meeting.effects("/payouts", id)) > 0, "delivered");
      meeting.tell("transition", JSON.stringify(won.json), await meeting.effects("/payouts", id));
      const again = await meeting.move(`${id}/approve`);
      assert.deepEqual([again.status, again.json], [200, { state: "approved", won: false }], again.brief);
      meeting.tell("the same again", JSON.stringify(again.json), await meeting.effects("/payouts", id));
      const conflict = await meeting.move(`${id}/reject`);
      assert.deepEqual([conflict.status, conflict.json.code], [409, "state_conflict"], conflict.brief);
      meeting.tell("another", conflict, await meeting.effects("/payouts", id));
      assert.equal((await meeting.look(id)).json.version, 1);
      assert.equal(await meeting.effects("/payouts", id), 1);
    });

    test("a transition under a key, and a delivery by the operator", async () => {
      const id = randomUUID();
      const keyed = () => meeting.move(`${id}/approve`, [["Idempotency-Key", `"${id}"`]]);
      const spot = await meeting.world.spot("/later", { status: 422 }, {});
      const { id: key } = (await spot.post()).json;
      await meeting.ended(spot);
      const deliver = () => meeting.world.send({ path: `/.oncekey/keys/${key}/deliver`, lines: BEARER });
      const [answer, delivered] = [await keyed(), await deliver()];
      meeting.tell("transition under a key", answer, await meeting.effects("/payouts", id));
      meeting.tell("delivery by the operator", delivered, await spot.effects());
      if (front === "new" && objects === "old") {
        // What an object cannot honour it does not make.
        unavailable(answer);
        unavailable(delivered);
        assert.equal((await meeting.look(id)).json.version, 0);
        return;
      }
      assert.deepEqual(answer.json, { state: "approved", won: true }, answer.brief);
      assert.deepEqual((await keyed()).json, { state: "approved", won: front === "new" });
      if (front === "new") {
        assert.equal(delivered.status, 202);
        assert.equal(await meeting.ended(spot), "completed");
      }
    });

    test("a batch's item and a queue's message", async () => {
      const item = await meeting.once("item of a batch", "201 executed", meeting.batch, meeting.ordered);
      await meeting.once("the same again", "201 replayed", meeting.batch, meeting.ordered, item);
      const event = await meeting.once("message of a queue", "acknowledged", meeting.message, meeting.mailed);
      await meeting.once("the same again", "acknowledged", meeting.message, meeting.mailed, event);
    });
  });
}

for (const [front, objects] of /** @type {[Build, Build][]} */ ([["old", "new"], ["new", "old"], ["new", "new"]])) {
  describe(`errands of a later build: ${front} front, ${objects} object`, { concurrency: false }, () => {
    /** @type {Meeting} */
    let meeting;
    before(async () => {
      // What is not understood is no failure of the store's: nothing is passed on unprotected.
      meeting = await Meeting.start(front, objects, AROUND, { ...POLICY, store_failure: "open" });
    });
    after(() => meeting?.end());
    /** @param {string} errand @returns {[string, string][]} */
    const says = (errand) => [["X-Errand", errand]];

    test("one that is not known, or needs what is not known, is not done", async () => {
      for (const route of ["/job", "/later"]) {
        for (const errand of ["fly *", "attempt", "peek soon", "* !more", "* a=1 !more"]) {
          const spot = await meeting.world.spot(route);
          unavailable(await meeting.post(`errand "${errand}" at ${route}`, spot, 0, { more: says(errand) }));
          assert.equal((await spot.peek()).json.state, "absent");
        }
      }
    });

    test("further words that are not needed", async () => {
      const spot = await meeting.world.spot("/job");
      const answer = await meeting.post('errand "* a=1 b"', spot, objects === "new" ? 1 : 0, { more: says("* a=1 b") });
      if (objects === "new") executed(answer);
      else unavailable(answer);
    });

    test("an entity's", async () => {
      const id = randomUUID();
      for (const errand of ["fly", "nobody *", `refund ${id} fly`, "* !more"]) {
        for (const reader of /** @type {[string, string][][]} */ ([[], [["HX-Request", "true"]]])) {
          unavailable(await meeting.move(`${id}/approve`, [...says(errand), ...reader]));
        }
        meeting.tell(`errand "${errand.replace(id, "42")}" of a transition`, "503 refused store_unavailable", 0);
      }
      assert.equal((await meeting.look(id)).json.version, 0);
      assert.equal(await meeting.effects("/payouts", id), 0);
    });

    test("an origin's own 404 is its answer", async () => {
      const spot = await meeting.world.spot("/job", { status: 404, content: '{"code":"no_such_endpoint"}' });
      const answer = await meeting.post("404 of the origin", spot, 1);
      executed(answer, 404);
      assert.equal(answer.text, '{"code":"no_such_endpoint"}');
    });
  });
}

/** What a build leaves behind. @param {Meeting} meeting */
async function leave(meeting) {
  const { world } = meeting;
  const spots = {
    completed: await world.spot("/job"),
    large: await world.spot("/job", { content: "x".repeat(2000) }),
    unknown: await world.spot("/job", { cut: "before" }),
    orphaned: await world.spot("/job", { held: true }),
    waiting: await world.spot("/later", { status: 503, lines: [["Retry-After", "20"]] }, {}),
    due: await world.spot("/later", { status: 503 }, {}),
    delivered: await world.spot("/later"),
  };
  const first = await meeting.post("first request", spots.completed, 1);
  executed(first);
  executed(await meeting.post("first request, large answer", spots.large, 1));
  refused(await meeting.post("no answer", spots.unknown, 1), "outcome_unknown");
  for (const name of /** @type {const} */ (["delivered", "waiting"])) {
    accepted(await spots[name].post(), "queued");
    await spots[name].arrived();
  }
  assert.equal(await meeting.ended(spots.delivered), "completed");
  const [id, stuck] = [randomUUID(), randomUUID()];
  for (const entity of [id, stuck]) assert.equal((await meeting.move(`${entity}/approve`)).json.won, true);
  for (const entity of [id, stuck]) await until(async () => (await meeting.effects("/payouts", entity)) === 1, "delivered");
  assert.equal((await meeting.move(`${stuck}/block`)).json.won, true);
  const item = await meeting.once("item of a batch", "201 executed", meeting.batch, meeting.ordered);
  const event = await meeting.once("message of a queue", "acknowledged", meeting.message, meeting.mailed);
  accepted(await spots.due.post(), "queued");
  await spots.due.arrived();
  // Killed while it runs: nobody settles it.
  spots.orphaned.post().catch(() => {});
  await spots.orphaned.arrived();
  return { ...spots, first, id, stuck, item, event };
}

/** What a build of the same forms finds. @param {Meeting} meeting @param {Awaited<ReturnType<typeof leave>>} left */
async function find(meeting, left) {
  replayed(await meeting.post("duplicate", left.completed, 1), left.first);
  refused(await meeting.post("other content", left.completed, 1, { content: "{}" }), "idempotency_key_reused");
  await meeting.peek("peek", left.completed, "completed");
  refused(await meeting.post("duplicate, large answer", left.large, 1), "reply_unavailable");
  refused(await meeting.post("duplicate after no answer", left.unknown, 1), "outcome_unknown");
  refused(await meeting.post("duplicate, owner killed", left.orphaned, 1), "outcome_unknown");
  accepted(await meeting.post("duplicate of a delivered one", left.delivered, 1), "duplicate_ignored");
  for (const [name, spot] of /** @type {[string, Spot][]} */ ([["due", left.due], ["waiting", left.waiting]])) {
    const again = await spot.post();
    accepted(again, "duplicate_ignored");
    assert.equal(await meeting.ended(spot), "completed", name);
    // The first try was refused by the origin.
    await spot.ran(2);
    meeting.tell(`accepted before, ${name}: delivered`, again, 1);
  }
  const { state, version, history } = (await meeting.look(left.id)).json;
  assert.deepEqual([state, version, history.length], ["approved", 1, 1]);
  const conflict = await meeting.move(`${left.id}/reject`);
  assert.equal(conflict.json.code, "state_conflict");
  meeting.tell("another transition", conflict, await meeting.effects("/payouts", left.id));
  const won = await meeting.move(`${left.id}/reopen`);
  assert.deepEqual(won.json, { state: "pending", won: true }, won.brief);
  await until(async () => (await meeting.effects("/mails", left.id)) === 1, "delivered");
  meeting.tell("the next transition", JSON.stringify(won.json), await meeting.effects("/mails", left.id));
  await until(async () => (await meeting.effects("/stuck", left.stuck)) > 0, "handed over", 20_000);
  assert.equal(await meeting.effects("/stuck", left.stuck), 1);
  meeting.tell("effect left in the outbox", "delivered", 1);
  await meeting.once("item again", "201 replayed", meeting.batch, meeting.ordered, left.item);
  await meeting.once("message again", "acknowledged", meeting.message, meeting.mailed, left.event);
  const released = await meeting.release(await left.unknown.scoped());
  assert.equal(released.status, 204);
  meeting.tell("release of an unknown fate", released, 1);
}

describe("what the old build stored, read by the new one", { concurrency: false }, () => {
  test("goes on as if nothing had happened", async () => {
    const meeting = await Meeting.start("old", "old", AROUND);
    try {
      const left = await leave(meeting);
      await meeting.become("new", {}, true);
      await find(meeting, left);
    } finally {
      await meeting.end();
    }
  });
});

describe("what the new build stored, read by the old one", { concurrency: false }, () => {
  test("is of unknown fate there, and is all there when the new one is back", async () => {
    const meeting = await Meeting.start("new", "new", AROUND);
    try {
      const left = await leave(meeting);
      const due = await left.due.scoped();
      await meeting.become("old", {}, true);
      for (const [what, spot] of /** @type {[string, Spot][]} */ (Object.entries(left).filter(([, spot]) => spot instanceof Spot))) {
        const effects = await spot.effects();
        refused(await meeting.post(`duplicate: ${what}`, spot, effects), "outcome_unknown");
        refused(await meeting.post(`other content: ${what}`, spot, effects, { content: "{}" }), "outcome_unknown");
        await meeting.peek(`peek: ${what}`, spot, "unknown");
      }
      for (const [id, path, effects] of /** @type {[string, string, number][]} */ ([[left.id, "/payouts", 1], [left.stuck, "/stuck", 0]])) {
        unavailable(await meeting.look(id));
        const answer = await meeting.move(`${id}/reopen`);
        unavailable(answer);
        meeting.tell(`transition of an entity (${path})`, answer, effects);
        assert.equal(await meeting.effects(path, id), effects);
      }
      await meeting.once("item again", "409 unknown", meeting.batch, meeting.ordered, left.item);
      await meeting.once("message again", "retried", meeting.message, meeting.mailed, left.event);
      const spot = await meeting.world.spot("/job");
      const first = await meeting.post("a new request", spot, 1);
      executed(first);
      const entity = randomUUID();
      assert.equal((await meeting.move(`${entity}/reject`)).json.won, true);
      // The alarm of what is due rings, and is not for this build.
      await pause(2_000);
      await left.due.ran(1);

      await meeting.become("new", AROUND);
      replayed(await meeting.post("duplicate of the old build's", spot, 1), first);
      assert.equal((await meeting.look(entity)).json.state, "rejected");
      // The old build looks again in a day; the promise stands until then.
      await meeting.peek("peek: due", left.due, "running");
      await meeting.world.send({ method: "GET", path: `/.test/ring?key=${due}`, lines: [] });
      await meeting.become("new");
      await find(meeting, left);
    } finally {
      await meeting.end();
    }
  });
});
