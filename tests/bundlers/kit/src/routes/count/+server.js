import { json } from "@sveltejs/kit";
import { orders } from "../orders.js";

export const GET = () => json(orders);
