// @ts-check
// README's tool for an agent, as it is written there: a call that is retried takes effect once.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { World } from "./gate.mjs";

const ROOT = new URL("../../", import.meta.url);

/** @type {World} */
let world;
/** @type {(args: unknown, call: { run: string, call: string }) => Promise<{ status: number, said: string }>} */
let order;
/** @type {() => Promise<{ status: number, said: string }>} */
let run;

before(async () => {
  world = await World.start({ scope: ["header:authorization"], routes: [{ path: "/*", patience: 5 }] });
  process.env.API = `http://127.0.0.1:${world.gate.port}`;
  const readme = readFileSync(new URL("README.md", ROOT), "utf8");
  const example = /```js\n(import \{ once \}[^]*?)```/.exec(readme)?.[1];
  assert.ok(example, "README has no such example");
  const source = example.replace('"./www/agent.mjs"', JSON.stringify(new URL("www/agent.mjs", ROOT).href));
  assert.notEqual(source, example);
  ({ run, order } = await import(`data:text/javascript,${encodeURIComponent(`${source}\nexport { order };\n`)}`));
});
after(() => world?.end());

const effects = () => world.origin.effects("/orders");

test("the call, its retry, and two retries at once", async () => {
  const first = await run();
  assert.equal(first.status, 201);
  assert.deepEqual(await run(), first);
  assert.deepEqual(await Promise.all([run(), run()]), [first, first]);
  assert.equal(await effects(), 1);
});

test("the answer was lost: it is had by the retry", async () => {
  const call = { run: "run-7", call: "toolu_02" };
  await world.origin.plan("/orders", {}, { held: true }, {});
  const lost = order({ item: "Mug" }, call);
  await world.origin.arrived("/orders", 2);
  const meanwhile = await order({ item: "Mug" }, call);
  assert.deepEqual([meanwhile.status, JSON.parse(meanwhile.said).code], [409, "request_in_progress"]);
  await world.origin.open("/orders");
  const answer = await lost;
  assert.deepEqual(await order({ item: "Mug" }, call), answer);
  assert.equal(await effects(), 2);
});

test("another call, another run, and another request in a call are other intents", async () => {
  const begin = await effects();
  for (const call of [{ run: "run-7", call: "toolu_03" }, { run: "run-8", call: "toolu_03" }, { run: "run-7/toolu", call: "03" }])
    assert.equal((await order({ item: "Pen" }, call)).status, 201);
  assert.equal(await effects(), begin + 3);
});

test("what the model invents counts for nothing", async () => {
  const begin = await effects();
  const call = { run: "run-7", call: "toolu_04" };
  assert.equal((await order({ item: "Pen", quantity: 1, idempotency_key: "mine" }, call)).status, 201);
  assert.equal((await order({ item: "Pen", quantity: 2 }, call)).status, 422);
  assert.equal(await effects(), begin + 1);
});
