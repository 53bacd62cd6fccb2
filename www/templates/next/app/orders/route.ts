// The shop: each order takes its time, and is kept with its key.
const shop = globalThis as typeof globalThis & { orders?: { key: string | null; item: string }[] };
const orders = (shop.orders ??= []);

export async function POST(request: Request) {
  orders.push({ key: request.headers.get("idempotency-key"), item: String((await request.formData()).get("item")) });
  await new Promise((resolve) => setTimeout(resolve, 500));
  return new Response("ordered", { status: 201 });
}

export const dynamic = "force-dynamic";
export const GET = () => Response.json(orders);
