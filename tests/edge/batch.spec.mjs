// @ts-check
// Batches: each element sent alone under its own key, and answered in the list's order.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bytes, Wire } from "./client.mjs";
import { field, pause, refused, World } from "./gate.mjs";

/** @typedef {import("./gate.mjs").Change} Change */
/** @typedef {{ status: number, idempotency_status: string, body: any, encoding?: string, location?: string, retry_after?: number, omitted?: boolean }} Told */

const PAGE = "https://shop.example";

/** @type {World} */
let world;
before(async () => {
  const batch = { mode: "batch", items: "/items", item_key: "/idempotency_key" };
  const paths = ["orders", "many", "six", "pair", "kinds", "later", "big", "fail", "held", "away", "hung", "gone", "page"];
  world = await World.start({
    max_content: 2_000_000,
    max_stored: 100_000,
    cors: [PAGE],
    routes: [
      ...paths.map((path) => ({ ...batch, path: `/batch/${path}`, item_path: `/${path}`, ignore: ["/at"] })),
      { ...batch, path: "/batch/root", items: "", item_key: "/meta/0/key", item_path: "/root?by=batch" },
      { ...batch, path: "/batch/large", item_path: "/large", max_items: 5_000 },
      { ...batch, path: "/batch/deep", items: "/a~1b/1", item_path: "/deep" },
      { path: "/*" },
    ],
  });
});
after(() => world?.end());

/** @param {string} path @param {unknown} content a text, or what becomes JSON @param {Change} [change] */
const post = async (path, content, { caller = "ann", type = "application/json", more = [], ...rest } = {}) =>
  world.send({
    path: `/batch/${path}`,
    content: typeof content === "string" ? content : JSON.stringify(content),
    lines: [
      ...(caller ? [/** @type {[string, string]} */ (["Authorization", `Bearer ${caller}`])] : []),
      ...(type ? [/** @type {[string, string]} */ (["Content-Type", type])] : []),
      ...more,
    ],
    ...rest,
  });

/** @param {string} path @param {unknown} content @param {Change} [change] @returns {Promise<Told[]>} */
async function items(path, content, change) {
  const answer = await post(path, content, change);
  assert.deepEqual([answer.status, answer.word, answer.whole], [207, "bypassed;reason=batch", true], answer.brief);
  assert.equal(answer.one("content-type"), "application/json");
  return answer.json.items;
}

/** @param {number} count @param {(at: number) => object} [more] */
const orders = (count, more = () => ({})) =>
  Array.from({ length: count }, (_, at) => ({ idempotency_key: `key-${randomUUID()}`, n: at, ...more(at) }));
const words = (/** @type {Told[]} */ told) => told.map(({ status, idempotency_status: word }) => `${status} ${word}`);

