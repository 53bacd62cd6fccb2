// @ts-check
// The pages' own script: the two switches, what arrived and what was ordered, the module's events, orders by script.

/**
 * @typedef {"htmx" | "plain" | "fetch" | "refund"} Way
 * @typedef {{ name: string, way: Way, key: string, note: string, at: string }} Line
 */

const EVENTS = ["issued", "blocked", "retry", "unknown", "settled"];
const LOGGED = 30;
const LOG = "demo-log";
/** Attempts and held clicks that are shown. */
const SHOWN = 12;
/** What the gate's words mean to a visitor. */
const MEANINGS = /** @type {Record<string, string>} */ ({
  executed: "run once",
  replayed: "same answer again",
  "in-progress": "first still running",
  unknown: "not run again",
  refused: "turned away",
  mismatch: "another order, same key",
  "no gate": "run",
});
/** How often and how long after the last event the counters are read, in ms. */
const EVERY = 500;
const QUIET = 6000;

/**
 * @typedef {{ id: number, way: string, at: string, status: number | null, word: string | null }} Attempt
 * @typedef {{ id: number, item: string, quantity: number, at: string }} Order
 */

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} id */
const valueOf = (id) => /** @type {HTMLInputElement | HTMLSelectElement} */ (byId(id)).value;

// ---- the log, kept over the plain form's navigation

/** @type {Line[]} */
let lines = JSON.parse(sessionStorage.getItem(LOG) ?? "[]");

function showLog() {
  fill(
    "log",
    lines.map(({ name, way, key, note, at }) => line({ time: at, b: name, span: way, code: key, small: note }, name)),
  );
}

/** Shows lines in a list, or that it has none. @param {string} id @param {HTMLElement[]} items */
function fill(id, items) {
  byId(`${id}-empty`).hidden = items.length > 0;
  byId(id).replaceChildren(...items);
}

/** A line of a list, an element a part. @param {Record<string, string>} parts @param {string} event */
function line(parts, event) {
  const item = document.createElement("li");
  for (const [tag, content] of Object.entries(parts)) {
    const part = document.createElement(tag);
    part.textContent = content;
    item.append(part, " ");
  }
  item.dataset.event = event;
  return item;
}

/** @param {Line[]} next */
function keepLog(next) {
  lines = next.slice(0, LOGGED);
  sessionStorage.setItem(LOG, JSON.stringify(lines));
  showLog();
}

for (const name of EVENTS) {
  document.addEventListener(`oncekey:${name}`, (event) => {
    const { key, attempt, reason, delay } = /** @type {CustomEvent} */ (event).detail ?? {};
    const way = wayOf(event.target);
    const note = [
      attempt > 1 && `attempt ${attempt}`,
      typeof delay === "number" && `in ${Math.round(delay)} ms`,
      reason,
    ];
    const at = new Date().toTimeString().slice(0, 8);
    if (name === "blocked") held.unshift(new Date().toISOString());
    keepLog([{ name, way, key: `${key ?? ""}`.slice(0, 8), note: note.filter(Boolean).join(", "), at }, ...lines]);
    if (name === "issued") say(`${way}-answer`, "", "Sending…");
    if (name === "retry") say(`${way}-answer`, "", `Attempt ${attempt} follows by itself…`);
    if (name === "unknown") say(`${way}-answer`, "Did it go through?", " We lost the answer. Order again: it is not made twice.");
    watch();
  });
}

/**
 * Events of `send` are on the document, which has no id.
 * @param {EventTarget | null} target
 * @returns {Way}
 */
function wayOf(target) {
  if (!(target instanceof Element)) return "fetch";
  if (target.closest("#refund")) return "refund";
  return target.id === "order-htmx" ? "htmx" : target.id === "order-plain" ? "plain" : "fetch";
}

// ---- the counters, read while something happens and not when nothing does

let watchUntil = 0;
let watching = false;
/** When a click was refused by the page: it never became a request. @type {string[]} */
let held = [];

async function readCounters() {
  const response = await fetch("/activity");
  if (!response.ok) return;
  const { requests, orders, attempts, list } = await response.json();
  byId("requests").textContent = requests;
  byId("orders").textContent = orders;
  showAttempts(attempts);
  fill("list", /** @type {Order[]} */ (list).map(({ id, item, quantity }) => line({ b: `No. ${id}`, span: `${quantity} × ${item}` }, "order")));
}

