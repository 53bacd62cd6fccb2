// @ts-check
// Word of a trap, from the wasm to the shim: the module that both import, so that nothing of it is the script's own.

/** @type {() => void} */
let listener = () => {};

/** How to fail what is under way: its continuations die with the wasm that they belong to. @type {Set<(why: Error) => void>} */
export const pending = new Set();

/** Called by the wasm when it can go on no more; the trap itself follows. */
export function tellTrapped() {
  listener();
}

/** @param {() => void} then */
export function onTrapped(then) {
  listener = then;
}

/**
 * Breaks a stream off when the wasm that writes it is gone. What fails it is a promise's reaction, since only that runs
 * as the request to which the stream belongs.
 * @param {WritableStreamDefaultWriter} writer
 */
export function breakOnTrap(writer) {
  /** @type {(why: Error) => void} */
  let fail = () => {};
  new Promise((_, reject) => pending.add((fail = reject))).catch((why) => writer.abort(why)).catch(() => {});
  const done = () => void pending.delete(fail);
  writer.closed.then(done, done);
}
