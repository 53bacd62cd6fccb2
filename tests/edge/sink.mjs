// @ts-check
// Takes the points of measurement that a local workerd posts, each as JSON.

import http from "node:http";

/** The columns of one point. @typedef {{ index: string, blobs: string[], doubles: number[] }} Point */

const BLOBS = 7;
const DOUBLES = 4;

/** @param {any} event as workerd writes it, texts as lists of bytes @returns {Point} */
export function pointOf(event) {
  const text = (/** @type {number[] | undefined} */ bytes) => Buffer.from(bytes ?? []).toString("utf8");
  return {
    index: text(event.index1),
    blobs: Array.from({ length: BLOBS }, (_, at) => text(event[`blob${at + 1}`])),
    doubles: Array.from({ length: DOUBLES }, (_, at) => event[`double${at + 1}`] ?? 0),
  };
}

/** Where a gate's points go. */
export class Sink {
  /** @param {http.Server} server */
  constructor(server) {
    this.server = server;
    /** What came, as it came. @type {string[]} */
    this.texts = [];
    server.on("request", async (request, answer) => {
      let text = "";
      for await (const piece of request.setEncoding("utf8")) text += piece;
      this.texts.push(text);
      answer.end();
    });
  }

  static async start() {
    const server = http.createServer();
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return new Sink(server);
  }

  /** The variable that names it to `serve`. */
  get env() {
    return { ONCEKEY_METRICS: `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (this.server.address()).port}` };
  }

  get points() {
    return this.texts.map((text) => pointOf(JSON.parse(text)));
  }

  end() {
    this.server.close();
    this.server.closeAllConnections();
  }
}
