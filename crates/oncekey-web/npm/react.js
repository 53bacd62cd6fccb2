// @ts-check
// A button of React's ecosystem: options for TanStack's `useMutation`, under which one intent is sent once.
import { send } from "./oncekey.js";

/** An answer that is no success. */
export class AnswerError extends Error {
  name = "AnswerError";
  /** @param {Response} response @param {import("./react.js").Problem | undefined} problem */
  constructor(response, problem) {
    super(problem?.detail ?? problem?.title ?? `answered ${response.status}`);
    this.status = response.status;
    this.problem = problem;
    this.response = response;
  }
}

/** What an answer says of itself (RFC 9457), if it does. @param {Response} answer */
async function problemOf(answer) {
  if (!/^application\/problem\+json\b/i.test(answer.headers.get("content-type") ?? "")) return;
  return answer.clone().json().catch(() => undefined);
}

/**
 * @template Variables
 * @param {string | ((variables: Variables) => string)} intent
 * @param {(variables: Variables) => [RequestInfo | URL, RequestInit?]} request
 */
export const onceOptions = (intent, request) => ({
  // `send` tries again by itself, with the same key and bytes.
  retry: /** @type {const} */ (false),
  mutationFn: async (/** @type {Variables} */ variables) => {
    const [input, init] = request(variables);
    const answer = await send(input, init, { intent: typeof intent === "string" ? intent : intent(variables) });
    if (!answer.ok) throw new AnswerError(answer, await problemOf(answer));
    return answer;
  },
});
