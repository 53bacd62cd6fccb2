// @ts-check
// htmx 1.9 and 2: a request's xhr reports here first, and is sent again as it was. Whatever others have put on it is called.

import { redeem } from "./wasm.mjs";
import { unlessThrown } from "./values.mjs";

/** The button that goes with an element's request: the one that was pressed last, also where a script names none or another. htmx
 *  keeps it as a member of the form's own, which the form's prototype has not. @param {any} element @returns {any} */
export const pressedButton = (element) => element?.["htmx-internal-data"]?.lastButtonClicked;

const LISTENERS = ["onload", "onerror", "ontimeout", "onabort"];
/** Puts a function in the place of an xhr's method; returns what puts back what was there. @param {any} xhr @param {string} name
 *  @param {(...values: any[]) => void} instead */
const replaceMethod = (xhr, name, instead) => {
  const own = Object.getOwnPropertyDescriptor(xhr, name);
  xhr[name] = instead;
  return () => {
    if (own) Object.defineProperty(xhr, name, own);
    else delete xhr[name];
  };
};

/** Tells what an xhr sends, instead of sending it, and which header lines it got from here on. @param {any} info htmx's
 *  description of the request @param {number} ticket */
export const catchSend = ({ xhr, requestConfig }, ticket) => {
  // As htmx sets them: what is no header's text is encoded.
  /** @type {[string, any][]} */
  const lines = [];
  for (const [name, value] of Object.entries(requestConfig.headers)) if (value !== null) lines.push([name, value]);
  const set = xhr.setRequestHeader;
  const backToSet = replaceMethod(xhr, "setRequestHeader", (name, value) => {
    lines.push([name, value]);
    return set.call(xhr, name, value);
  });
  const backToSend = replaceMethod(xhr, "send", (body) => {
    backToSet();
    backToSend();
    redeem(ticket, [body, lines], true);
  });
};
/** Sends, and takes the xhr's listeners; returns those that were there. @param {any} xhr @param {any} body @param {number} ticket
 *  @returns {any} */
export const sendXhr = (xhr, body, ticket) => {
  /** @type {any} */
  const before = {};
  for (const name of LISTENERS) {
    before[name] = xhr[name];
    xhr[name] = (/** @type {any} */ event) => redeem(ticket, event, true);
  }
  if (unlessThrown(() => (xhr.send(body), true)) === undefined) redeem(ticket, { type: "error" }, true);
  return before;
};
/** Opens an xhr again, with its header lines. @param {any} info htmx's description of the request @param {[string, any][]} lines */
export const reopenXhr = ({ xhr, requestConfig, pathInfo }, lines) => {
  xhr.open(requestConfig.verb.toUpperCase(), pathInfo.finalRequestPath, true);
  for (const [name, value] of lines)
    unlessThrown(() => (xhr.setRequestHeader(name, value), true)) ??
      unlessThrown(() => {
        xhr.setRequestHeader(name, encodeURIComponent(value));
        xhr.setRequestHeader(name + "-URI-AutoEncoded", "true");
      });
};
/** While nothing is on the wire, an abort ends the waiting. @param {any} xhr @param {number} ticket redeemed once */
export const catchAbort = (xhr, ticket) => {
  const { abort } = xhr;
  xhr.abort = () => {
    redeem(ticket, undefined, false);
    abort.call(xhr);
  };
};
/** Gives the xhr back, with the event that its listeners wait for; without one it was aborted. @param {any} xhr
 *  @param {any} listeners @param {any} event */
export const handOverXhr = (xhr, listeners, event) => {
  Object.assign(xhr, listeners);
  try {
    listeners["on" + (event?.type ?? "abort")]?.call(xhr, event);
  } catch (error) {
    reportError(error);
  }
};
