// @ts-check
// What waits for the page, and what goes out: promises, timers, fetch and xhr.

import { list, resume } from "./tickets.mjs";
import { attempt, invoke } from "./values.mjs";

/** @param {any} p @param {number} ticket */
export const then = (p, ticket) => {
  Promise.resolve(p).then(
    (v) => resume(ticket, v, true),
    (e) => resume(ticket, e, false),
  );
};

/** Settles the promises of all who asked: each gets an answer of its own. @param {any} calls @param {any} value @param {number} ok */
export const settle = (calls, value, ok) => {
  for (const call of calls) ok ? call.resolve(calls[1] ? value.clone() : value) : call.reject(value);
};

/** Resumes after a delay, and if asked not before the browser is on line. @param {number} ms @param {number} ticket @param {number} online
 *  @param {any} signal resumes at once when it aborts */
export const later = (ms, ticket, online, signal) => {
  const f = () => resume(ticket, undefined, true);
  signal?.addEventListener("abort", f);
  setTimeout(() => (online && navigator.onLine === false ? addEventListener("online", f, { once: true }) : f()), ms);
};

/** JSON of the page's own origin. @param {number} path @param {any} part @param {number} rest @returns {any} */
export const ask = (path, part, rest) =>
  fetch(list[path] + encodeURIComponent(part) + list[rest])
    .then((r) => r.json())
    .catch(() => {});

/** What an answer's head says, of a response or an xhr: status, the gate's word, Retry-After, that as a date, the server's
 *  time, and whether it leads to another page. @param {any} o @returns {any} */
export const head = (o) => {
  const h = (/** @type {string} */ name) => (o?.headers ? o.headers.get(name) : o?.getResponseHeader?.(name));
  return [
    o?.type == "opaqueredirect" ? 302 : o?.status,
    h("Idempotency-Status"),
    h("Retry-After"),
    Date.parse(h("Retry-After")),
    Date.parse(h("Date")) || Date.now(),
    h("HX-Redirect") || h("HX-Refresh"),
  ];
};

/** One attempt: of a request that is cloned, or of an address with a time limit of its own.
 *  @param {any} f @param {any} input @param {any} init @param {any} signal @param {number} ms @returns {any} */
export const launch = (f, input, init, signal, ms) =>
  attempt(() =>
    input.clone ? f(input.clone()) : f(input, { ...init, signal: ms && AbortSignal.any ? AbortSignal.any([signal, AbortSignal.timeout(ms)]) : signal }),
  );

/** @param {any} init */
export const time_limit = (init) => init.timeout ?? /** @type {any} */ (globalThis).htmx?.config.defaultTimeout;

// htmx 4: a request's fetch is replaced. 1.9 and 2: a request's xhr reports here first, and is sent again as it was.
/** @param {any} ctx @param {number} ticket */
export const replace_fetch = (ctx, ticket) => {
  const fetch = ctx.fetch ?? globalThis.fetch;
  ctx.fetch = (/** @type {any} */ url, /** @type {any} */ init) => new Promise((resolve, reject) => resume(ticket, { url, init, fetch, resolve, reject }, true));
};
const ENDS = ["onload", "onerror", "ontimeout", "onabort"];
/** Tells what an xhr sends, instead of sending it. @param {any} xhr @param {number} ticket */
export const catch_send = (xhr, ticket) => {
  xhr.send = (/** @type {any} */ body) => {
    delete xhr.send;
    resume(ticket, body, true);
  };
};
/** Sends, and takes the xhr's listeners; returns those that were there.
 *  @param {any} xhr @param {any} body @param {number} ticket @returns {any} */
export const transmit = (xhr, body, ticket) => {
  /** @type {any} */
  const were = {};
  for (const end of ENDS) {
    were[end] = xhr[end];
    xhr[end] = (/** @type {any} */ e) => resume(ticket, e, true);
  }
  xhr.send(body);
  return were;
};
/** @param {any} info htmx's description of the request */
export const reopen = ({ xhr, requestConfig: c, pathInfo }) => {
  xhr.open(c.verb.toUpperCase(), pathInfo.finalRequestPath, true);
  for (const name in c.headers) invoke(xhr, "setRequestHeader", name, c.headers[name]);
};
/** Gives the xhr back, with the event that its listeners wait for. @param {any} xhr @param {any} were @param {any} event */
export const hand_over = (xhr, were, event) => {
  Object.assign(xhr, were);
  were["on" + (event?.type ?? "abort")]?.call(xhr, event);
};
