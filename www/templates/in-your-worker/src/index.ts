import { WorkerEntrypoint } from "cloudflare:workers";
import app from "./app";

// The gate answers requests and has the objects.
export { default, KeyObject, MachineObject } from "oncekey-worker";

// It sends them on to here: the service binding ORIGIN of wrangler.jsonc.
export class Shop extends WorkerEntrypoint<Env> {
  fetch(request: Request) {
    return app.fetch(request, this.env, this.ctx);
  }
}