describe("batches", () => {
  test("each element is POSTed alone, to the byte, with its own key and the caller's head", async () => {
    const list = ['{ "idempotency_key" : "a-1", "x": 1.0 }', '{"x":"é","idempotency_key":"a-2"}'];
    const more = /** @type {[string, string][]} */ ([["X-Trace", "t1"], ["Idempotency-Key", '"of the whole"']]);
    const told = await items("orders", `{"n":1, "items" : [ ${list.join(" ,\n")}\t] }`, { more });
    const seen = await world.origin.seen("/orders");
    assert.deepEqual(seen.map(({ content }) => Buffer.from(content, "latin1").toString()).sort(), [...list].sort());
    for (const each of seen) {
      assert.deepEqual([each.method, each.target], ["POST", "/orders"]);
      assert.equal(field(each, "content-type"), "application/json");
      assert.equal(field(each, "authorization"), "Bearer ann");
      assert.equal(field(each, "x-trace"), "t1");
      assert.match(field(each, "idempotency-key"), /^"[\w-]{43}"$/);
      assert.equal(field(each, "content-length"), String(each.content.length));
    }
    assert.equal(new Set(seen.map((each) => field(each, "idempotency-key"))).size, 2);
    assert.deepEqual(words(told), ["201 executed", "201 executed"]);
    assert.ok(told.every(({ body }) => Number.isInteger(body.effect)));
    const again = await items("orders", `{"items":[${list.join()}]}`);
    assert.deepEqual(words(again), ["201 replayed", "201 replayed"]);
    assert.deepEqual(again.map(({ body }) => body), told.map(({ body }) => body));
    assert.equal(await world.origin.effects("/orders"), 2);
  });

  test("an element sent by itself is the same request; another caller's is not", async () => {
    const [order] = orders(1);
    const [told] = await items("orders", { items: [order] });
    const lines = /** @type {[string, string][]} */ ([["Authorization", "Bearer ann"], ["Content-Type", "application/json"]]);
    const alone = await world.send({ path: "/orders", content: JSON.stringify(order), lines });
    assert.deepEqual([alone.word, alone.json], ["replayed", told.body]);
    assert.deepEqual(words(await items("orders", { items: [order] }, { caller: "bob" })), ["201 executed"]);
  });

  test("a hundred with ten failing at first, sent twice: a hundred effects", async () => {
    const list = orders(100);
    const steps = Array.from({ length: 100 }, (_, at) => (at % 10 === 3 ? { status: 503 } : {}));
    await world.origin.plan("/fail", ...steps, {});
    const first = await items("fail", { items: list });
    assert.equal(first.length, 100);
    const failed = first.flatMap(({ status }, at) => (status === 503 ? [at] : []));
    assert.equal(failed.length, 10);
    const second = await items("fail", { items: list });
    assert.ok(second.every(({ status }) => status === 201));
    assert.deepEqual(second.flatMap(({ idempotency_status: word }, at) => (word === "executed" ? [at] : [])), failed);
    const third = await items("fail", { items: list });
    assert.ok(third.every(({ idempotency_status: word }) => word === "replayed"));
    const taken = (await world.origin.seen("/fail")).length - 10;
    assert.equal(taken, 100);
    assert.deepEqual(second.map(({ body }) => body), third.map(({ body }) => body));
  });

  test("two items with one key: one effect; with other content: a mismatch", async () => {
    const [one, two] = orders(2);
    const list = [one, two, { ...one }, { ...two, n: 9 }, { at: 7, ...one }];
    const told = await items("pair", { items: list });
    assert.deepEqual(words(told), ["201 executed", "201 executed", "201 replayed", "422 mismatch", "201 replayed"]);
    assert.equal(told[3].body.code, "idempotency_key_reused");
    assert.equal(await world.origin.effects("/pair"), 2);
  });

  test("at most six are under way", async () => {
    await world.origin.plan("/six", { held: true });
    const told = items("six", { items: orders(20) });
    await world.origin.arrived("/six", 6);
    for (let done = 0; done < 20; done++) {
      assert.ok((await world.origin.effects("/six")) <= 6 + done);
      await world.origin.open("/six");
      await world.origin.arrived("/six", Math.min(20, 7 + done));
    }
    assert.ok((await told).every(({ status }) => status === 201));
    assert.equal(await world.origin.effects("/six"), 20);
  });

  test("a caller that hangs up: what has not begun does not begin, and sent again each runs once", async () => {
    const list = orders(20);
    await world.origin.plan("/hung", { held: true });
    const content = JSON.stringify({ items: list });
    const wire = await Wire.open(world.gate.port);
    wire.write(bytes({ path: "/batch/hung", lines: [["Authorization", "Bearer ann"], ["Content-Type", "application/json"]], content }));
    await world.origin.arrived("/hung", 6);
    wire.drop();
    // The gate has heard of it when a request that came later has its answer.
    await (await world.spot("/after")).post();
    for (const _ of list) await world.origin.open("/hung");
    const peeked = async (/** @type {any} */ { idempotency_key: key }) =>
      (await world.send({ method: "GET", path: `/.oncekey/keys/${key}?wait=10`, lines: [["Authorization", "Bearer ann"]] })).json.state;
    assert.deepEqual(await Promise.all(list.map(peeked)), list.map((_, at) => (at < 6 ? "completed" : "absent")));
    assert.equal(await world.origin.effects("/hung"), 6);
    assert.deepEqual(words(await items("hung", { items: list })), list.map((_, at) => (at < 6 ? "201 replayed" : "201 executed")));
    assert.equal(await world.origin.effects("/hung"), 20);
  });

  test("the answer begins before the last item is done", async () => {
    await world.origin.plan("/later", {}, { held: true });
    const wire = await Wire.open(world.gate.port);
    const content = JSON.stringify({ items: orders(2) });
    const lines = /** @type {[string, string][]} */ ([["Authorization", "Bearer ann"], ["Content-Type", "application/json"]]);
    wire.write(bytes({ path: "/batch/later", content, lines }));
    assert.match((await wire.upTo('"status":201')) ?? "", /207/);
    await world.origin.open("/later");
    assert.ok(await wire.upTo("]}"));
    wire.socket.destroy();
  });

  test("a caller that hangs up stops what has not begun; sent again, the batch goes on", async () => {
    // The first never ends, so that nothing is written of those behind it.
    await world.origin.plan("/gone", { cut: "hang" }, { held: true });
    const list = orders(20);
    const wire = await Wire.open(world.gate.port);
    const lines = /** @type {[string, string][]} */ ([["Authorization", "Bearer ann"], ["Content-Type", "application/json"]]);
    wire.write(bytes({ path: "/batch/gone", content: JSON.stringify({ items: list }), lines }));
    await world.origin.arrived("/gone", 6);
    wire.drop();
    await pause(1000);
    for (let done = 0; done < 5; done++) await world.origin.open("/gone");
    await pause(1000);
    assert.equal(await world.origin.effects("/gone"), 6);
    await world.origin.plan("/gone", {});
    const told = words(await items("gone", { items: list }));
    assert.deepEqual(told, ["409 in-progress", ...Array(5).fill("201 replayed"), ...Array(14).fill("201 executed")]);
    assert.equal(await world.origin.effects("/gone"), 20);
  });

  test("the pages of a listed origin may read it, and no other's", async () => {
    const allowed = async (/** @type {string} */ page) => (await post("page", { items: orders(1) }, { more: [["Origin", page]] })).one("access-control-allow-origin");
    assert.deepEqual([await allowed(PAGE), await allowed("https://evil.example")], [PAGE, undefined]);
  });

  test("an item without a key, or with a bad one, is a 400 of its own", async () => {
    const [good] = orders(1);
    const bad = [{ n: 1 }, { idempotency_key: 5 }, { idempotency_key: " " }, { idempotency_key: "x".repeat(256) }, 7, null, []];
    const told = await items("orders", { items: [...bad, good, { idempotency_key: "é" }] });
    assert.deepEqual(told.map(({ status }) => status), [400, 400, 400, 400, 400, 400, 400, 201, 400]);
    const codes = told.map(({ body }) => body.code);
    assert.deepEqual(codes, ["key_missing", ...Array(3).fill("key_invalid"), ...Array(3).fill("key_missing"), undefined, "key_invalid"]);
    assert.ok(told.every(({ status, idempotency_status: word }) => (status === 400) === (word === "refused")));
    const twice = await items("orders", '{"items":[{"idempotency_key":"a","idempotency_key":"b"}]}');
    assert.equal(twice[0].body.code, "key_invalid");
    const anonymous = await items("orders", { items: [good, { idempotency_key: randomUUID() }] }, { caller: null });
    assert.deepEqual(words(anonymous), ["400 refused", "201 executed"]);
  });

  test("answers as exact as JSON allows", async () => {
    const latin = "\u00ff\u0000\u00fe";
    const json = /** @type {[string, string][]} */ ([["Content-Type", "application/json"]]);
    /** @type {[import("./origin.mjs").Step, unknown, string | undefined][]} */
    const table = [
      [{ content: ' {"a": 1.0} ' }, { a: 1 }, undefined],
      [{ content: "12345678901234567890", lines: [] }, 12345678901234567890, undefined],
      [{ content: "plain", lines: [["Content-Type", "text/plain"]] }, "cGxhaW4=", "base64"],
      [{ content: latin, lines: [["Content-Type", "image/png"]] }, "/wD+", "base64"],
      [{ content: "" }, "", "base64"],
      [{ status: 204, content: "" }, null, undefined],
      [{ status: 404, content: '{"why":"gone"}', lines: json }, { why: "gone" }, undefined],
      [{ content: "[".repeat(200) + "]".repeat(200), lines: json }, Buffer.from("[".repeat(200) + "]".repeat(200)).toString("base64"), "base64"],
    ];
    for (const [step, body, encoding] of table) {
      const seen = await world.origin.effects("/kinds");
      await world.origin.plan("/kinds", ...Array(seen).fill({}), step);
      const list = orders(1);
      const [told] = await items("kinds", { items: list });
      assert.deepEqual([told.status, told.body, told.encoding], [step.status ?? 201, body, encoding]);
      if (step.status !== 404) assert.deepEqual((await items("kinds", { items: list }))[0], { ...told, idempotency_status: "replayed" });
    }
  });

  test("an item's refusal says its code, and when to come again", async () => {
    await world.origin.plan("/held", { status: 429, lines: [["Retry-After", "7"]] }, { status: 521 }, { cut: "before" }, {});
    const list = orders(1);
    const [busy] = await items("held", { items: list });
    assert.deepEqual([busy.status, busy.idempotency_status, busy.retry_after], [429, "executed", 7]);
    const [down] = await items("held", { items: list });
    assert.deepEqual([down.status, down.body.code], [503, "origin_unreachable"]);
    assert.ok((down.retry_after ?? 0) >= 1);
    for (const _ of [1, 2]) {
      const [lost] = await items("held", { items: list }, { more: [["HX-Request", "true"], ["Accept", "text/html"]] });
      assert.deepEqual([lost.status, lost.idempotency_status, lost.body.code], [409, "unknown", "outcome_unknown"]);
      assert.equal(lost.retry_after, undefined);
    }
    assert.equal(await world.origin.effects("/held"), 3);
  });

  test("an item's redirect is its answer and is not followed; 307 and 308 leave its key free", async () => {
    const lines = /** @type {[string, string][]} */ ([["Location", "/elsewhere"]]);
    const statuses = [301, 302, 303, 307, 308];
    await world.origin.plan("/away", ...statuses.map((status) => ({ status, lines, content: "" })), {});
    const told = [];
    for (const order of orders(3)) {
      told.push(...(await items("away", { items: [order] })), ...(await items("away", { items: [order] })));
    }
    const kept = [301, 302, 303].flatMap((status) => [`${status} executed`, `${status} replayed`]);
    assert.deepEqual(words(told), kept);
    assert.ok(told.every(({ location }) => location === "/elsewhere"), JSON.stringify(told));
    const [order] = orders(1);
    const sent = async () => words(await items("away", { items: [order] }))[0];
    const heard = [await sent(), await sent(), await sent(), await sent()];
    assert.deepEqual(heard, ["307 executed", "308 executed", "201 executed", "201 replayed"]);
    assert.deepEqual([await world.origin.effects("/away"), await world.origin.effects("/elsewhere")], [6, 0]);
  });

  test("content over max_stored is left out, and said so", async () => {
    await world.origin.plan("/big", { content: `"${"x".repeat(200_000)}"` });
    const list = orders(1);
    const [told] = await items("big", { items: list });
    assert.deepEqual([told.status, told.body, told.omitted], [201, null, true]);
    const [again] = await items("big", { items: list });
    assert.deepEqual([again.status, again.body.code], [409, "reply_unavailable"]);
    assert.equal(await world.origin.effects("/big"), 1);
  });

  test("lists and keys anywhere", async () => {
    const root = await items("root", [{ meta: [{ key: "r-1" }] }, { meta: [] }]);
    assert.deepEqual(words(root), ["201 executed", "400 refused"]);
    assert.equal((await world.origin.seen("/root"))[0].target, "/root?by=batch");
    assert.deepEqual(words(await items("deep", { "a/b": [0, orders(2)] })), ["201 executed", "201 executed"]);
    assert.deepEqual(await items("orders", { items: [] }), []);
  });

  test("thousands of items", async () => {
    const list = orders(300);
    assert.ok((await items("many", { items: list })).every(({ status }) => status === 201));
    assert.equal(await world.origin.effects("/many"), 300);
    const bad = await items("large", { items: Array(5_000).fill(0) });
    assert.equal(bad.length, 5_000);
    assert.ok(bad.every(({ status }) => status === 400));
    assert.equal((await items("many", { items: Array(1_000).fill(0) })).length, 1_000);
  });

  test("one item more than max_items is a 413, and nothing runs", async () => {
    const before = await world.origin.effects("/many");
    for (const [path, list] of /** @type {[string, unknown[]][]} */ ([["many", orders(1_001)], ["large", Array(5_001).fill(0)]])) {
      const answer = await post(path, { items: list });
      refused(answer, "content_too_large");
      assert.match(answer.json.detail, /^At most \d+ items /);
    }
    assert.equal(await world.origin.effects("/many"), before);
  });

  test("content that is no batch is refused as a whole", async () => {
    const invalid = async (/** @type {string} */ content, /** @type {RegExp} */ says, /** @type {Change} */ change = {}) => {
      const answer = await post("orders", content, change);
      assert.deepEqual([answer.status, answer.json.code, answer.word], [400, "content_invalid", "refused"], answer.brief);
      assert.match(answer.json.detail, says);
    };
    await invalid("{", /line 1, column 2/);
    await invalid("", /line 1, column 1/);
    await invalid("{}", /"\/items"/);
    await invalid('{"items":{}}', /"\/items"/);
    await invalid('{"items":[],"items":[]}', /"\/items"/);
    await invalid('{"items":[]}', /JSON/, { type: "text/plain" });
    await invalid('{"items":[]}', /JSON/, { type: null });
    await invalid('{"items":[]}', /JSON/, { more: [["Content-Encoding", "gzip"]] });
    refused(await post("orders", `"${"x".repeat(2_000_000)}"`), "content_too_large");
  });
});

