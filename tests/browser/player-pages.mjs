// @ts-check
// Pages, actions and faults by chance, for the random player. A page is made of parts, each with an address of its own.

import { Chance } from "../chance.mjs";

/**
 * A form or button of a page.
 * @typedef {object} Part
 * @property {"form" | "plain" | "saving" | "rows" | "dialog" | "send"} kind
 * @property {string} path where its requests go
 * @property {string} html
 * @property {number} buttons how many there are to press
 * @property {boolean} exact whether what arrives is what its fields said when it was submitted
 * @property {boolean} queues whether its author wants each press sent, one after the other
 * @property {Answer} answer of a success
 */
/** @typedef {"text" | "itself" | "empty" | "back" | "done" | "page"} Answer */
/**
 * One thing that is done, so many milliseconds after those before it.
 * @typedef {object} Act
 * @property {number} after
 * @property {string} act
 * @property {number} part
 * @property {number} button
 * @property {boolean} edit whether the person writes something new first
 */
/** What is done at once, and what the person does then. @typedef {{ acts: Act[], then: "" | "reload" | "back" | "home" }} Burst */
/**
 * @typedef {object} Play
 * @property {number} seed
 * @property {boolean} calm one thing at a time, so that the page without the module can be compared
 * @property {string} library
 * @property {string} head
 * @property {Part[]} parts
 * @property {number} late milliseconds until the module arrives
 * @property {Burst[]} bursts
 */

const LIBRARIES = ["htmx1", "htmx2", "htmx2", "htmx4", "", "", "turbo", "unpoly"];
const ASYNC = `event.preventDefault(); const form = this; setTimeout(() => form.submit(), 30)`;
const TRACK = `const form = this; Promise.resolve().then(() => new FormData(form))`;

/** @param {number} seed @returns {Play} */
export function makePlay(seed) {
  const chance = new Chance(seed);
  const library = chance.pick(LIBRARIES);
  const calm = chance.once(3);
  const late = calm ? 0 : chance.pick([0, 0, 0, 600]);
  const parts = Array.from({ length: 1 + chance.below(3) }, (_, at) => makePart(chance, library, calm, `/p${at}`));
  const disable = chance.once(5) ? `<script type=module>import { start } from "/oncekey.js"; start({ disable: true });</script>` : "";
  const head = (library ? `<script src="/${library}.js"></script>` : "") + (late ? `<script src="/bootstrap.js"></script>` : "");
  const bursts = Array.from({ length: calm ? 5 : 4 }, () => makeBurst(chance, parts, calm));
  return { seed, calm, library, head: head + (calm ? "" : disable), parts, late, bursts };
}

/** @param {Chance} chance @param {string} library @param {boolean} calm @param {string} path @returns {Part} */
function makePart(chance, library, calm, path) {
  const kinds = library.startsWith("htmx") ? /** @type {const} */ (["form", "form", "form", "rows", "saving", "dialog", "plain", "send"]) : /** @type {const} */ (["plain", "plain", "plain", "saving", "send"]);
  const kind = calm ? chance.pick(kinds.filter((kind) => kind !== "send" && kind !== "saving")) : chance.pick(kinds);
  const at = path.slice(2);
  const out = `<div id=out${at}></div>`;
  const csrf = `<input type=hidden name=csrf value="TOKEN">`;
  const retry = calm ? "" : chance.pick(["", ` hx-retry="20ms,3"`, ` hx-retry="20ms,3"`, ` hx-retry=0`]);
  const name = chance.pick(["", ` id=part${at}`, ` data-once-name=part${at}`]);
  if (kind === "send") {
    const html = `<form class="part p${at}" onsubmit="return false"><input name=n value=first><button type=button onclick="import('/oncekey.js').then(({ send }) => send('${path}', { method: 'POST', body: new URLSearchParams(new FormData(this.form)) }, { intent: 'i${at}', retry: '20ms,3' })).catch(() => {})">send</button></form>`;
    return { kind, path, html, buttons: 1, exact: true, queues: false, answer: "text" };
  }
  if (kind === "rows") {
    const swap = chance.pick(["delete", "none", "delete"]);
    const rows = Array.from({ length: 4 }, (_, row) => `<li class=row><button hx-post=${path} hx-vals='{"n":"row${row}"}' hx-target="closest .row" hx-swap=${swap}${retry}>row</button></li>`);
    return { kind, path, html: `<ul class="part p${at}">${rows.join("")}</ul>`, buttons: 4, exact: false, queues: false, answer: "text" };
  }
  // A library sends a form that its button's script has submitted once more.
  const buttons = makeButtons(chance, kind === "plain" && !/turbo|unpoly/.test(library));
  if (kind === "plain") {
    const frame = chance.once(3) ? ` target=frame${at}` : "";
    const answer = library === "turbo" ? chance.pick(/** @type {Answer[]} */ (["back", "done"])) : frame ? "text" : chance.pick(/** @type {Answer[]} */ (["back", "done", "page", "page", "empty"]));
    const listens = library === "turbo" || library === "unpoly" ? "" : chance.pick(["", "", "", ` onsubmit="${ASYNC}"`, ` onsubmit="${TRACK}"`]);
    const more = (library === "unpoly" ? ` up-submit up-target=#out${at} up-fail-target=#out${at}` : "") + chance.pick(["", "", ` enctype=multipart/form-data`]);
    const html = `<form class="part p${at}"${name} method=post action=${path}${frame}${listens}${more}>${csrf}<input name=n value=first>${buttons.join("")}</form>${out}${frame ? `<iframe name=frame${at}></iframe>` : ""}`;
    return { kind, path, html, buttons: buttons.length, exact: !listens.includes("preventDefault"), queues: false, answer };
  }
  const method = chance.pick(["post", "post", "post", "put", "patch"]);
  const swap = chance.pick([` hx-target=#out${at}`, " hx-swap=none", " hx-target=this hx-swap=outerHTML"]);
  const sync = calm || kind === "saving" ? "" : chance.pick(["", "", "", "", "", ` hx-sync="this:replace"`, ` hx-sync="this:queue all"`, ` hx-sync="this:queue last"`, ` hx-sync="this:drop"`]);
  const more = chance.pick(["", "", ` hx-encoding=multipart/form-data`, library === "htmx1" ? "" : ` hx-disabled-elt="find button"`]);
  const send = library.startsWith("htmx") ? `hx-${method}=${path}${swap}${retry}${sync}${more}` : `method=post action=${path} target=frame${at}`;
  const frame = library.startsWith("htmx") ? "" : `<iframe name=frame${at}></iframe>`;
  const inner = kind === "saving" ? `<input name=n value=first onchange="this.form.requestSubmit()">` : kind === "dialog" ? `<input type=hidden name=n value=first>${buttons.join("")}` : `<input name=n value=first>${buttons.join("")}`;
  const html = `<form class="part p${at}"${name} ${send}>${csrf}${inner}</form>`;
  const answer = swap.includes("outerHTML") && frame === "" ? "itself" : "text";
  return { kind, path, html: html + out + frame, buttons: kind === "saving" ? 0 : buttons.length, exact: !sync && kind !== "saving", queues: sync.includes("queue"), answer };
}

