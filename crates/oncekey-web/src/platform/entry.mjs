// @ts-check
// The module's entry: compiles the wasm, holds submits until it runs, and lets forms be where it may not run.
// The rules are in the wasm; `start`, `send` and `renew` are documented in oncekey.d.ts.
// @ts-expect-error made by the build: the wasm, inlined or fetched; first, since that compresses best
import { compiled } from "oncekey-wasm";
// @ts-expect-error made by the build: wasm-bindgen's glue
import { run } from "oncekey-glue";
import { holdSubmits } from "./early.mjs";
import { parsed, watchRoot } from "./listen.mjs";
import { hiddenFields } from "./names.mjs";
import { addKey, addKeysToForms } from "./unguarded.mjs";
import { connect } from "./wasm.mjs";
import { joinCalls } from "./wire.mjs";

/** Where there is no document: nothing to guard, and each `send` has a fresh key. */
const inert = {
  start: async () => {},
  send: async (/** @type {any} */ input, /** @type {any} */ init, /** @type {any} */ options) => {
    const request = new Request(input, init);
    addKey(request, options?.key);
    return fetch(request);
  },
  renew: async () => {},
  watch: async () => {},
};

function boot() {
  /** What the wasm exports, once it runs. @type {any} */
  let wasm;
  const release = holdSubmits((form) => wasm?.note_script_submit(form));
  hiddenFields(document);
  /** @type {any} */
  let options;
  // Where wasm is blocked, WebKit compiles it all the same, and refuses to run it.
  const ready = compiled.then(run).then(
    async (/** @type {any} */ exports) => {
      connect(exports);
      exports.set_options(options);
      await new Promise((resolve) => exports.start({ resolve }));
      wasm = exports;
      document.documentElement.dataset.oncekey = "ready";
    },
    (/** @type {unknown} */ error) => {
      console.error("oncekey: WebAssembly is blocked: script-src needs 'wasm-unsafe-eval'. Forms go without guard and retry", String(error));
      addKeysToForms();
    },
  );
  // htmx is there once the document is, and has been told: a form let go before would be the browser's.
  Promise.all([ready, parsed]).then(release);

  return {
    start: async (/** @type {any} */ more) => {
      options = { ...options, ...more };
      await ready;
      wasm?.set_options(options);
    },
    send: async (/** @type {any} */ input, /** @type {any} */ init, /** @type {any} */ options) => {
      const request = new Request(input, init);
      await ready;
      const sent = init?.body;
      // Content that cannot be read twice is told apart by its bytes.
      const body = sent instanceof Blob || (!sent && request.body) ? await request.clone().arrayBuffer() : sent;
      request.signal.throwIfAborted();
      return wasm ? joinCalls(request, (call) => wasm.send(request, body, options, call)) : inert.send(request, undefined, options);
    },
    renew: async (/** @type {any} */ form) => {
      await ready;
      wasm?.renew(form);
    },
    watch: async (/** @type {any} */ root) => {
      await ready;
      watchRoot(root);
    },
  };
}

// Nobody else waits for it there.
if (!globalThis.document) compiled.catch(() => {});
/** One instance a page, however many copies are loaded. @type {ReturnType<typeof boot>} */
const page = (/** @type {any} */ (globalThis)[Symbol.for("oncekey")] ??= globalThis.document ? boot() : inert);
export const { start, send, renew, watch } = page;
