// @ts-check
// What the wasm asks of the platform for every request, each in one crossing.

/** Leaves something as it is. */
const MANUAL = "manual";

/**
 * All header lines as `name,value`, each ended by a line feed.
 * @param {Headers} headers
 */
export function textOfHead(headers) {
  let text = "";
  headers.forEach((value, name) => {
    text += `${name},${value}\n`;
  });
  return text;
}

/**
 * In what a request differs from the one that it is made of; what is undefined is not said.
 * @param {string | undefined} method
 * @param {unknown} headers
 * @param {unknown} body
 * @param {unknown} signal
 * @param {boolean} keepsRedirect a redirect is the answer
 * @param {boolean} keepsCoding the coding of the answer's content is not undone
 */
export function requestInit(method, headers, body, signal, keepsRedirect, keepsCoding) {
  const redirect = keepsRedirect ? MANUAL : undefined;
  return { method, headers, body, signal, redirect, encodeResponseBody: keepsCoding ? MANUAL : undefined };
}

/**
 * A response of exactly this head, whose content is coded as the head says.
 * @param {unknown} body
 * @param {number} status
 * @param {string} head header lines as JSON
 */
export const respond = (body, status, head) =>
  // @ts-ignore: the platform's own member
  new Response(/** @type {BodyInit} */ (body), { status, headers: JSON.parse(head), encodeBody: MANUAL });

/**
 * A response with that header list.
 * @param {unknown} body
 * @param {number} status
 * @param {Headers} headers
 * @param {boolean} isCoded the content is coded as the head says
 */
export const respondWith = (body, status, headers, isCoded) =>
  // @ts-ignore: the platform's own member
  new Response(/** @type {BodyInit} */ (body), { status, headers, encodeBody: isCoded ? MANUAL : undefined });
