/** Problem details of an answer (RFC 9457). */
export interface Problem {
  type?: string;
  title?: string;
  status?: number;
  detail?: string;
  /** The gate's word: `idempotency_key_reused`, `outcome_unknown` and so on. */
  code?: string;
  [member: string]: unknown;
}

/** An answer that is no success. Its message is the problem's, if there is one. */
export class AnswerError extends Error {
  readonly status: number;
  /** What the answer says of itself, if it is `application/problem+json`. */
  readonly problem: Problem | undefined;
  /** The answer, unread. */
  readonly response: Response;
}

/**
 * Options for TanStack Query's `useMutation` (or anything else that calls `mutationFn`): however often `mutate` is called
 * before the outcome is known, the server sees one intent. Calls that overlap share one request.
 *
 * ```jsx
 * const order = useMutation(onceOptions("order", (item) => ["/orders", { method: "POST", body: JSON.stringify({ item }) }]));
 * <button aria-disabled={order.isPending} onClick={() => order.mutate("Mug")}>Order</button>
 * ```
 *
 * @param intent Names the intent, or makes the name of the variables: one intent a thing that may be done once. Its key
 *   lives until the outcome is known, over a refresh too; after success the next call is a new intent.
 * @param request What to send, as `fetch` takes it.
 * @returns `mutationFn` resolves with a 2xx answer; it rejects with an `AnswerError` for any other, or as `fetch` does.
 */
export function onceOptions<Variables = void>(
  intent: string | ((variables: Variables) => string),
  request: (variables: Variables) => [input: RequestInfo | URL, init?: RequestInit],
): { retry: false; mutationFn: (variables: Variables) => Promise<Response> };
