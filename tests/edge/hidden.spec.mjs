// @ts-check
// Every kind of line and every point, provoked by a client all of whose parts are words that stand nowhere else: none of
// them is in a line or a point.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { send } from "./client.mjs";
import { ADMIN, until, World } from "./gate.mjs";
import { Sink } from "./sink.mjs";
import { AUDIENCE, ISSUER, hmac, pairsOfKeys, sign } from "./tokens.mjs";

/** @typedef {[string, string][]} Lines @typedef {import("./gate.mjs").Change} Change @typedef {import("./gate.mjs").Spot} Spot */

const SECRET = "zqsecret-of-the-issuer-and-the-gate-alone";
/** What a client sends, word by word. */
const WORDS = ["zqkey", "zqcredential", "zqcookie", "zqquery", "zqcontent", "zqclaim", "zqpath", "zqhost", "zqaddress", "zqfield", "zqanswer", "203.0.113.77", SECRET];
/** What `attempt` and each line that is out of the ordinary have beside `oncekey` and `time`; a `?` where not always. @type {Record<string, string[]>} */
const FIELDS = {
  attempt: ["route", "method", "word", "code?", "status", "origin_status?", "key?", "caller", "ms", "origin_ms?", "bytes", "version"],
  unknown: ["key", "status?", "cause?"],
  dead: ["key", "status?", "cause?"],
  late: ["key", "route", "generation", "status", "ms"],
  store: ["key?", "cause?"],
  alarm_failed: ["key?", "cause?"],
  limit: ["key", "cause?"],
  identity: ["detail"],
  policy_invalid: ["detail"],
  gate_misconfigured: ["detail"],
  misconfigured: ["detail"],
  trap: ["detail", "stack"],
};

