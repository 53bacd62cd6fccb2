import type { Policy } from "./policy.js";

export type * from "./policy.js";

/** What answers requests: a service binding, a named entrypoint of the same Worker, or an object with such a method. */
export interface Origin {
  fetch(input: Request, init?: RequestInit): Promise<Response>;
}

/** What the gate is given by its environment. */
export interface Env {
  /** Where the effects run: a web origin, with a path before all others if you like, or a service. */
  ORIGIN: string | Origin;
  /** The policy as JSON, as text or as a JSON variable; an empty text means its defaults. */
  ONCEKEY?: string | Policy;
  /** The objects of keys: `KeyObject`, of `new_sqlite_classes`. */
  KEYS: object;
  /** The objects of entities: `MachineObject`, of `new_sqlite_classes`. Needed where the policy has machines. */
  MACHINES?: object;
  /** A secret: lets its holder release keys and have what is dead delivered. */
  ONCEKEY_ADMIN?: string;
  /** A secret: lets its holder change states. */
  ONCEKEY_SERVICE?: string;
  /** A secret of at least 32 bytes: what is stored is sealed under it, where the policy says `seal`. */
  ONCEKEY_SEAL?: string;
  /** The secret before that one, which still opens. */
  ONCEKEY_SEAL_OLD?: string;
  /** A secret of at least 32 bytes that hides callers in the names of their keys. Set it before the first request. */
  ONCEKEY_NAMES?: string;
}

/** What a handler's or an object's context has that the gate uses. */
interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

/** A batch of a queue's messages. */
interface Batch {
  readonly queue: string;
  readonly messages: readonly {
    readonly id: string;
    readonly body: unknown;
    readonly attempts: number;
    ack(): void;
    retry(options?: { delaySeconds?: number }): void;
  }[];
}

/** The object of one scoped key. Bind it as `KEYS`, and export it from your Worker's script. */
export class KeyObject {
  constructor(ctx: Context, env: Env);
  /** What the platform knows an object's class by. */
  readonly __DURABLE_OBJECT_BRAND: never;
  protected readonly env: Env;
  fetch(request: Request): Promise<Response>;
  alarm(): Promise<void>;
}

/** The object of one entity. Bind it as `MACHINES`, and export it from your Worker's script. */
export class MachineObject {
  constructor(ctx: Context, env: Env);
  /** What the platform knows an object's class by. */
  readonly __DURABLE_OBJECT_BRAND: never;
  protected readonly env: Env;
  fetch(request: Request): Promise<Response>;
  alarm(): Promise<void>;
}

/** The gate's handlers: export them as your Worker's own, or call `fetch` for the requests that it is to protect. */
declare const gate: {
  fetch(request: Request, env: Env, ctx?: Context): Promise<Response>;
  /** Takes the messages of the policy's queues. */
  queue(batch: Batch, env: Env): Promise<void>;
};
export default gate;
