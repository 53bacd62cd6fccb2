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
  export function handle(event: object): Promise<any>;
  export function frontFailed(request: Request, env: unknown): Response;
}
declare module "*.txt" {
  const text: string;
  export default text;
}
