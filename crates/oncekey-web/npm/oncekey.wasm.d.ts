/** The wasm of `external.js`, to be copied or served. What an import of it gives is for the bundler to say. */
declare const wasm: unknown;
export default wasm;
