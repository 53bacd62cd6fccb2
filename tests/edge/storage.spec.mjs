// @ts-check
// The objects' storage: what a request costs in it, writes that fail, and objects that cannot be reached at all.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { executed, Gate, refused, replayed, until, World } from "./gate.mjs";
import { noise, startOrigin } from "./origin.mjs";

/** A memory file system: objects are made faster there. */
const MEMORY = "/dev/shm";
const AROUND = { ONCEKEY_AROUND: fileURLToPath(new URL("around", import.meta.url)) };

/** A refusal because of the store. @param {import("./client.mjs").Answer} answer */
function unavailable(answer) {
  assert.deepEqual([answer.status, answer.json.code], [503, "store_unavailable"], answer.brief);
  assert.match(answer.one("retry-after") ?? "", /^[1-9]\d*$/);
  assert.deepEqual(answer.all("idempotency-status"), ["refused"]);
  assert.doesNotMatch(answer.text, /nothing was run/i);
}

/** Passed on without protection, and said so. @param {import("./client.mjs").Answer} answer */
function bypassed(answer) {
  assert.deepEqual([answer.status, answer.one("idempotency-status")], [201, "bypassed;reason=store-unavailable"], answer.brief);
}

describe("what a request costs", { concurrency: false }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    const routes = [{ path: "/probe/*", unanswered: { probe: "/lookup/{key}" } }, { path: "/*", retention: 100 }];
    world = await World.start({ max_stored: 3_000_000, routes }, { ...AROUND, ONCEKEY_ADMIN: "secret" });
  });
  after(() => world?.end());

  /** @returns {Promise<{ fronts: number, calls: number, rows: number, timers: number, memory: number }>} */
  const spy = async () => (await world.send({ method: "GET", path: "/.test/spy", lines: [] })).json;

  /** @param {string} what @param {{ calls: number, rows: number }} cost @param {() => Promise<unknown>} act */
  async function costs(what, cost, act) {
    const begin = await spy();
    await act();
    const end = await spy();
    assert.deepEqual({ calls: end.calls - begin.calls, rows: end.rows - begin.rows }, cost, what);
    await until(async () => (await spy()).timers === 0, "every timer is cleared");
  }

  test("one call a request, three rows an executed key", async () => {
    const spot = await world.spot("/job");
    await costs("no key", { calls: 0, rows: 0 }, () => spot.post({ key: null }));
    await costs("first", { calls: 1, rows: 3 }, async () => executed(await spot.post()));
    await costs("replay", { calls: 1, rows: 0 }, () => spot.post());
    await costs("other request", { calls: 1, rows: 0 }, async () => refused(await spot.post({ content: "{}" }), "idempotency_key_reused"));
    await costs("peek", { calls: 1, rows: 0 }, () => spot.peek());
    await costs("an unused key's peek", { calls: 1, rows: 0 }, async () => (await world.spot("/job")).peek());
    await costs("malformed", { calls: 0, rows: 0 }, async () => refused(await spot.post({ key: "a b" }), "key_invalid"));
  });

  test("a conflict costs one call and no timer", async () => {
    const spot = await world.spot("/job", { held: true });
    const first = spot.post();
    await spot.arrived();
    const begin = await spy();
    refused(await spot.post(), "request_in_progress");
    assert.deepEqual(await spy(), { ...begin, fronts: begin.fronts + 1, calls: begin.calls + 1 });
    await spot.open();
    executed(await first);
  });

  test("what stores nothing gives everything back", async () => {
    const spot = await world.spot("/job", { status: 503 }, { status: 422 });
    for (const status of [503, 422]) {
      assert.equal((await spot.post()).status, status);
      const rows = await world.send({ method: "GET", path: `/.test/rows?key=${await spot.scoped()}`, lines: [] });
      assert.deepEqual(rows.json, []);
    }
  });

  test("a row more for each further part of at most 1 MB", async () => {
    const spot = await world.spot("/job", { content: noise(2_500_000) });
    await costs("2.5 MB", { calls: 1, rows: 5 }, async () => executed(await spot.post()));
    const rows = await world.send({ method: "GET", path: `/.test/rows?key=${await spot.scoped()}`, lines: [] });
    assert.deepEqual(rows.json, ["1", "2", "r", "alarm"]);
  });

  for (const [call, count] of /** @type {[string, number][]} */ ([["get", 1], ["put", 1], ["setAlarm", 1]])) {
    test(`${call} fails before the claim: nothing ran, the key is free`, async () => {
      const spot = await world.spot("/job");
      unavailable(await spot.post({ more: [["X-Storage", `${call} ${count}`]] }));
      await spot.ran(0);
      executed(await spot.post());
      await spot.ran(1);
    });
  }

  test("put fails after the effect: its answer is passed on, then its outcome is unknown", async () => {
    const spot = await world.spot("/job");
    const first = await spot.post({ more: [["X-Storage", "put 2"]] });
    executed(first);
    assert.equal(first.one("idempotency-expires"), undefined);
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
  });

  test("put fails in a later part: the same", async () => {
    const spot = await world.spot("/job", { content: noise(2_500_000) });
    executed(await spot.post({ more: [["X-Storage", "put 3"]] }));
    refused(await spot.post(), "outcome_unknown");
    await spot.ran(1);
  });

  test("a record that no version wrote: its outcome is unknown, until it is released", async () => {
    const spot = await world.spot("/job");
    executed(await spot.post());
    for (const content of [Buffer.alloc(0), Buffer.from([255, 1, 2]), noise(64)]) {
      await world.send({ method: "POST", path: `/.test/garble?key=${await spot.scoped()}`, lines: [], content });
      refused(await spot.post(), "outcome_unknown");
      refused(await spot.post({ content: "{}" }), "outcome_unknown");
      assert.equal((await spot.peek()).json.state, "unknown");
    }
    const lines = /** @type {[string, string][]} */ ([["Authorization", "Bearer secret"]]);
    assert.equal((await world.send({ method: "DELETE", path: `/.oncekey/keys/${await spot.scoped()}`, lines })).status, 204);
    executed(await spot.post());
    await spot.ran(2);
  });

  test("a record of a later version: its outcome is unknown until it expires, and no alarm deletes it before", async () => {
    const spot = await world.spot("/job");
    executed(await spot.post());
    const key = await spot.scoped();
    /** @param {string} act @param {Buffer} [content] */
    const act = (act, content) => world.send({ method: content ? "POST" : "GET", path: `/.test/${act}?key=${key}`, lines: [], content });
    /** @param {number} expires */
    const garble = async (expires) => {
      const form = Buffer.alloc(20, 7);
      form.writeUInt8(3);
      form.writeBigUInt64BE(BigInt(expires), 1);
      assert.equal((await act("garble", form)).status, 200);
    };
    const rows = async () => (await act("rows")).json;
    const expires = Math.floor(Date.now() / 1000 + 3600) * 1000;
    await garble(expires);
    for (const content of ['{"item":"lamp"}', "{}"]) {
      const answer = await spot.post({ content });
      refused(answer, "outcome_unknown");
      assert.equal(Date.parse(answer.one("idempotency-expires") ?? ""), expires);
    }
    const { state, expires: until } = (await spot.peek()).json;
    assert.deepEqual([state, Date.parse(until)], ["unknown", expires]);
    const next = (await act("ring")).json;
    assert.ok(next > Date.now() && next < expires, `${next}`);
    assert.deepEqual(await rows(), ["r", "alarm"]);
    await garble(Date.now() - 1);
    assert.equal((await spot.peek()).json.state, "absent");
    await act("ring");
    assert.deepEqual(await rows(), []);
    executed(await spot.post());
    await spot.ran(2);
  });
});

