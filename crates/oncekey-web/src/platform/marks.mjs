// @ts-check
// What shows on the page that an intent is busy: attributes, and a live region.

import { attribute, callMethod } from "./values.mjs";

/** An attribute that says "busy". @typedef {{ element: any, name: string, before: string | null, count: number, watch: MutationObserver, isOurs: boolean }} Mark */
/** @type {Mark[]} */
const marks = [];
/** @param {any} element @param {string} name */
const findMark = (element, name) => marks.find((mark) => mark.element == element && mark.name == name);
/** @param {any} element @param {string} name @param {string | null} value */
const write = (element, name, value) =>
  value == null ? callMethod(element, "removeAttribute", name) : callMethod(element, "setAttribute", name, value);

/** Marks an element with an attribute, unless it has it already. Two intents may mark one form: the last to end undoes it.
 *  @param {any} element @param {string} name @param {string} value */
export const mark = (element, name, value) => {
  const earlier = findMark(element, name);
  if (earlier) earlier.count++;
  if (earlier || !element || attribute(element, name) == value) return;
  const before = attribute(element, name);
  write(element, name, value);
  // Whoever sets it meanwhile, even to the same, has made it theirs.
  const watch = new MutationObserver(() => (made.isOurs = false));
  const made = { element, name, before, count: 1, watch, isOurs: true };
  watch.observe(element, { attributeFilter: [name] });
  marks.push(made);
  if (name == "disabled") disabled.add(element);
};
/** Undoes one mark. @param {any} element @param {string} name */
export const unmark = (element, name) => {
  const found = findMark(element, name);
  if (!found || --found.count) return;
  marks.splice(marks.indexOf(found), 1);
  undo(found);
};
/** @param {Mark} found */
const undo = ({ element, name, before, watch, isOurs }) => {
  if (!watch.takeRecords().length && isOurs) write(element, name, before);
  watch.disconnect();
};
/** Takes all marks away: the page is being stored. */
export const unmarkAll = () => {
  for (const mark of marks.splice(0)) undo(mark);
  region?.remove();
};

/** Firefox keeps over a reload that a script enabled a control, against the next page's author. @type {Set<any>} */
const disabled = new Set();
globalThis.addEventListener?.("pagehide", (event) => {
  if (!event.persisted) for (const control of disabled) control.disabled = true;
});

/** @type {HTMLElement | undefined} */
let region;
/** Says a text in a polite live region, where a modal dialog does not hide it. @param {string} words */
export const say = (words) => {
  if (words) {
    if (!region) {
      region = document.createElement("div");
      region.setAttribute("role", "status");
      region.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
    }
    const place = [...document.querySelectorAll("dialog:modal")].at(-1) ?? document.body;
    if (region.parentNode != place) place.append(region);
  }
  if (region) region.textContent = words;
};
