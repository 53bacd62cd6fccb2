import { WorkerEntrypoint } from "cloudflare:workers";
import page from "./page.html";

export { default, KeyObject, MachineObject } from "oncekey-worker";

// In place of a database.
const orders: string[] = [];

const html = (text: string, status = 200) => new Response(text, { status, headers: { "Content-Type": "text/html; charset=utf-8" } });

export class Backend extends WorkerEntrypoint {
  async fetch(request: Request) {
    const { pathname } = new URL(request.url);
    switch (`${request.method} ${pathname}`) {
      case "GET /":
        return html(page);
      case "POST /orders": {
        const item = String((await request.formData()).get("item"));
        // It takes its time, so that a second click finds it at work.
        await scheduler.wait(500);
        orders.push(item);
        return html(`<p>Order ${orders.length} is placed.</p>`, 201);
      }
      case "GET /orders":
        return Response.json(orders);
      default:
        return html("<p>Not found.</p>", 404);
    }
  }
}
