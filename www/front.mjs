// @ts-check
// The demo's public door: serves the pages, writes down each order sent and what it was answered, hands everything to the
// gate; orders go past it where the visitor wants to see that.

import { refund } from "./refund.mjs";

/**
 * @typedef {{ fetch(request: Request): Promise<Response> }} Service
 * @typedef {{ get(id: unknown): Service, idFromName(name: string): unknown }} Namespace
 * @typedef {{ PAGE: string, SHELL: string, LOG: string, ICON: string, CSS: string, SCRIPT: string, HTMX: string, REACT_PAGE: string, REACT: string, GATE: Service, ORIGIN: Service, SHOP: Namespace, SERVICE: string }} Env
 */

const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** @type {Record<string, { type: string, text: (env: Env) => string }>} */
const FILES = {
  "/": { type: "text/html", text: (env) => whole(env, env.PAGE) },
  "/favicon.svg": { type: "image/svg+xml", text: (env) => env.ICON },
  "/demo.css": { type: "text/css", text: (env) => env.CSS },
  "/demo.js": { type: "text/javascript", text: (env) => env.SCRIPT },
  "/react": { type: "text/html", text: (env) => whole(env, env.REACT_PAGE) },
  "/react.js": { type: "text/javascript", text: (env) => env.REACT },
  "/vendor/htmx.js": { type: "text/javascript", text: (env) => env.HTMX },
};

/** Where orders go: with patience for the first answer, and without. */
const ORDERS = ["/orders", "/orders/now"];

/** A page with what all of them have. @param {Env} env @param {string} page */
const whole = (env, page) => page.replace("<!-- shell -->", env.SHELL).replace("<!-- log -->", env.LOG);

export default {
  /**
   * @param {Request} request
   * @param {Env} env
   * @param {{ waitUntil(promise: Promise<unknown>): void }} ctx
   */
  async fetch(request, env, ctx) {
    const { pathname } = new URL(request.url);
    const reads = request.method === "GET" || request.method === "HEAD";
    const file = reads && Object.hasOwn(FILES, pathname) ? FILES[pathname] : undefined;
    if (file) {
      return new Response(file.text(env), {
        headers: {
          "Content-Type": `${file.type}; charset=utf-8`,
          "Content-Security-Policy": POLICY,
          "Cache-Control": "no-cache",
          "X-Content-Type-Options": "nosniff",
        },
      });
    }
    if (request.method === "POST" && ORDERS.includes(pathname)) {
      const answer = order(request, env);
      // Also for a visitor who does not wait.
      ctx.waitUntil(answer.catch(() => {}));
      return answer;
    }
    return (await refund(request, env)) ?? env.GATE.fetch(request);
  },
};

/** @param {Request} request @param {Env} env */
async function order(request, env) {
  const shop = env.SHOP.get(env.SHOP.idFromName("shop"));
  const without = /(?:^|;\s*)demo_without=1/.test(request.headers.get("Cookie") ?? "");
  // Counted before it is handed on, so that whoever has an answer finds it counted.
  const begun = await shop.fetch(new Request("http://shop/attempts", { method: "POST", body: wayOf(request) }));
  const attempt = await begun.text();
  const answer = await (without ? env.ORIGIN : env.GATE).fetch(request);
  const word = without ? "no gate" : (answer.headers.get("Idempotency-Status")?.split(";")[0] ?? "");
  const body = JSON.stringify({ status: answer.status, word });
  await shop.fetch(new Request(`http://shop/attempts/${attempt}`, { method: "PUT", body }));
  return answer;
}

/** How an order came. @param {Request} request */
function wayOf(request) {
  if (request.headers.get("HX-Request") === "true") return "htmx";
  return request.headers.get("Content-Type")?.startsWith("application/json") ? "script" : "form";
}
