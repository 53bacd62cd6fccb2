import { Hono } from "hono";

// In place of a database: what took effect.
const orders: { key: string | undefined; item: string }[] = [];

const app = new Hono();

app.post("/orders", async (c) => {
  const { item } = await c.req.json<{ item: string }>();
  orders.push({ key: c.req.header("idempotency-key"), item });
  return c.json({ order: orders.length, item }, 201);
});

app.get("/orders", (c) => c.json(orders));

export default app;
