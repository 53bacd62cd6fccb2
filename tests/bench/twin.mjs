// @ts-check
// The platform's limit for this design: the least that an honest gate must do, in JavaScript. One call to one object a
// key, which claims in SQL, runs the effect, settles and replays. It checks no policy, keeps no streams, knows no faults.
import { DurableObject } from "cloudflare:workers";

const RETENTION = 86_400_000;

/** @param {ArrayBuffer} bytes */
const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * @param {number} status
 * @param {string} code
 * @param {Record<string, string>} headers
 */
const problem = (status, code, headers) =>
  new Response(JSON.stringify({ type: `/problems/${code}`, title: code, status, detail: code, code }), {
    status,
    headers: { "content-type": "application/problem+json", ...headers },
  });

export class Twin extends DurableObject {
  running = false;
  ready = false;

  /** @param {Request} request */
  async fetch(request) {
    /** @type {any} */
    const { storage } = this.ctx;
    const { sql } = storage;
    const content = await request.arrayBuffer();
    const print = request.headers.get("x-print");
    if (!this.ready) {
      sql.exec("CREATE TABLE IF NOT EXISTS record (id INTEGER PRIMARY KEY, print TEXT, expires INTEGER, head TEXT, content BLOB)");
      this.ready = true;
    }
    const [row] = sql.exec("SELECT print, expires, head, content FROM record WHERE id = 0").toArray();
    if (row) {
      if (row.print !== print) return problem(422, "idempotency_key_reused", { "idempotency-status": "mismatch" });
      if (row.head) {
        const { status, headers } = JSON.parse(row.head);
        headers.push(["idempotency-status", "replayed"], ["idempotent-replayed", "true"]);
        headers.push(["idempotency-expires", new Date(row.expires).toUTCString()]);
        return new Response(row.content, { status, headers });
      }
      if (this.running) return problem(409, "request_in_progress", { "idempotency-status": "in-progress", "retry-after": "1" });
      return problem(409, "outcome_unknown", { "idempotency-status": "unknown" });
    }
    const expires = Date.now() + RETENTION;
    sql.exec("INSERT INTO record (id, print, expires) VALUES (0, ?, ?)", print, expires);
    storage.setAlarm(expires);
    this.running = true;
    const headers = new Headers(request.headers);
    headers.delete("x-print");
    headers.set("idempotency-key", `"${request.headers.get("x-key")}"`);
    headers.delete("x-key");
    /** @type {any} */
    const env = this.env;
    const answer = await env.ORIGIN.fetch(new Request(request, { headers, body: content, redirect: "manual" }));
    const kept = [...answer.headers].filter(([name]) => name !== "content-length" && name !== "connection");
    const body = await answer.arrayBuffer();
    sql.exec("UPDATE record SET head = ?, content = ? WHERE id = 0", JSON.stringify({ status: answer.status, headers: kept }), body);
    this.running = false;
    kept.push(["idempotency-status", "executed"], ["idempotency-expires", new Date(expires).toUTCString()]);
    return new Response(body, { status: answer.status, headers: kept });
  }

  async alarm() {
    /** @type {any} */
    const { storage } = this.ctx;
    await storage.deleteAll();
  }
}

export default {
  /**
   * @param {Request} request
   * @param {any} env
   */
  async fetch(request, env) {
    const key = request.headers.get("idempotency-key");
    if (key === null) return env.ORIGIN.fetch(request, { redirect: "manual" });
    const content = await request.arrayBuffer();
    const url = new URL(request.url);
    const text = new TextEncoder();
    const scope = `${url.host}\n${request.headers.get("authorization")}\n${key.replace(/^"|"$/g, "")}`;
    const [print, scoped] = await Promise.all([
      crypto.subtle.digest("SHA-256", content).then((digest) => `${request.method} ${url.pathname}${url.search} ${hex(digest)}`),
      crypto.subtle.digest("SHA-256", text.encode(scope)).then(hex),
    ]);
    const headers = new Headers(request.headers);
    headers.set("x-print", print);
    headers.set("x-key", scoped.slice(0, 43));
    return env.KEYS.getByName(scoped).fetch(new Request(request, { headers, body: content }));
  },
};
