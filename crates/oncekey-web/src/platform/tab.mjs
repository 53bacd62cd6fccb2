// @ts-check
// How the tab came to this page, and who answers for its name.

import { unlessThrown } from "./values.mjs";

/** Whether this page is the tab's own, and no frame in it. */
export const isTop = () => top == window;
/** How the browser came to this page, if that may be what a request to an address led to: the status of the answer, 0 where it
 *  does not tell; -1 by another navigation; -2 by a reload, by Back or Forward. The browser counts no redirects from another origin. @param {string} address */
export const arrivalStatus = (address) => {
  const arrival = /** @type {any} */ (performance.getEntriesByType("navigation")[0]);
  const leadsHere = arrival?.redirectCount || address == location.href.split("#")[0] || !address?.startsWith(origin + "/");
  return arrival?.type == "navigate" ? (leadsHere ? (arrival.responseStatus ?? 0) : -1) : -2;
};

/** @type {BroadcastChannel | undefined} */
let channel;
/** Stops to answer for the tab's name. */
export const leaveTabName = () => channel?.close();
/** Answers for a tab's name while this page is shown, and tells whether another page does, within so many milliseconds. A Web
 *  Lock would need no wait, but Firefox stores no page that has held one.
 *  @param {string} name @param {number} wait @returns {any} a promise of `true`, or of nothing */
export const claimTabName = (name, wait) =>
  new Promise((tell) => {
    setTimeout(tell, wait);
    leaveTabName();
    unlessThrown(() => {
      const claimed = (channel = new BroadcastChannel("oncekey:" + name));
      claimed.onmessage = ({ data }) => (data ? tell(true) : claimed.postMessage(1));
      claimed.postMessage(0);
    });
  });
