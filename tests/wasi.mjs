// @ts-check
// Runs a test program that was built for wasm32-wasip1: CARGO_TARGET_WASM32_WASIP1_RUNNER="node tests/wasi.mjs".
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [program, ...args] = process.argv.slice(2);
// The tests carry their vectors with them: no directory is opened to them.
const wasi = new WASI({ version: 'preview1', args: [program, ...args], env: process.env, returnOnExit: true });
const module = await WebAssembly.compile(await readFile(program));
const imports = /** @type {WebAssembly.Imports} */ (wasi.getImportObject());
const instance = await WebAssembly.instantiate(module, imports);
process.exit(wasi.start(instance));
