// @ts-check
// An HTTP/1.1 client of raw sockets: it sends the bytes it is told, and reads answers line by line as they come.

import net from "node:net";
import zlib from "node:zlib";

/**
 * A request. All texts of the head are latin-1; content that is a text is UTF-8.
 * @typedef {object} Request
 * @property {string} [method] POST without one
 * @property {string} path path and query
 * @property {[string, string][]} [lines] header lines
 * @property {string | Buffer} [content]
 * @property {(string | Buffer)[]} [chunks] the content in chunks, without a length beforehand
 * @property {string} [host]
 */

/** How long an answer may take before a test gives up, in ms. */
const LIMIT = 30_000;

/** Fields that frame one message, or that only the gate sets. */
const NOT_KEPT = new Set([
  "connection",
  "content-length",
  "date",
  "idempotency-expires",
  "idempotency-status",
  "idempotent-replayed",
  "keep-alive",
  "transfer-encoding",
]);

/** An answer, or what there is of it. */
export class Answer {
  status = 0;
  /** @type {[string, string][]} */
  lines = [];
  content = Buffer.alloc(0);
  /** Statuses of interim answers. @type {number[]} */
  interim = [];
  /** Whether all of it came. */
  whole = false;

  /** @param {string} name */
  all(name) {
    return this.lines.filter(([n]) => n.toLowerCase() === name).map(([, value]) => value);
  }

  /** @param {string} name */
  one(name) {
    return this.all(name)[0];
  }

  get text() {
    return this.content.toString("utf8");
  }

  /** @returns {any} */
  get json() {
    return JSON.parse(this.text);
  }

  get word() {
    return this.one("idempotency-status");
  }

  /** The content without its coding. */
  get plain() {
    const coding = this.one("content-encoding");
    if (coding === "gzip") return zlib.gunzipSync(this.content);
    if (coding === "br") return zlib.brotliDecompressSync(this.content);
    return this.content;
  }

  /** The lines that a replay repeats, in an order that keeps repeated names in theirs. */
  get kept() {
    return this.lines
      .map(([name, value]) => [name.toLowerCase(), value])
      .filter(([name]) => !NOT_KEPT.has(name))
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  }

  /** For messages. */
  get brief() {
    const text = this.content.toString("latin1", 0, 160);
    return `${this.status} ${this.word ?? "-"}${this.whole ? "" : " (not whole)"} ${text}`;
  }
}

/** The bytes of a request. @param {Request} request */
export function bytes({ method = "POST", path, lines = [], content, chunks, host = "127.0.0.1" }) {
  const named = (/** @type {string} */ name) => lines.some(([n]) => n.toLowerCase() === name);
  let head = `${method} ${path} HTTP/1.1\r\n`;
  if (!named("host")) head += `Host: ${host}\r\n`;
  for (const [name, value] of lines) head += `${name}: ${value}\r\n`;
  const pieces = [];
  if (chunks) {
    head += "Transfer-Encoding: chunked\r\n";
    for (const chunk of chunks) {
      const data = Buffer.from(chunk);
      pieces.push(Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from("\r\n"));
    }
    pieces.push(Buffer.from("0\r\n\r\n"));
  } else {
    const data = Buffer.from(content ?? "");
    if (content !== undefined && !named("content-length")) head += `Content-Length: ${data.length}\r\n`;
    else if (!["GET", "HEAD", "OPTIONS"].includes(method) && !named("content-length")) head += "Content-Length: 0\r\n";
    pieces.push(data);
  }
  return Buffer.concat([Buffer.from(`${head}\r\n`, "latin1"), ...pieces]);
}

/** One connection. */
export class Wire {
  /** @param {net.Socket} socket */
  constructor(socket) {
    this.socket = socket;
    this.bytes = Buffer.alloc(0);
    this.ended = false;
    /** @type {Array<() => void>} */
    this.watchers = [];
    const changed = () => this.watchers.splice(0).forEach((watcher) => watcher());
    const end = () => {
      this.ended = true;
      changed();
    };
    socket.on("data", (data) => {
      this.bytes = Buffer.concat([this.bytes, data]);
      changed();
    });
    socket.on("end", end).on("close", end).on("error", end);
    socket.setTimeout(LIMIT, () => socket.destroy());
  }

  /** @param {number} port @returns {Promise<Wire>} */
  static open(port) {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(new Wire(socket)));
      socket.once("error", reject);
    });
  }

  /** @param {string | Buffer} data */
  write(data) {
    this.socket.write(data);
  }

  /** Vanishes, as a caller does who loses the network. */
  drop() {
    this.socket.resetAndDestroy();
  }

  async more() {
    if (this.ended) return false;
    await new Promise((/** @type {(value?: any) => void} */ resolve) => this.watchers.push(resolve));
    return true;
  }

  /** @param {string} mark */
  async upTo(mark) {
    let at;
    while ((at = this.bytes.indexOf(mark)) < 0) if (!(await this.more())) return null;
    const text = this.bytes.toString("latin1", 0, at);
    this.bytes = this.bytes.subarray(at + mark.length);
    return text;
  }

  /** Reads the next answer's head; interim answers are noted and passed over. @param {boolean} [interim] ends also at an interim one */
  async head(interim = false, answer = new Answer()) {
    for (;;) {
      const head = await this.upTo("\r\n\r\n");
      if (head === null) return answer;
      const [start, ...lines] = head.split("\r\n");
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(start)?.[1] ?? 0);
      if (status >= 100 && status < 200) {
        answer.interim.push(status);
        if (interim) return answer;
        continue;
      }
      answer.status = status;
      answer.lines = lines.map((line) => {
        const at = line.indexOf(":");
        return /** @type {[string, string]} */ ([line.slice(0, at), line.slice(at + 1).trim()]);
      });
      return answer;
    }
  }

  /** Reads the next answer. @param {string} [method] @param {Answer} [answer] whose head is read already */
  async answer(method = "POST", answer) {
    const full = answer ?? (await this.head());
    if (full.status === 0) return full;
    full.whole = await this.content(full, method);
    return full;
  }

  /** @param {Answer} answer @param {string} method */
  async content(answer, method) {
    if (method === "HEAD" || answer.status === 204 || answer.status === 304) return true;
    /** @type {Buffer[]} */
    const pieces = [];
    const take = async (/** @type {number} */ length) => {
      while (length > 0) {
        if (this.bytes.length === 0 && !(await this.more())) break;
        const piece = this.bytes.subarray(0, length);
        this.bytes = this.bytes.subarray(piece.length);
        length -= piece.length;
        pieces.push(piece);
      }
      answer.content = Buffer.concat(pieces);
      return length === 0;
    };
    if (/chunked/i.test(answer.one("transfer-encoding") ?? "")) {
      for (;;) {
        const size = await this.upTo("\r\n");
        if (size === null || !(await take(parseInt(size, 16)))) return false;
        if ((await this.upTo("\r\n")) === null) return false;
        if (parseInt(size, 16) === 0) return true;
      }
    }
    const length = answer.one("content-length");
    if (length !== undefined) return take(Number(length));
    await take(Infinity);
    return !this.socket.errored;
  }

  /** Waits until so many bytes of content, or of chunks, have come after the head. @param {number} count */
  async arrived(count) {
    while (this.bytes.length < count) if (!(await this.more())) return false;
    return true;
  }
}

/** Sends one request and reads its answer. @param {number} port @param {Request} request */
export async function send(port, request) {
  const wire = await Wire.open(port);
  wire.write(bytes(request));
  const answer = await wire.answer(request.method);
  wire.socket.destroy();
  return answer;
}