describe("an accepted request of a later version", { concurrency: false }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    world = await World.start({ routes: [{ path: "/*", mode: "accept", unanswered: "hold" }] }, AROUND);
  });
  after(() => world?.end());

  test("waits for a build that reads it, and is delivered then", async () => {
    const spot = await world.spot("/job", { status: 503, held: true }, {});
    assert.equal((await spot.post()).status, 202);
    await spot.arrived();
    const key = await spot.scoped();
    /** @param {Buffer} content @returns {Promise<Buffer>} what was there */
    const swap = async (content) => (await world.send({ method: "POST", path: `/.test/garble?key=${key}&row=q`, lines: [], content })).content;
    /** When the alarm rings next, after it has rung. @returns {Promise<number>} */
    const ring = async () => (await world.send({ method: "GET", path: `/.test/ring?key=${key}`, lines: [] })).json;
    const form = await swap(Buffer.from([3, 0, 0, 1, 255, 255, 255, 255, 255, 1, 2, 3]));
    assert.equal(form[0], 2);
    await spot.open();
    // Once the next try is due, it is put off for longer than any back-off.
    await until(async () => (await ring()) > Date.now() + 600_000, "put off");
    assert.equal((await spot.peek()).json.state, "running");
    await spot.ran(1);
    await swap(form);
    await ring();
    await spot.ran(2);
    assert.equal((await spot.peek()).json.state, "completed");
  });
});

