// @ts-check
// The template "in front": the gate as a Worker of npm packages, before a URL and before a service.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { checkTypes, dev, ENV, install, LAST_FOR_20, NEWEST, orderTwice, run, startApi } from "./room.mjs";

describe("in front", { timeout: 170_000 }, () => {
  const room = install("in-front");

  test("there is no Rust", () => assert.throws(() => run("cargo", ["--version"], room), /ENOENT/, ENV.PATH));

  test("its types", () => checkTypes(room));

  for (const [name, tools] of Object.entries({ "wrangler's last for Node 20": LAST_FOR_20, "wrangler's newest": NEWEST }))
    test(`before a URL, by ${name}`, async () => {
      const api = await startApi();
      const gate = await dev(room, ["--var", `ORIGIN:${api.url}`], tools);
      try {
        await orderTwice(`${gate.url}/orders`);
        assert.equal(api.count(), 1);
      } finally {
        await gate.stop();
        api.end();
      }
    });

  test("as it comes it says what is missing", async () => {
    const gate = await dev(room);
    try {
      const answer = await fetch(`${gate.url}/orders`, { method: "POST" });
      assert.equal(answer.status, 500);
      assert.match(await answer.text(), /"gate_misconfigured"/);
      assert.match(gate.output(), /ORIGIN/);
    } finally {
      await gate.stop();
    }
  });

  test("before a service", async () => {
    const api = join(dirname(room), "api");
    mkdirSync(api);
    writeFileSync(join(api, "index.js"), `let count = 0; export default { fetch: () => Response.json({ order: ++count }, { status: 201 }) };`);
    writeFileSync(join(api, "wrangler.json"), `{ "name": "my-api", "main": "index.js", "compatibility_date": "2026-05-01" }`);
    const config = readFileSync(join(room, "wrangler.jsonc"), "utf8");
    // As the comment beside it says.
    const [, line] = /^ +\/\/ ("services": .*)$/m.exec(config) ?? [];
    writeFileSync(join(room, "wrangler.jsonc"), config.replace(/^ +"ORIGIN": .*$/m, "").replace(/^ +"vars": \{$/m, `${line}\n"vars": {`));
    const gate = await dev(room, ["--config", "wrangler.jsonc", "--config", "../api/wrangler.json"]);
    try {
      const first = await orderTwice(`${gate.url}/orders`);
      assert.deepEqual(JSON.parse(first.text), { order: 1 });
    } finally {
      await gate.stop();
    }
  });
});

test("an origin that takes nothing without the secret, as DEPLOY.md locks it", { timeout: 60_000 }, async () => {
  const room = install("in-front", "locked");
  const page = readFileSync(new URL("../../crates/oncekey-worker/DEPLOY.md", import.meta.url), "utf8");
  const [, script] = /```ts\n(.*?)```/s.exec(page) ?? [];
  const [, lines] = /```jsonc\n("services": .*?)```/s.exec(page) ?? [];
  let count = 0;
  const api = createServer((request, response) => {
    const { "x-origin-secret": secret, "x-forwarded-host": host } = request.headers;
    if (secret !== "of-the-gate") return response.writeHead(403).end();
    count++;
    response.writeHead(201).end(host);
  });
  await new Promise((resolve) => api.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (api.address());
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(join(room, "src/index.ts"), script);
  const config = readFileSync(join(room, "wrangler.jsonc"), "utf8");
  const [services, vars] = lines.split(/,\n(?="vars")/);
  const locked = config.replace(/^ +"vars": \{$/m, `${services},\n${vars.trim().replace(/ \}$/, ",")}`).replace(/^ +"ORIGIN": .*$/m, "");
  writeFileSync(join(room, "wrangler.jsonc"), locked);
  writeFileSync(join(room, ".dev.vars"), "ORIGIN_SECRET=of-the-gate\n");
  const gate = await dev(room, ["--var", `API:${url}`]);
  try {
    assert.equal((await fetch(`${url}/orders`, { method: "POST" })).status, 403);
    const first = await orderTwice(`${gate.url}/orders`);
    assert.deepEqual([first.status, first.text, count], [201, new URL(gate.url).host, 1]);
  } finally {
    await gate.stop();
    api.close();
    api.closeAllConnections();
  }
});
