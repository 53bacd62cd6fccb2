// @ts-check
// Members, methods, attributes and content of the page's values. No exception passes through wasm, and a form's controls
// never shadow the form's own members.

/** What holds a value's members: of a form its prototype, since each control is a member of the form. @param {any} of */
const holder = (of) => (of instanceof HTMLFormElement ? HTMLFormElement.prototype : of);
/** What `f` gives, or `undefined` if it throws. @param {() => any} f @returns {any} */
export const unlessThrown = (f) => {
  try {
    return f();
  } catch {}
};

/** A member, or a member's member (`a.b`). @param {any} of @param {string} path @returns {any} */
export const member = (of, path) =>
  unlessThrown(() => path.split(".").reduce((value, name) => Reflect.get(holder(value), name, value), of));
/** A member of the window. @param {string} path @returns {any} */
export const globalMember = (path) => member(globalThis, path);
/** @param {any} of @param {string} name @param {any} value */
export const setMember = (of, name, value) => unlessThrown(() => (of[name] = value));
/** Sets an entry of `Headers` or `FormData`, or a member of an object. @param {any} entries @param {string} name @param {any} value */
export const setEntry = (entries, name, value) =>
  unlessThrown(() => (typeof entries.set == "function" ? entries.set(name, value) : (entries[name] = value)));
/** @param {any} of @param {string} name @param {...any} values @returns {any} */
export const callMethod = (of, name, ...values) => unlessThrown(() => holder(of)[name].apply(of, values));
/** @param {any} list @returns {number} */
export const lengthOf = (list) => list?.length ?? 0;
/** @param {any} list @param {number} index @returns {any} */
export const item = (list, index) => list?.[index];
/** @param {any} value @returns {any} */
export const arrayOf = (value) => [value];

/** Its text, or `null`. @param {any} element @param {string} name @returns {any} */
export const attribute = (element, name) => callMethod(element, "getAttribute", name);
/** @param {any} element @param {string} selector @returns {any} */
export const closest = (element, selector) => callMethod(element, "closest", selector);

/** @param {any} within @param {string} selector @returns {any} */
export const selectAll = (within, selector) => callMethod(within, "querySelectorAll", selector);

/** Names and values of a request's content, in pairs; a file by what tells it from another. @param {any} body */
export const contentParts = (body) => {
  const isBytes = body instanceof ArrayBuffer || ArrayBuffer.isView(body);
  const isWhole = isBytes || typeof body == "string" || body instanceof Blob;
  const entries = isWhole
    ? [["", isBytes ? new TextDecoder("latin1").decode(body) : body]]
    : body?.entries
      ? [...body.entries()]
      : Object.entries(body ?? {});
  /** @param {any} value */
  const text = (value) =>
    value instanceof Blob
      ? [/** @type {any} */ (value).name, value.size, value.type, /** @type {any} */ (value).lastModified].join()
      : String(value);
  return entries.flatMap(([name, values]) => [values].flat().map((value) => [name, text(value)]));
};

/** A request's content, headers or header lines with another key. @param {any} value @param {string} before @param {string} after
 *  @returns {any} */
export const withKey = (value, before, after) => {
  if (typeof value == "string") return value.replaceAll(before, after);
  if (Array.isArray(value)) return value.map((part) => withKey(part, before, after));
  for (const [name, part] of value?.entries?.() ?? Object.entries(value ?? {})) if (typeof part == "string" && part.includes(before)) setEntry(value, name, withKey(part, before, after));
  return value;
};

/** What a form's controls say, in pairs. No event is fired for it, as for a `FormData`. @param {any} form */
export const controlParts = (form) =>
  [...(member(form, "elements") ?? [])].map((control) => [
    control.name,
    /^(checkbox|radio)$/.test(control.type) ? control.value + control.checked : control.value,
  ]);

/** A `URL` without fragment, or `undefined`. @param {any} url @returns {any} */
export const parseUrl = (url) =>
  unlessThrown(() => {
    const parsed = new URL(url ?? "", document.baseURI);
    parsed.hash = "";
    return parsed;
  });

/** A line of what was decided and why, where `data-once-debug` on the page's root asks for it. @param {string} words @param {any[]} about */
export const note = (words, ...about) => {
  if (document.documentElement.hasAttribute("data-once-debug")) console.debug("oncekey:", words, ...about);
};

/** An event on an element, or on the document where it is gone. @param {any} target @param {string} type
 *  @param {string | undefined} key @param {number} attempt @param {string} reason @param {number | undefined} delay */
export const fireEvent = (target, type, key, attempt, reason, delay) => {
  const detail = { key: key ?? null, attempt, reason, ...(delay !== undefined && { delay }) };
  const at = member(target, "isConnected") ? target : document;
  note(`${type.slice(8)}, ${reason}`, at, detail);
  at.dispatchEvent(new CustomEvent(type, { bubbles: true, detail }));
};

/** Milliseconds since 1970 of a date as HTTP writes it; not a number is no date. @param {string} text */
export const parseDate = (text) => Date.parse(text);
export const now = () => Date.now();
/** Milliseconds of the clock that stamps events. */
export const eventTime = () => performance.now();
