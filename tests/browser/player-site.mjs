// @ts-check
// The random player's server: a page's parts, the gate before them by the contract's rules, an origin behind it that counts.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { fateOf } from "./player-pages.mjs";
import { fileOf, MODULE, read } from "./server.mjs";

/** @typedef {import("./player-pages.mjs").Play} Play */
/**
 * One request with an effect, as it came, and what became of it.
 * @typedef {object} Arrival
 * @property {string} method
 * @property {string} path
 * @property {string} key
 * @property {[string, string][]} pairs but the key
 * @property {string} intent what the person meant: path, content and button
 * @property {string} head header lines that are to be the bare page's
 * @property {number} at
 * @property {number} ended when the answer is handed to the connection; 0 is never
 * @property {number} status
 * @property {boolean} ran whether the origin ran for it
 */

/** What a page's own headers are: all that its request tells the server. */
const HEADS = ["accept", "content-type", "hx-request", "hx-target", "hx-current-url", "hx-trigger", "hx-boosted", "x-requested-with", "referer", "origin", "turbo-frame", "x-up-target"];

/** @param {[string, string][]} pairs @param {string} path */
export const intentOf = (pairs, path) => [path, ...pairs.filter(([name]) => /^(n|op)$/.test(name)).map(String)].join(" ");

/** @param {Play} play @param {boolean} isBare without the module */
export async function servePlay(play, isBare) {
  /** @type {Arrival[]} */
  const arrivals = [];
  /** @type {Map<string, { print: string, state: string, status: number }>} */
  const keys = new Map();
  /** @type {Map<string, number>} */
  const counts = new Map();
  const site = { url: "", arrivals, isHealthy: false, isLost: false, open: 0, lastAt: 0, keys, close: () => {} };

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  async function handle(request, response) {
    response.shouldKeepAlive = false;
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (request.method !== "GET") return effect(request, response);
    const html = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
    if (pathname === "/") return void response.writeHead(200, html).end(pageOf(play, isBare));
    if (pathname.startsWith("/.oncekey/keys/")) {
      const found = keys.get(decodeURIComponent(pathname.slice("/.oncekey/keys/".length)));
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(found ? { state: found.state, status: found.status } : { state: "absent" }));
    }
    const file = fileOf(pathname);
    if (!file) return void response.writeHead(pathname === "/done" ? 200 : 404, html).end(`<!doctype html><title>done</title>${isBare ? "" : MODULE}<p id=done>done</p>`);
    if (file.endsWith("oncekey.js")) await pause(play.late);
    response.writeHead(200, { "content-type": "text/javascript" }).end(await readFile(file));
  }

  /** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
  async function effect(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const content = Buffer.concat(chunks);
    const type = request.headers["content-type"];
    const all = await read(content, type);
    const field = all.find(([name]) => name === "idempotency_key")?.[1];
    const pairs = all.filter(([name]) => name !== "idempotency_key");
    const header = String(request.headers["idempotency-key"] ?? "").replace(/^"(.*)"$/, "$1");
    if (field && header && field !== header) throw new Error("two keys");
    const path = request.url ?? "";
    const heads = HEADS.map((name) => [name, String(request.headers[name] ?? "").replace(/boundary=.*/, "").replace(site.url.slice(0, -1), "")]);
    /** @type {Arrival} */
    const arrival = { method: request.method ?? "", path, key: field ?? header, pairs, intent: intentOf(pairs, path), head: JSON.stringify(heads), at: Date.now(), ended: 0, status: 0, ran: false };
    arrivals.push(arrival);
    site.open++;
    try {
      await answer(arrival, response);
    } finally {
      site.open--;
      site.lastAt = Date.now();
    }
  }

  /** The gate. @param {Arrival} arrival @param {import("node:http").ServerResponse} response */
  async function answer(arrival, response) {
    const { key, path } = arrival;
    const print = JSON.stringify([arrival.method, path, [...arrival.pairs].filter(([name]) => name !== "csrf").sort()]);
    const known = key ? keys.get(key) : undefined;
    if (known && known.print !== print) return end(arrival, response, 422, "mismatch");
    if (known?.state === "running") return end(arrival, response, 409, "in-progress", { "retry-after": "1" });
    if (known?.state === "unknown") return end(arrival, response, 409, "unknown");
    if (known) return end(arrival, response, known.status, "replayed", { "idempotent-replayed": "true" });
    const record = { print, state: "running", status: 0 };
    if (key) keys.set(key, record);
    const n = counts.get(path) ?? 0;
    counts.set(path, n + 1);
    const fate = site.isHealthy ? { wait: 0, does: "order" } : fateOf(play, path, n);
    await pause(fate.wait);
    // What was never reached, and what is declined, leaves the key free; an error of the server is of unknown fate.
    if (fate.does === "503" || fate.does === "422" || fate.does === "drop") {
      keys.delete(key);
      if (fate.does === "drop") return void response.destroy();
      return end(arrival, response, Number(fate.does), "refused");
    }
    arrival.ran = true;
    if (fate.does === "500") {
      record.state = "unknown";
      return end(arrival, response, 500, "unknown");
    }
    const { answer } = play.parts[Number(path.slice(2))] ?? { answer: "text" };
    Object.assign(record, { state: "completed", status: answer === "back" || answer === "done" ? 303 : answer === "empty" ? 204 : 200 });
    if (fate.does === "lost") return void response.destroy();
    end(arrival, response, record.status, "executed");
  }

  /** @param {Arrival} arrival @param {import("node:http").ServerResponse} response @param {number} status @param {string} word @param {Record<string, string>} more */
  function end(arrival, response, status, word, more = {}) {
    const part = play.parts[Number(arrival.path.slice(2))];
    const location = { back: "/", done: "/done" }[String(part?.answer)];
    /** @type {Record<string, string>} */
    const headers = { "content-type": "text/html; charset=utf-8", ...more };
    if (arrival.key) headers["idempotency-status"] = word;
    if (status === 303 && location) headers.location = location;
    const itself = part?.answer === "itself" ? part.html.replace(/<div id=out.*/, "").replace("TOKEN", `t${arrivals.length}`) : "";
    const text = `<!doctype html><title>${status}</title>${part?.answer === "page" && !isBare ? MODULE : ""}<div id=out${arrival.path.slice(2)}><p class=answer>${status}</p></div>`;
    arrival.status = status;
    // Before it: on a loaded machine the page may have it before the next line runs here.
    arrival.ended = Date.now();
    response.writeHead(status, headers).end(status === 204 ? undefined : status < 300 && itself ? itself : text);
  }

  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  site.url = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/`;
  site.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return site;
}

let tokens = 0;
/** @param {Play} play @param {boolean} isBare */
export function pageOf({ head, parts }, isBare) {
  const body = parts.map(({ html }) => html.replace("TOKEN", `t${++tokens}`)).join("\n");
  const own = isBare ? head.replace(/<script [^>]*bootstrap.js"><\/script>|<script type=module>.*?<\/script>/g, "") : head;
  return `<!doctype html><meta charset=utf-8><title>page</title>${own}${isBare ? "" : MODULE}<body>\n${body}`;
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
