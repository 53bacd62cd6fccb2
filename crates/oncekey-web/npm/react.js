// @ts-check
// A button of React's ecosystem: options for TanStack's `useMutation`, under which one intent is sent once.
import { send } from "./oncekey.js";

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
    if (!answer.ok) throw answer;
    return answer;
  },
});
