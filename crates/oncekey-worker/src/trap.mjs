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
