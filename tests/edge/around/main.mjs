// @ts-check
// Stands around the gate in a test: says what it did to its platform, and lets a call to its storage fail where the
// request's field `x-storage` names it: `put 2` is the second `put` of that request. Its field `x-origin` lets its origin fail.
import { spy } from "./spy.mjs";
// @ts-expect-error the built worker stands beside it
import gate, { KeyObject as Kept, MachineObject as Made } from "./index.mjs";

/** @typedef {(...args: any[]) => any} Call */

export class KeyObject extends Kept {
  alarm() {
    spy.alarms++;
    return super.alarm();
  }

  /** Calls until one fails, by name. @type {Record<string, number>} */
  failing = {};

  /** @param {any} ctx @param {any} env */
  constructor(ctx, env) {
    super(ctx, env);
    const { storage } = ctx;
    /** @param {any} of @param {string} name @returns {Call} */
    const watched = (of, name) => (...args) => {
      if (name !== "get" && name !== "sync") spy.rows++;
      if (--this.failing[name] === 0) throw new Error(`${name} fails`);
      return of[name](...args);
    };
    /** @param {any} of @param {string[]} names */
    const all = (of, names) => Object.fromEntries(names.map((name) => [name, watched(of, name)]));
    this.real = storage;
    this.given = env;
    const kv = all(storage.kv, ["get", "put", "delete"]);
    Object.defineProperty(this, "ctx", {
      value: { storage: { kv, ...all(storage, ["setAlarm", "deleteAlarm", "deleteAll", "sync"]), getAlarm: () => storage.getAlarm() } },
    });
  }

  /** @param {Request} request */
  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/.test/rows") return Response.json([...this.real.kv.list()].map(([name]) => name).concat((await this.real.getAlarm()) ? "alarm" : []));
    if (pathname === "/.test/garble") {
      const row = searchParams.get("row") ?? "r";
      const [form, ...rest] = this.real.kv.get(row);
      // What runs does not read again what it knows.
      Object.assign(this, { row: undefined });
      this.real.kv.put(row, [new Uint8Array(await request.arrayBuffer()), ...rest]);
      return new Response(form);
    }
    if (pathname === "/.test/ring") {
      this.failing = { [searchParams.get("fail") ?? ""]: 1 };
      await super.alarm();
      return Response.json(await this.real.getAlarm());
    }
    // What an object costs that only opens its storage.
    if (pathname === "/.test/open") return new Response(String(this.real.kv.get("r")));
    spy.calls++;
    const [name, count] = (request.headers.get("x-storage") ?? "").split(" ");
    this.failing = { [name]: Number(count) };
    const how = request.headers.get("x-origin");
    Object.defineProperty(this, "env", { configurable: true, value: how === null ? this.given : { ...this.given, ORIGIN: failing(how) } });
    return super.fetch(request);
  }
}

/**
 * An origin to which nothing is sent: it `throw`s or `refuse`s as the runtime does, fails as the `remote` side does, or the
 * connection is `lost`; it may `tell` of the request in its words.
 * @param {string} how
 */
const failing = (how) => ({
  /** @param {Request} request @param {RequestInit} init */
  fetch(request, init) {
    if (how === "throw") throw new TypeError("not so");
    if (how === "tell") {
      const said = [request.url, ...new Headers(init.headers), new TextDecoder().decode(/** @type {ArrayBuffer} */ (init.body))];
      return Promise.reject(new Error(`Fetch API cannot load: ${said.join(" ")} reset by peer`));
    }
    return Promise.reject(how === "lost" ? new Error("Network connection lost.") : Object.assign(new TypeError("not so"), how === "remote" ? { remote: true } : {}));
  },
});

/** Counts what is written. @param {any} storage */
function counted(storage) {
  /** @param {any} of @param {string[]} names */
  const all = (of, names) =>
    Object.fromEntries(names.map((name) => [name, (/** @type {any[]} */ ...args) => (spy.rows++, of[name](...args))]));
  const kv = { ...all(storage.kv, ["put", "delete"]), get: storage.kv.get.bind(storage.kv), list: storage.kv.list.bind(storage.kv) };
  return { kv, ...all(storage, ["setAlarm", "deleteAlarm", "deleteAll"]), getAlarm: () => storage.getAlarm() };
}

