// @ts-check
// What belongs to one connection: a keyed request goes to the origin without it, an upgrade without a key goes through,
// and a request that the runtime will not send leaves its key free.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import http from "node:http";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bytes, Wire } from "./client.mjs";
import { executed, Gate, refused, replayed, World } from "./gate.mjs";

/** The gate's origin as a service and as a URL. @type {[string, Record<string, string>][]} */
const ORIGINS = [["a service", {}], ["a URL", { ONCEKEY_ORIGIN_BY_URL: "1" }]];

/** @type {[string, string][][]} */
const HOPS = [
  [["Upgrade", "websocket"]],
  [["Upgrade", "websocket"], ["Connection", "Upgrade"], ["Sec-WebSocket-Version", "13"], ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="]],
  [["Upgrade", "h2c"], ["Connection", "Upgrade, HTTP2-Settings"], ["HTTP2-Settings", "AAMAAABkAAQAAP__"]],
  [["Connection", "keep-alive"], ["Keep-Alive", "timeout=5"]],
  [["Connection", "X-Hop , x-other"], ["X-Hop", "1"], ["X-Other", "2"]],
  [["TE", "trailers"], ["Trailer", "X-Sum"], ["Proxy-Connection", "keep-alive"]],
];
const NAMES = ["connection", "upgrade", "keep-alive", "te", "trailer", "transfer-encoding", "proxy-connection", "http2-settings", "x-hop", "x-other"];

for (const [name, env] of ORIGINS) {
  describe(`keyed, the origin ${name}`, { concurrency: 4 }, () => {
    /** @type {World} */
    let world;
    before(async () => {
      const routes = [
        { path: "/accept/*", mode: "accept", unanswered: "hold" },
        { path: "/batch/*", mode: "batch", items: "/items", item_key: "/idempotency_key", item_path: "/item" },
        { path: "/*" },
      ];
      world = await World.start({ routes }, env);
    });
    after(() => world?.end());

    /** @param {import("./origin.mjs").Seen | undefined} seen */
    function arrivedWithout(seen) {
      assert.equal(seen?.content, '{"item":"lamp"}');
      assert.deepEqual((seen?.lines ?? []).map(([name]) => name.toLowerCase()).filter((name) => NAMES.includes(name)), []);
    }

    for (const more of HOPS) {
      test(`${more.map(([name, value]) => `${name}: ${value}`).join(", ")}: it runs once, without them`, async () => {
        const spot = await world.spot("/job");
        const first = await spot.post({ more });
        executed(first);
        replayed(await spot.post({ more }), first);
        replayed(await spot.post(), first);
        await spot.ran(1);
        arrivedWithout((await spot.seen())[0]);
      });
    }

    test("in chunks: the same", async () => {
      const spot = await world.spot("/job");
      executed(await spot.post({ chunks: ['{"item":', '"lamp"}'], more: [["Trailer", "X-Sum"]] }));
      await spot.ran(1);
      arrivedWithout((await spot.seen())[0]);
    });

    test("accepted for later: the same", async () => {
      const spot = await world.spot("/accept");
      assert.equal((await spot.post({ more: HOPS.flat() })).status, 202);
      await spot.arrived();
      await spot.ran(1);
      arrivedWithout((await spot.seen())[0]);
    });

    test("an item of a batch: the same", async () => {
      const spot = await world.spot("/batch");
      const effects = await world.origin.effects("/item");
      const answer = await spot.post({ key: null, content: `{"items":[{"idempotency_key":"${spot.key}"}]}`, more: HOPS.flat() });
      assert.equal(answer.json.items[0].idempotency_status, "executed", answer.text);
      const seen = await world.origin.seen("/item");
      assert.equal(seen.length, effects + 1);
      assert.deepEqual(seen.at(-1)?.lines.map(([name]) => name.toLowerCase()).filter((name) => NAMES.includes(name)), []);
    });
  });

  test(`a WebSocket goes through, the origin ${name}`, async () => {
    const server = http.createServer((_, response) => response.writeHead(426).end());
    server.on("upgrade", ({ headers }, socket) => {
      const accept = createHash("sha1").update(`${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
      // A frame of three bytes is masked on its way here, and is not on its way back (RFC 6455 §5.2).
      socket.on("data", (/** @type {Buffer} */ [kind, , a, b, c, d, x, y, z]) => socket.write(Buffer.from([kind, 3, x ^ a, y ^ b, z ^ c, d & 0].slice(0, 5))));
      socket.on("error", () => {});
    });
    await new Promise((/** @type {(value?: any) => void} */ listening) => server.listen(0, "127.0.0.1", listening));
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    const gate = await new Gate(`http://127.0.0.1:${port}`, {}, env).start();
    try {
      for (const lines of /** @type {[string, string][][]} */ ([[], [["Idempotency-Status", "forged"]]])) {
        const wire = await Wire.open(gate.port);
        wire.write(bytes({ method: "GET", path: "/socket", lines: [...HOPS[1], ...lines] }));
        assert.deepEqual((await wire.head(true)).interim, [101]);
        wire.write(Buffer.from([0x81, 0x83, 1, 2, 3, 4, 1 ^ 0x61, 2 ^ 0x62, 3 ^ 0x63]));
        await wire.arrived(5);
        assert.equal(wire.bytes.toString("latin1"), "\x81\x03abc");
        wire.drop();
      }
    } finally {
      await gate.end();
      server.close();
    }
  });
}

describe("the runtime will not send it", { concurrency: false }, () => {
  /** @type {World} */
  let world;
  before(async () => {
    world = await World.start({}, { ONCEKEY_AROUND: fileURLToPath(new URL("around", import.meta.url)) });
  });
  after(() => world?.end());

  for (const [how, what, code] of [
    ["throw", "throws at once", "origin_unreachable"],
    ["refuse", "rejects with a TypeError of its own", "origin_unreachable"],
    ["remote", "a TypeError that was thrown behind the binding", "outcome_unknown"],
    ["lost", "a connection that was lost", "outcome_unknown"],
  ]) {
    test(`${what}: ${code}`, async () => {
      const spot = await world.spot("/job");
      refused(await spot.post({ more: [["X-Origin", how]] }), code);
      assert.equal((await spot.peek()).json.state, code === "outcome_unknown" ? "unknown" : "absent");
      if (code === "outcome_unknown") refused(await spot.post(), code);
      else executed(await spot.post());
      await spot.ran(code === "outcome_unknown" ? 0 : 1);
    });
  }
});
