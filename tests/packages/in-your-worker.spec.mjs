// @ts-check
// The template "in your own Worker": a Hono app behind the gate in one script, by a service binding to itself and by its own
// exports, with its own tests.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkTypes, dev, install, NEWEST, orderTwice, run } from "./room.mjs";

const VITEST = fileURLToPath(new URL("node_modules/vitest/vitest.mjs", import.meta.url));

describe("in your own Worker", { timeout: 170_000 }, () => {
  const room = install("in-your-worker");

  test("its types", () => checkTypes(room));

  test("its own tests", () => {
    assert.match(run(process.execPath, [VITEST, "run", "--root", room], room), /6 passed/);
  });

  for (const [config, tools] of /** @type {const} */ ([["wrangler.jsonc", undefined], ["wrangler.exports.jsonc", NEWEST]]))
    test(`${config}, by ${tools ? "wrangler's newest" : "its last for Node 20"}`, async () => {
      const worker = await dev(room, ["--config", join(room, config)], tools);
      try {
        await orderTwice(`${worker.url}/orders`);
        assert.equal((await (await fetch(`${worker.url}/orders`)).json()).length, 1);
      } finally {
        await worker.stop();
      }
    });
});
