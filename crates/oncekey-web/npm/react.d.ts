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
 * @returns `mutationFn` resolves with a 2xx answer; it rejects with the `Response` of any other, or as `fetch` does.
 */
export function onceOptions<Variables = void>(
  intent: string | ((variables: Variables) => string),
  request: (variables: Variables) => [input: RequestInfo | URL, init?: RequestInit],
): { retry: false; mutationFn: (variables: Variables) => Promise<Response> };
