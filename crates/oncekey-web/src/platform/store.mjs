// @ts-check
// What the tab keeps, in memory where the browser refuses or has no room. An intent's name is two numbers: its place and its
// target, which may be 0.

import { unlessThrown } from "./values.mjs";

const PREFIX = "oncekey:";
/** Where the tab's name is kept. */
const TAB = PREFIX;
/** @param {number} place @param {number} target */
const slotOf = (place, target) => `${PREFIX}${place}.${target || ""}`;

/** What the browser did not take. @type {Record<string, string>} */
const unkept = {};
/** @type {Record<string, string> | undefined} */
let session;
/** The tab's storage. A tab's first look at it takes some milliseconds. */
const storage = () => (session ??= unlessThrown(() => sessionStorage) ?? unkept);
const slots = () => Object.keys({ ...storage(), ...unkept }).filter((slot) => slot.startsWith(PREFIX));

/** @param {string} slot @returns {any} */
const recall = (slot) => unlessThrown(() => JSON.parse(unkept[slot] ?? storage()[slot]));
/** @param {string} slot */
const forget = (slot) => {
  delete unkept[slot];
  delete storage()[slot];
};
/** @param {string} slot @param {any} value */
const keep = (slot, value) => {
  forget(slot);
  const text = JSON.stringify(value);
  unlessThrown(() => (storage()[slot] = text)) ?? (unkept[slot] = text);
};

export const recallTabName = () => recall(TAB);
/** @param {string} name */
export const keepTabName = (name) => keep(TAB, name);
export const forgetTabName = () => forget(TAB);

/** What is kept of an intent: its key, progress, times, address and contents. @param {number} place @param {number} target @returns {any} */
export const recallIntent = (place, target) => recall(slotOf(place, target));
/** @param {number} place @param {number} target @param {string} key @param {number} progress @param {number} mintedAt
 *  @param {number} at @param {string | undefined} address as before without one @param {number | undefined} content joins those
 *  that are kept under the key */
export const keepIntent = (place, target, key, progress, mintedAt, at, address, content) => {
  const before = recallIntent(place, target);
  const [kept, ...contents] = before?.[0] == key ? before.slice(4) : [];
  keep(slotOf(place, target), [key, progress, mintedAt, at, address ?? kept, ...new Set(content === undefined ? contents : [...contents, content])]);
};
/** @param {number} place @param {number} target */
export const forgetIntent = (place, target) => forget(slotOf(place, target));
/** The names of all intents that are kept, each an array of its place and its target. @returns {any} */
export const keptIntents = () =>
  slots()
    .filter((slot) => slot.includes("."))
    .map((slot) => slot.slice(PREFIX.length).split(".").map(Number));
/** Ends all intents, and the tab's name. */
export const forgetAll = () => slots().forEach(forget);
