// @ts-check
// The queueMicrotask of this script alone; the build puts it in the place of the global one. The runtime's own leaves
// JavaScript for each task, and every await of the wasm is one.
const now = Promise.resolve();

/** @param {() => void} task */
export const queueMicrotask = (task) => void now.then(task);
