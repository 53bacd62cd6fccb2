// @ts-check
// What a first deploy meets: the oldest compatibility date, an origin with a path, an origin that compares `Origin` with its
// host.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, describe, test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { ADMIN, executed, Gate, replayed, World } from "./gate.mjs";
import { send } from "./client.mjs";
import { startOrigin } from "./origin.mjs";

/** The Worker's README names it. The runtime reads br from then on. */
const OLDEST = "2024-04-29";
const TOO_OLD = "2024-04-28";

describe("compatibility dates", { concurrency: 2 }, () => {
  /** What a caller that takes no coding gets of an answer in br. @param {string} date @param {boolean} isRead */
  const check = (date, isRead) =>
    test(date, async () => {
      const world = await World.start("", { ONCEKEY_ADMIN: ADMIN, ONCEKEY_DATE: date });
      try {
        const content = brotliCompressSync("hello").toString("latin1");
        const spot = await world.spot("/any", { status: 200, lines: [["Content-Encoding", "br"]], content });
        const more = /** @type {[string, string][]} */ ([["Accept-Encoding", "identity"]]);
        const first = await spot.post({ more });
        executed(first, 200);
        replayed(await spot.post({ more }), first);
        assert.equal(first.text === "hello", isRead, first.brief);
        await spot.ran(1);
      } finally {
        await world.end();
      }
    });
  check(OLDEST, true);
  check(TOO_OLD, false);
});

test("an origin with a path has it before each request's own", async () => {
  for (const end of ["/base", "/base/"]) {
    const origin = await startOrigin();
    const gate = await new Gate(`${origin.url}${end}`, "").start();
    try {
      const lines = /** @type {[string, string][]} */ ([["Idempotency-Key", "k"], ["Authorization", "Bearer ann"]]);
      const answer = await send(gate.port, { path: "/job?a=1", lines, content: "x" });
      executed(answer);
      const [seen] = await origin.seen("/base/job");
      assert.equal(seen.target, "/base/job?a=1");
    } finally {
      await gate.end();
      origin.end();
    }
  }
});

describe("an origin that compares Origin with its host", () => {
  /** @type {Gate} */
  let gate;
  let count = 0;
  // As Rails and Next do, and Django told to (USE_X_FORWARDED_HOST, SECURE_PROXY_SSL_HEADER).
  const origin = createServer((request, response) => {
    const { origin, host, ...headers } = request.headers;
    const own = `${headers["x-forwarded-proto"] ?? "http"}://${headers["x-forwarded-host"] ?? host}`;
    if (origin === own) count++;
    response.writeHead(origin === own ? 201 : 403).end();
  });
  before(async () => {
    await new Promise((resolve) => origin.listen(0, "127.0.0.1", () => resolve(undefined)));
    const { port } = /** @type {import("node:net").AddressInfo} */ (origin.address());
    gate = await new Gate(`http://127.0.0.1:${port}`, "").start();
  });
  after(async () => {
    await gate?.end();
    origin.close();
    origin.closeAllConnections();
  });

  /** @param {string} key @param {string} from @param {number} status */
  const check = (key, from, status) =>
    test(`a page of ${from}`, async () => {
      const before = count;
      const lines = /** @type {[string, string][]} */ ([["Idempotency-Key", key], ["Authorization", "Bearer ann"], ["Origin", from]]);
      const answer = await send(gate.port, { host: "shop.test", path: "/orders", lines, content: "x" });
      assert.equal(answer.status, status, answer.brief);
      assert.equal(count - before, status === 201 ? 1 : 0);
    });
  check("own", "http://shop.test", 201);
  check("other", "http://elsewhere.test", 403);
});
