// @ts-check
// What is submitted before the wasm runs: held at most three seconds, then submitted again; what cannot be, goes with a
// fresh key.

import { holdSubmit } from "./resend.mjs";
import { addKeyToFields, isOff } from "./unguarded.mjs";
import { setMember } from "./values.mjs";

/** How long a submit is held at most, in milliseconds. */
const LONGEST_HOLD = 3000;

/** Holds submits until the function that it returns is called. `form.submit()` fires no submit event, and a `formdata` event
 *  alone may be any script's `new FormData(form)`: `tell` is called with the form before one, and says whether it may be, and
 *  without when it has returned.
 *  @param {(form?: any) => number | undefined} tell 0 is no, and nothing that there is no wasm */
export function holdSubmits(tell) {
  const nativeSubmit = HTMLFormElement.prototype.submit;
  let isOpen = false;
  const hold = (/** @type {any} */ event) => {
    const form = event.target;
    // Who makes an event knows what it is for.
    if (!event.isTrusted || isOff(form)) return;
    if (held.has(form)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else held.set(form, holdSubmit(event));
  };
  const release = () => {
    if (isOpen) return;
    isOpen = true;
    removeEventListener("submit", hold, true);
    for (const submit of held.values()) submit();
  };
  /** What is held, by bootstrap.js first. @type {Map<any, () => void>} */
  const held = /** @type {any} */ (globalThis)[Symbol.for("oncekey.early")]?.(release) ?? new Map();
  addEventListener("submit", hold, true);
  setTimeout(release, LONGEST_HOLD);

  // Another script may have made it read-only.
  setMember(HTMLFormElement.prototype, "submit", function () {
    // @ts-expect-error what it is called on
    const form = /** @type {any} */ (this);
    const may = tell(form);
    if (may === undefined) addEventListener("formdata", (event) => addKeyToFields(form, null, event), { capture: true, once: true });
    if (may != 0) nativeSubmit.call(form);
    tell();
  });
  return release;
}
