// @ts-check
// Stands around the gate in a test: its clock goes ahead, its platform shows a client's certificate, and its variables
// are others, as a request's fields say. Signatures that are verified are counted.
// @ts-expect-error the built worker stands beside it
import gate, { KeyObject, MachineObject } from "./index.mjs";

export { KeyObject, MachineObject };

const { now } = Date;
/** How far the clock is ahead, in ms. */
let ahead = 0;
Date.now = () => now() + ahead;

let verified = 0;
const { verify } = SubtleCrypto.prototype;
/** @param {any[]} args */
SubtleCrypto.prototype.verify = function (...args) {
  verified++;
  return /** @type {any} */ (verify).apply(this, args);
};

/** Environments by what is changed in them. @type {Map<string, object>} */
const changed = new Map();

export default {
  /** @param {Request} request @param {any} env @param {any} ctx */
  fetch(request, env, ctx) {
    const field = (/** @type {string} */ name) => request.headers.get(name);
    ahead = 1000 * Number(field("x-ahead") ?? ahead / 1000);
    if (new URL(request.url).pathname === "/.test/ahead") return new Response();
    if (new URL(request.url).pathname === "/.test/verified") return new Response(String(verified));
    const given = field("x-env") ?? "{}";
    if (!changed.has(given)) changed.set(given, { ...env, ...JSON.parse(given) });
    const shown = field("x-certificate");
    const init = /** @type {any} */ ({ cf: { tlsClientAuth: JSON.parse(shown ?? "null") } });
    return gate.fetch(shown ? new Request(request, init) : request, changed.get(given), ctx);
  },
};
