// @ts-check
// The module's entry: compiles the wasm, holds submits until it runs, and lets forms be where it may not run.
// The rules are in the wasm; `start`, `send` and `renew` are documented in oncekey.d.ts.
// @ts-expect-error made by the build: the wasm, inlined or fetched; first, since that compresses best
import { compiled } from "oncekey-wasm";
// @ts-expect-error made by the build: wasm-bindgen's glue
import { run } from "oncekey-glue";
import { claim, recall } from "./store.mjs";
import { connect } from "./tickets.mjs";
import { invoke, mint } from "./values.mjs";

const SUBMIT = HTMLFormElement.prototype.submit;
/** @type {any} */
const world = globalThis;
/** Whether the author has switched it off. @param {any} e */
const off = (e) => invoke(e, "closest", "[data-once=off]");

/** @param {string} name @param {(e: any) => void} f */
const listen = (name, f) => addEventListener(name, f, true);

/** Submits once more. htmx 1.9 and 2 know a submitter by its focus. @param {HTMLFormElement} form @param {HTMLElement | null} by */
const again = (form, by) => {
  by?.dispatchEvent(new Event("focusin", { bubbles: true }));
  invoke(form, "requestSubmit", by?.isConnected ? by : null);
};

function boot() {
  let open = false;
  /** What the wasm exports, once it runs. @type {any} */
  let wasm;
  const hold = (/** @type {SubmitEvent} */ e) => {
    const form = /** @type {HTMLFormElement} */ (e.target);
    if (off(form)) return;
    e.preventDefault();
    e.stopImmediatePropagation();
    const by = /** @type {HTMLElement | null} */ (e.submitter);
    if (!held.has(form)) held.set(form, () => again(form, by));
  };
  const release = () => {
    if (open) return;
    open = true;
    removeEventListener("submit", hold, true);
    for (const go of held.values()) go();
  };
  /** What is held, by bootstrap.js first. @type {Map<HTMLFormElement, (() => void)>} */
  const held = world[Symbol.for("oncekey.early")]?.(release) ?? new Map();
  listen("submit", hold);
  setTimeout(release, 3000);

  // `form.submit()` fires no submit event, and a `formdata` event alone may be any script's `new FormData(form)`.
  HTMLFormElement.prototype.submit = function () {
    if (!open) held.set(this, () => HTMLFormElement.prototype.submit.call(this));
    else {
      wasm?.by_script(this);
      SUBMIT.call(this);
      wasm?.by_script();
    }
  };

  /** @type {any} */
  let options = { header: "Idempotency-Key", field: "idempotency_key" };
  // htmx is there once the document is, and has been told: a form let go before would be the browser's.
  const parsed = new Promise((done) => (document.readyState == "complete" ? done(0) : ["DOMContentLoaded", "load"].map((name) => addEventListener(name, done))));
  // Where wasm is blocked, WebKit compiles it all the same, and refuses to run it.
  const ready = compiled.then(run).then(
    async (/** @type {any} */ exports) => {
      const names = connect((wasm = exports));
      // Whether another page answers for the tab's name. A frame shares its tab's.
      const name = world == top && recall("");
      for (let i = wasm.start(options, name && (await claim(name))); i--; ) {
        const tell = (/** @type {any} */ e) => wasm.on(e, i);
        listen(names[i], tell);
        // htmx 4 may be told to write its events' names otherwise; what is listened to already stays so once.
        parsed.then(() => listen(names[i].replaceAll(":", world.htmx?.config.metaCharacter || ":"), tell));
      }
      document.documentElement.dataset.oncekey = "ready";
    },
    (/** @type {unknown} */ error) => {
      console.error("oncekey: WebAssembly is blocked: script-src needs 'wasm-unsafe-eval'. Forms go without guard and retry", String(error));
      unguarded();
    },
  );
  Promise.all([ready, parsed]).then(release);

  return {
    start: async (/** @type {any} */ o) => {
      options = { ...options, ...o };
      await ready;
      wasm?.start(options);
    },
    send: async (/** @type {any} */ input, /** @type {any} */ init, /** @type {any} */ o) => {
      const request = new Request(input, init);
      await ready;
      const sent = init?.body;
      // Content that cannot be read twice is told apart by its bytes.
      const body = sent instanceof Blob || (!sent && request.body) ? await request.clone().arrayBuffer() : sent;
      if (wasm)
        return new Promise((resolve, reject) => {
          if (!wasm.send(request, body, o, { resolve, reject })) reject(new TypeError("oncekey: this intent is under way with other content"));
        });
      if (!/^(GET|HEAD)$/.test(request.method)) request.headers.set("Idempotency-Key", `"${o?.key ?? mint()}"`);
      return fetch(request);
    },
    renew: async (/** @type {any} */ form) => {
      await ready;
      wasm?.renew(form);
    },
  };
}

/** Without wasm: a fresh key for each submit, nothing else. */
function unguarded() {
  const FIELD = "idempotency_key";
  /** @param {string} method @param {string} action @param {any} by */
  const ours = (method, action, by) =>
    /^(post|put|patch|delete)$/i.test(method) && new URL(action, document.baseURI).origin == location.origin && !off(by);
  /** @type {any} */
  let last;
  listen("submit", (e) => (last = e));
  listen("formdata", (e) => {
    const form = e.target;
    if (!last || last.target != form || last.currentTarget || last.defaultPrevented) return;
    const by = last.submitter;
    const own = (/** @type {string} */ name) => invoke(by, "getAttribute", "form" + name) || invoke(form, "getAttribute", name) || "";
    if (ours(own("method"), own("action"), by) && !off(form) && !e.formData.has(FIELD)) e.formData.append(FIELD, mint());
  });
  /** @param {string} method @param {string} action @param {any} by @param {any} cause @param {any} headers @param {any} fields */
  const give = (method, action, by, cause, headers, fields) => {
    if (!/^(submit|click)$/.test(cause?.type) || !ours(method, action, by)) return;
    const key = mint();
    headers["Idempotency-Key"] = `"${key}"`;
    if (!/^d/i.test(method)) fields.set ? fields.set(FIELD, key) : (fields[FIELD] = key);
  };
  listen("htmx:configRequest", ({ detail: d }) => d.ctx || give(d.verb, d.path, d.elt, d.triggeringEvent, d.headers, d.parameters));
  listen("htmx:config:request", ({ detail: { ctx } }) => {
    const { method, action, headers, body } = ctx.request;
    give(method, action, ctx.sourceElement, ctx.sourceEvent, headers, body);
  });
}

/** One instance a page, however many copies are loaded. @type {ReturnType<typeof boot>} */
const page = (world[Symbol.for("oncekey")] ??= boot());
export const { start, send, renew } = page;
