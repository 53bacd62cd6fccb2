// @ts-check
// The demo's public door: serves the page, counts the orders sent, hands everything else to the gate.

import { refund } from "./refund.mjs";

/**
 * @typedef {{ fetch(request: Request): Promise<Response> }} Service
 * @typedef {{ get(id: unknown): Service, idFromName(name: string): unknown }} Namespace
 * @typedef {{ PAGE: string, CSS: string, SCRIPT: string, HTMX: string, REACT_PAGE: string, REACT: string, GATE: Service, SHOP: Namespace, SERVICE: string }} Env
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
  "/": { type: "text/html", text: (env) => env.PAGE },
  "/demo.css": { type: "text/css", text: (env) => env.CSS },
  "/demo.js": { type: "text/javascript", text: (env) => env.SCRIPT },
  "/react": { type: "text/html", text: (env) => env.REACT_PAGE },
  "/react.js": { type: "text/javascript", text: (env) => env.REACT },
  "/vendor/htmx.js": { type: "text/javascript", text: (env) => env.HTMX },
};

export default {
  /**
   * @param {Request} request
   * @param {Env} env
   */
  async fetch(request, env) {
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
    if (request.method === "POST" && pathname === "/orders") {
      // Counted before it is handed on, so that whoever has an answer finds it counted.
      const shop = env.SHOP.get(env.SHOP.idFromName("shop"));
      await shop.fetch(new Request("http://shop/sent", { method: "POST" }));
    }
    return (await refund(request, env)) ?? env.GATE.fetch(request);
  },
};
