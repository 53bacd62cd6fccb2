// The smallest app: what it exports for the smoke test is what a page would use.
import { renew, send, start } from "oncekey";

Object.assign(globalThis, { app: { renew, send, start } });
