// @ts-check
// What a million requests cost: rows, calls, alarms, lines and points are counted at a gate on workerd, and multiplied by the
// platform's prices. Run alone it prints the tables of COSTS.md.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { pause, until, World } from "../edge/gate.mjs";
import { Sink } from "../edge/sink.mjs";

const PRICES = JSON.parse(readFileSync(new URL("prices.json", import.meta.url), "utf8"));
/** @type {Record<string, number>} */
const PRICE = PRICES.million;

/**
 * What one request does to the platform, until nothing is left of it.
 * @typedef {{ requests: number, calls: number, alarms: number, rows: number, lines: number, points: number }} Count
 */

const AROUND = { ONCEKEY_AROUND: fileURLToPath(new URL("../edge/around", import.meta.url)), ONCEKEY_SERVICE: "secret" };
const ROUTES = [
  { path: "/later/*", mode: "accept", unanswered: "hold", retention: 1 },
  { path: "/payouts/*", unanswered: "hold", retention: 1 },
  { path: "/kept/*" },
  { path: "/*", retention: 1 },
];
const MACHINES = { refund: { initial: "pending", transitions: { approve: { from: ["pending"], to: "approved", effect: "/payouts/1" } } } };

/** Counts what is done at a gate of that policy. @param {object} policy @param {Record<string, string>} [env] */
async function counts(policy, env = {}) {
  const sink = await Sink.start();
  const world = await World.start({ routes: ROUTES, machines: MACHINES, ...policy }, { ...AROUND, ...env, ...(env.POINTS ? sink.env : {}) });
  const spy = async () => (await world.send({ method: "GET", path: "/.test/spy", lines: [] })).json;
  /** @param {() => Promise<unknown>} act @param {number} [alarms] those that ring at least @returns {Promise<Count>} */
  const count = async (act, alarms = 0) => {
    const [begin, points, lines] = [await spy(), sink.texts.length, world.gate.lines.length];
    await act();
    let end = await spy();
    const isOver = async () => {
      const before = end;
      // Longer than what is kept for a second.
      await pause(alarms > 0 ? 2_000 : 300);
      end = await spy();
      return end.alarms - begin.alarms >= alarms && end.alarms === before.alarms && end.rows === before.rows;
    };
    await until(isOver, `${alarms} alarms`, 60_000);
    return {
      requests: end.fronts - begin.fronts,
      calls: end.calls - begin.calls,
      alarms: end.alarms - begin.alarms,
      rows: end.rows - begin.rows,
      lines: world.gate.lines.length - lines,
      points: sink.texts.length - points,
    };
  };
  try {
    const spot = await world.spot("/orders");
    const first = await count(() => spot.post(), 1);
    const again = await world.spot("/kept");
    await again.post();
    const replay = await count(() => again.post());
    const keyless = await count(() => spot.post({ key: null }));
    const later = await world.spot("/later");
    const accepted = await count(() => later.post(), 2);
    const transition = { path: `/.oncekey/machines/refund/${randomUUID()}/approve`, lines: /** @type {[string, string][]} */ ([["Authorization", "Bearer secret"]]), content: "{}" };
    const machine = await count(() => world.send(transition), 3);
    return { first, replay, keyless, accepted, machine };
  } finally {
    await world.end();
    sink.end();
  }
}

/** US dollars for a million. @param {Count} count @param {number} seconds that objects wait for the origin */
function price({ requests, calls, alarms, rows, lines, points }, seconds) {
  const short = PRICES.secondsOfAShortCall * (calls + alarms);
  const memory = calls + alarms === 0 ? 0 : (seconds + short) * PRICES.gigabytesOfAnObject;
  return (
    requests * (PRICE.request + PRICES.cpuMsOfARequest * PRICE.cpuMs) +
    (calls + alarms) * PRICE.call +
    memory * PRICE.gigabyteSecond +
    rows * PRICE.row +
    lines * PRICE.line +
    points * PRICE.point
  );
}

/** @param {number} dollars */
const shown = (dollars) => dollars.toFixed(2);

/** The tables, as Markdown. */
export async function tables() {
  const plain = await counts({});
  const told = await counts({ log: 1 }, { POINTS: "1" });
  const sealed = await counts({ seal: true }, { ONCEKEY_SEAL: "a secret of thirty-two bytes or so" });
  const watched = await counts({ on_unknown: { post: "/told" } });
  const { first, replay, keyless, accepted, machine } = plain;
  /** Name, counts, seconds for which objects wait. @type {[string, Count, number][]} */
  const cases = [
    ["first request, origin 0.1 s", first, 0.1],
    ["first request, origin 0.3 s", first, 0.3],
    ["first request, origin 2 s", first, 2],
    ["first request, origin 30 s", first, 30],
    ["replay", replay, 0],
    ["without a key", keyless, 0],
    ["accepted and delivered, origin 0.3 s", accepted, 0.3],
    // The entity waits beside the object of its effect's key.
    ["transition with its effect, origin 0.3 s", machine, 2 * 0.3],
  ];
  const row = (/** @type {(string | number)[]} */ ...cells) => `| ${cells.join(" | ")} |`;
  const text = [
    row("a request, until nothing is left of it", "requests", "calls of objects", "alarms", "rows", "$ a million"),
    row("---", "---", "---", "---", "---", "---"),
    ...cases.map(([name, count, seconds]) => row(name, count.requests, count.calls, count.alarms, count.rows, shown(price(count, seconds)))),
    "",
    row("and with", "what is more, of a first request", "$ a million more"),
    row("---", "---", "---"),
    row("`\"log\": 1`", `${told.first.lines} line`, shown(told.first.lines * PRICE.line)),
    row("`METRICS`", `${told.first.points} point`, shown(told.first.points * PRICE.point)),
    row("`\"seal\": true`", `${sealed.first.rows - first.rows} rows`, shown(price(sealed.first, 0.3) - price(first, 0.3))),
    row(
      "`on_unknown`",
      `${watched.first.rows - first.rows} row: the alarm is set to the lease's end, then to the key's`,
      shown(price(watched.first, 0.3) - price(first, 0.3)),
    ),
    "",
    row("the same by hand, in a Worker", "of a first request", "$ a million", "a replay", "$ a million"),
    row("---", "---", "---", "---", "---"),
    row("Redis by HTTP", "SET NX, SET", shown(PRICE.request + 2 * PRICE.redisCommand), "SET NX GET", shown(PRICE.request + PRICE.redisCommand)),
    row("D1", "INSERT of 2 rows (table, index), UPDATE of 1, DELETE of 2", shown(PRICE.request + 5 * PRICE.d1Row), "1 row read", shown(PRICE.request)),
    row("KV", "read, 2 writes; it ends by itself", shown(PRICE.request + PRICE.kvRead + 2 * PRICE.kvWrite), "read", shown(PRICE.request + PRICE.kvRead)),
  ];
  // What is told writes nothing and calls nobody.
  for (const name of /** @type {const} */ (["first", "replay", "accepted", "machine"])) {
    const { lines: _, points: __, ...rest } = told[name];
    const { lines: ___, points: ____, ...before } = plain[name];
    assert.deepEqual(rest, before, name);
  }
  return text.join("\n");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await tables());
  process.exit();
}
