// @ts-check
// A page server for the browser specs: serves one page with the module, takes what the page sends, and answers by a plan of faults.
// It plays the gate's part as far as a page can see it: what became of a key. Or it has a real gate: it hands on to it what
// the page sends, and is the origin behind it.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, request as ask } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const MODULES = new URL("../node_modules/", import.meta.url);
export const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * What the server does with one request; nothing is 200 at once.
 * @typedef {object} Fault
 * @property {number} [status]
 * @property {Record<string, string>} [headers]
 * @property {string} [body]
 * @property {number} [wait] milliseconds before the answer
 * @property {Promise<unknown>} [after] what the answer waits for, before that
 * @property {boolean} [drop] the connection breaks without an answer
 * @property {string} [state] what the gate says of the key from then on, where the status does not tell
 */

/**
 * One request with an effect, as it came.
 * @typedef {object} Sent
 * @property {string} method
 * @property {string} path with its query
 * @property {string | undefined} header the key's header, unquoted
 * @property {string[]} fields the key's fields
 * @property {string} content names and values; a file by its digest
 * @property {number} at
 */

/** @param {string} name */
export const script = (name) => `<script src="/${name}.js"></script>`;
/** The module, as a page loads it. */
export const MODULE = `<script type="module" src="/oncekey.js"></script>`;

/** A browser for one spec file; `without` names flags of the driver's that it is not to have. @param {string[]} [without] */
export const launch = (without = []) => chromium.launch({ executablePath: process.env.CHROMIUM || undefined, args: FLAGS, ignoreDefaultArgs: without });

/** What opens profiles: a browser, or what starts one for each. @typedef {{ newContext(): Promise<import("playwright-core").BrowserContext> }} Browser */

