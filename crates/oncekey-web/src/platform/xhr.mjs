// @ts-check
// htmx 1.9 and 2: a request's xhr reports here first, and is sent again as it was.

import { redeem } from "./wasm.mjs";
import { callMethod } from "./values.mjs";

const LISTENERS = ["onload", "onerror", "ontimeout", "onabort"];
/** Tells what an xhr sends, instead of sending it. @param {any} xhr @param {number} ticket */
export const catchSend = (xhr, ticket) => {
  xhr.send = (/** @type {any} */ body) => {
    delete xhr.send;
    redeem(ticket, body, true);
  };
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
  xhr.send(body);
  return before;
};
/** Opens an xhr again, with its headers. @param {any} info htmx's description of the request */
export const reopenXhr = ({ xhr, requestConfig, pathInfo }) => {
  xhr.open(requestConfig.verb.toUpperCase(), pathInfo.finalRequestPath, true);
  for (const name in requestConfig.headers) callMethod(xhr, "setRequestHeader", name, requestConfig.headers[name]);
};
/** Gives the xhr back, with the event that its listeners wait for; without one it was aborted. @param {any} xhr
 *  @param {any} listeners @param {any} event */
export const handOverXhr = (xhr, listeners, event) => {
  Object.assign(xhr, listeners);
  listeners["on" + (event?.type ?? "abort")]?.call(xhr, event);
};
