// @ts-check
// Stands before the gate in a test, and lets its clock be set ahead: `/.test/clock?ahead=60` by a minute.
// @ts-expect-error the built worker stands beside it
import gate, { KeyObject, MachineObject } from "./index.mjs";

export { KeyObject, MachineObject };

let ahead = 0;
const { now } = Date;
Date.now = () => now() + ahead * 1000;

export default {
  ...gate,
  /** @param {Request} request @param {any} env @param {any} ctx */
  fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== "/.test/clock") return gate.fetch(request, env, ctx);
    ahead = Number(searchParams.get("ahead"));
    return new Response();
  },
};