/** @type {Sink} */
let sink;
/** @type {World} */
let world;
let token = "";
/** Of an issuer whose keys cannot be had. */
let far = "";
before(async () => {
  sink = await Sink.start();
  const env = {
    ONCEKEY_ADMIN: ADMIN,
    ONCEKEY_AROUND: fileURLToPath(new URL("around", import.meta.url)),
    ONCEKEY_PACKAGE: "oncekey-worker-faults",
    TOKENS: SECRET,
    ...sink.env,
  };
  const policy = {
    log: 1,
    server_timing: true,
    scope: ["jwt:main:sub", "jwt:far:sub", "header:x-known", "cookie:session"],
    identity: {
      main: { secret: "TOKENS", issuer: ISSUER, audience: AUDIENCE },
      far: { from: "header:X-Far", jwks: "http://127.0.0.1:9/keys", issuer: ISSUER, audience: AUDIENCE },
    },
    routes: [
      { path: "/later/*", mode: "accept", unanswered: "hold" },
      { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
      { path: "/*", lease: 2 },
    ],
  };
  world = await World.start(policy, env, undefined, true);
  token = await sign(hmac(SECRET), { sub: "zqclaim" });
  far = await sign((await pairsOfKeys()).r, { sub: "zqclaim" });
});
after(async () => {
  await world?.end();
  sink?.end();
});

/** Everything that a client can say. @param {Spot} spot @param {Change} [change] */
const attempt = (spot, { more = [], ...change } = {}) =>
  spot.post({
    path: `${spot.path}?q=zqquery`,
    host: "zqhost.test",
    caller: null,
    content: '{"card":"zqcontent"}',
    more: [
      ["Authorization", `Bearer ${token}`],
      ["X-Known", "zqcredential"],
      ["Cookie", "session=zqcookie"],
      ["Referer", "https://zqaddress.test/"],
      ["X-Forwarded-For", "203.0.113.77"],
      ["CF-Connecting-IP", "203.0.113.77"],
      ["X-Own", "zqfield"],
      ...more,
    ],
    ...change,
  });

/** @param {string} [route] @param {import("./origin.mjs").Step[]} steps */
async function spot(route = "/orders", ...steps) {
  const spot = await world.spot(`${route}/zqpath`, ...steps);
  spot.key = `zqkey-${randomUUID()}`;
  return spot;
}

/** @param {Record<string, unknown>} env @returns {Change} */
const under = (env) => ({ more: [["X-Env", JSON.stringify(env)]] });

/** How each kind is provoked. @type {Record<string, () => Promise<unknown>>} */
const KINDS = {
  async attempt() {
    const one = await spot("/orders", { content: "zqanswer", lines: [["X-Answer", "zqanswer"]] });
    for (const change of [{}, {}, { content: '{"card":"zqcontent2"}' }, { key: "zqkey a" }]) await attempt(one, change);
    const items = [{ idempotency_key: `zqkey-${randomUUID()}`, card: "zqcontent" }];
    await attempt(await spot("/batch"), { key: null, content: JSON.stringify({ items }) });
  },
  async unknown() {
    for (const step of [{ cut: /** @type {const} */ ("before") }, { status: 502, content: "zqanswer" }]) await attempt(await spot("/orders", step));
    // The platform's words hold the request.
    await attempt(await spot(), { more: [["X-Origin", "tell"]] });
  },
  async dead() {
    await attempt(await spot("/later", { status: 404, content: "zqanswer" }));
  },
  async late() {
    const one = await spot("/orders", { held: true });
    await attempt(one);
    await one.open();
  },
  async store() {
    await attempt(await spot(), { more: [["X-Storage", "put 1"]] });
    await attempt(await spot(), { more: [["X-Calls", `${randomUUID()} m`]] });
  },
  async alarm_failed() {
    const one = await spot("/later", { status: 503, content: "zqanswer" });
    await attempt(one);
    await one.arrived();
    await world.send({ method: "GET", path: `/.test/ring?key=${await one.scoped()}&fail=get`, lines: [] });
  },
  async limit() {
    const ONCEKEY = JSON.stringify({ limits: { identified: { binding: "GUESTS", period: 60 } } });
    await attempt(await spot(), { key: randomUUID(), ...under({ GUESTS: "throws", ONCEKEY }) });
  },
  async identity() {
    await attempt(await spot(), { more: [["X-Far", far]] });
  },
  policy_invalid: async () => attempt(await spot(), under({ ONCEKEY: '{"log":50}' })),
  gate_misconfigured: async () => attempt(await spot(), under({ KEYS: null })),
  async misconfigured() {
    await attempt(await spot(), under({ METRICS: {} }));
    const content = JSON.stringify([{ id: "zqkey", body: { card: "zqcontent" } }]);
    await send(world.gate.queuePort, { path: "/unnamed", content, lines: [["Content-Type", "application/json"]] });
  },
  trap: async () => attempt(await spot(), { more: [["X-Fault", "panic-front"]] }),
};

for (const [kind, provoke] of Object.entries(KINDS)) {
  test(`${kind}: has its fields, and nothing of the client`, async () => {
    const { length } = world.gate.lines;
    await provoke();
    await until(() => world.gate.lines.slice(length).some(({ oncekey }) => oncekey === kind), "a line");
    for (const line of world.gate.lines.slice(length).filter(({ oncekey }) => oncekey === kind)) {
      const { oncekey: _, time, ...rest } = line;
      assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000, time);
      const known = FIELDS[kind];
      const missing = known.filter((name) => !name.endsWith("?") && !(name in rest));
      const strange = Object.keys(rest).filter((name) => !known.includes(name) && !known.includes(`${name}?`));
      assert.deepEqual([missing, strange], [[], []], JSON.stringify(line));
    }
  });
}

test("no word of the client's stands in any line or point", async () => {
  const points = sink.points.map((point) => JSON.stringify(point));
  assert.ok(points.length >= 8 && world.gate.lines.length > 20, `${points.length} points, ${world.gate.lines.length} lines`);
  assert.deepEqual(new Set(world.gate.lines.map(({ oncekey }) => oncekey)), new Set(Object.keys(FIELDS)));
  // As it was written, too: a point's texts are lists of bytes there.
  const said = [...world.gate.lines.map((line) => JSON.stringify(line)), ...points, ...sink.texts].join("\n");
  for (const word of [...WORDS, ...token.split("."), ...far.split(".")]) assert.ok(!said.includes(word), word);
});
