// @ts-check
// Waiting for a promise in such a way that the one who waits can let go: what settles then finds nobody.
import { settlePromise } from "./gate.js";

/** The number of the last promise that was listened to. It goes on over the wasm's instances, so that none hears another's. */
let last = 0;

/**
 * Tells the wasm once what becomes of a promise, under the number that this gives.
 * @param {Promise<unknown>} promise
 */
export function listenToPromise(promise) {
  const number = (last = (last + 1) >>> 0);
  promise.then(
    (value) => settlePromise(number, true, value),
    (why) => settlePromise(number, false, why),
  );
  return number;
}

/**
 * Resolves once the caller of a request has gone (compatibility flag `enable_request_signal`).
 * @param {Request} request
 */
export const goneOf = ({ signal }) => new Promise((resolve) => signal.addEventListener("abort", resolve));
