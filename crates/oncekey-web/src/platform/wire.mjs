// @ts-check
// What waits for the page, and what goes out: promises, timers, fetch.

import { redeem } from "./wasm.mjs";
import { callMethod, unlessThrown } from "./values.mjs";

/** @param {any} promise @param {number} ticket */
export const redeemWhenSettled = (promise, ticket) => {
  Promise.resolve(promise).then(
    (value) => redeem(ticket, value, true),
    (error) => redeem(ticket, error, false),
  );
};
/** Redeems after a delay, and where `onLine` not before the browser is. @param {number} ms @param {number} ticket
 *  @param {boolean} onLine @param {any} signal redeems at once when it aborts */
export const redeemAfterDelay = (ms, ticket, onLine, signal) => {
  const resume = () => redeem(ticket, undefined, true);
  signal?.addEventListener("abort", resume);
  setTimeout(() => {
    if (onLine && navigator.onLine === false) addEventListener("online", resume, { once: true });
    else resume();
  }, ms);
};

/** JSON of an address's origin, else of the page's own: a path, a part of it to encode, a query. @param {string | undefined} address
 *  @param {string} path @param {string} part @param {string} query @returns {Promise<any>} */
export const fetchJson = async (address, path, part, query) => {
  try {
    const answer = await fetch(new URL(path + encodeURIComponent(part) + query, address ?? origin), { credentials: "include" });
    return await answer.json();
  } catch {}
};

/** One attempt: of a request that is cloned, or of an address with a time limit of its own. @param {any} fetch @param {any} input
 *  @param {any} init @param {any} signal @param {number} ms 0 is no limit @returns {any} */
export const fetchOnce = (fetch, input, init, signal, ms) =>
  unlessThrown(() => {
    if (input.clone) return fetch(input.clone(), { signal });
    const limited = ms && AbortSignal.any ? AbortSignal.any([signal, AbortSignal.timeout(ms)]) : signal;
    return fetch(input, { ...init, signal: limited });
  });
/** A header line of a response or an xhr. @param {any} answer @param {string} name @returns {any} */
export const answerHeader = (answer, name) =>
  answer?.headers ? answer.headers.get(name) : callMethod(answer, "getResponseHeader", name);

/** Settles the promises of all who asked: each gets an answer of its own. @param {any} calls @param {any} value @param {boolean} ok */
export const settleCalls = (calls, value, ok) => {
  for (const call of calls) {
    if (ok) call.resolve(calls.length > 1 ? value.clone() : value);
    else call.reject(value);
  }
};
/** Those who asked for one request, and what aborts it. @param {any} call @returns {any} */
export const callsOf = (call) => Object.assign([call], { abort: new AbortController() });
/** One call more: who aborts leaves alone, and the last takes the request along. @param {Request} request
 *  @param {(call: any) => any} join the calls of its request, or nothing where it is under way with other content */
export const joinCalls = ({ signal }, join) =>
  new Promise((resolve, reject) => {
    const call = { resolve, reject };
    const calls = join(call);
    if (!calls) reject(new TypeError("oncekey: this intent is under way with other content"));
    signal.addEventListener("abort", () => {
      reject(signal.reason);
      calls.splice(calls.indexOf(call), 1);
      if (!calls.length) calls.abort.abort(signal.reason);
    });
  });

/** htmx 4: a request's fetch is replaced; the ticket gets its call. @param {any} ctx @param {number} ticket */
export const replaceFetch = (ctx, ticket) => {
  const fetch = ctx.fetch ?? globalThis.fetch;
  ctx.fetch = (/** @type {any} */ url, /** @type {any} */ init) =>
    new Promise((resolve, reject) => redeem(ticket, { url, init, fetch, resolve, reject }, true));
};
