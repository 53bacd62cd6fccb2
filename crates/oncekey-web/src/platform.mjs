// @ts-check
// What the shell needs of the page, without rules. A few general functions cost less than a binding for each member: no
// exception passes through wasm, and a form's controls never shadow the form's own members. Where wasm expects a number, it
// makes 1 of `true` and 0 of `undefined`.

const PREFIX = "oncekey:";
/** @param {any} o */
const own = (o) => (o instanceof HTMLFormElement ? HTMLFormElement.prototype : o);
/** @param {() => any} f @returns {any} */
const attempt = (f) => {
  try {
    return f();
  } catch {}
};

/** What the wasm exports. @type {any} */
let wasm;
/** Resumes what waits in wasm, once. @param {number} ticket @param {any} value @param {boolean} ok */
const resume = (ticket, value, ok) => wasm.resume(ticket, value, ok);
/** What the wasm calls by number: members, attributes, words. @type {string[]} */
let list;
/** @param {any} exports */
export const connect = (exports) => {
  wasm = exports;
  return (list = wasm.words().split("\n"));
};

// Texts cross as bytes, each way.
/** @param {number} address @param {number} length */
export const decode = (address, length) => new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, address, length));
/** @type {Uint8Array} */
let encoded;
/** How long a text is; nothing else has a length. @param {any} v */
export const measure = (v) => (typeof v == "string" ? (encoded = new TextEncoder().encode(v)).length : -1);
/** @param {number} address */
export const copy = (address) => new Uint8Array(wasm.memory.buffer).set(encoded, address);

/** @param {number} n */
export const word = (n) => list[n];

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

/** @param {any} p @param {number} ticket */
export const then = (p, ticket) => {
  Promise.resolve(p).then(
    (v) => resume(ticket, v, true),
    (e) => resume(ticket, e, false),
  );
};

/** Settles the promises of all who asked: each gets an answer of its own. @param {any} calls @param {any} value @param {number} ok */
export const settle = (calls, value, ok) => {
  for (const call of calls) ok ? call.resolve(calls[1] ? value.clone() : value) : call.reject(value);
};

/** Resumes after a delay, and if asked not before the browser is on line. @param {number} ms @param {number} ticket @param {number} online
 *  @param {any} signal resumes at once when it aborts */
export const later = (ms, ticket, online, signal) => {
  const f = () => resume(ticket, undefined, true);
  signal?.addEventListener("abort", f);
  setTimeout(() => (online && navigator.onLine === false ? addEventListener("online", f, { once: true }) : f()), ms);
};

/** JSON of the page's own origin. @param {number} path @param {any} part @param {number} rest @returns {any} */
export const ask = (path, part, rest) =>
  fetch(list[path] + encodeURIComponent(part) + list[rest])
    .then((r) => r.json())
    .catch(() => {});

// What the tab keeps: in memory where the browser refuses, or has no room.
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
  (target && Reflect.get(own(target), "isConnected", target) ? target : document).dispatchEvent(new CustomEvent(PREFIX + list[type], { bubbles: true, detail }));
};

// Attributes that say "busy", with what stood there. Two intents may mark one form: the last to end restores what stood there before the first.
/** @type {[Element, number, string | null][]} */
const marks = [];
/** @param {any} e @param {number} n */
const marked = (e, n) => marks.find((m) => m[0] == e && m[1] == n);
/** @param {any} e @param {number} n @param {string | null} value */
const write = (e, n, value) => invoke(e, value == null ? "removeAttribute" : "setAttribute", list[n], value);
/** @param {any} e @param {number} n @param {number} value */
export const mark = (e, n, value) => {
  const m = marked(e, n);
  marks.push([e, n, m ? m[2] : attr(e, n)]);
  write(e, n, list[value]);
  // `disabled`, the one without a value.
  if (e && !list[value]) disabled.add(e);
};
// Firefox keeps over a reload that a script enabled a control, against the next page's author.
/** @type {Set<any>} */
const disabled = new Set();
addEventListener("pagehide", (e) => e.persisted || disabled.forEach((control) => (control.disabled = true)));
/** @param {any} e @param {number} n */
export const unmark = (e, n) => {
  const m = marked(e, n);
  if (!m) return;
  marks.splice(marks.indexOf(m), 1);
  if (!marked(e, n)) write(...m);
};
/** Takes all marks away: the page is being stored. */
export const unmark_all = () => {
  for (const m of marks.splice(0)) write(...m);
  region?.remove();
};

