// @ts-check
// The module's entry: compiles the wasm, holds submits until it runs, and lets forms be where it may not run.
// The rules are in the wasm; `start`, `send` and `renew` are documented in oncekey.d.ts.
// @ts-expect-error made by the build: the wasm, inlined or fetched; first, since that compresses best
import { compiled } from "oncekey-wasm";
// @ts-expect-error made by the build: wasm-bindgen's glue
import { run } from "oncekey-glue";
import { holdSubmits } from "./early.mjs";
import { parsed } from "./listen.mjs";
import { addKey, addKeysToForms } from "./unguarded.mjs";
import { connect } from "./wasm.mjs";

function boot() {
  /** What the wasm exports, once it runs. @type {any} */
  let wasm;
  const release = holdSubmits((form) => wasm?.note_script_submit(form));
  /** @type {any} */
  let options;
  // Where wasm is blocked, WebKit compiles it all the same, and refuses to run it.
  const ready = compiled.then(run).then(
    async (/** @type {any} */ exports) => {
      connect((wasm = exports));
      wasm.set_options(options);
      await new Promise((resolve) => wasm.start({ resolve }));
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
      if (!wasm) {
        addKey(request, options?.key);
        return fetch(request);
      }
      return new Promise((resolve, reject) => {
        const joined = wasm.send(request, body, options, { resolve, reject });
        if (!joined) reject(new TypeError("oncekey: this intent is under way with other content"));
      });
    },
    renew: async (/** @type {any} */ form) => {
      await ready;
      wasm?.renew(form);
    },
  };
}

/** One instance a page, however many copies are loaded. @type {ReturnType<typeof boot>} */
const page = (/** @type {any} */ (globalThis)[Symbol.for("oncekey")] ??= boot());
export const { start, send, renew } = page;
