/** What `start` can be told. */
export interface Options {
  /** The header that carries the key. Default: `Idempotency-Key`. */
  header?: string;
  /** The form field that carries the key. Default: `idempotency_key`. */
  field?: string;
  /** Other web origins (`https://api.example.com`) that may get the key. Default: none but the page's own. */
  origins?: readonly string[];
  /** Retries where an element or a call says nothing: `"3"` or `"3s,3"`. */
  retry?: string;
  /** Set `disabled` on a busy submitter beside `aria-disabled`. Default: `false`, which keeps the focus. */
  disable?: boolean;
}

/** How `send` finds its key. With neither `intent` nor `key`, each call is an intent of its own. */
export interface SendOptions {
  /** Names an intent: its key is kept until the outcome is known, and calls that overlap share one request. */
  intent?: string;
  /** A natural key, sent as written; the same in every tab. */
  key?: string;
  /** Retries after the first attempt: `"3"` or `"3s,3"`. Default: four. */
  retry?: string;
}

/** `detail` of the events `oncekey:issued`, `blocked`, `retry`, `unknown` and `settled`. */
export interface EventDetail {
  /** The intent's key. */
  key: string;
  /** The attempt that this is about; 1 is the first. */
  attempt: number;
  /** One word: why. */
  reason: string;
  /** Of `oncekey:retry`: milliseconds until the next attempt. */
  delay?: number;
}

/**
 * Starts the module, or changes its options. It starts itself when loaded, so calling this is needed only for options
 * or to wait for it; it may be called any number of times. Resolves when ready.
 */
export function start(options?: Options): Promise<void>;

/**
 * Like `fetch`, with an idempotency key on unsafe methods. Network errors, 429, 500, 502, 503, 504 and "in progress" are
 * tried again with the same key and bytes.
 */
export function send(input: RequestInfo | URL, init?: RequestInit, options?: SendOptions): Promise<Response>;

/** Ends a form's intent by the person's own decision: its next submit gets a new key. */
export function renew(form: Element): Promise<void>;

/** Takes in a shadow root: the events of its plain forms do not leave it. */
export function watch(root: ShadowRoot): Promise<void>;

declare global {
  interface GlobalEventHandlersEventMap {
    "oncekey:issued": CustomEvent<EventDetail>;
    "oncekey:blocked": CustomEvent<EventDetail>;
    "oncekey:retry": CustomEvent<EventDetail>;
    "oncekey:unknown": CustomEvent<EventDetail>;
    "oncekey:settled": CustomEvent<EventDetail>;
  }
}