describe("many keys", { concurrency: false }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    const routes = [{ path: "/short/*", retention: 2 }, { path: "/*" }];
    world = await World.start({ routes }, AROUND, existsSync(MEMORY) ? MEMORY : undefined);
  });
  after(() => world?.end());

  /** @param {number} count @param {() => Promise<unknown>} act */
  const many = async (count, act) => {
    for (let n = 0; n < count; n += 20) await Promise.all(Array.from({ length: 20 }, act));
  };
  /** @param {string} route @param {number} [status] */
  const post = (route, status = 201) => async () => {
    const spot = await world.spot(route, { status });
    assert.equal((await spot.post()).status, status);
  };
  let opened = 0;
  /** An object that only opens its storage. */
  const open = () => world.send({ method: "GET", path: `/.test/open?key=opened-${++opened}`, lines: [] });
  /** @returns {string[]} */
  const files = () => /** @type {string[]} */ (readdirSync(world.gate.state, { recursive: true })).filter((name) => !name.includes("metadata"));

  test("the wasm's memory does not grow with them", async () => {
    const memory = async () => {
      await many(500, post("/job"));
      return (await world.send({ method: "GET", path: "/.test/spy", lines: [] })).json.memory;
    };
    const warm = await memory();
    assert.equal(await memory(), warm);
    assert.equal(await memory(), warm);
  });

  test("a key has no more files open than an object that only opens its storage", async () => {
    const pid = world.gate.children[0];
    const held = () => {
      /** @type {Record<string, number>} */
      const counts = {};
      for (const fd of readdirSync(`/proc/${pid}/fd`)) {
        let name = "";
        try {
          name = readlinkSync(`/proc/${pid}/fd/${fd}`);
        } catch {
          // Closed meanwhile.
        }
        const object = /(\w{64})\.sqlite/.exec(name)?.[1];
        if (object) counts[object] = (counts[object] ?? 0) + 1;
      }
      return counts;
    };
    const before = held();
    await open();
    const most = Math.max(...Object.entries(held()).filter(([name]) => !(name in before)).map(([, count]) => count));
    await many(40, post("/job"));
    assert.ok(Object.values(held()).every((count) => count <= most), `more than ${most}`);
  });

  test("after retention nothing is kept, nor by objects that only refused or were asked", async () => {
    const known = new Set(files());
    await open();
    const alone = files().filter((name) => !known.has(name) && name.endsWith(".sqlite"));
    const least = Math.max(...alone.map((name) => statSync(`${world.gate.state}/${name}`).size));
    const before = new Set(files());
    await many(20, post("/short"));
    await many(20, post("/short", 503));
    await many(20, post("/short", 422));
    await many(20, async () => (await world.spot("/short")).peek());
    const size = (/** @type {string} */ name) => statSync(`${world.gate.state}/${name}`, { throwIfNoEntry: false })?.size ?? 0;
    const kept = () => files().filter((name) => !before.has(name) && size(name) > least);
    assert.ok(kept().length > 0);
    await until(() => kept().length === 0, "the storage is given back", 60_000);
  });
});

