// @ts-check
// Names under a secret: what the origin sees of a caller cannot be found by trying, and random UUIDs keep their names.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { send } from "./client.mjs";
import { ADMIN, executed, freePort, Gate, replayed, until, World } from "./gate.mjs";
import { startOrigin } from "./origin.mjs";

const SECRETS = ["first-naming-secret-of-more-than-32-bytes", "other-naming-secret-of-more-than-32-bytes"];
const ROUTES = [
  { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
  { path: "/*", keep: "definite" },
];

describe("names under a secret", { concurrency: true }, () => {
  test("of a natural key the origin sees another name under each, the same for each attempt; of a random UUID always the same", async () => {
    const [key, uuid] = [`order-${randomUUID()}`, randomUUID()];
    /** @type {string[][]} */
    const seen = [];
    for (const env of /** @type {Record<string, string>[]} */ ([{}, ...SECRETS.map((secret) => ({ ONCEKEY_NAMES: secret }))])) {
      const world = await World.start({ routes: ROUTES }, { ONCEKEY_ADMIN: ADMIN, ...env });
      const names = [];
      for (const sent of [key, uuid]) {
        const spot = await world.spot("/job");
        spot.key = sent;
        const change = { host: "shop.example", caller: "weak" };
        const first = await spot.post(change);
        executed(first);
        replayed(await spot.post(change), first);
        await spot.ran(1);
        const name = await spot.scoped();
        assert.match(name, /^[A-Za-z0-9_-]{43}$/);
        names.push(name);
        // Peek, release and an item of a batch know it by the same name.
        const lines = /** @type {[string, string][]} */ ([["Authorization", "Bearer weak"], ["Content-Type", "application/json"]]);
        const peek = await world.send({ method: "GET", path: `/.oncekey/keys/${sent}`, lines, host: "shop.example" });
        assert.equal(peek.json.state, "completed");
        const admin = /** @type {[string, string][]} */ ([["Authorization", `Bearer ${ADMIN}`]]);
        assert.equal((await world.send({ method: "DELETE", path: `/.oncekey/keys/${name}`, lines: admin })).status, 204);
        const content = JSON.stringify({ items: [{ idempotency_key: sent }] });
        const batch = await world.send({ path: "/batch/x", content, lines, host: "shop.example" });
        assert.equal(batch.json.items[0].idempotency_status, "executed", batch.brief);
        const item = (await world.origin.seen("/item")).at(-1);
        assert.ok(item?.lines.some(([, value]) => value === `"${name}"`), JSON.stringify(item?.lines));
      }
      seen.push(names);
      await world.end();
    }
    assert.equal(new Set(seen.map(([natural]) => natural)).size, 3);
    assert.equal(new Set(seen.map(([, random]) => random)).size, 1);
  });

  test("a short secret is a misconfiguration", async () => {
    const origin = await startOrigin();
    const gate = new Gate(origin.url, {}, { ONCEKEY_NAMES: "short" });
    gate.port = await freePort();
    gate.launch();
    const ask = () => send(gate.port, { path: "/job", lines: [] });
    await until(() => ask().then(() => true, () => false), "it answers");
    const answer = await ask();
    assert.deepEqual([answer.status, answer.json.code], [500, "gate_misconfigured"]);
    assert.match(answer.text, /ONCEKEY_NAMES/);
    await gate.end();
    origin.end();
  });
});
