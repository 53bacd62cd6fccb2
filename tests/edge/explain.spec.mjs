// @ts-check
// What `oncekey policy explain` says of two requests, against the running gate: it answers 422 exactly where it is said that
// they differ.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { executed, refused, replayed, World } from "./gate.mjs";

const { policy, pairs } = JSON.parse(readFileSync(new URL("../vectors/explain.json", import.meta.url), "utf8"));

/** @type {World} */
let world;
before(async () => {
  world = await World.start(policy);
});
after(() => world?.end());

/** @typedef {{ method?: string, path?: string, type?: string, lines?: [string, string][], key?: string, caller?: string, content: string }} Sent */

/** As the vectors mean it, with a key of this run. @param {Sent} sent @param {string} digits */
function send({ method = "POST", path = "/orders", type = "application/json", lines = [], key = "8e03978e-40d5-43dd-bc93-KEY", caller = "ann", content }, digits) {
  /** @type {[string, string][]} */
  const all = [["Content-Type", type], ["Idempotency-Key", key.replace("KEY", digits)], ["Authorization", `Bearer ${caller}`], ...lines];
  return world.send({ method, path, lines: all, content: content.replace("KEY", digits) });
}

describe("pairs", { concurrency: 8 }, () => {
  for (const { name, first, second, outcome } of pairs)
    test(name, async () => {
      const digits = randomBytes(6).toString("hex");
      const [one, two] = [await send(first, digits), await send(second, digits)];
      executed(one);
      if (outcome === "same") replayed(two, one);
      else if (outcome === "other") refused(two, "idempotency_key_reused");
      else if (outcome === "other_caller") refused(two, "caller_changed");
      else executed(two);
    });
  test("there are enough", () => assert.ok(pairs.length >= 20));
});