test("at the platform's limit of calls the rest is 503 each, and sent again it goes on: one effect each", async () => {
  const routes = [{ path: "/batch", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/limited" }, {}];
  const limited = await World.start({ routes }, { ONCEKEY_AROUND: fileURLToPath(new URL("around", import.meta.url)) });
  try {
    let left = orders(100);
    for (const rest of [60, 20, 0]) {
      const more = /** @type {[string, string][]} */ ([["X-Calls", `batch-${rest} 40`]]);
      const content = JSON.stringify({ items: left });
      const answer = await limited.send((await limited.spot("")).request({ key: null, path: "/batch", content, more }));
      assert.deepEqual([answer.status, answer.whole], [207, true], answer.brief);
      /** @type {Told[]} */
      const told = answer.json.items;
      const undone = told.filter(({ status }) => status !== 201);
      for (const { status, body, retry_after } of undone) assert.deepEqual([status, body.code, retry_after], [503, "store_unavailable", 2]);
      left = left.filter((_, at) => told[at].status !== 201);
      assert.equal(left.length, rest);
    }
    assert.equal(await limited.origin.effects("/limited"), 100);
  } finally {
    await limited.end();
  }
});

test("what a batch does not get to is a 503 of its own, and runs when it is sent again", async () => {
  const around = fileURLToPath(new URL("around", import.meta.url));
  const routes = [{ path: "/batch", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/orders" }];
  const other = await World.start({ routes }, { ONCEKEY_AROUND: around });
  try {
    const list = orders(5);
    const lines = /** @type {[string, string][]} */ ([["Authorization", "Bearer ann"], ["Content-Type", "application/json"]]);
    const sent = async (/** @type {[string, string][]} */ ...more) => {
      const answer = await other.send({ path: "/batch", content: JSON.stringify({ items: list }), lines: [...lines, ...more] });
      return /** @type {Told[]} */ (answer.json.items);
    };
    // Three calls to objects fail, as they do where the platform allows no more of them.
    const told = await sent(["x-calls", `${randomUUID()} o o o`]);
    assert.deepEqual(words(told), [...Array(3).fill("503 refused"), ...Array(2).fill("201 executed")]);
    assert.ok(told.slice(0, 3).every(({ body, retry_after }) => body.code === "store_unavailable" && retry_after === 2));
    assert.deepEqual(words(await sent()), [...Array(3).fill("201 executed"), ...Array(2).fill("201 replayed")]);
    assert.equal(await other.origin.effects("/orders"), 5);
  } finally {
    await other.end();
  }
});