describe("a full disk", { concurrency: false }, () => {
  for (const store_failure of ["closed", "open"]) {
    describe(store_failure, () => {
      /** @type {World} */
      let world;
      before(async () => {
        const origin = await startOrigin();
        const gate = new Gate(origin.url, { store_failure, routes: [{ path: "/*", patience: 5 }] });
        gate.frail = true;
        world = new World(await gate.start(), origin);
      });
      after(() => world?.end());

      /** Lets files grow no further, or again. @param {boolean} full */
      const fill = (full) => {
        for (const pid of world.gate.children) execFileSync("prlimit", ["--pid", String(pid), full ? "--fsize=1000:" : "--fsize=unlimited:"]);
      };

      test("before the claim: nothing ran, since it is not known that the object did not", async () => {
        const spot = await world.spot("/job");
        fill(true);
        try {
          unavailable(await spot.post());
        } finally {
          fill(false);
        }
        await spot.ran(0);
      });

      test("while the effect runs: unknown, and it is not run again", async () => {
        const spot = await world.spot("/job", { held: true });
        const first = spot.post();
        await spot.arrived();
        fill(true);
        try {
          await spot.open();
          unavailable(await first);
        } finally {
          fill(false);
        }
        refused(await spot.post(), "outcome_unknown");
        await spot.ran(1);
      });

      test("another key is served as ever", async () => {
        const spot = await world.spot("/job");
        const first = await spot.post();
        executed(first);
        replayed(await spot.post(), first);
        await spot.ran(1);
      });
    });
  }
});

describe("objects that cannot be reached", () => {
  for (const store_failure of ["closed", "open"]) {
    test(`${store_failure}: refused, since a failure without a word leaves it open whether the call arrived`, async () => {
      const world = await World.start({ store_failure });
      try {
        rmSync(world.gate.state, { recursive: true });
        writeFileSync(world.gate.state, "no folder");
        const spot = await world.spot("/job");
        for (let n = 0; n < 2; n++) {
          unavailable(await spot.post());
        }
        const peek = await spot.peek();
        assert.deepEqual([peek.status, peek.json.code], [503, "store_unavailable"]);
        await spot.ran(0);
      } finally {
        await world.end();
      }
    });
  }
});

describe("a call that fails, where the policy lets requests pass", { concurrency: 8 }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    world = await World.start({ store_failure: "open" }, AROUND);
  });
  after(() => world?.end());

  /** Every shape of the exception: its flags are `o`verloaded, re`t`ryable, re`m`ote, `r`eset. */
  const SHAPES = Array.from({ length: 16 }, (_, at) => [..."otmr"].map((flag, bit) => (at & (8 >> bit) ? flag : "-")).join(""));
  let count = 0;
  /** The answer under calls that fail so, and what a second attempt hears, whose calls arrive. @param {string} words */
  const tried = async (words) => {
    const spot = await world.spot("/job");
    const first = await spot.post({ more: [["X-Calls", `call-${++count} ${words}`]] });
    return { first, ran: await spot.effects(), spot };
  };
  for (const shape of SHAPES) {
    const unseen = /^o.--$/.test(shape);
    test(`${shape}: ${unseen ? "it never arrived, and is passed on" : "it may have arrived, and is not passed on"}`, async () => {
      const lost = await tried(shape.includes("t") && !shape.includes("o") ? `${shape} ${shape}` : shape);
      if (unseen) bypassed(lost.first);
      else unavailable(lost.first);
      assert.equal(lost.ran, unseen ? 1 : 0);
    });
    test(`${shape} after the effect, as first call and as second: one effect`, async () => {
      if (!unseen) {
        const seen = await tried(shape.includes("t") && !shape.includes("o") ? `+${shape} ${shape}` : `+${shape}`);
        unavailable(seen.first);
        assert.equal(seen.ran, 1);
      }
      const second = await tried(`+-t-- ${shape}`);
      unavailable(second.first);
      replayed(await second.spot.post(), await second.spot.post());
      await second.spot.ran(1);
    });
  }
});

