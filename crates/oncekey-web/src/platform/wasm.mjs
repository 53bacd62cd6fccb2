// @ts-check
// What the page calls in the wasm, once it runs.

/** What the wasm exports. @type {any} */
let wasm;
/** @param {any} exports */
export const connect = (exports) => {
  wasm = exports;
};
/** Resumes what waits in wasm, once. @param {number} ticket @param {any} value @param {boolean} ok */
export const redeem = (ticket, value, ok) => wasm.redeem_ticket(ticket, value, ok);
/** Tells a listener of the wasm of an event. @param {number} listener @param {Event} event */
export const hear = (listener, event) => wasm.hear_event(listener, event);
