// What the hand-written modules import from the runtime and from the build.
declare module "cloudflare:workers" {
  export class DurableObject {
    constructor(ctx: object, env: object);
    ctx: { storage: { getAlarm(): Promise<number | null>; setAlarm(at: number): Promise<void> } };
    env: object;
  }
}
declare module "*/gate.js" {
  export function __wbg_reset_state(): void;
  export function fetchFront(request: Request, env: unknown, scripts: string[], settle: (isAnswer: boolean, value: unknown) => void): number;
  export function answerFailedFront(request: Request, env: unknown, why: unknown): Response;
  export function consumeQueue(name: string, messages: unknown[], env: unknown): Promise<Uint32Array>;
  export function fetchKeyObject(request: Request, live: object, ctx: object, env: object, settle: (isAnswer: boolean, value: unknown) => void): number;
  export function dropTask(number: number): void;
  export function settlePromise(number: number, fulfilled: boolean, value: unknown): void;
  export function alarmKeyObject(live: object, ctx: object, env: object): Promise<void>;
  export function fetchMachineObject(request: Request, ctx: object, env: object): Promise<Response>;
  export function alarmMachineObject(ctx: object, env: object): Promise<void>;
}
declare module "sql.js" {
  export default function initSqlJs(): Promise<any>;
}
declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*/rules.mjs" {
  export class Explained {
    words(): string;
    compareWith(second: Explained): string;
    isRepeatedBy(second: Explained): boolean;
  }
  export function faultOfPolicy(text: string): string | undefined;
  export function policySchema(): string;
  export function policyTypes(): string;
  export function explainRequest(policy: string, method: string, url: string, head: string, content: Uint8Array): Explained | undefined;
}
