// @ts-check
// What the shell needs of the page, without rules. A few general functions cost less than a binding for each member: no
// exception passes through wasm, and a form's controls never shadow the form's own members. Where wasm expects a number, it
// makes 1 of `true` and 0 of `undefined`.

import { list } from "./tickets.mjs";

/** @param {any} o */
export const own = (o) => (o instanceof HTMLFormElement ? HTMLFormElement.prototype : o);
/** @param {() => any} f @returns {any} */
export const attempt = (f) => {
  try {
    return f();
  } catch {}
};

/** A member, or a member's member (`a.b`). @param {any} o @param {number} n @returns {any} */
export const get = (o, n) => attempt(() => list[n].split(".").reduce((o, k) => Reflect.get(own(o), k, o), o));
/** @param {number} n */
export const global = (n) => get(globalThis, n);
/** @param {any} o @param {number} n */
export const is = (o, n) => !!get(o, n);
/** @param {any} o @param {number} n @param {number} w */
export const says = (o, n, w) => get(o, n) === list[w];
/** @param {any} v */
export const number = (v) => (typeof v == "number" ? v : 0);
/** @param {any} o */
export const size = (o) => o?.length;

/** @param {any} o @param {number} i @returns {any} */
export const item = (o, i) => o?.[i];

/** @param {any} o @param {string} k @param {any} v */
export const put = (o, k, v) => attempt(() => (o[k] = v));
/** @param {any} o @param {number} n @param {any} v */
export const set = (o, n, v) => put(o, list[n], v);

/** @param {any} o @param {string} k @param {...any} a @returns {any} */
export const invoke = (o, k, ...a) => attempt(() => own(o)[k].apply(o, a));
/** @param {any} o @param {number} n @param {...any} a @returns {any} */
export const call = (o, n, ...a) => invoke(o, list[n], ...a);
/** @param {any} e @param {number} n @returns {any} */
export const attr = (e, n) => invoke(e, "getAttribute", list[n]);
/** @param {any} e @param {number} n @returns {any} */
export const closest = (e, n) => invoke(e, "closest", list[n]);

/** Names and values of a request's content, one after the other; a file by what tells it from another. @param {any} body */
export const pairs = (body) => {
  const bytes = body instanceof ArrayBuffer || ArrayBuffer.isView(body);
  const whole = bytes || typeof body == "string" || body instanceof Blob;
  const list = whole ? [["", bytes ? new TextDecoder("latin1").decode(body) : body]] : body?.entries ? [...body.entries()] : Object.entries(body ?? {});
  return list.flatMap(([name, values]) =>
    [values].flat().flatMap((v) => [name, v instanceof Blob ? [/** @type {any} */ (v).name, v.size, v.type, /** @type {any} */ (v).lastModified].join() : String(v)]),
  );
};

/** @param {any} url @returns {any} */
export const parse = (url) =>
  attempt(() => {
    const u = new URL(url ?? "", document.baseURI);
    u.hash = "";
    return u;
  });

/** @param {any} target @param {number} type @param {any} key @param {number} n @param {string} reason @param {number} delay */
export const emit = (target, type, key, n, reason, delay) => {
  const detail = { key, attempt: n, reason, ...(list[type] == "retry" && { delay }) };
  (target && Reflect.get(own(target), "isConnected", target) ? target : document).dispatchEvent(new CustomEvent("oncekey:" + list[type], { bubbles: true, detail }));
};

export const random = () => crypto.getRandomValues(new Uint32Array(1))[0];
/** A UUID of version 4. `crypto.randomUUID` would need a secure context. */
export const mint = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (c) => (+c ^ (random() & (15 >> (+c / 4)))).toString(16));
export const now = () => Date.now();
