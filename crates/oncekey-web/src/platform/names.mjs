// @ts-check
// What elements are called while they live, and what their hidden fields said when they were first seen.

import { attribute, callMethod, member, selectAll, unlessThrown } from "./values.mjs";

/** @type {WeakMap<any, number>} */
const places = new WeakMap();
/** Which of a root's elements have one name. @type {WeakMap<any, Map<number, WeakRef<any>[]>>} */
const equals = new WeakMap();
/** @type {WeakMap<any, string>} */
const firstValues = new WeakMap();

/** @param {any} element */
export const givenPlace = (element) => places.get(element);
/** @param {any} element @param {number} place */
export const givePlace = (element, place) => {
  places.set(element, place);
};
/** What its author calls an element. @param {any} element */
const ownName = (element) => attribute(element, "data-once-name") ?? attribute(element, "id") ?? "";
/** Those like an element, in its own document or shadow root, that have no place yet, in their order: those of its own name,
 *  else those whose attributes are its. Of thousands few are; the browser finds them faster than a loop.
 *  @param {any} element @param {string} names */
export const unplacedLike = (element, names) => {
  if (places.has(element)) return [];
  const own = ownName(element);
  const found = unlessThrown(() => {
    const is = (/** @type {string} */ name, /** @type {string | null} */ value) => (value === null ? `:not([${name}])` : `[${name}="${CSS.escape(value)}"]`);
    const these = names.split(" ").map((name) => is(name, attribute(element, name)));
    return selectAll(callMethod(element, "getRootNode"), member(element, "localName") + (own ? `:is(${is("data-once-name", own)},${is("id", own)})` : these.join("")));
  });
  return [...new Set([...(found ?? []), element])].filter((other) => !places.has(other) && ownName(other) == own);
};
/** Its number among those of its name: the first that no other has who is there. @param {any} element @param {number} name
 *  @returns {number} */
export const countEquals = (element, name) => {
  const root = callMethod(element, "getRootNode");
  const named = equals.get(root) ?? new Map();
  const those = named.get(name) ?? [];
  const free = those.findIndex((/** @type {WeakRef<any>} */ other) => !other.deref()?.isConnected);
  const at = free < 0 ? those.length : free;
  those[at] = new WeakRef(element);
  equals.set(root, named.set(name, those));
  return at;
};
/** The hidden fields within: name, value when first seen, value. @param {any} within */
export const hiddenFields = (within) =>
  [...(selectAll(within, "input[type=hidden]") ?? [])].map((field) => {
    if (!firstValues.has(field)) firstValues.set(field, field.value);
    return [field.name, firstValues.get(field), field.value];
  });
/** Attributes, a line each. @param {any} element @param {string} names */
export const attributeLines = (element, names) =>
  names
    .split(" ")
    .map((name) => attribute(element, name))
    .join("\n");
