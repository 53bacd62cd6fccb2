// @ts-check
// Waiting for a promise in such a way that the one who waits can let go: a promise that never settles keeps nothing.

/** @typedef {((fulfilled: boolean, value: unknown) => void) & { gone?: boolean }} Listener */

/**
 * Tells a listener once what becomes of a promise, unless it has gone.
 * @param {Promise<unknown>} promise
 * @param {Listener} listener
 */
export function listenToPromise(promise, listener) {
  promise.then(
    (value) => listener.gone || listener(true, value),
    (why) => listener.gone || listener(false, why),
  );
}

/** @param {Listener} listener */
export function forgetListener(listener) {
  listener.gone = true;
}
