// @ts-check
// An agent's tool that takes effect once, however often its call is retried. The keys are made of what identifies the
// call; the model writes the arguments and never sees a key.

/**
 * What the runner knows of a tool call: the run, and the id under which the model asked for the call. Both are the same
 * each time the call is retried, and no other call has them.
 * @typedef {{ run: string, call: string }} Call
 */

/**
 * Wraps a tool, which is given a `fetch` that sends the nth request of the call under the key `run/call/n`.
 * @template Args, Result
 * @param {(args: Args, send: typeof fetch) => Promise<Result>} tool
 * @returns {(args: Args, call: Call) => Promise<Result>}
 */
export function once(tool) {
  return (args, { run, call }) => {
    let n = 0;
    return tool(args, (input, init) => {
      const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
      headers.set("Idempotency-Key", `"${[run, call, `${++n}`].map(encodeURIComponent).join("/")}"`);
      return fetch(input, { ...init, headers });
    });
  };
}
