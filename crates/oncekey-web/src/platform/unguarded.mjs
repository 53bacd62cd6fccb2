// @ts-check
// Where wasm does not run: a fresh key for each submit, nothing else.

import { mintUuid } from "./chance.mjs";
import { attribute, closest } from "./values.mjs";

const HEADER = "Idempotency-Key";
const FIELD = "idempotency_key";

/** Whether the author has switched the module off there. @param {any} element */
export const isOff = (element) => closest(element, "[data-once=off]");

/** Whether a request is ours. @param {string} method @param {string} action @param {any} element */
const isOurs = (method, action, element) =>
  /^(post|put|patch|delete)$/i.test(method) && new URL(action, document.baseURI).origin == origin && !isOff(element);

/** @param {string} name @param {(event: any) => void} listener */
const listen = (name, listener) => addEventListener(name, listener, true);

/** Gives a `send` its key. @param {Request} request @param {string | undefined} key */
export function addKey(request, key) {
  if (!/^(GET|HEAD)$/.test(request.method)) request.headers.set(HEADER, `"${key ?? mintUuid()}"`);
}

/** Gives a form's fields their key, if they are of this form. @param {any} form @param {any} submitter @param {any} event */
export function addKeyToFields(form, submitter, { target, formData }) {
  const setting = (/** @type {string} */ name) => attribute(submitter, "form" + name) || attribute(form, name) || "";
  if (target == form && /^post$/i.test(setting("method")) && isOurs("post", setting("action"), submitter) && !isOff(form) && !formData.has(FIELD))
    formData.append(FIELD, mintUuid());
}

/** Gives forms and htmx's requests their keys. */
export function addKeysToForms() {
  /** @type {any} */
  let last;
  listen("submit", (event) => (last = event));
  listen("formdata", (event) => {
    if (last && last.isTrusted && !last.currentTarget && !last.defaultPrevented) addKeyToFields(last.target, last.submitter, event);
  });
  /** @param {string} method @param {string} action @param {any} element @param {any} cause @param {any} headers @param {any} fields */
  const addKeyToHtmx = (method, action, element, cause, headers, fields) => {
    if (!/^(submit|click)$/.test(cause?.type) || !isOurs(method, action, element)) return;
    const key = mintUuid();
    headers[HEADER] = `"${key}"`;
    if (/^d/i.test(method)) return;
    if (fields.set) fields.set(FIELD, key);
    else fields[FIELD] = key;
  };
  listen("htmx:configRequest", ({ detail }) => {
    if (!detail.ctx) addKeyToHtmx(detail.verb, detail.path, detail.elt, detail.triggeringEvent, detail.headers, detail.parameters);
  });
  listen("htmx:config:request", ({ detail: { ctx } }) => {
    const { method, action, headers, body } = ctx.request;
    addKeyToHtmx(method, action, ctx.sourceElement, ctx.sourceEvent, headers, body);
  });
}
