// @ts-check
// WebKit for a spec: its own driver, spoken to by plain WebDriver (W3C), on a screen that nobody sees.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { until } from "./server.mjs";

/** The name of an element in WebDriver's JSON (W3C WebDriver, 12). */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
const RETURN = "\ue007";

/** Starts the browser with one tab, by the paths of its driver and of an X server. @param {string} driver @param {string} xvfb */
export async function start(driver, xvfb) {
  const screen = run(xvfb, ["-displayfd", "3", "-screen", "0", "1024x768x24", "-nolisten", "tcp"], process.env);
  const [display] = await once(screen.said.ref(), "data");
  screen.said.unref();
  const port = await freePort();
  const { WAYLAND_DISPLAY, ...rest } = process.env;
  const env = { ...rest, DISPLAY: `:${String(display).trim()}`, GDK_BACKEND: "x11", LC_ALL: "C.UTF-8" };
  const server = run(driver, [`--port=${port}`], env);
  // The browser ends with its screen.
  const end = () => [server, screen].map((program) => program.end());

  /** @param {string} method @param {string} path @param {object} [body] @param {number} [ms] how long it may take */
  async function command(method, path, body, ms = 10_000) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body), signal: AbortSignal.timeout(ms) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${value.error}: ${value.message}`);
    return value;
  }
  await until(() => command("GET", "/status").then(() => true, () => false), "the driver listens");
  // A page whose answer never comes is not waited for.
  const wanted = { alwaysMatch: { pageLoadStrategy: "none" } };
  const { sessionId } = await command("POST", "/session", { capabilities: wanted });
  const session = `/session/${sessionId}`;

  const quit = () => command("DELETE", session).then(end, end);
  return { ...page((method, path, body, ms) => command(method, session + path, body, ms)), quit };
}

/** @typedef {Awaited<ReturnType<typeof start>>} Page */

/** The tab. @param {(method: string, path: string, body?: object, ms?: number) => Promise<any>} command */
function page(command) {
  /** @param {string} selector */
  const find = async (selector) => (await command("POST", "/element", { using: "css selector", value: selector }))[ELEMENT];
  /** @param {string} type @param {object[]} actions */
  const act = (type, actions) => command("POST", "/actions", { actions: [{ type, id: type, actions }] });
  /** @param {number} ms @param {Function} f @param {any[]} args */
  const evaluate = (ms, f, args) => command("POST", "/execute/sync", { script: `return (${f}).apply(null, arguments)`, args }, ms);
  /** Runs a function in the page. @template {any[]} A @template R @param {(...a: A) => R} f @param {A} args @returns {Promise<Awaited<R>>} */
  const run = (f, ...args) => evaluate(10_000, f, args);
  /** Whether the page has it. The driver never says of a page that is being left. @param {string} selector @returns {Promise<boolean>} */
  const has = (selector) =>
    evaluate(1_000, (/** @type {string} */ selector) => !("isLeft" in window) && !!document.querySelector(selector), [selector]).catch(() => false);
  const self = {
    run,
    has,
    /** From now on this document shows nothing: the next one is waited for. */
    leave: () => run(() => void Object.assign(window, { isLeft: true })),
    /** @param {string} selector */
    shows: (selector) => until(() => has(selector), selector),
    /** Leaves for a page, and waits until it has something. @param {string} url @param {string} selector */
    async goto(url, selector) {
      await self.leave();
      await command("POST", "/url", { url });
      await self.shows(selector);
    },
    /** @param {string} selector */
    click: async (selector) => command("POST", `/element/${await find(selector)}/click`, {}),
    /** Twice, as fast as the driver can. It hangs where the pointer is to move, so the element comes to the pointer, in the corner. @param {string} selector */
    async doubleClick(selector) {
      await run((selector) => void Object.assign(/** @type {HTMLElement} */ (document.querySelector(selector)).style, { position: "fixed", inset: "0 auto auto 0" }), selector);
      const press = [{ type: "pointerDown", button: 0 }, { type: "pointerUp", button: 0 }];
      await act("pointer", [...press, ...press]);
    },
    /** Presses Enter twice in a field. @param {string} selector */
    async enterTwice(selector) {
      await run((selector) => /** @type {HTMLElement} */ (document.querySelector(selector)).focus(), selector);
      const press = [{ type: "keyDown", value: RETURN }, { type: "keyUp", value: RETURN }];
      await act("key", [...press, ...press]);
    },
  };
  return self;
}

/**
 * Runs a program that ends when this one does, in whatever way. What it says on its third descriptor can be read.
 * @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} env
 */
function run(program, args, env) {
  const shell = spawn("sh", ["-c", '"$0" "$@" & cat; kill $!', program, ...args], { env, stdio: ["pipe", "ignore", "ignore", "pipe"] });
  const [stdin, , , said] = /** @type {import("node:net").Socket[]} */ (/** @type {unknown} */ (shell.stdio));
  for (const handle of [shell, stdin, said]) handle?.unref();
  return { said: /** @type {import("node:net").Socket} */ (said), end: () => stdin?.end() };
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  server.close();
  await once(server, "close");
  return port;
}
