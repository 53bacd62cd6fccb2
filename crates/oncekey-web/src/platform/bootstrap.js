// @ts-check
// For the head of a page whose module arrives late: holds submits until the module takes them over, each at most three
// seconds. It decides nothing else. The build makes a classic script of it.

import { holdSubmit } from "./resend.mjs";

(() => {
  const EARLY = Symbol.for("oncekey.early");
  /** @type {any} */
  const page = globalThis;
  // A second copy, or one that comes after the module, has nothing to do.
  if (page[EARLY] || page[Symbol.for("oncekey")]) return;
  /** @type {Map<HTMLFormElement, () => void>} */
  const held = new Map();
  let release = () => {
    removeEventListener("submit", hold, true);
    for (const go of held.values()) go();
  };
  /** @param {SubmitEvent} event */
  const hold = (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    // Who makes an event knows what it is for.
    if (!event.isTrusted || Element.prototype.closest.call(form, "[data-once=off]")) return;
    if (!held.size) setTimeout(() => release(), 3000);
    if (held.has(form)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else held.set(form, holdSubmit(event));
  };
  addEventListener("submit", hold, true);
  /** The module comes: it gets what is held, and releases it. @param {() => void} by */
  page[EARLY] = (by) => {
    removeEventListener("submit", hold, true);
    release = by;
    return held;
  };
})();
