// @ts-check
// Stands around the objects in a test of two builds: hands errands over as a front of another build would write them,
// keeps effects from leaving an entity's outbox, and rings a key's alarm.
// @ts-expect-error the built worker stands beside it
import gate, { KeyObject as Keys, MachineObject as Machines } from "./index.mjs";

/**
 * The request with the errand that its field `x-errand` says, where `*` is the front's own, without the words that begin
 * as its field `x-without` says.
 * @param {Request} request
 */
function withErrand(request) {
  const [said, without] = ["x-errand", "x-without"].map((name) => request.headers.get(name));
  if (said === null && without === null) return request;
  const headers = new Headers(request.headers);
  const words = (headers.get("oncekey-errand") ?? "").split(" ").filter((word) => without === null || !word.startsWith(without));
  headers.set("oncekey-errand", (said ?? "*").replace("*", words.join(" ")));
  return new Request(request, { headers });
}

export class KeyObject extends Keys {
  /** @param {Request} request */
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/.test/ring") {
      await super.alarm();
      return new Response("rung");
    }
    if (pathname === "/stuck") throw new Error("not now");
    return super.fetch(withErrand(request));
  }
}

export class MachineObject extends Machines {
  /** @param {Request} request */
  fetch(request) {
    return super.fetch(withErrand(request));
  }
}

export default {
  ...gate,
  /** @param {Request} request @param {any} env @param {any} ctx */
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    const key = url.pathname.startsWith("/.test/") && url.searchParams.get("key");
    return key ? env.KEYS.getByName(key).fetch(request) : gate.fetch(request, env, ctx);
  },
};
