import { exports, WorkerEntrypoint } from "cloudflare:workers";
import gate, { type Env as GateEnv, KeyObject as Keys, MachineObject as Machines } from "oncekey-worker";
import app from "./app";

export class Shop extends WorkerEntrypoint {
  fetch(request: Request) {
    return app.fetch(request, this.env, this.ctx);
  }
}

// A Worker's own exports are functions to the script: the gate takes an object that fetches.
const shop = exports as unknown as { Shop: { fetch: typeof fetch } };
const ORIGIN = { fetch: (request: Request, init?: RequestInit) => shop.Shop.fetch(request, init) };

// One environment for each that the runtime gives: the gate reads its policy once for it.
const known = new WeakMap<object, GateEnv>();
function withOrigin(env: Omit<GateEnv, "ORIGIN">): GateEnv {
  const found = known.get(env) ?? { ...env, ORIGIN };
  known.set(env, found);
  return found;
}

// The objects send the requests that have a key.
export class KeyObject extends Keys {
  constructor(ctx: ConstructorParameters<typeof Keys>[0], env: GateEnv) {
    super(ctx, withOrigin(env));
  }
}
export class MachineObject extends Machines {
  constructor(ctx: ConstructorParameters<typeof Machines>[0], env: GateEnv) {
    super(ctx, withOrigin(env));
  }
}

export default {
  fetch: (request, env, ctx) => gate.fetch(request, withOrigin(env), ctx),
} satisfies ExportedHandler<Omit<GateEnv, "ORIGIN">>;
