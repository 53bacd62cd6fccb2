// @ts-check
// The tables of COSTS.md are what is counted.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { tables } from "../bench/cost.mjs";

test("COSTS.md has the tables that `cargo xtask bench cost` prints", async () => {
  const page = readFileSync(new URL("../../crates/oncekey-worker/COSTS.md", import.meta.url), "utf8");
  for (const table of (await tables()).split("\n\n")) assert.ok(page.includes(table), `write into it:\n${table}`);
});
