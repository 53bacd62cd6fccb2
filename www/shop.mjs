// @ts-check
// The demo's origin: a shop that makes one order for every POST that reaches it. It does not know about duplicates.

/**
 * @typedef {{ toArray(): Record<string, any>[] }} Cursor
 * @typedef {{ storage: { sql: { exec(query: string, ...values: unknown[]): Cursor } } }} Context
 * @typedef {{ fetch(request: Request): Promise<Response> }} Stub
 * @typedef {{ SHOP: { get(id: unknown): Stub, idFromName(name: string): unknown } }} Env
 * @typedef {"htmx" | "plain" | "fetch"} Way how the order came, and so the form of its answer
 * @typedef {{ id: number, item: string, quantity: number, way: Way, at: string }} Order
 */

/** @typedef {{ id: number, way: string, at: string, status: number | null, word: string | null }} Attempt status and word once it is answered */

const ITEMS = ["Mug", "Notebook", "Keyboard"];
const MOST = 9;
const SLOW_MS = 4000;
const LISTED = 12;

export default {
  /**
   * @param {Request} request
   * @param {Env} env
   */
  fetch(request, env) {
    // Only the front writes down what was sent, and it calls the object itself.
    if (/^\/attempts\b/.test(new URL(request.url).pathname)) return missing(request);
    return env.SHOP.get(env.SHOP.idFromName("shop")).fetch(request);
  },
};

export class Shop {
  /** @param {Context} ctx */
  constructor(ctx) {
    this.sql = ctx.storage.sql;
    this.sql.exec(`
      CREATE TABLE IF NOT EXISTS orders (
        id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, item TEXT NOT NULL, quantity INTEGER NOT NULL,
        way TEXT NOT NULL, at TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS effects (
        id INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT NOT NULL, key TEXT, content TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS turned_away (key TEXT PRIMARY KEY);
      CREATE TABLE IF NOT EXISTS attempts (
        id INTEGER PRIMARY KEY AUTOINCREMENT, way TEXT NOT NULL, at TEXT NOT NULL, status INTEGER, word TEXT)`);
  }

  /** @param {Request} request */
  async fetch(request) {
    const { pathname } = new URL(request.url);
    const probed = pathname.match(/^\/orders\/by-key\/([\w-]+)$/)?.[1];
    if (request.method === "GET" && probed) return this.byKey(probed);
    const attempt = pathname.match(/^\/attempts\/(\d+)$/)?.[1];
    if (request.method === "PUT" && attempt) return this.end(attempt, await request.json());
    const refund = pathname.match(/^\/payouts\/(\d+)$/)?.[1];
    if (request.method === "GET" && refund) return text(`${this.payouts(refund)}`, 200);
    switch (`${request.method} ${pathname}`) {
      case "POST /orders":
      case "POST /orders/now":
        return this.order(request);
      case "GET /orders":
        return Response.json(this.list());
      case "POST /hooks/payment":
      case "POST /mails":
      case "POST /payouts":
        return this.effect(pathname, request);
      case "GET /effects":
        return Response.json(this.effects(), { headers: { "Cache-Control": "no-store" } });
      case "GET /stats":
        return Response.json(this.stats(), { headers: { "Cache-Control": "no-store" } });
      case "GET /activity":
        return Response.json(this.activity(), { headers: { "Cache-Control": "no-store" } });
      case "POST /attempts":
        return text(this.begin(await request.text()), 200);
      case "POST /reset":
        this.sql.exec("DELETE FROM orders; DELETE FROM effects; DELETE FROM turned_away; DELETE FROM attempts");
        return Response.json(this.stats());
      default:
        return missing(request);
    }
  }

  /** @param {Request} request */
  async order(request) {
    const way = wayOf(request);
    const wish = await wishOf(request);
    if (!wish) return refusal(way, 422, `Order 1 to ${MOST} of: ${ITEMS.join(", ")}.`);
    const key = request.headers.get("Idempotency-Key")?.replaceAll('"', "") ?? null;
    const fault = faultOf(request);
    if (fault === "503" && this.firstTime(key)) return refusal(way, 503, "The shop is busy, and nothing was ordered. Try again in a moment.");
    if (fault === "slow") await new Promise((done) => setTimeout(done, SLOW_MS));
    const [order] = this.sql
      .exec(
        "INSERT INTO orders (key, item, quantity, way, at) VALUES (?, ?, ?, ?, ?) RETURNING *",
        key,
        wish.item,
        wish.quantity,
        way,
        new Date().toISOString(),
      )
      .toArray();
    if (fault === "lost") return refusal(way, 504, "We cannot tell whether your order went through.");
    return way === "plain" ? seeOrder(order.id) : confirmation(/** @type {Order} */ (order), 201);
  }

  /**
   * What a hook, a mail or a payout does: a row for each request.
   * @param {string} path
   * @param {Request} request
   */
  async effect(path, request) {
    const content = await request.text();
    const key = request.headers.get("Idempotency-Key");
    this.sql.exec("INSERT INTO effects (path, key, content) VALUES (?, ?, ?)", path, key, content);
    return new Response(null, { status: 204 });
  }

  /** How often a refund was paid out. @param {string} id */
  payouts(id) {
    const query = "SELECT count(*) AS count FROM effects WHERE path = '/payouts' AND content ->> '$.id' = ?";
    return this.sql.exec(query, id).toArray()[0].count;
  }

  /** How often each took place. */
  effects() {
    const rows = this.sql.exec("SELECT path, count(*) AS count FROM effects GROUP BY path").toArray();
    return Object.fromEntries(rows.map(({ path, count }) => [path, count]));
  }