/** Starts a server on a port of its own. @param {import("./shop.mjs").Gate} [gate] what it is to stand before and behind */
export async function serve(gate) {
  if (!process.env.ONCEKEY_MODULE) throw new Error("ONCEKEY_MODULE is not set: the path of the built oncekey.js");
  /** @type {Sent[]} */
  const sent = [];
  /** @type {Map<string, Fault[]>} */
  const plans = new Map();
  /** @type {Map<string, { state: string, status?: number }>} */
  const keys = new Map();
  /** What there is of requests: `happened` at the origin, those that the gate has not answered, answers that the page is not to get. */
  const count = { happened: 0, open: 0, lost: 0 };
  const page = { html: "", files: "", policy: /** @type {object | undefined} */ (undefined), headers: /** @type {Record<string, string>} */ ({}) };

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const isGates = gate && /^\/\.(oncekey|well-known)\//.test(url.pathname);
    const answer = request.method !== "GET" ? effect(url, request, response) : isGates ? pass(gate, Buffer.alloc(0), request, response) : get(url, response);
    answer.catch(() => response.destroy());
  });

  /** @param {URL} url @param {import("node:http").ServerResponse} response */
  async function get({ pathname }, response) {
    const html = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" };
    if (pathname === "/") return void response.writeHead(200, { ...html, ...page.headers }).end(page.html);
    if (pathname === "/.well-known/idempotency" && page.policy) {
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(page.policy));
    }
    if (pathname.startsWith("/.oncekey/keys/")) {
      const state = keys.get(decodeURIComponent(pathname.slice("/.oncekey/keys/".length))) ?? { state: "absent" };
      return void response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(state));
    }
    const file = page.files ? (/\.(js|wasm)$/.test(pathname) ? join(page.files, pathname) : undefined) : fileOf(pathname);
    if (file) {
      const late = plans.get(pathname)?.[0];
      await late?.after;
      if (late?.wait) await new Promise((resolve) => setTimeout(resolve, late.wait));
      const type = file.endsWith(".wasm") ? "application/wasm" : "text/javascript";
      return void response.writeHead(200, { "content-type": type }).end(await readFile(file));
    }
    response.writeHead(pathname === "/done" ? 200 : 404, html).end(`<title>done</title>${MODULE}<p id=done>done</p>`);
  }

  /**
   * @param {URL} url
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async function effect(url, request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const content = Buffer.concat(chunks);
    const pairs = await read(content, request.headers["content-type"]);
    const header = /** @type {string | undefined} */ (request.headers["idempotency-key"]);
    /** @type {Sent} */
    const one = {
      method: request.method ?? "",
      path: url.pathname + url.search,
      header: header?.replace(/^"(.*)"$/, "$1"),
      fields: pairs.filter(([name]) => name === "idempotency_key").map(([, value]) => value),
      content: JSON.stringify(pairs.filter(([name]) => name !== "idempotency_key")),
      at: Date.now(),
    };
    sent.push(one);
    if (gate) await pass(gate, content, request, response);
    else await happen(url.pathname, one.fields[0] ?? one.header ?? "", response);
  }

  /**
   * Hands a request on to the gate, and the gate's answer back. What has arrived in full is handed on, though the page may be gone.
   * @param {import("./shop.mjs").Gate} gate
   * @param {Buffer} content
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   */
  async function pass({ url }, content, { method, url: path, headers }, response) {
    const isLost = method !== "GET" && count.lost-- > 0;
    count.open += 1;
    try {
      const answer = await new Promise((/** @type {(answer: import("node:http").IncomingMessage) => void} */ resolve, reject) =>
        ask(new URL(path ?? "/", url), { method, headers: { ...headers, "x-site": site } }, resolve).on("error", reject).end(content),
      );
      const chunks = [];
      for await (const chunk of answer) chunks.push(chunk);
      if (!isLost) response.writeHead(answer.statusCode ?? 0, framed(answer.headers)).end(Buffer.concat(chunks));
    } finally {
      count.open -= 1;
    }
  }

  /** The effect itself, at the origin. @param {string} path @param {string} key @param {import("node:http").ServerResponse} response */
  async function happen(path, key, response) {
    const plan = plans.get(path) ?? [];
    const fault = (plan.length > 1 ? plan.shift() : plan[0]) ?? {};
    if ((fault.status ?? 200) < 400) count.happened += 1;
    keys.set(key, { state: "running" });
    await fault.after;
    await new Promise((resolve) => setTimeout(resolve, fault.wait ?? 0));
    if (fault.drop) {
      keys.set(key, { state: "unknown" });
      return void response.destroy();
    }
    const status = fault.status ?? 200;
    keys.set(key, fault.state ? { state: fault.state } : status < 400 ? { state: "completed", status } : { state: "absent" });
    response.writeHead(status, { "content-type": "text/html", ...fault.headers });
    response.end(status === 204 ? undefined : (fault.body ?? `<p class=answer>answer ${sent.length}</p>`));
  }

  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const site = String(port);
  gate?.behind.set(site, (request, response) => {
    happen(request.url ?? "/", String(request.headers["idempotency-key"]), response.on("error", () => {})).catch(() => response.destroy());
    request.resume();
  });
  return {
    url: `http://127.0.0.1:${port}/`,
    sent,
    /** How many effects have taken place. */
    orders: () => count.happened,
    /** Whether the gate has answered all that it was given. */
    isQuiet: () => count.open === 0,
    /** So many answers of the gate will not reach the page, which waits for them. @param {number} answers */
    lose: (answers) => void (count.lost = answers),
    /**
     * Sets the page; `files` is a folder that its scripts come from, instead of the usual ones.
     * @param {string} body @param {string} [head] @param {Record<string, string>} [headers] @param {string} [module] @param {string} [files]
     */
    page(body, head = "", headers = {}, module = MODULE, files = "") {
      page.html = `<!doctype html><meta charset=utf-8><title>page</title>${head}${module}<body>${body}<div id=out></div>`;
      page.headers = headers;
      page.files = files;
    },
    /** What the gate publishes; nothing until then. @param {object} policy */
    publish: (policy) => void (page.policy = policy),
    /** Plans the answers of a path; the last one stays. @param {string} path @param {...Fault} faults */
    plan: (path, ...faults) => void plans.set(path, faults),
    close() {
      gate?.behind.delete(site);
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The script behind an address: the module, or a library. @param {string} pathname */
export function fileOf(pathname) {
  const [, htmx, extension] = /^\/(htmx\d)(-compat)?\.js$/.exec(pathname) ?? [];
  if (htmx) return fileURLToPath(new URL(extension ? `${htmx}/dist/ext/htmx-2-compat.js` : `${htmx}/dist/htmx.min.js`, MODULES));
  const library = { "/turbo.js": "@hotwired/turbo/dist/turbo.es2017-umd.js", "/unpoly.js": "unpoly/unpoly.js" }[pathname];
  if (library) return fileURLToPath(new URL(library, MODULES));
  const module = process.env.ONCEKEY_MODULE ?? "";
  if (pathname === "/bootstrap.js") return join(dirname(module), "bootstrap.js");
  return /^\/oncekey\d?\.js$/.test(pathname) ? module : undefined;
}

/** The fields of an answer but those of its framing. @param {import("node:http").IncomingHttpHeaders} fields */
const framed = (fields) => Object.fromEntries(Object.entries(fields).filter(([name]) => !/^(connection|keep-alive|transfer-encoding)$/.test(name)));

/** @param {Buffer} bytes @param {string} [type] @returns {Promise<[string, string][]>} */
export async function read(bytes, type = "") {
  if (!type.includes("form")) return [["", bytes.toString()]];
  const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": type } }).formData();
  return Promise.all(
    [...form].map(async ([name, value]) => {
      if (typeof value === "string") return /** @type {[string, string]} */ ([name, value]);
      const digest = createHash("sha256").update(Buffer.from(await value.arrayBuffer())).digest("hex");
      return /** @type {[string, string]} */ ([name, `${value.name} ${value.type} ${digest}`]);
    }),
  );
}

/**
 * Runs one case: a server and a browser profile of its own, the page open and the module ready.
 * @param {Browser} browser
 * @param {{ body: string, head?: string, headers?: Record<string, string>, ready?: boolean, module?: string, files?: string, waitUntil?: "load" | "commit", gate?: import("./shop.mjs").Gate }} page
 * @param {(at: { page: import("playwright-core").Page, site: Awaited<ReturnType<typeof serve>>, sent: Sent[], said: () => Promise<any[]> }) => Promise<void>} act
 * @param {Record<string, Fault[]>} [plans]
 * @returns {Promise<void>}
 */
export async function visit(browser, page, act, plans = {}) {
  for (let tries = 2; tries--; ) {
    const visited = once(browser, page, act, plans);
    // What was given up ends with the browser, when nobody waits for it any more.
    visited.catch(() => {});
    if ((await Promise.race([visited.then(() => true), pause(STUCK)])) === true) return;
  }
  throw new Error(`no end within ${STUCK} ms, twice`);
}

/** Longer than any case takes: a browser on a loaded machine can lose an input or a navigation, and wait for it for ever. In ms. */
const STUCK = 45_000;
/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref());

/**
 * @param {Parameters<typeof visit>[0]} browser
 * @param {Parameters<typeof visit>[1]} page
 * @param {Parameters<typeof visit>[2]} act
 * @param {Parameters<typeof visit>[3]} [plans]
 */
async function once(browser, { body, head, headers, module, files, gate, ready = true, waitUntil = "load" }, act, plans = {}) {
  const site = await serve(gate);
  const context = await browser.newContext();
  context.setDefaultTimeout(10_000);
  try {
    site.page(body, head, headers, module, files);
    for (const [path, faults] of Object.entries(plans)) site.plan(path, ...faults);
    const page = await context.newPage();
    await page.addInitScript(() => {
      /** @type {any} */ (window).said = [];
      for (const name of ["issued", "blocked", "retry", "unknown", "settled"])
        document.addEventListener(`oncekey:${name}`, (event) => {
          const target = /** @type {Element} */ (event.target);
          /** @type {any} */ (window).said.push({ name, on: target.id ?? "", .../** @type {CustomEvent} */ (event).detail });
        });
    });
    await page.goto(site.url, { waitUntil });
    if (ready) await page.waitForSelector("html[data-oncekey=ready]");
    await act({ page, site, sent: site.sent, said: () => page.evaluate(() => /** @type {any} */ (window).said) });
  } finally {
    // First what hangs at the server: a context with an open request may wait for it when it closes.
    site.close();
    await Promise.race([context.close(), pause(5000)]);
  }
}

/** Waits until something holds, or fails. @param {() => unknown} holds @param {string} what */
export async function until(holds, what) {
  for (let tries = 0; !(await holds()); tries += 1) {
    if (tries > 400) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The key that a request carried; header and field must agree where both are there. @param {Sent | undefined} one */
export function keyOf(one) {
  if (!one) throw new Error("no such request");
  const [field, ...more] = one.fields;
  if (more.length) throw new Error(`${more.length + 1} key fields`);
  if (field && one.header && field !== one.header) throw new Error(`header ${one.header}, field ${field}`);
  return field ?? one.header;
}

/** How many different keys were used. @param {Sent[]} sent */
export const keysOf = (sent) => new Set(sent.map(keyOf)).size;

/** A form of one field and one button. @param {string} attributes */
export const form = (attributes, inner = "") =>
  `<form id=order ${attributes}><input id=item name=item value=tea>${inner}<button id=buy name=go value=1>Buy</button></form>`;
