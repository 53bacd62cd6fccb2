// @ts-check
// The shop's backend decides refunds: it alone knows the service's secret, and the gate lets one decision win.

/**
 * @typedef {{ fetch(request: Request): Promise<Response> }} Service
 * @typedef {{ GATE: Service, SHOP: { get(id: unknown): Service, idFromName(name: string): unknown }, SERVICE: string }} Env
 */

/**
 * Answers `POST /refunds/approve`, `POST /refunds/reject` and `GET /refunds/{number}`; nothing for other requests.
 * @param {Request} request
 * @param {Env} env
 */
export async function refund(request, env) {
  const [, act] = new URL(request.url).pathname.match(/^\/refunds\/(\w+)$/) ?? [];
  if (!act) return undefined;
  if (request.method === "GET") return /^\d+$/.test(act) ? told(await history(env, act)) : undefined;
  if (request.method !== "POST" || (act !== "approve" && act !== "reject")) return undefined;
  const fields = await request.formData();
  const id = Number(fields.get("refund"));
  const by = String(fields.get("by")).replace(/\W/g, "");
  if (!Number.isInteger(id) || id < 1) return told("<p>Which refund?</p>", 422);
  const answer = await machine(env, `${id}/${act}`, { method: "POST", body: JSON.stringify({ by }) });
  const { state, won, detail } = /** @type {any} */ (await answer.json());
  const outcome = answer.ok
    ? `<p><strong>${won ? `${by} was first` : `Nothing to do for ${by}`}</strong>: it is ${state}.</p>`
    : `<p><strong>Too late for ${by}</strong>: ${detail}</p>`;
  // The payout is delivered a moment later.
  const more = `<div hx-get="/refunds/${id}" hx-trigger="load delay:400ms" hx-target="this"></div>`;
  return told(outcome + more, answer.status);
}

/**
 * @param {Env} env
 * @param {string} path
 * @param {RequestInit} [init]
 */
function machine(env, path, init) {
  const headers = { Authorization: `Bearer ${env.SERVICE}`, "Content-Type": "application/json" };
  return env.GATE.fetch(new Request(`http://gate/.oncekey/machines/refund/${path}`, { ...init, headers }));
}

/**
 * @param {Env} env
 * @param {string} id
 */
async function history(env, id) {
  const shop = env.SHOP.get(env.SHOP.idFromName("shop"));
  const [entity, payouts] = await Promise.all([machine(env, id), shop.fetch(new Request(`http://shop/payouts/${id}`))]);
  const { history } = /** @type {{ history: { transition: string, by?: string }[] }} */ (await entity.json());
  const steps = history.map(({ transition, by }) => `${transition} by ${by}`).join(", ");
  return `<p>History: ${steps || "none"}. Payouts made: <b>${await payouts.text()}</b>.</p>`;
}

/**
 * @param {string} content
 * @param {number} [status]
 */
const told = (content, status = 200) =>
  new Response(content, { status, headers: { "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store" } });
