// @ts-check
// What shows on the page that an intent is busy: attributes, and a live region.

import { list } from "./tickets.mjs";
import { attr, invoke } from "./values.mjs";

// Attributes that say "busy", with what stood there. Two intents may mark one form: the last to end restores what stood there before the first.
/** @type {[Element, number, string | null][]} */
const marks = [];
/** @param {any} e @param {number} n */
const marked = (e, n) => marks.find((m) => m[0] == e && m[1] == n);
/** @param {any} e @param {number} n @param {string | null} value */
const write = (e, n, value) => invoke(e, value == null ? "removeAttribute" : "setAttribute", list[n], value);
/** @param {any} e @param {number} n @param {number} value */
export const mark = (e, n, value) => {
  const m = marked(e, n);
  marks.push([e, n, m ? m[2] : attr(e, n)]);
  write(e, n, list[value]);
  // `disabled`, the one without a value.
  if (e && !list[value]) disabled.add(e);
};
// Firefox keeps over a reload that a script enabled a control, against the next page's author.
/** @type {Set<any>} */
const disabled = new Set();
addEventListener("pagehide", (e) => e.persisted || disabled.forEach((control) => (control.disabled = true)));
/** @param {any} e @param {number} n */
export const unmark = (e, n) => {
  const m = marked(e, n);
  if (!m) return;
  marks.splice(marks.indexOf(m), 1);
  if (!marked(e, n)) write(...m);
};
/** Takes all marks away: the page is being stored. */
export const unmark_all = () => {
  for (const m of marks.splice(0)) write(...m);
  region?.remove();
};

/** @type {HTMLElement | undefined} */
let region;
/** Says a text in a polite live region. @param {any} words */
export const say = (words) => {
  if (!region?.isConnected) {
    if (!words) return;
    region = document.createElement("div");
    region.setAttribute("role", "status");
    region.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
    document.body.append(region);
  }
  region.textContent = words ?? "";
};
