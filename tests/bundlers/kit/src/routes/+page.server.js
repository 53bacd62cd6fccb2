// The shop: each order takes its time, and is kept with its key.
import "oncekey";
import { orders } from "./orders.js";

export const actions = {
  default: async ({ request }) => {
    orders.push({ key: request.headers.get("idempotency-key"), item: (await request.formData()).get("item") });
    await new Promise((resolve) => setTimeout(resolve, 500));
    return { answer: "ordered" };
  },
};
