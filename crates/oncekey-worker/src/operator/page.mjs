// @ts-check
// The operator's page: asks the gate for what is of unknown fate or dead, and has it released or delivered again. The
// secret stays in the field's memory.

/** @typedef {{ key: string, state: string, since?: string, cause?: string, status?: number, route?: string }} Fate */

/** What is asked before, and what the gate's statuses mean. @type {Record<string, { ask: string, means: string, yes: string, of: (key: string) => [string, string], said: Record<number, string> }>} */
const ACTS = {
  release: {
    ask: "Release this key?",
    means: "The next request under it runs, whether or not this one took effect. Look at the origin first.",
    yes: "Release it",
    of: (key) => ["DELETE", `keys/${key}`],
    said: {
      204: "Released: the next request under that key runs.",
      409: "It runs at this moment: nothing was changed.",
    },
  },
  deliver: {
    ask: "Deliver it again?",
    means: "The origin is asked once more under the same key, whether or not this one took effect. Look at the origin first.",
    yes: "Deliver it again",
    of: (key) => ["POST", `keys/${key}/deliver`],
    said: {
      202: "It is being delivered again.",
      409: "It was not delivered: it is no accepted request, or its fate is open no more.",
    },
  },
};

/** Statuses after which a fate is open no more. */
const RESOLVED = [202, 204, 404];

/** @type {Record<string, string>} */
const CAUSES = {
  ambiguous: "the origin's answer does not tell",
  unanswered: "the origin gave no answer, or only a part of one",
  owner_died: "the gate was stopped while it ran",
  declined: "the origin declined it",
  exhausted: "it was tried until its time was over",
  unreadable: "another version of the gate wrote what is stored",
};

/** How long an answer may take, in ms. */
const PATIENCE = 30_000;
/** How many pages on which all was resolved are passed over at once. */
const MOST_EMPTY = 40;

const by = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const [said, found, list, count] = ["said", "found", "list", "count"].map(by);
const secret = /** @type {HTMLInputElement} */ (by("secret"));
const more = /** @type {HTMLButtonElement} */ (by("more"));
const sure = /** @type {HTMLDialogElement} */ (by("sure"));
const template = /** @type {HTMLTemplateElement} */ (by("fate"));

/** @type {string | null} */
let cursor = null;
let unlisted = 0;
let busy = false;

/** @param {string} text */
const say = (text) => void (said.textContent = text);

/** @param {string} path @param {string} [method] @returns {Promise<Response | null>} nothing where the gate cannot be reached */
async function ask(path, method = "GET") {
  const headers = { Authorization: `Bearer ${secret.value}`, Accept: "application/json" };
  try {
    const options = { method, headers, signal: AbortSignal.timeout(PATIENCE) };
    return await fetch(`/.oncekey/${path}`, { ...options, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch {
    return null;
  }
}

/** What a status means that is the same for all. @param {Response | null} answer */
function wordsOf(answer) {
  if (!answer) return "The gate cannot be reached.";
  if (answer.status === 401) return "That is not the admin secret.";
  if (answer.status === 404) return "There is nothing here: it was resolved meanwhile, or the gate has no admin secret.";
  if (answer.status === 503) return "The gate is there, but cannot reach its objects. Try again.";
  return `The gate answered ${answer.status}.`;
}

/** One thing at a time. @param {() => Promise<void>} what */
async function once(what) {
  if (busy) return;
  busy = true;
  const buttons = document.querySelectorAll("main button");
  for (const button of buttons) button.setAttribute("aria-disabled", "true");
  try {
    await what();
  } finally {
    busy = false;
    for (const button of document.querySelectorAll("main button")) button.removeAttribute("aria-disabled");
  }
}

/** @param {Fate} fate */
function show(fate) {
  const item = /** @type {HTMLElement} */ (/** @type {DocumentFragment} */ (template.content.cloneNode(true)).firstElementChild);
  const put = (/** @type {string} */ place, /** @type {string} */ text) =>
    void (/** @type {HTMLElement} */ (item.querySelector(place)).textContent = text);
  item.classList.add(fate.state === "dead" ? "dead" : "unknown");
  put(".state", fate.state);
  put(".route", fate.route || "(route not remembered)");
  put(".cause", CAUSES[fate.cause ?? ""] ?? fate.cause ?? "not known");
  put(".status", fate.status === undefined ? "none" : String(fate.status));
  put(".key", fate.key);
  const time = /** @type {HTMLTimeElement} */ (item.querySelector("time"));
  time.dateTime = fate.since ?? "";
  time.textContent = fate.since ? new Date(fate.since).toLocaleString() : "not known";
  for (const button of item.querySelectorAll("button")) {
    const act = button.dataset.act ?? "";
    button.setAttribute("aria-label", `${button.textContent}: ${fate.state}, ${fate.route}, key ${fate.key}`);
    button.addEventListener("click", () => confirmed(act, fate, item));
  }
  list.append(item);
}

function tally() {
  const shown = list.childElementCount;
  const rest = unlisted ? `, and ${unlisted} that are in the log alone` : "";
  count.textContent = shown ? `${shown}${cursor ? " or more" : ""} open${rest}` : `Nothing is open${rest}`;
  more.hidden = cursor === null;
}

/** The next page; from the first one where none was shown. @param {boolean} afresh */
async function load(afresh) {
  let empty = 0;
  do {
    const answer = await ask(`unknown${!afresh && cursor ? `?cursor=${encodeURIComponent(cursor)}` : ""}`);
    if (!answer?.ok) return say(wordsOf(answer));
    const page = /** @type {{ items: Fate[], cursor: string | null, unlisted?: number }} */ (await answer.json());
    if (afresh) {
      list.replaceChildren();
      unlisted = 0;
    }
    const first = list.childElementCount;
    afresh = false;
    cursor = page.cursor;
    unlisted += page.unlisted ?? 0;
    page.items.forEach(show);
    found.hidden = false;
    tally();
    say("");
    if (page.items.length > 0) {
      /** @type {HTMLElement | null} */ (list.children[first]?.querySelector("button"))?.focus({ preventScroll: first === 0 });
      return;
    }
  } while (cursor !== null && ++empty < MOST_EMPTY);
  count.focus();
}

/** @param {string} act @param {Fate} fate @param {HTMLElement} item */
function confirmed(act, fate, item) {
  const { ask: question, means, yes } = ACTS[act];
  if (busy) return;
  by("question").textContent = question;
  by("meaning").textContent = means;
  by("whose").textContent = fate.key;
  by("yes").textContent = yes;
  sure.returnValue = "no";
  sure.onclose = () => void (sure.returnValue === "yes" && once(() => perform(act, fate, item)));
  sure.showModal();
}

/** @param {string} act @param {Fate} fate @param {HTMLElement} item */
async function perform(act, fate, item) {
  const { of, said: meanings } = ACTS[act];
  const [method, path] = of(fate.key);
  const answer = await ask(path, method);
  if (!answer) return say("The gate cannot be reached: whether it heard is not known. Show the list again.");
  if (answer.status === 404) say("It was resolved meanwhile: nothing was changed.");
  else say(meanings[answer.status] ?? wordsOf(answer));
  if (!RESOLVED.includes(answer.status)) return;
  const next = item.nextElementSibling ?? item.previousElementSibling;
  item.remove();
  tally();
  (/** @type {HTMLElement | null} */ (next?.querySelector("button")) ?? count).focus();
}

by("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  void once(() => load(true));
});
more.addEventListener("click", () => void once(() => load(false)));
secret.focus();
