// @ts-check
// What of an answer is not stored: lines that `redact` names, and with `no_store` all but the status. The first answer
// has everything; what lies in the state folder is looked for as bytes.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { executed, holds, refused, until, World } from "./gate.mjs";

const PROBE = { unanswered: { probe: "/found?key={key}" }, lease: 1 };
/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    routes: [
      { path: "/redact/later/*", mode: "accept", unanswered: "hold", redact: ["x-secret"] },
      { path: "/redact/wait/*", redact: ["X-Secret", "set-cookie"], wait: 10 },
      { path: "/redact/probe/*", redact: ["X-Secret"], ...PROBE },
      { path: "/redact/*", redact: ["X-Secret", "set-cookie"] },
      { path: "/forget/batch", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item", no_store: "forget" },
      { path: "/forget/*", no_store: "forget" },
      { path: "/*" },
    ],
  });
});
after(() => world?.end());

const secret = () => `s3cret-${randomUUID()}`;
/** @param {string} mark @returns {[string, string][]} */
const lines = (mark) => [["Content-Type", "text/plain"], ["Set-Cookie", `a=${mark}`], ["X-Other", "o"], ["x-SECRET", mark], ["Set-Cookie", `b=${mark}`]];

/** What of an answer is there. @param {import("./client.mjs").Answer} answer */
const told = (answer) => [answer.status, answer.text, answer.one("x-other"), answer.all("set-cookie").length, answer.one("x-secret")];

describe("redact", { concurrency: true }, () => {
  for (const [name, step] of /** @type {[string, import("./origin.mjs").Step][]} */ ([
    ["the first answer has the lines, no replay does", {}],
    ["without content", { status: 204 }],
    ["of an answer that streams", { parts: ["a".repeat(70_000), "b".repeat(1_200_000)] }],
  ])) {
    test(name, async () => {
      const mark = secret();
      const place = await world.spot("/redact", { content: "ok", ...step, lines: lines(mark) });
      const sent = place.post();
      if (step.parts) {
        await place.arrived();
        await place.open();
      }
      const first = await sent;
      executed(first, step.status ?? 201);
      assert.deepEqual([first.all("set-cookie").length, first.one("x-secret")], [2, mark]);
      for (let n = 0; n < 2; n++) {
        const replay = await place.post();
        assert.equal(replay.word, "replayed");
        assert.deepEqual(told(replay), [first.status, first.text, "o", 0, undefined]);
      }
      await place.ran(1);
      assert.equal(holds(world.gate.state, mark), false, "it lies in the storage");
    });
  }

  test("a duplicate that waited gets a replay, which has not got them", async () => {
    const mark = secret();
    const place = await world.spot("/redact/wait", { held: true, content: "ok", lines: lines(mark) });
    const both = [place.post()];
    await place.arrived();
    both.push(place.post());
    await place.open();
    const [first, second] = await Promise.all(both);
    assert.deepEqual([first.one("x-secret"), second.word, second.one("x-secret")], [mark, "replayed", undefined]);
    await place.ran(1);
  });

  test("of what the origin says when it is asked, and of what was accepted", async () => {
    const mark = secret();
    const asked = await world.spot("/redact/probe", { cut: "before" });
    refused(await asked.post(), "outcome_unknown");
    await world.origin.plan("/found", { status: 200, lines: lines(mark) });
    const found = await asked.post();
    assert.deepEqual([found.word, found.one("x-other"), found.one("x-secret")], ["replayed", "o", undefined]);
    const later = await world.spot("/redact/later", { lines: lines(mark) });
    assert.equal((await later.post()).status, 202);
    await until(async () => (await later.peek()).json.state === "completed", "it is delivered");
    assert.equal(holds(world.gate.state, `secret:${mark}`), false, "it lies in the storage");
    await later.ran(1);
  });

  test("a route without it keeps all", async () => {
    const mark = secret();
    const place = await world.spot("/job", { content: "ok", lines: lines(mark) });
    await place.post();
    assert.equal((await place.post()).one("x-secret"), mark);
    assert.equal(holds(world.gate.state, mark), true);
  });
});

describe("no_store", { concurrency: true }, () => {
  const cases = /** @type {[string, boolean][]} */ ([
    ["no-store", true],
    ["private, NO-STORE", true],
    ["max-age=0,no-store , must-revalidate", true],
    ["no-cache", false],
    ["private=\"no-store-ish\"", false],
    ["x-no-store", false],
  ]);
  for (const [value, forgets] of cases) {
    test(`forget, Cache-Control: ${value}`, async () => {
      const mark = secret();
      const place = await world.spot("/forget", { status: 200, content: mark, lines: [["Cache-Control", value], ["X-Secret", mark]] });
      const first = await place.post();
      executed(first, 200);
      assert.deepEqual([first.text, first.one("x-secret")], [mark, mark]);
      const second = await place.post();
      if (forgets) {
        refused(second, "reply_unavailable");
        assert.equal(second.json.origin_status, 200);
      } else assert.deepEqual([second.word, second.text], ["replayed", mark]);
      assert.deepEqual([(await place.peek()).json.state, (await place.peek()).json.status], ["completed", 200]);
      refused(await place.post({ content: "{}" }), "idempotency_key_reused");
      await place.ran(1);
      assert.equal(holds(world.gate.state, mark), !forgets);
    });
  }

  test("keep, which is what is usual", async () => {
    const place = await world.spot("/job", { content: "ok", lines: [["Cache-Control", "no-store"]] });
    await place.post();
    assert.equal((await place.post()).text, "ok");
  });

  test("an item of a batch", async () => {
    await world.origin.plan("/item", { content: "{}", lines: [["Cache-Control", "no-store"]] }, {});
    const place = await world.spot("/forget/batch");
    const content = JSON.stringify({ items: [{ idempotency_key: `key-${randomUUID()}` }] });
    const post = async () => (await place.post({ path: "/forget/batch", key: null, content })).json.items[0];
    assert.deepEqual([(await post()).status, (await post()).body.code], [201, "reply_unavailable"]);
    assert.equal(await world.origin.effects("/item"), 1);
  });
});
