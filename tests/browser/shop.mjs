// @ts-check
// Gates of a spec's own, by `serve`: before the demo's shop, or before the page servers of the spec. What is counted behind
// them is nobody else's.
//
// Needs ONCEKEY_SERVE, the xtask program.

import { spawn } from "node:child_process";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

/** Starts the demo; `stop` ends it. */
export const demo = () => start();

/**
 * A gate, and by their names the servers behind it: a request says in `x-site` which is meant.
 * @typedef {{ url: string, behind: Map<string, import("node:http").RequestListener> }} Gate
 */

/** Starts a gate with the usual policy; `stop` ends it. @returns {Promise<Gate & { stop(): Promise<void> }>} */
export async function gate() {
  /** @type {Gate["behind"]} */
  const behind = new Map();
  const origin = createHttpServer((request, response) => {
    const site = behind.get(String(request.headers["x-site"]));
    if (site) site(request, response);
    else response.destroy();
  });
  await new Promise((resolve) => origin.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (origin.address());
  const { url, stop } = await start("--origin", `http://127.0.0.1:${port}`);
  return {
    url,
    behind,
    async stop() {
      origin.close();
      origin.closeAllConnections();
      await stop();
    },
  };
}

/** Starts a gate with these options more; `stop` ends it. @param {...string} more */
export async function start(...more) {
  const program = process.env.ONCEKEY_SERVE;
  if (!program) throw new Error("ONCEKEY_SERVE is not set: the xtask program");
  const child = spawn(program, ["serve", "--memory", "--port", String(await free()), ...more], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^ready (.*)$/.exec(line)?.[1];
    if (url) return { url, stop: () => (child.kill(), gone) };
  }
  throw new Error(`serve ${more.join(" ")} did not start`);
}

/** A free port below those that the system hands out by itself. @returns {Promise<number>} */
const free = () =>
  new Promise((resolve) => {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    server.once("error", () => resolve(free()));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(port)));
  });
