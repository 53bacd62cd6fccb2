// @ts-check
// What crosses between wasm and the page: the wasm's exports, its words, and what waits in it.

/** What the wasm exports. @type {any} */
let wasm;
/** Resumes what waits in wasm, once. @param {number} ticket @param {any} value @param {boolean} ok */
export const resume = (ticket, value, ok) => wasm.resume(ticket, value, ok);
/** What the wasm calls by number: members, attributes, words. @type {string[]} */
export let list;
/** @param {any} exports */
export const connect = (exports) => {
  wasm = exports;
  return (list = wasm.words().split("\n"));
};

// Texts cross as bytes, each way.
/** @param {number} address @param {number} length */
export const decode = (address, length) => new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, address, length));
/** @type {Uint8Array} */
let encoded;
/** How long a text is; nothing else has a length. @param {any} v */
export const measure = (v) => (typeof v == "string" ? (encoded = new TextEncoder().encode(v)).length : -1);
/** @param {number} address */
export const copy = (address) => new Uint8Array(wasm.memory.buffer).set(encoded, address);

/** @param {number} n */
export const word = (n) => list[n];
