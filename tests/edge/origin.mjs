// @ts-check
// An origin of raw sockets in a process of its own: it counts effects per path, keeps each request as it came, and
// answers by plan. Run as a child it serves; imported it gives `startOrigin`.

import { fork } from "node:child_process";
import net from "node:net";
import { fileURLToPath } from "node:url";

/**
 * How one request is answered. All texts are latin-1, so that a character is a byte.
 * @typedef {object} Step
 * @property {number} [status] 201 without one
 * @property {[string, string][]} [lines] header lines; JSON's content type without any
 * @property {string} [content] `{"effect":N}` without one
 * @property {string[]} [parts] the content in parts, each after the first when the path is opened
 * @property {boolean} [endless] the last part again and again, every 50 ms, until the connection is gone
 * @property {"length" | "chunked" | "close"} [framing] "length" without one; "chunked" for parts
 * @property {string} [before] bytes before the answer, such as interim answers
 * @property {boolean} [held] begins only when the path is opened
 * @property {"hang" | "before" | "head" | "content"} [cut] never answers, or drops the connection at that point
 * @property {string} [raw] these bytes in the answer's place, then the end
 */

/**
 * A request as it came.
 * @typedef {{ method: string, target: string, lines: [string, string][], content: string }} Seen
 */

/** Bytes of content that are no text and do not repeat soon. @param {number} size */
export function noise(size) {
  const bytes = Buffer.alloc(size);
  for (let i = 0, x = 88_172_645; i < size; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    bytes[i] = x;
  }
  return bytes.toString("latin1");
}

/** The origin as a spec holds it. */
export class Origin {
  /** @param {import("node:child_process").ChildProcess} child */
  constructor(child) {
    this.child = child;
    this.port = 0;
    this.asked = 0;
    /** @type {Map<number, (value: any) => void>} */
    this.asking = new Map();
    child.on("message", (/** @type {any} */ { id, value }) => {
      this.asking.get(id)?.(value);
      this.asking.delete(id);
    });
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** @param {string} act @param {unknown[]} args @returns {Promise<any>} */
  ask(act, ...args) {
    return new Promise((resolve) => {
      const id = ++this.asked;
      this.asking.set(id, resolve);
      this.child.send({ id, act, args });
    });
  }

  /** One step a request; the last one repeats. @param {string} path @param {Step[]} steps @returns {Promise<void>} */
  plan = (path, ...steps) => this.ask("plan", path, steps);
  /** How many requests reached a path in full. @param {string} path @returns {Promise<number>} */
  effects = (path) => this.ask("effects", path);
  /** What reached a path. @param {string} path @returns {Promise<Seen[]>} */
  seen = (path) => this.ask("seen", path);
  /** All targets that were asked for, in order. @returns {Promise<string[]>} */
  targets = () => this.ask("targets");
  /** Resolves when so many requests have reached a path. @param {string} path @param {number} count */
  arrived = (path, count = 1) => this.ask("arrived", path, count);
  /** Resolves when the connection of a path's last request has ended. @param {string} path */
  left = (path) => this.ask("left", path);
  /** Resolves when so many connections have ended whose last request was for a path. @param {string} path @param {number} count */
  ended = (path, count) => this.ask("ended", path, count);
  /** Lets what waits at a path go on by one part. @param {string} path @returns {Promise<void>} */
  open = (path) => this.ask("open", path);
  /** Takes connections no longer, and drops those there are. @returns {Promise<void>} */
  shut = () => this.ask("shut");
  /** Takes connections again, at the same port. @returns {Promise<void>} */
  listen = () => this.ask("listen");

  end() {
    this.child.kill("SIGKILL");
  }
}

/** Starts an origin on a free port. */
export async function startOrigin() {
  const child = fork(fileURLToPath(import.meta.url), ["serve"], { execArgv: [] });
  process.once("exit", () => child.kill("SIGKILL"));
  const origin = new Origin(child);
  origin.port = await origin.ask("port");
  return origin;
}

/** What is known of one path. */
class Place {
  /** @type {Step[]} */
  plan = [];
  /** @type {Seen[]} */
  seen = [];
  /** Openings that nobody has used yet. */
  opened = 0;
  /** @type {Array<() => void>} */
  waiting = [];
  /** @type {Array<() => void>} */
  watchers = [];
  gone = false;
  /** Connections that ended with it. */
  ended = 0;

