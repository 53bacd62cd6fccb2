// @ts-check
// What is submitted before the wasm runs: held at most three seconds, then submitted again.

import { callMethod } from "./values.mjs";

/** How long a submit is held at most, in milliseconds. */
const LONGEST_HOLD = 3000;

/** Whether the author has switched the module off there. @param {any} element */
export const isOff = (element) => callMethod(element, "closest", "[data-once=off]");

/** Submits once more. htmx 1.9 and 2 know a submitter by its focus. @param {HTMLFormElement} form @param {HTMLElement | null} submitter */
const submitAgain = (form, submitter) => {
  submitter?.dispatchEvent(new Event("focusin", { bubbles: true }));
  callMethod(form, "requestSubmit", submitter?.isConnected ? submitter : null);
};

/** Holds submits until the function that it returns is called. `form.submit()` fires no submit event, and a `formdata` event
 *  alone may be any script's `new FormData(form)`: `tell` is called with the form before one, and without when it has returned.
 *  @param {(form?: HTMLFormElement) => void} tell */
export function holdSubmits(tell) {
  const nativeSubmit = HTMLFormElement.prototype.submit;
  let isOpen = false;
  const hold = (/** @type {SubmitEvent} */ event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    if (isOff(form)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    const submitter = /** @type {HTMLElement | null} */ (event.submitter);
    if (!held.has(form)) held.set(form, () => submitAgain(form, submitter));
  };
  const release = () => {
    if (isOpen) return;
    isOpen = true;
    removeEventListener("submit", hold, true);
    for (const submit of held.values()) submit();
  };
  /** What is held, by bootstrap.js first. @type {Map<HTMLFormElement, () => void>} */
  const held = /** @type {any} */ (globalThis)[Symbol.for("oncekey.early")]?.(release) ?? new Map();
  addEventListener("submit", hold, true);
  setTimeout(release, LONGEST_HOLD);

  HTMLFormElement.prototype.submit = function () {
    if (isOpen) {
      tell(this);
      nativeSubmit.call(this);
      tell();
    } else {
      held.set(this, () => HTMLFormElement.prototype.submit.call(this));
    }
  };
  return release;
}
