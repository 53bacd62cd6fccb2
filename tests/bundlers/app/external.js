// As inlined.js, with the wasm as a file of its own.
import { renew, send, start } from "oncekey/external";

Object.assign(globalThis, { app: { renew, send, start } });