/** Requests and held clicks, the newest first. @param {Attempt[]} attempts */
function showAttempts(attempts) {
  const sent = attempts.map(({ way, at, status, word }) => {
    const said = status === null ? "running" : word || "answered";
    return { at, item: line({ b: said, span: way, small: status === null ? "" : `${status}, ${MEANINGS[said] ?? "answered"}` }, said) };
  });
  const stopped = held.map((at) => ({ at, item: line({ b: "held", span: "page", small: "second click, not sent" }, "held") }));
  const all = [...sent, ...stopped].sort((a, b) => Number(a.at < b.at) - Number(a.at > b.at));
  fill("attempts", all.slice(0, SHOWN).map(({ item }) => item));
}

async function watch() {
  watchUntil = Date.now() + QUIET;
  if (watching) return;
  watching = true;
  while (Date.now() < watchUntil) {
    await readCounters().catch(() => {});
    await new Promise((done) => setTimeout(done, EVERY));
  }
  watching = false;
}

// ---- the fault switch: a cookie, so that all three ways send it and no content changes

const chosen = document.cookie.match(/(?:^|;\s*)demo_fault=(\w+)/)?.[1] ?? "none";
for (const radio of byId("faults").querySelectorAll("input")) {
  radio.checked = radio.value === chosen;
  radio.addEventListener("change", () => {
    document.cookie = `demo_fault=${radio.value}; path=/; samesite=lax`;
  });
}

// ---- without Oncekey: a cookie too, which the front heeds, and the attribute that turns the module off

const without = /** @type {HTMLInputElement} */ (byId("without"));
without.checked = /(?:^|;\s*)demo_without=1/.test(document.cookie);
function heedSwitch() {
  document.cookie = `demo_without=${without.checked ? 1 : 0}; path=/; samesite=lax`;
  if (without.checked) document.documentElement.dataset.once = "off";
  else delete document.documentElement.dataset.once;
}
without.addEventListener("change", heedSwitch);
heedSwitch();

// ---- the answers that no swap shows

const ordered = new URLSearchParams(location.search).get("order");
if (ordered) say("plain-answer", `Order ${ordered}`, ".");

/**
 * @param {string} id
 * @param {string} bold
 * @param {string} rest
 */
function say(id, bold, rest) {
  const place = document.getElementById(id);
  if (!place) return;
  const strong = document.createElement("strong");
  strong.textContent = bold;
  const words = document.createElement("p");
  words.append(strong, rest);
  place.replaceChildren(words);
}

// ---- the order by script

/** The order that the card says, as a request; nothing where a field is wrong. @returns {RequestInit | undefined} */
function orderByScript() {
  const quantity = /** @type {HTMLInputElement} */ (byId("fetch-quantity"));
  if (!quantity.reportValidity()) return undefined;
  const body = JSON.stringify({ item: valueOf("fetch-item"), quantity: Number(quantity.value) });
  return { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" }, body };
}

/** @param {Promise<Response>} sent */
async function showAnswer(sent) {
  say("fetch-answer", "", "Sending…");
  watch();
  try {
    const answer = await sent;
    const { id, item, quantity, detail } = await answer.json();
    if (answer.ok) say("fetch-answer", `Order ${id}`, `: ${quantity} × ${item}.`);
    else say("fetch-answer", answer.status === 503 ? "Not ordered." : "Did it go through?", ` ${detail}`);
  } catch {
    say("fetch-answer", "Did it go through?", " There was no answer. Order again: it is not made twice.");
  }
  watch();
}

if (document.getElementById("order-fetch")) {
  // @ts-expect-error The gate serves this module; no file of this name exists here.
  const oncekey = import("/.oncekey/oncekey.js");
  byId("order-fetch").addEventListener("click", async () => {
    const order = orderByScript();
    if (!order) return;
    const { send } = await oncekey;
    showAnswer(without.checked ? fetch("/orders", order) : send("/orders", order, { intent: "order-by-script" }));
  });
  // What a bad network or an impatient client does: two at once, and one more when there is an answer.
  byId("order-thrice").addEventListener("click", () => {
    const order = orderByScript();
    if (!order) return;
    const headers = { ...order.headers, "Idempotency-Key": `"${crypto.randomUUID()}"`, "X-Demo-Fault": "slow" };
    const again = () => fetch("/orders/now", { ...order, headers });
    const first = again();
    showAnswer(first.then(async (answer) => (await again(), answer)));
    again().catch(() => {});
  });
}

byId("reset").addEventListener("click", async () => {
  await fetch("/reset", { method: "POST" });
  keepLog([]);
  held = [];
  for (const answer of document.querySelectorAll(".answer")) answer.replaceChildren();
  await readCounters();
});

addEventListener("pageshow", (event) => {
  // Back from the plain form's answer: the page is as it was left, in the middle of sending.
  if (event.persisted) byId("plain-answer").replaceChildren();
  watch();
});
addEventListener("focus", watch);
showLog();
