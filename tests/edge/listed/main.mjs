// @ts-check
// Stands around the gate in a test: `/.test/fill?from=2&count=500` puts so many fates on the operator's list, by its own
// errands, after two that stand there.
// Their keys have no objects: what plays them says that each is open.
// @ts-expect-error the built worker stands beside it
import gate, { KeyObject, MachineObject } from "./index.mjs";

export { KeyObject, MachineObject };

/** @param {number} since */
const known = (since) => ({
  state: "unknown",
  expires: new Date(since + 86_400_000).toISOString(),
  cause: "unanswered",
  since: new Date(since).toISOString(),
  generation: 1,
  tries: 1,
  route: "/many/*",
});

/** @param {any} objects */
const played = (objects) => ({
  /** @param {string} name */
  getByName: (name) => (name.startsWith("KKKK") ? { fetch: async () => Response.json(known(Number(name.slice(-14, -1)))) } : objects.getByName(name)),
});

let last = 0;
/** @type {any} */
let changed;

/** @param {any} objects @param {string} name @param {string} errand @param {unknown} text */
async function tell(objects, name, errand, text) {
  const body = typeof text === "string" ? text : JSON.stringify(text);
  const answer = await objects.getByName(name).fetch("http://list.invalid", { method: "POST", headers: { "oncekey-errand": errand }, body });
  if (!answer.ok) throw new Error(`${errand}: ${answer.status}`);
}

export default {
  ...gate,
  /** @param {Request} request @param {any} env @param {any} ctx */
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    changed ??= { ...env, KEYS: played(env.KEYS) };
    if (pathname !== "/.test/fill") return gate.fetch(request, changed, ctx);
    const count = Number(searchParams.get("count"));
    last ||= Date.now();
    const until = last + 90_000_000;
    const from = Number(searchParams.get("from"));
    for (let at = from; at < from + count; at += 500) {
      const some = Array.from({ length: Math.min(500, from + count - at) }, (_, more) => last - (at + more) * 1000);
      const hours = new Set(some.map((since) => Math.floor(since / 3_600_000)));
      for (const hour of hours) await tell(env.KEYS, "index", `index-add ${hour} ${until}`, String(until));
      await Promise.all(
        some.map((since) => {
          const key = String(since).padStart(42, "K").concat("A");
          const shard = `index/${Math.floor(since / 3_600_000)}`;
          return tell(env.KEYS, shard, `index-add ${since}-${key} ${until}`, known(since));
        }),
      );
    }
    return new Response();
  },
};