/** Whether the effects that say `"apart":true` find the object of their key again. */
let reached = false;

/** An entity whose effects do not find the object of their key where they say `"apart":true`. */
export class MachineObject extends Made {
  /** @param {any} ctx @param {any} env */
  constructor(ctx, env) {
    const objects = {
      /** @param {string} name */
      getByName: (name) => ({
        /** @param {Request} request @param {RequestInit} init */
        async fetch(request, init) {
          const content = init.body ? new TextDecoder().decode(/** @type {Uint8Array} */ (init.body)) : "";
          if (!reached && content.includes('"apart":true')) throw new Error("the call fails");
          return env.KEYS.getByName(name).fetch(request, init);
        },
      }),
    };
    super(ctx, { ...env, KEYS: objects });
    Object.defineProperty(this, "ctx", { value: { storage: counted(ctx.storage) } });
  }

  /** @param {Request} request */
  fetch(request) {
    spy.calls++;
    return super.fetch(request);
  }

  alarm() {
    spy.alarms++;
    return super.alarm();
  }
}

/** How often each request's object was called, by the request's name. @type {Map<string, number>} */
const called = new Map();

/**
 * Lets the calls of a request to its object fail as its field `x-calls` says: a name of its own, then a word for each call.
 * A word is the flags of the exception, `o`verloaded, re`t`ryable, re`m`ote, `r`eset; after a `+` the call arrives before.
 * A number lets so many calls pass, and fails the rest as the runtime does at its limit.
 * @param {any} objects
 */
const fragile = (objects) => ({
  /** @param {string} name */
  getByName(name) {
    const stub = objects.getByName(name);
    return {
      /** @param {Request} request @param {RequestInit} init */
      async fetch(request, init) {
        const [id, ...words] = (new Headers(init.headers).get("x-calls") ?? "").split(" ");
        const count = called.get(id) ?? 0;
        if (id) called.set(id, count + 1);
        if (count >= Number(words[0])) throw new Error("Too many subrequests.");
        const word = Number(words[0]) ? undefined : words[count];
        if (word === undefined) return stub.fetch(request, init);
        if (word.startsWith("+")) await (await stub.fetch(request, init)).arrayBuffer();
        const [overloaded, retryable, remote, durableObjectReset] = ["o", "t", "m", "r"].map((flag) => word.includes(flag));
        throw Object.assign(new Error("the call fails"), { overloaded, retryable, remote, durableObjectReset });
      },
    };
  },
});

/** @type {any} */
let changed;

export default {
  /** @param {Request} request @param {any} env @param {any} ctx */
  async fetch(request, env, ctx) {
    const url = new URL(request.url);
    if (url.pathname === "/.test/spy") return Response.json({ ...spy });
    spy.fronts++;
    if (url.pathname === "/.test/reach") {
      reached = true;
      return new Response();
    }
    const key = url.pathname.startsWith("/.test/") && url.searchParams.get("key");
    if (key) return env.KEYS.getByName(key).fetch(request);
    changed ??= { ...env, KEYS: fragile(env.KEYS), MACHINES: fragile(env.MACHINES) };
    const given = request.headers.get("x-env");
    if (given === null) return gate.fetch(request, changed, ctx);
    const other = { ...changed, ...JSON.parse(given) };
    if (other.METRICS === "throws") other.METRICS = { writeDataPoint: () => { throw new Error("it cannot write"); } };
    if (other.GUESTS === "throws") other.GUESTS = { limit: () => Promise.reject(new Error("it cannot count")) };
    // As `ctx.exports.NAME` is: a function that has a service's methods.
    if (other.ORIGIN === "loopback") {
      /** @param {Request} request @param {RequestInit} init */
      const fetchOrigin = (request, init) => fetch(env.ORIGIN + new URL(request.url).pathname, new Request(request, init));
      other.ORIGIN = Object.assign(() => {}, { fetch: fetchOrigin });
    }
    return gate.fetch(request, other, ctx);
  },
};
