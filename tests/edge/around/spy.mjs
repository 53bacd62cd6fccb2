// @ts-check
// Counts what the gate does to its platform. Loaded before the gate, so that what it wraps is what the gate finds.

/** Timers that are set and have neither rung nor been cleared. @type {Set<unknown>} */
const timers = new Set();
/** @type {WebAssembly.Memory[]} */
const memories = [];

export const spy = {
  /** Requests to the front. */
  fronts: 0,
  /** Calls to objects. */
  calls: 0,
  /** Rows written or deleted: each value that is put or deleted, and each alarm that is set or deleted. */
  rows: 0,
  /** Alarms that rang. */
  alarms: 0,
  get timers() {
    return timers.size;
  },
  /** Bytes of the newest wasm's memory. */
  get memory() {
    return memories.at(-1)?.buffer.byteLength ?? 0;
  },
};

const { setTimeout: set, clearTimeout: clear } = globalThis;
Object.assign(globalThis, {
  /** @param {(...args: unknown[]) => void} call @param {number} [delay] @param {unknown[]} args */
  setTimeout(call, delay, ...args) {
    const timer = set(() => {
      timers.delete(Number(timer));
      call(...args);
    }, delay);
    timers.add(Number(timer));
    return timer;
  },
  /** @param {any} timer */
  clearTimeout(timer) {
    timers.delete(Number(timer));
    clear(timer);
  },
});

const { Instance } = WebAssembly;
WebAssembly.Instance = /** @type {any} */ (
  class extends Instance {
    /** @param {WebAssembly.Module} module @param {WebAssembly.Imports} [imports] */
    constructor(module, imports) {
      super(module, imports);
      memories.push(/** @type {WebAssembly.Memory} */ (this.exports.memory));
    }
  }
);