describe("a class without SQLite", { concurrency: false }, () => {
  const machine = { initial: "a", transitions: { t: { from: ["a"], to: "b" } } };
  for (const [binding, what, at] of /** @type {[string, string, (spot: import("./gate.mjs").Spot) => import("./client.mjs").Request][]} */ ([
    ["KEYS", "a keyed request", (spot) => spot.request()],
    ["KEYS", "a peek", (spot) => ({ method: "GET", path: `/.oncekey/keys/${spot.key}`, lines: spot.request().lines })],
    ["KEYS", "a request to accept", (spot) => spot.request({ path: "/accept" })],
    ["MACHINES", "a transition", () => ({ path: "/.oncekey/machines/m/1/t", lines: [["Authorization", "Bearer served"]], content: "{}" })],
  ])) {
    for (const store_failure of ["closed", "open"]) {
      test(`${binding}, ${store_failure}, noticed by ${what}: every request hears it, and the log`, async () => {
        const routes = [{ path: "/accept", mode: "accept", unanswered: "hold" }, {}];
        const ONCEKEY_WITHOUT_SQLITE = binding === "KEYS" ? "KeyObject" : "MachineObject";
        const world = await World.start({ store_failure, routes, machines: { m: machine } }, { ONCEKEY_WITHOUT_SQLITE, ONCEKEY_SERVICE: "served" });
        try {
          const spot = await world.spot("/job");
          const get = spot.request({ key: null, method: "GET", content: undefined });
          for (const request of [at(spot), at(spot), spot.request(), spot.request({ key: null }), get]) {
            const { length } = world.gate.lines;
            const answer = await world.send(request);
            assert.deepEqual([answer.status, answer.json.code], [500, "gate_misconfigured"], answer.brief);
            assert.match(answer.json.detail, new RegExp(`\\b${binding}\\b.*SQLite`));
            await until(() => world.gate.lines.slice(length).some(({ oncekey }) => oncekey === "gate_misconfigured"), "a line for the operator");
          }
          await spot.ran(0);
        } finally {
          await world.end();
        }
      });
    }
  }
});

describe("bindings", { concurrency: false }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    world = await World.start({}, AROUND);
  });
  after(() => world?.end());

  /** @param {Record<string, unknown>} env @returns {[string, string][]} */
  const under = (env) => [["X-Env", JSON.stringify(env)]];
  for (const [name, env] of /** @type {[string, Record<string, unknown>][]} */ ([
    ["KEYS", { KEYS: null }],
    ["KEYS", { KEYS: {} }],
    ["KEYS", { KEYS: "text" }],
    ["KEYS", { KEYS: null, ONCEKEY: '{"store_failure":"open"}' }],
    ["MACHINES", { MACHINES: null, ONCEKEY: '{"machines":{"m":{"initial":"a","transitions":{"t":{"from":["a"],"to":"b"}}}}}' }],
    ["ORIGIN", { ORIGIN: null }],
    ["ORIGIN", { ORIGIN: {} }],
    ["ORIGIN", { ORIGIN: "shop.test" }],
    ["ORIGIN", { ORIGIN: "https://origin.example" }],
  ])) {
    test(`${JSON.stringify(env)}: every request hears it, and the log`, async () => {
      const spot = await world.spot("/job");
      const { length } = world.gate.lines;
      for (const change of [{}, { key: null }, { method: "GET", content: undefined }]) {
        const answer = await spot.post({ ...change, more: under(env) });
        assert.deepEqual([answer.status, answer.json.code], [500, "gate_misconfigured"], answer.brief);
        assert.match(answer.json.detail, new RegExp(`\\b${name}\\b`));
      }
      await spot.ran(0);
      await until(() => world.gate.lines.slice(length).some(({ oncekey }) => oncekey === "gate_misconfigured"), "a line for the operator");
      executed(await spot.post());
    });
  }

  test("each request is under the policy that it comes with", async () => {
    const spot = await world.spot("/job");
    const strict = under({ ONCEKEY: '{"routes":[{"require":true}]}' });
    for (let n = 1; n < 3; n++) {
      refused(await spot.post({ key: null, more: strict }), "key_missing");
      assert.equal((await spot.post({ key: null })).status, 201);
      await spot.ran(n);
    }
  });

  test("a loopback export is an origin", async () => {
    const spot = await world.spot("/job");
    assert.equal((await spot.post({ key: null, more: under({ ORIGIN: "loopback" }) })).status, 201);
    await spot.ran(1);
  });
});