/** @type {HTMLElement | undefined} */
let region;
/** Says a text in a polite live region. @param {any} words */
export const say = (words) => {
  if (!region?.isConnected) {
    if (!words) return;
    region = document.createElement("div");
    region.setAttribute("role", "status");
    region.style.cssText = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
    document.body.append(region);
  }
  region.textContent = words ?? "";
};

export const random = () => crypto.getRandomValues(new Uint32Array(1))[0];
/** A UUID of version 4. `crypto.randomUUID` would need a secure context. */
export const mint = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (c) => (+c ^ (random() & (15 >> (+c / 4)))).toString(16));
export const now = () => Date.now();

// When intents ended, of the clock that stamps events.
/** @type {Record<string, number>} */
const ends = {};
/** @param {string} name */
export const end_now = (name) => {
  ends[name] = performance.now();
};
/** @param {string} name */
export const ended = (name) => ends[name];

/** What an answer's head says, of a response or an xhr: status, the gate's word, Retry-After, that as a date, the server's
 *  time, and whether it leads to another page. @param {any} o @returns {any} */
export const head = (o) => {
  const h = (/** @type {string} */ name) => (o?.headers ? o.headers.get(name) : o?.getResponseHeader?.(name));
  return [
    o?.type == "opaqueredirect" ? 302 : o?.status,
    h("Idempotency-Status"),
    h("Retry-After"),
    Date.parse(h("Retry-After")),
    Date.parse(h("Date")) || Date.now(),
    h("HX-Redirect") || h("HX-Refresh"),
  ];
};

/** One attempt: of a request that is cloned, or of an address with a time limit of its own.
 *  @param {any} f @param {any} input @param {any} init @param {any} signal @param {number} ms @returns {any} */
export const launch = (f, input, init, signal, ms) =>
  attempt(() =>
    input.clone ? f(input.clone()) : f(input, { ...init, signal: ms && AbortSignal.any ? AbortSignal.any([signal, AbortSignal.timeout(ms)]) : signal }),
  );

/** @param {any} init */
export const time_limit = (init) => init.timeout ?? /** @type {any} */ (globalThis).htmx?.config.defaultTimeout;

// htmx 4: a request's fetch is replaced. 1.9 and 2: a request's xhr reports here first, and is sent again as it was.
/** @param {any} ctx @param {number} ticket */
export const replace_fetch = (ctx, ticket) => {
  const fetch = ctx.fetch ?? globalThis.fetch;
  ctx.fetch = (/** @type {any} */ url, /** @type {any} */ init) => new Promise((resolve, reject) => resume(ticket, { url, init, fetch, resolve, reject }, true));
};
const ENDS = ["onload", "onerror", "ontimeout", "onabort"];
/** Tells what an xhr sends, instead of sending it. @param {any} xhr @param {number} ticket */
export const catch_send = (xhr, ticket) => {
  xhr.send = (/** @type {any} */ body) => {
    delete xhr.send;
    resume(ticket, body, true);
  };
};
/** Sends, and takes the xhr's listeners; returns those that were there.
 *  @param {any} xhr @param {any} body @param {number} ticket @returns {any} */
export const transmit = (xhr, body, ticket) => {
  /** @type {any} */
  const were = {};
  for (const end of ENDS) {
    were[end] = xhr[end];
    xhr[end] = (/** @type {any} */ e) => resume(ticket, e, true);
  }
  xhr.send(body);
  return were;
};
/** @param {any} info htmx's description of the request */
export const reopen = ({ xhr, requestConfig: c, pathInfo }) => {
  xhr.open(c.verb.toUpperCase(), pathInfo.finalRequestPath, true);
  for (const name in c.headers) invoke(xhr, "setRequestHeader", name, c.headers[name]);
};
/** Gives the xhr back, with the event that its listeners wait for. @param {any} xhr @param {any} were @param {any} event */
export const hand_over = (xhr, were, event) => {
  Object.assign(xhr, were);
  were["on" + (event?.type ?? "abort")]?.call(xhr, event);
};
