// @ts-check
// A queue for local runs: takes a batch of messages by HTTP, dispatches it the runtime's own way, says what became of it.

/**
 * @typedef {{ id: string, body: unknown, attempts?: number }} Message
 * @typedef {{ explicitAcks: string[], retryMessages: { msgId: string, delaySeconds?: number }[], outcome: string }} Result
 * @typedef {{ id: string, timestamp: Date, body: unknown, attempts: number }} Dispatched
 * @typedef {{ GATE: { queue(name: string, messages: Dispatched[]): Promise<Result> } }} Env
 */

export default {
  /**
   * @param {Request} request
   * @param {Env} env
   */
  async fetch(request, env) {
    const queue = new URL(request.url).pathname.slice(1);
    if (request.method !== "POST" || !queue) return new Response("POST /{queue}\n", { status: 404 });
    /** @type {Message[]} */
    let sent;
    try {
      sent = await request.json();
      if (!sent.every(({ id }) => typeof id === "string")) throw new TypeError();
    } catch {
      return new Response('a list of {"id", "body", "attempts"}\n', { status: 400 });
    }
    const messages = sent.map(({ id, body, attempts = 1 }) => ({ id, body, attempts, timestamp: new Date() }));
    const result = await env.GATE.queue(queue, messages);
    const delays = new Map(result.retryMessages.map(({ msgId, delaySeconds }) => [msgId, delaySeconds ?? 0]));
    const acks = new Set(result.explicitAcks);
    // One id may stand in a batch more than once: each is answered.
    const ids = sent.map(({ id }) => id);
    return Response.json({
      acked: ids.filter((id) => acks.has(id) && !delays.has(id)),
      retried: ids.filter((id) => delays.has(id) || !acks.has(id)).map((id) => ({ id, delay: delays.get(id) ?? 0 })),
    });
  },
};
