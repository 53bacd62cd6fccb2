// What an operator writes in TypeScript: policies that are right, and what the types refuse.

import type { Machine, Policy, Queue, Route } from "oncekey/policy";

const everything: Policy = {
  $schema: "./policy.schema.json",
  header: "X-Request-Key",
  field: "once",
  scope: ["header:x-api-key", ["jwt:main:sub", "cookie:sid"], "mtls"],
  scope_before: ["header:x-api-key"],
  identity: { main: { from: "bearer", jwks: "https://id.test/keys", issuer: "https://id.test/", audience: ["shop"], algorithms: ["ES256"] } },
  max_content: 1,
  max_stored: 1,
  store_failure: "open",
  cors: ["https://shop.example"],
  routes: [
    {},
    { path: "/payments/*", methods: ["POST"], require: true, keep: "definite", server_error: "hold", mode: "accept", unanswered: "hold" },
    { unanswered: { probe: "/lookup/{key}" }, lease: 60, patience: 25, wait: 0, retention: 86400, ignore: ["/a"] },
    { mode: "batch", items: "", item_key: "/idempotency_key", item_path: "/orders", unanswered: "rerun" },
  ],
  queues: { mail: { path: "/jobs/mail", key: "/event_id", unanswered: "hold" } },
  machines: { refund: { initial: "pending", transitions: { approve: { from: ["pending"], to: "approved", effect: "/payouts" } } } },
};

/** What was written with `as const` is one too. */
const frozen = { routes: [{ methods: ["PUT"], keep: "success" }] } as const;

export const right: Policy[] = [{}, everything, frozen];

export const wrong: Policy[] = [
  // @ts-expect-error an unknown member
  { heeder: "X-Request-Key" },
  // @ts-expect-error a number as a name
  { header: 1 },
  // @ts-expect-error an attribute of another kind
  { scope: ["query:user"] },
  // @ts-expect-error an attribute of another kind in a list
  { scope: [["query:user"]] },
  // @ts-expect-error an algorithm that signs nothing
  { identity: { main: { algorithms: ["none"] } } },
  // @ts-expect-error a token in the content
  { identity: { main: { from: "body" } } },
  // @ts-expect-error a number as a text
  { max_content: "10MB" },
  // @ts-expect-error another word
  { store_failure: "ajar" },
  // @ts-expect-error no origin
  { cors: ["*"] },
  // @ts-expect-error an object as a list
  { routes: {} },
  // @ts-expect-error a list as an object
  { queues: [] },
  // @ts-expect-error null is no default
  { field: null },
];

export const wrongRoutes: Route[] = [
  // @ts-expect-error a path without its slash
  { path: "payments" },
  // @ts-expect-error another word
  { keep: "all" },
  // @ts-expect-error another mode
  { mode: "async" },
  // @ts-expect-error a batch without its members
  { mode: "batch" },
  // @ts-expect-error a batch without its path
  { mode: "batch", items: "", item_key: "/k" },
  // @ts-expect-error members of a batch elsewhere
  { items: "/i" },
  // @ts-expect-error members of a batch elsewhere
  { mode: "accept", unanswered: "hold", item_path: "/p" },
  // @ts-expect-error accept without a word on silence
  { mode: "accept" },
  // @ts-expect-error a probe without the key
  { unanswered: { probe: "/lookup" } },
  // @ts-expect-error a probe without its path
  { unanswered: {} },
];

// @ts-expect-error a queue without its path
export const wrongQueue: Queue = { lease: 5, unanswered: "hold" };

// @ts-expect-error a queue without a word on silence
export const silentQueue: Queue = { path: "/jobs/mail" };

// @ts-expect-error a machine without its transitions
export const wrongMachine: Machine = { initial: "pending" };
