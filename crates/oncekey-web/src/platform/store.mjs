// @ts-check
// What the tab keeps, in memory where the browser refuses or has no room, and the tab's own name.

import { list } from "./tickets.mjs";
import { attempt } from "./values.mjs";

const PREFIX = "oncekey:";
/** @type {Record<string, string>} */
const unkept = {};
/** @type {Record<string, string>} */
let kept;
/** @param {string} name @returns {any} */
export const recall = (name) => {
  // A tab's first look at it takes some milliseconds.
  kept ??= attempt(() => sessionStorage) ?? unkept;
  return attempt(() => JSON.parse(unkept[PREFIX + name] ?? kept[PREFIX + name]));
};
/** @param {string} name @param {any} value */
export const keep = (name, value) => {
  name = PREFIX + name;
  delete unkept[name];
  delete kept[name];
  const text = JSON.stringify(value);
  if (text) attempt(() => (kept[name] = text)) ?? (unkept[name] = text);
};
/** @param {number} kind */
export const came_by = (kind) => /** @type {any} */ (performance.getEntriesByType("navigation")[0])?.type == list[kind];

/** @type {BroadcastChannel} */
let channel;
/** Stops to answer for the tab's name. */
export const yield_name = () => channel?.close();
/** Answers for a tab's name while this page is shown, and tells whether another page does. A Web Lock would need no wait, but
 *  Firefox stores no page that has held one. @param {string} name @returns {Promise<boolean | void>} */
export const claim = (name) =>
  new Promise((tell) => {
    setTimeout(tell, 500);
    yield_name();
    attempt(() => {
      channel = new BroadcastChannel(PREFIX + name);
      channel.onmessage = (e) => (e.data ? tell(true) : channel.postMessage(1));
      channel.postMessage(0);
    });
  });
/** @param {any} key @param {number} stage @param {number} since @param {number} content @returns {any} */
export const record = (key, stage, since, content) => [key, stage, since, content];
/** The names kept that begin so. @param {string} start */
export const names = (start) =>
  Object.keys({ ...kept, ...unkept })
    .filter((k) => k.startsWith(PREFIX + start))
    .map((k) => k.slice(PREFIX.length));
/** @param {number} place @param {number} target */
export const name_of = (place, target) => place + "." + (target || "");

// When intents ended, of the clock that stamps events.
/** @type {Record<string, number>} */
const ends = {};
/** @param {string} name */
export const end_now = (name) => {
  ends[name] = performance.now();
};
/** @param {string} name */
export const ended = (name) => ends[name];