  /**
   * Without a key no attempt can be told from another: every second one is a first.
   * @param {string | null} key
   */
  firstTime(key) {
    if (key === null && this.sql.exec("DELETE FROM turned_away WHERE key = '' RETURNING key").toArray().length > 0) return false;
    key ??= "";
    return this.sql.exec("INSERT OR IGNORE INTO turned_away VALUES (?) RETURNING key", key).toArray().length > 0;
  }

  /**
   * The gate's question after a lost answer: was this key's order made?
   * @param {string} key the scoped key
   */
  byKey(key) {
    const [order] = this.sql.exec("SELECT * FROM orders WHERE key = ? ORDER BY id LIMIT 1", key).toArray();
    return order ? confirmation(/** @type {Order} */ (order), 200) : text("No order has this key", 404);
  }

  /** Writes down that a request was sent; its number. @param {string} way */
  begin(way) {
    const [row] = this.sql.exec("INSERT INTO attempts (way, at) VALUES (?, ?) RETURNING id", way, new Date().toISOString()).toArray();
    return `${row.id}`;
  }

  /** Writes down what an attempt was answered. @param {string} id @param {{ status: number, word: string }} answer */
  end(id, { status, word }) {
    this.sql.exec("UPDATE attempts SET status = ?, word = ? WHERE id = ?", status, word, Number(id));
    return new Response(null, { status: 204 });
  }

  list() {
    const rows = this.sql.exec("SELECT id, item, quantity, way, at FROM orders ORDER BY id DESC LIMIT ?", LISTED);
    return /** @type {Order[]} */ (rows.toArray());
  }

  /** Cause and effect, the newest first. */
  activity() {
    const attempts = this.sql.exec("SELECT * FROM attempts ORDER BY id DESC LIMIT ?", LISTED).toArray();
    return { ...this.stats(), attempts: /** @type {Attempt[]} */ (attempts), list: this.list() };
  }

  stats() {
    const [row] = this.sql
      .exec("SELECT (SELECT count(*) FROM attempts) AS requests, (SELECT count(*) FROM orders) AS orders")
      .toArray();
    return row;
  }
}

/**
 * @param {Request} request
 * @returns {Way}
 */
function wayOf(request) {
  if (request.headers.get("HX-Request") === "true") return "htmx";
  return isJson(request) ? "fetch" : "plain";
}

/** @param {Request} request */
const isJson = (request) => (request.headers.get("Content-Type") ?? "").startsWith("application/json");

/**
 * What is to be ordered; nothing where the content makes no sense.
 * @param {Request} request
 */
async function wishOf(request) {
  try {
    const fields = isJson(request) ? await request.json() : Object.fromEntries(await request.formData());
    const item = ITEMS.find((name) => name === fields.item);
    const quantity = Number(fields.quantity);
    return item && Number.isInteger(quantity) && quantity >= 1 && quantity <= MOST ? { item, quantity } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The page's switch is a cookie: content stays the same whatever fault is chosen, so the gate sees one request.
 * @param {Request} request
 */
function faultOf(request) {
  const cookie = request.headers.get("Cookie")?.match(/(?:^|;\s*)demo_fault=(\w+)/)?.[1];
  return request.headers.get("X-Demo-Fault") ?? cookie ?? "none";
}

/** @param {number} id */
function seeOrder(id) {
  return new Response(null, { status: 303, headers: { Location: `/?order=${id}#plain-answer` } });
}

/**
 * @param {Order} order
 * @param {number} status
 */
function confirmation({ id, item, quantity, way, at }, status) {
  if (way === "fetch") return Response.json({ id, item, quantity, at }, { status });
  if (way === "htmx") return html(`<p><strong>Order ${id}</strong>: ${quantity} × ${item}.</p>`, status);
  // A probe's answer must be a 2xx, so the page that stands for the redirect redirects by itself.
  const link = `/?order=${id}#plain-answer`;
  return page("Ordered", `<p><a href="${link}">Order ${id}</a>: ${quantity} × ${item}.</p>`, status, link);
}

/**
 * @param {Way} way
 * @param {number} status
 * @param {string} detail
 */
function refusal(way, status, detail) {
  if (way === "fetch") return Response.json({ status, detail }, { status });
  const said = status === 504 ? "Did it go through?" : "Not ordered.";
  if (way === "htmx") return html(`<p><strong>${said}</strong> ${detail}</p>`, status);
  return page(said, `<p>${detail}</p><p><a href="/#order-plain">Back to the shop</a></p>`, status);
}

/** @param {Request} request */
function missing(request) {
  if (!request.headers.get("Accept")?.includes("text/html")) return text("Not found", 404);
  return page("There is no such page", '<p><a href="/">To the shop</a></p>', 404);
}

/**
 * @param {string} title
 * @param {string} body
 * @param {number} status
 * @param {string} [next] where the browser goes at once
 */
function page(title, body, status, next) {
  const refresh = next ? `<meta http-equiv="refresh" content="0; url=${next}">` : "";
  return html(
    `<!doctype html><html lang="en"><head><meta charset="utf-8">${refresh}<title>${title}</title>` +
      '<meta name="viewport" content="width=device-width"><link rel="icon" href="/favicon.svg">' +
      `<link rel="stylesheet" href="/demo.css"></head><body><main><h1>${title}</h1>${body}</main></body></html>`,
    status,
  );
}

/**
 * @param {string} body
 * @param {number} [status]
 */
function html(body, status = 200) {
  return new Response(body, { status, headers: { "Content-Type": "text/html; charset=utf-8" } });
}

/**
 * @param {string} body
 * @param {number} status
 */
function text(body, status) {
  return new Response(body, { status, headers: { "Content-Type": "text/plain; charset=utf-8" } });
}
