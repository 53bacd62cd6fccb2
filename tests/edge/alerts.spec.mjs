// @ts-check
// The operator's queries, as they stand in ALERTS.md, on the points and lines of a gate: the SQL in SQLite with the few
// functions of the Analytics Engine that it lacks, the others as the Query Builder describes them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import initSqlJs from "sql.js";
import { executed, until, World } from "./gate.mjs";
import { Sink } from "./sink.mjs";

const PAGE = readFileSync(new URL("../../crates/oncekey-worker/ALERTS.md", import.meta.url), "utf8");

/** The block below a heading. @param {string} heading @param {string} kind */
function block(heading, kind) {
  const section = PAGE.split(/^##+ /m).find((text) => text.startsWith(`${heading}\n`));
  const text = new RegExp("```" + kind + "\n([^]*?)```").exec(section ?? "")?.[1];
  assert.ok(text, `no ${kind} below ${heading}`);
  return text;
}

/** What happened, a moment ago. @type {import("./sink.mjs").Point[]} */
let points = [];
/** @type {any[]} */
let lines = [];
/** @type {any} */
let sql;

before(async () => {
  const sink = await Sink.start();
  /** @type {World | undefined} */
  let world;
  try {
    const routes = [{ path: "/later/*", mode: "accept", unanswered: "hold" }, { path: "/slow/*" }, { path: "/*", lease: 1 }];
    world = await World.start({ log: 1, routes }, sink.env);
    const [plain, again, lost, held, dead, slow] = await Promise.all([
      world.spot("/orders"), world.spot("/orders"), world.spot("/orders", { cut: "before" }), world.spot("/orders", { held: true }),
      world.spot("/later", { status: 404 }), world.spot("/slow", { held: true }),
    ]);
    executed(await plain.post());
    for (let n = 0; n < 2; n++) await again.post();
    await again.post({ content: "{}" });
    await lost.post();
    const first = held.post();
    await held.arrived();
    await held.post();
    await first;
    await held.open();
    await dead.post();
    await plain.post({ key: "a b" });
    const later = slow.post();
    await slow.arrived();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await slow.open();
    executed(await later);
    const gate = world.gate;
    await until(() => sink.points.length === 10 && ["late", "dead", "unknown"].every((kind) => gate.told(kind)), "all of it");
    [points, lines] = [sink.points, gate.lines];
  } finally {
    await world?.end();
    sink.end();
  }
  sql = await initSqlJs();
});

/** Seconds of the query's units. @type {Record<string, number>} */
const UNITS = { MINUTE: 60, HOUR: 3_600, DAY: 86_400 };
/** The present of the queries. */
const NOW = 1_000_000;

/**
 * Runs a query on points. Those that are too old, of another route, must not count; each point stands for some.
 * @param {string} query @param {(point: import("./sink.mjs").Point) => number} [interval]
 */
function ask(query, interval = () => 1) {
  const db = new sql.Database();
  try {
    const columns = [...Array.from({ length: 20 }, (_, at) => `blob${at + 1} TEXT`), ...Array.from({ length: 20 }, (_, at) => `double${at + 1} REAL`)];
    db.run(`CREATE TABLE oncekey (dataset TEXT, timestamp REAL, _sample_interval REAL, index1 TEXT, ${columns.join(", ")})`);
    const add = (/** @type {import("./sink.mjs").Point} */ { index, blobs, doubles }, /** @type {number} */ time, /** @type {number} */ weight) => {
      const named = [...blobs.map((_, at) => `blob${at + 1}`), ...doubles.map((_, at) => `double${at + 1}`)];
      const places = Array.from({ length: named.length + 4 }, () => "?").join(", ");
      db.run(`INSERT INTO oncekey (dataset, timestamp, _sample_interval, index1, ${named.join(", ")}) VALUES (${places})`, ["oncekey", time, weight, index, ...blobs, ...doubles]);
    };
    for (const point of points) add(point, NOW - 60, interval(point));
    for (const point of points) add({ ...point, blobs: ["/old", ...point.blobs.slice(1)] }, NOW - 100 * UNITS.DAY, 1);
    // The least value at or below which that share of the weight lies.
    db.create_aggregate("quantile_weighted", {
      init: () => [],
      step: (/** @type {any} */ state, /** @type {number} */ share, /** @type {number} */ value, /** @type {number} */ weight) => [...state, { share, value, weight }],
      finalize(/** @type {any[]} */ state) {
        const sorted = state.sort((a, b) => a.value - b.value);
        let left = sorted.reduce((sum, { weight }) => sum + weight, 0) * (sorted[0]?.share ?? 0);
        return sorted.find(({ weight }) => (left -= weight) <= 0)?.value ?? null;
      },
    });
    const inSqlite = query
      .replaceAll(/\bIF\(/g, "IIF(")
      .replaceAll(/NOW\(\) - INTERVAL '(\d+)' (\w+)/g, (_, count, unit) => String(NOW - Number(count) * (UNITS[unit] ?? NaN)))
      .replaceAll(/quantileExactWeighted\(([\d.]+)\)\(/g, "quantile_weighted($1, ");
    const [found] = db.exec(inSqlite);
    return found?.values ?? [];
  } finally {
    db.close();
  }
}

describe("of points", () => {
  /** @type {[string, unknown[][]][]} */
  const CASES = [
    ["Unknown fates", [["/*", 2 / 8], ["/later/*", 0], ["/slow/*", 0]]],
    ["Conflicts", [["/*", "idempotency_key_reused", 1], ["/*", "request_in_progress", 1]]],
    ["Replays", [["/*", 1, 8], ["/later/*", 0, 1], ["/slow/*", 0, 1]]],
    ["Refusals", [["key_invalid", "400", 1]]],
  ];
  for (const [heading, rows] of CASES) test(heading, () => assert.deepEqual(ask(block(heading, "sql")), rows));

  test("The origin's slowest", () => {
    const rows = ask(block("The origin's slowest", "sql"));
    const slowest = (/** @type {string} */ route) => Math.max(...points.filter(({ index, blobs }) => index === route && blobs[5] !== "").map(({ doubles }) => doubles[2]));
    assert.deepEqual(rows, [["/slow/*", slowest("/slow/*")], ["/*", slowest("/*")]]);
    assert.ok(/** @type {number} */ (rows[0][1]) >= 90);
  });

  test("each row counts for those that it stands for", () => {
    const nine = (/** @type {import("./sink.mjs").Point} */ { blobs }) => (blobs[2] === "unknown" ? 1 : 9);
    assert.deepEqual(ask(block("Unknown fates", "sql"), nine)[0], ["/*", 2 / (2 + 6 * 9)]);
    assert.deepEqual(ask(block("Replays", "sql"), () => 9)[0], ["/*", 9, 72]);
  });
});

/** @typedef {{ key: string, operation: string, type: string, value?: string }} Filter */

/** A query of the Query Builder's on lines: what each group comes to. @param {any} query */
function count({ filters, calculations: [{ operator, key }], groupBys = [] }) {
  const holds = (/** @type {any} */ line, /** @type {Filter} */ { key, operation, type, value = "" }) => {
    const found = line[key];
    if (found !== undefined && typeof found !== type) return false;
    if (operation === "exists") return found !== undefined;
    if (operation === "eq") return found === value;
    if (operation === "not_in") return !value.split(",").includes(found);
    return assert.fail(operation);
  };
  /** @type {Map<string, any[]>} */
  const groups = new Map();
  for (const line of lines.filter((line) => filters.every((/** @type {Filter} */ filter) => holds(line, filter)))) {
    const name = JSON.stringify(groupBys.map((/** @type {any} */ { value }) => line[value]));
    groups.set(name, [...(groups.get(name) ?? []), line]);
  }
  const result = (/** @type {any[]} */ group) => {
    if (operator === "count") return group.length;
    assert.equal(operator, "p99");
    return Math.max(...group.flatMap((line) => (line[key] === undefined ? [] : [line[key]])));
  };
  return Object.fromEntries([...groups].map(([name, group]) => [JSON.parse(name).join(" "), result(group)]));
}

describe("of lines", () => {
  /** @type {[string, object][]} */
  const CASES = [
    ["Unknown fates, by hour", { "": 2 }],
    ["Dead deliveries", { 404: 1 }],
    ["Late answers", { "/* 201": 1 }],
    ["Whatever else is wrong", {}],
  ];
  for (const [heading, groups] of CASES) test(heading, () => assert.deepEqual(count(JSON.parse(block(heading, "json"))), groups));

  test("Whatever else is wrong, of what is", () => {
    const query = JSON.parse(block("Whatever else is wrong", "json"));
    lines.push({ oncekey: "store", time: "" }, { oncekey: "store", time: "" }, { oncekey: "trap", time: "" }, { other: "line" });
    assert.deepEqual(count(query), { store: 2, trap: 1 });
  });

  test("The origin's slowest, of the attempts that get a line", () => {
    const found = count(JSON.parse(block("The origin's slowest, of the attempts that get a line", "json")));
    assert.ok(found["/slow/*"] >= 90, JSON.stringify(found));
  });
});

test("every query is tried", () => {
  const source = readFileSync(new URL(import.meta.url), "utf8");
  const headings = [...PAGE.matchAll(/^### (.+)$/gm)].map(([, heading]) => heading);
  assert.ok(headings.length > 8);
  for (const heading of headings) assert.ok(source.includes(`"${heading}"`), heading);
});
