// @ts-check
// A classic script for the head of a page whose module arrives late: holds submits until the module takes them over, each
// at most three seconds. It decides nothing else.
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
    event.preventDefault();
    event.stopImmediatePropagation();
    const by = event.submitter;
    if (!held.size) setTimeout(() => release(), 3000);
    if (held.has(form)) return;
    held.set(form, () => {
      // htmx 1.9 and 2 know a submitter by its focus.
      by?.dispatchEvent(new Event("focusin", { bubbles: true }));
      HTMLFormElement.prototype.requestSubmit.call(form, by?.isConnected ? by : null);
    });
  };
  addEventListener("submit", hold, true);
  /** The module comes: it gets what is held, and releases it. @param {() => void} by */
  page[EARLY] = (by) => {
    removeEventListener("submit", hold, true);
    release = by;
    return held;
  };
})();