  opening() {
    if (this.opened > 0) {
      this.opened--;
      return Promise.resolve();
    }
    return new Promise((/** @type {(value?: any) => void} */ resolve) => this.waiting.push(resolve));
  }

  open() {
    const next = this.waiting.shift();
    if (next) next();
    else this.opened++;
  }

  /** @param {() => boolean} holds */
  async until(holds) {
    while (!holds()) await new Promise((/** @type {(value?: any) => void} */ resolve) => this.watchers.push(resolve));
  }

  changed() {
    for (const watcher of this.watchers.splice(0)) watcher();
  }
}

function serve() {
  /** @type {Map<string, Place>} */
  const places = new Map();
  /** @type {string[]} */
  const targets = [];
  /** @type {Set<net.Socket>} */
  const sockets = new Set();
  let effects = 0;
  let port = 0;

  /** @param {string} path */
  const place = (path) => {
    const found = places.get(path) ?? new Place();
    places.set(path, found);
    return found;
  };

  /** @param {net.Socket} socket */
  async function connection(socket) {
    sockets.add(socket);
    socket.on("error", () => {});
    /** @type {Place | undefined} */
    let last;
    socket.on("close", () => {
      sockets.delete(socket);
      if (last) {
        last.gone = true;
        last.ended++;
        last.changed();
      }
    });
    const input = new Input(socket);
    for (;;) {
      const seen = await input.request();
      if (!seen) return;
      last = place(seen.target.split("?")[0]);
      last.gone = socket.destroyed;
      targets.push(seen.target);
      const step = last.plan[Math.min(last.seen.length, last.plan.length - 1)] ?? {};
      last.seen.push(seen);
      last.changed();
      if (!(await answer(socket, last, step, seen.method === "HEAD", ++effects))) return;
    }
  }

  const server = net.createServer({ noDelay: true }, connection);
  const listen = () =>
    new Promise((resolve) => {
      server.listen(port, "127.0.0.1", () => {
        port = /** @type {net.AddressInfo} */ (server.address()).port;
        resolve(port);
      });
    });
  const ready = listen();

  /** @type {Record<string, (...args: any[]) => unknown>} */
  const acts = {
    port: () => ready,
    plan: (path, steps) => void (place(path).plan = steps),
    effects: (path) => place(path).seen.length,
    seen: (path) => place(path).seen,
    targets: () => targets,
    arrived: (path, count) => place(path).until(() => place(path).seen.length >= count),
    left: (path) => place(path).until(() => place(path).gone),
    ended: (path, count) => place(path).until(() => place(path).ended >= count),
    open: (path) => place(path).open(),
    listen,
    shut: () =>
      new Promise((/** @type {(value?: any) => void} */ resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.resetAndDestroy();
      }),
  };
  process.on("message", async (/** @type {any} */ { id, act, args }) => {
    const value = await acts[act](...args);
    process.send?.({ id, value });
  });
  process.on("disconnect", () => process.exit());
}

/**
 * Answers one request; says whether the connection goes on.
 * @param {net.Socket} socket
 * @param {Place} place
 * @param {Step} step
 * @param {boolean} bare an answer to HEAD
 * @param {number} effect
 */
async function answer(socket, place, step, bare, effect) {
  const write = (/** @type {string} */ text) => socket.write(Buffer.from(text, "latin1"));
  if (step.held) await place.opening();
  if (step.cut === "hang") return false;
  if (step.cut === "before") return drop(socket);
  if (step.raw !== undefined) {
    write(step.raw);
    socket.end();
    return false;
  }
  const status = step.status ?? 201;
  const content = step.parts?.join("") ?? step.content ?? `{"effect":${effect}}`;
  const framing = step.framing ?? (step.parts ? "chunked" : "length");
  let head = `${step.before ?? ""}HTTP/1.1 ${status} Planned\r\n`;
  for (const [name, value] of step.lines ?? [["Content-Type", "application/json"]]) head += `${name}: ${value}\r\n`;
  if (status === 204 || status === 304) {
    write(`${head}\r\n`);
    return true;
  }
  if (framing === "length") head += `Content-Length: ${content.length}\r\n`;
  if (framing === "chunked") head += "Transfer-Encoding: chunked\r\n";
  if (framing === "close") head += "Connection: close\r\n";
  if (step.cut === "head") {
    write(head);
    return drop(socket);
  }
  write(`${head}\r\n`);
  if (bare) return true;
  const framed = (/** @type {string} */ part) =>
    framing === "chunked" && part ? `${part.length.toString(16)}\r\n${part}\r\n` : part;
  if (step.cut === "content") {
    write(framed(content.slice(0, content.length / 2)));
    return drop(socket);
  }
  const [first, ...rest] = step.parts ?? [content];
  write(framed(first));
  for (const part of rest) {
    await place.opening();
    write(framed(part));
  }
  while (step.endless && !socket.destroyed) {
    write(framed(rest.at(-1) ?? first));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  if (framing === "chunked") write("0\r\n\r\n");
  if (framing === "close") socket.end();
  return framing !== "close";
}

/** Drops the connection once what was written has left. @param {net.Socket} socket */
function drop(socket) {
  socket.write("", () => setImmediate(() => socket.resetAndDestroy()));
  return false;
}

/** Reads requests off a socket. */
class Input {
  /** @param {net.Socket} socket */
  constructor(socket) {
    this.chunks = socket[Symbol.asyncIterator]();
    this.bytes = Buffer.alloc(0);
  }

  async more() {
    try {
      const { done, value } = await this.chunks.next();
      if (done) return false;
      this.bytes = Buffer.concat([this.bytes, value]);
      return true;
    } catch {
      return false;
    }
  }

  /** @param {string} mark */
  async upTo(mark) {
    let at;
    while ((at = this.bytes.indexOf(mark)) < 0) if (!(await this.more())) return null;
    const text = this.bytes.toString("latin1", 0, at);
    this.bytes = this.bytes.subarray(at + mark.length);
    return text;
  }

  /** @param {number} length */
  async exactly(length) {
    const pieces = [];
    while (length > 0) {
      if (this.bytes.length === 0 && !(await this.more())) return null;
      const piece = this.bytes.subarray(0, length);
      this.bytes = this.bytes.subarray(piece.length);
      length -= piece.length;
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString("latin1");
  }

  /** The next request, or nothing where it does not arrive in full. @returns {Promise<Seen | null>} */
  async request() {
    const head = await this.upTo("\r\n\r\n");
    if (head === null) return null;
    const [start, ...rest] = head.split("\r\n");
    const [method, target] = start.split(" ");
    const lines = rest.map((line) => {
      const at = line.indexOf(":");
      return /** @type {[string, string]} */ ([line.slice(0, at), line.slice(at + 1).trim()]);
    });
    const field = (/** @type {string} */ name) => lines.find(([n]) => n.toLowerCase() === name)?.[1];
    let content = "";
    if (field("transfer-encoding")) {
      for (;;) {
        const size = await this.upTo("\r\n");
        const chunk = size === null ? null : await this.exactly(parseInt(size, 16));
        if (chunk === null || (await this.upTo("\r\n")) === null) return null;
        if (chunk === "") break;
        content += chunk;
      }
    } else {
      const whole = await this.exactly(Number(field("content-length") ?? 0));
      if (whole === null) return null;
      content = whole;
    }
    return { method, target, lines, content };
  }
}

if (process.argv[2] === "serve" && process.send) serve();
