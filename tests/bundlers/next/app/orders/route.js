// The shop: each order takes its time, and is kept with its key.
const orders = (globalThis.orders ??= []);

export async function POST(request) {
  orders.push({ key: request.headers.get("idempotency-key"), item: (await request.formData()).get("item") });
  await new Promise((resolve) => setTimeout(resolve, 500));
  return new Response("ordered");
}

export const dynamic = "force-dynamic";
export const GET = () => Response.json(orders);
