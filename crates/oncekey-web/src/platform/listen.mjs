// @ts-check
// What the wasm listens to.

import { hear } from "./wasm.mjs";

/** The document is there, and htmx has been told its options. */
export const parsed = new Promise((done) => {
  if (!globalThis.document || document.readyState == "complete") done(0);
  else for (const name of ["DOMContentLoaded", "load"]) addEventListener(name, done);
});

/** @type {[string, (event: Event) => void][]} */
const withinRoots = [];
/** Listens within a shadow root. @param {any} root */
export const watchRoot = (root) => {
  for (const [name, tell] of withinRoots) root.addEventListener(name, tell, true);
};

/** Lets a listener of the wasm hear of events before the page does. htmx 4 may be told to write its events' names otherwise;
 *  what is listened to already stays so once. @param {string} name @param {number} listener */
export const listenTo = (name, listener) => {
  const tell = (/** @type {Event} */ event) => hear(listener, event);
  addEventListener(name, tell, true);
  // What comes from a shadow root tells of itself within.
  if (/^[fs]/.test(name)) withinRoots.push([name, tell]);
  parsed.then(() => {
    const separator = /** @type {any} */ (globalThis).htmx?.config.metaCharacter || ":";
    addEventListener(name.replaceAll(":", separator), tell, true);
  });
};
