// @ts-check
// What only JavaScript can do for the gate: export its handlers and its object's class, keep an object's memory where
// the wasm cannot leak it, and put a fresh wasm in the place of one that has trapped. It holds no rules.
import { DurableObject } from "cloudflare:workers";
import * as gate from "./gate.js";
import bootstrap from "./bootstrap.txt";
import page from "./oncekey.txt";
import operatorPage from "./operator-page.txt";
import operatorScript from "./operator-script.txt";
import operatorStyle from "./operator-style.txt";
import { onTrapped, pending } from "./trap.mjs";

const scripts = [page, bootstrap, operatorPage, operatorScript, operatorStyle];

/** Counts the wasm's instances. */
let epoch = 0;
let resetting = false;

onTrapped(reset);

function reset() {
  if (resetting) return;
  resetting = true;
  // The wasm carries no words for a panic: the stack names the place in it.
  const time = new Date().toISOString();
  console.error(JSON.stringify({ oncekey: "trap", time, detail: "the gate was reset", stack: new Error().stack }));
  queueMicrotask(() => {
    resetting = false;
    epoch++;
    gate.__wbg_reset_state();
    const failed = [...pending];
    pending.clear();
    for (const fail of failed) fail(new Error("the gate was reset"));
  });
}

/**
 * What a call into the wasm comes to; it settles also where the wasm traps in it.
 * @template T
 * @param {(done: (value: T) => void, fail: (why: unknown) => void) => void} begin
 * @returns {Promise<T>}
 */
function guarded(begin) {
  return new Promise((resolve, reject) => {
    /** @param {unknown} why */
    const fail = (why) => {
      pending.delete(fail);
      if (why instanceof WebAssembly.RuntimeError) reset();
      reject(why);
    };
    pending.add(fail);
    try {
      begin((value) => {
        pending.delete(fail);
        resolve(value);
      }, fail);
    } catch (why) {
      fail(why);
    }
  });
}

/**
 * @template T
 * @param {() => Promise<T>} call
 * @returns {Promise<T>}
 */
const called = (call) => guarded((done, fail) => void call().then(done, fail));

/**
 * Has a task of the wasm's answer a request. It is dropped once the caller has gone (compatibility flag
 * `enable_request_signal`).
 * @param {Request} request
 * @param {(settle: (isAnswer: boolean, value: unknown) => void) => number} begin gives the task's number
 * @returns {Promise<Response>}
 */
const answered = ({ signal }, begin) =>
  guarded((done, fail) => {
    const of = epoch;
    const task = begin((isAnswer, value) => (isAnswer ? done(/** @type {Response} */ (value)) : fail(value)));
    signal.addEventListener("abort", () => of === epoch && gate.dropTask(task));
  });

export class KeyObject extends DurableObject {
  epoch = epoch;
  running = 0;
  latest = 0;
  /** Ends the request of an execution that was given up and is still listened to. @type {AbortController | undefined} */
  late = undefined;
  /** @type {unknown} */
  row = undefined;
  /** @type {Array<() => void>} */
  waiters = [];

  /** What ran in a wasm that is gone runs no more. */
  enter() {
    if (this.epoch === epoch) return;
    this.epoch = epoch;
    this.running = 0;
    this.late = undefined;
    this.row = undefined;
    this.waiters = [];
  }

  /** @param {Request} request */
  fetch(request) {
    this.enter();
    return answered(request, (settle) => gate.fetchKeyObject(request, this, this.ctx, this.env, settle));
  }

  alarm() {
    this.enter();
    return ringing(this, () => gate.alarmKeyObject(this, this.ctx, this.env));
  }
}

export class MachineObject extends DurableObject {
  /** @param {Request} request */
  fetch(request) {
    return called(() => gate.fetchMachineObject(request, this.ctx, this.env));
  }

  alarm() {
    return ringing(this, () => gate.alarmMachineObject(this.ctx, this.env));
  }
}

/**
 * An alarm that fails is given up after some tries: one that could not even run rings again instead, unless it had set
 * its next time already.
 * @param {DurableObject} object
 * @param {() => Promise<unknown>} call
 */
async function ringing({ ctx: { storage } }, call) {
  try {
    await called(call);
  } catch {
    console.error(JSON.stringify({ oncekey: "alarm_failed", time: new Date().toISOString() }));
    if ((await storage.getAlarm()) === null) await storage.setAlarm(Date.now() + 60_000);
  }
}

export default {
  /**
   * @param {Request} request
   * @param {unknown} env
   * @param {{ waitUntil(promise: Promise<unknown>): void }} [ctx]
   */
  fetch(request, env, ctx) {
    const answer = answered(request, (settle) => gate.fetchFront(request, env, scripts, settle)).catch((why) =>
      gate.answerFailedFront(request, env, why),
    );
    // A runtime that does not tell of callers that go lets it come to its end all the same.
    ctx?.waitUntil(answer);
    return answer;
  },

  /**
   * Each message is acknowledged or retried on its own; the handler never fails, which would retry them all at once.
   * @param {{ queue: string, messages: Message[] }} batch
   * @param {unknown} env
   */
  async queue(batch, env) {
    /** @type {ArrayLike<number>} */
    let delays = [];
    try {
      const messages = batch.messages.map(({ id, body, attempts }) => [id, contentOf(body), attempts]);
      delays = await called(() => gate.consumeQueue(batch.queue, messages, env));
    } catch {
      // It has its line: a gate that is misconfigured, or a trap.
    }
    for (const [at, message] of batch.messages.entries()) {
      if (delays[at] === 0) message.ack();
      else message.retry({ delaySeconds: delays[at] ?? 60 });
    }
  },
};

/** @typedef {{ id: string, body: unknown, attempts: number, ack(): void, retry(options: object): void }} Message */

/**
 * A message's content as JSON; nothing where it is none.
 * @param {unknown} body
 */
function contentOf(body) {
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  try {
    return JSON.stringify(body);
  } catch {
    return undefined;
  }
}