/** @param {Chance} chance @param {boolean} mayScript */
function makeButtons(chance, mayScript) {
  const named = chance.once(2);
  const kinds = mayScript ? ["button", "button", "input", "script"] : ["button", "button", "input"];
  return Array.from({ length: 1 + chance.below(3) }, (_, at) => {
    const name = named || at ? ` name=op value=b${at}` : "";
    const kind = chance.pick(kinds);
    if (kind === "input") return `<input type=submit${name}>`;
    return `<button${name}${kind === "script" ? ` onclick="this.form.submit()"` : ""}>b${at}</button>`;
  });
}

/** @param {Chance} chance @param {Part[]} parts @param {boolean} calm @returns {Burst} */
function makeBurst(chance, parts, calm) {
  const home = /** @type {const} */ (["", "", "", "home", "reload"]);
  if (calm) return { acts: [makeAct(chance, parts, true)], then: chance.pick(home) };
  const acts = Array.from({ length: 1 + chance.below(5) }, (_, at) => makeAct(chance, parts, at === 0));
  // Who presses once often presses once more.
  for (const act of [...acts]) if (chance.once(2)) acts.splice(acts.indexOf(act) + 1, 0, { ...act, edit: false, after: chance.pick([0, 5, 120]) });
  return { acts, then: chance.pick([...home, "back"]) };
}

/** @param {Chance} chance @param {Part[]} parts @param {boolean} isFirst @returns {Act} */
function makeAct(chance, parts, isFirst) {
  const part = chance.below(parts.length);
  const { kind, buttons } = /** @type {Part} */ (parts[part]);
  const usual = { rows: ["click"], send: ["click"], saving: ["change"], dialog: ["click"], form: ["click", "click", "click", "requestSubmit"], plain: ["click", "click", "click", "requestSubmit", "submit"] }[kind];
  const rare = isFirst ? [] : ["insert", "move", "abort", "read"];
  const act = rare.length && chance.once(8) ? chance.pick(rare) : chance.pick(usual);
  return { after: chance.pick([0, 0, 10, 60, 250, 400]), act, part, button: chance.below(Math.max(buttons, 1)), edit: isFirst || chance.once(4) };
}

/** What the server does with the nth request of a path: at the origin, and on the way back. */
/** @typedef {{ wait: number, does: "order" | "503" | "500" | "422" | "drop" | "lost" }} Fate */
/** @param {Play} play @param {string} path @param {number} n @returns {Fate} */
export function fateOf({ seed, calm }, path, n) {
  const chance = new Chance(seed * 31 + Number(path.slice(2)) * 1009 + n * 7919);
  const wait = chance.pick([0, 0, 20, 150, 400, calm ? 0 : 1200]);
  // A browser repeats by itself what was dropped: then the page without the module has another count.
  const does = chance.pick(/** @type {const} */ (["order", "order", "order", "order", "order", "order", "503", "500", "422", calm ? "order" : "drop", calm ? "order" : "lost", calm ? "503" : "lost"]));
  return { wait, does };
}
