// @ts-check
// The operator's page: asks the gate for what is of unknown fate or dead, and has it released or delivered again. The
// secret stays in the field's memory.

/** @typedef {{ key: string, state: string, since?: string, cause?: string, status?: number, route?: string }} Fate */

const LOOK = "Look at the origin first.";

/** Method, end of the path, what is asked, what it means, its name, and what the gate's statuses say. @type {Record<string, [string, string, string, string, string, Record<number, string>]>} */
const ACTS = {
  release: ["DELETE", "", "Release this key?", `The next request under it runs, even if this one took effect. ${LOOK}`, "Release it", {
    204: "Released.",
    409: "It runs now: nothing was changed.",
  }],
  deliver: ["POST", "/deliver", "Deliver it again?", `The origin is asked again under the same key, even if this one took effect. ${LOOK}`, "Deliver it again", {
    202: "It is being delivered again.",
    409: "Not delivered: it is no accepted request, or open no more.",
  }],
};

/** Statuses after which a fate is open no more. */
const RESOLVED = [202, 204, 404];

/** @type {Record<string, string>} */
const CAUSES = {
  ambiguous: "its answer does not tell",
  unanswered: "no whole answer",
  owner_died: "the gate was stopped meanwhile",
  declined: "it was declined",
  exhausted: "its time was over",
  unreadable: "another version wrote it",
};

/** How long an answer may take, in ms. */
const PATIENCE = 30_000;
/** How many fates are shown at once, and how many of the gate's pages are asked for them. */
const PAGE = 25;
const MOST_PAGES = 40;

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
  const headers = { Authorization: `Bearer ${secret.value}` };
  try {
    return await fetch(`/.oncekey/${path}`, { method, headers, signal: AbortSignal.timeout(PATIENCE) });
  } catch {
    return null;
  }
}

/** What a status means that is the same for all. @type {Record<number, string>} */
const WORDS = {
  0: "The gate cannot be reached.",
  401: "That is not the admin secret.",
  404: "The gate has no admin secret.",
  503: "The gate cannot reach its objects.",
};

/** @param {number} status */
const wordsOf = (status) => WORDS[status] ?? `The gate answered ${status}.`;

/** One thing at a time. @param {() => Promise<void>} what */
async function once(what) {
  if (busy) return;
  busy = true;
  say("One moment …");
  try {
    await what();
  } finally {
    busy = false;
  }
}

/** @param {Fate} fate */
function show(fate) {
  const { key, state, since, cause = "", status, route } = fate;
  const item = /** @type {HTMLElement} */ (/** @type {DocumentFragment} */ (template.content.cloneNode(true)).firstElementChild);
  const time = since && new Date(since).toLocaleString();
  const texts = [state, route || "route not remembered", time, CAUSES[cause] ?? cause, status ?? "none", key];
  for (const [at, place] of item.querySelectorAll("span, b, time, dd:not(:has(*)), code").entries()) place.textContent = `${texts[at]}`;
  for (const button of item.querySelectorAll("button")) {
    button.onclick = () => confirmed(button.value, fate, item);
  }
  list.append(item);
}

function tally() {
  const shown = list.childElementCount;
  const rest = unlisted ? `, and ${unlisted} in the log alone` : "";
  count.textContent = shown ? `${shown}${cursor ? " or more" : ""} open${rest}` : `Nothing is open${rest}`;
  more.hidden = cursor === null;
}

/** The next page; from the first one where none was shown. @param {boolean} afresh */
async function load(afresh) {
  const first = afresh ? 0 : list.childElementCount;
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const answer = await ask(`unknown${!afresh && cursor ? `?cursor=${cursor}` : ""}`);
    if (!answer?.ok) return say(wordsOf(answer?.status ?? 0));
    const page = /** @type {{ items: Fate[], cursor: string | null, unlisted: number }} */ (await answer.json());
    if (afresh) {
      list.replaceChildren();
      unlisted = 0;
    }
    afresh = false;
    cursor = page.cursor;
    unlisted += page.unlisted;
    page.items.forEach(show);
    found.hidden = false;
    if (cursor === null || list.childElementCount - first >= PAGE) break;
  }
  tally();
  say("");
  (list.children[first]?.querySelector("button") ?? count).focus();
}

/** @param {string} act @param {Fate} fate @param {HTMLElement} item */
function confirmed(act, fate, item) {
  const [, , question, meaning, yes] = ACTS[act];
  if (busy) return;
  for (const [id, text] of Object.entries({ question, meaning, yes, whose: fate.key })) by(id).textContent = text;
  sure.returnValue = "";
  sure.onclose = () => void (sure.returnValue === "yes" && once(() => perform(act, fate, item)));
  sure.showModal();
}

/** @param {string} act @param {Fate} fate @param {HTMLElement} item */
async function perform(act, fate, item) {
  const [method, end, , , , words] = ACTS[act];
  const answer = await ask(`keys/${fate.key}${end}`, method);
  if (!answer) return say("The gate cannot be reached: whether it heard is not known.");
  say(answer.status === 404 ? "Resolved meanwhile: nothing was changed." : (words[answer.status] ?? wordsOf(answer.status)));
  if (!RESOLVED.includes(answer.status)) return;
  const next = item.nextElementSibling ?? item.previousElementSibling;
  item.remove();
  tally();
  (next?.querySelector("button") ?? count).focus();
}

by("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  void once(() => load(true));
});
more.addEventListener("click", () => void once(() => load(false)));
secret.focus();
