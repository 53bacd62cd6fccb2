// @ts-check
// A demo of a spec's own, by `serve`: what it counts is nobody else's.

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { createInterface } from "node:readline";

/** Starts it; `stop` ends it. Needs ONCEKEY_SERVE, the xtask program. */
export async function demo() {
  const program = process.env.ONCEKEY_SERVE;
  if (!program) throw new Error("ONCEKEY_SERVE is not set: the xtask program");
  const child = spawn(program, ["serve", "--memory", "--port", String(await free())], { stdio: ["ignore", "pipe", "inherit"] });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^ready (.*)$/.exec(line)?.[1];
    if (url) return { url, stop: () => (child.kill(), gone) };
  }
  throw new Error("the demo did not start");
}

/** A free port below those that the system hands out by itself. @returns {Promise<number>} */
const free = () =>
  new Promise((resolve) => {
    const port = 20_000 + Math.floor(Math.random() * 12_000);
    const server = createServer();
    server.once("error", () => resolve(free()));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(port)));
  });
