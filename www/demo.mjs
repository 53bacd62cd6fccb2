// @ts-check
// The page's own script: the fault switch, the counters, the log of the module's events, and the order sent by script.

/**
 * @typedef {"htmx" | "plain" | "fetch" | "refund"} Way
 * @typedef {{ name: string, way: Way, key: string, note: string, at: string }} Line
 */

const EVENTS = ["issued", "blocked", "retry", "unknown", "settled"];
const LOGGED = 30;
const LOG = "demo-log";
/** How often and how long after the last event the counters are read, in ms. */
const EVERY = 500;
const QUIET = 6000;

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
/** @param {string} id */
const valueOf = (id) => /** @type {HTMLInputElement | HTMLSelectElement} */ (byId(id)).value;

// ---- the log, kept over the plain form's navigation

/** @type {Line[]} */
let lines = JSON.parse(sessionStorage.getItem(LOG) ?? "[]");

function showLog() {
  byId("log-empty").hidden = lines.length > 0;
  byId("log").replaceChildren(
    ...lines.map(({ name, way, key, note, at }) => {
      const line = document.createElement("li");
      const parts = { time: at, b: name, span: way, code: key, small: note };
      for (const [tag, content] of Object.entries(parts)) {
        const part = document.createElement(tag);
        part.textContent = content;
        line.append(part, " ");
      }
      line.dataset.event = name;
      return line;
    }),
  );
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
    keepLog([{ name, way, key: `${key ?? ""}`.slice(0, 8), note: note.filter(Boolean).join(", "), at }, ...lines]);
    if (name === "issued") say(`${way}-answer`, "", "Sending…");
    if (name === "retry") say(`${way}-answer`, "", `Attempt ${attempt} follows by itself…`);
    if (name === "unknown") say(`${way}-answer`, "Outcome unknown.", " Order again: the key is kept.");
    watch();
  });
}

/**
 * Events of `send` are on the document, which has no id.
 * @param {EventTarget | null} target
 * @returns {Way}
 */
function wayOf(target) {
  if (target instanceof Element && target.closest("#refund")) return "refund";
  if (target === byId("order-htmx")) return "htmx";
  return target === byId("order-plain") ? "plain" : "fetch";
}

// ---- the counters, read while something happens and not when nothing does

let watchUntil = 0;
let watching = false;
let known = "";

async function readCounters() {
  const response = await fetch("/stats");
  if (!response.ok) return;
  const stats = await response.json();
  byId("requests").textContent = stats.requests;
  byId("orders").textContent = stats.orders;
  if (known !== `${stats.orders}`) document.body.dispatchEvent(new Event("shop:changed"));
  known = `${stats.orders}`;
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

// ---- the answers that no swap shows

const ordered = new URLSearchParams(location.search).get("order");
if (ordered) say("plain-answer", `Order ${ordered}`, ".");

/**
 * @param {string} id
 * @param {string} bold
 * @param {string} rest
 */
function say(id, bold, rest) {
  const strong = document.createElement("strong");
  strong.textContent = bold;
  const line = document.createElement("p");
  line.append(strong, rest);
  byId(id).replaceChildren(line);
}

// ---- the order by script

// @ts-expect-error The gate serves this module; no file of this name exists here.
const oncekey = import("/.oncekey/oncekey.js");

byId("order-fetch").addEventListener("click", async () => {
  const quantity = /** @type {HTMLInputElement} */ (byId("fetch-quantity"));
  if (!quantity.reportValidity()) return;
  const body = JSON.stringify({ item: valueOf("fetch-item"), quantity: Number(quantity.value) });
  const headers = { "Content-Type": "application/json", Accept: "application/json" };
  say("fetch-answer", "", "Sending…");
  watch();
  try {
    const { send } = await oncekey;
    const answer = await send("/orders", { method: "POST", headers, body }, { intent: "order-by-script" });
    const { id, item, quantity, detail } = await answer.json();
    if (answer.ok) say("fetch-answer", `Order ${id}`, `: ${quantity} × ${item}.`);
    else say("fetch-answer", `${answer.status}`, ` ${detail}`);
  } catch (error) {
    say("fetch-answer", "", String(error));
  }
  watch();
});

byId("reset").addEventListener("click", async () => {
  await fetch("/reset", { method: "POST" });
  keepLog([]);
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
