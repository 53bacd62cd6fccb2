// @ts-check
// What shows on the page that an intent is busy: attributes, and a live region.

import { attribute, callMethod } from "./values.mjs";

/** Attributes that say "busy", with what stood there. Two intents may mark one form: the last to end restores what stood there
 *  before the first. @type {[element: Element, name: string, before: string | null][]} */
const marks = [];
/** @param {any} element @param {string} name */
const findMark = (element, name) => marks.find((mark) => mark[0] == element && mark[1] == name);
/** @param {any} element @param {string} name @param {string | null | undefined} value */
const write = (element, name, value) =>
  value == null ? callMethod(element, "removeAttribute", name) : callMethod(element, "setAttribute", name, value);

/** Marks an element with an attribute. @param {any} element @param {string} name @param {string} value */
export const mark = (element, name, value) => {
  const earlier = findMark(element, name);
  marks.push([element, name, earlier ? earlier[2] : attribute(element, name)]);
  write(element, name, value);
  if (element && name == "disabled") disabled.add(element);
};
/** Undoes one mark. @param {any} element @param {string} name */
export const unmark = (element, name) => {
  const found = findMark(element, name);
  if (!found) return;
  marks.splice(marks.indexOf(found), 1);
  if (!findMark(element, name)) write(...found);
};
/** Takes all marks away: the page is being stored. */
export const unmarkAll = () => {
  for (const mark of marks.splice(0)) write(...mark);
  region?.remove();
};

/** Firefox keeps over a reload that a script enabled a control, against the next page's author. @type {Set<any>} */
const disabled = new Set();
addEventListener("pagehide", (event) => {
  if (!event.persisted) for (const control of disabled) control.disabled = true;
});

/** @type {HTMLElement | undefined} */
let region;
/** Says a text in a polite live region. @param {string} words */
export const say = (words) => {
  if (!region?.isConnected) {
    if (!words) return;
    region = document.createElement("div");
    region.setAttribute("role", "status");
    region.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
    document.body.append(region);
  }
  region.textContent = words;
};
