// @ts-check
// Stands around the gate in a test: its clock stands still where it is told to, its platform shows a client's certificate,
// and its variables are others, as a request's fields say. Signatures that are verified are counted.
// @ts-expect-error the built worker stands beside it
import gate, { KeyObject, MachineObject } from "./index.mjs";

export { KeyObject, MachineObject };

const { now } = Date;
/** When the clock was stopped first, and where it stands. @type {[number, number] | undefined} */
let stopped;
Date.now = () => stopped?.[1] ?? now();

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
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/.test/verified") return new Response(String(verified));
    if (pathname === "/.test/clock") {
      const [ahead, first] = [searchParams.get("ahead"), stopped?.[0] ?? now()];
      stopped = ahead === null ? undefined : [first, first + 1000 * Number(ahead)];
      return new Response();
    }
    const given = field("x-env") ?? "{}";
    if (!changed.has(given)) changed.set(given, { ...env, ...JSON.parse(given) });
    const shown = field("x-certificate");
    const init = /** @type {any} */ ({ cf: { tlsClientAuth: JSON.parse(shown ?? "null") } });
    return gate.fetch(shown ? new Request(request, init) : request, changed.get(given), ctx);
  },
};
