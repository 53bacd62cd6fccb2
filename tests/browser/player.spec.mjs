// @ts-check
// The random player: pages, actions and faults by chance, and what must hold whatever is drawn. ONCEKEY_PLAY sets for how many
// seconds it is played, ONCEKEY_SEED where it begins; a finding names its seed, and ONCEKEY_PLAY=1 plays that one.
//
// 1. An intent has one effect: a content is ordered as often as a person meant it.
// 2. A submit that the bare page would send arrives, and in the end every button works again.
// 3. Nothing stays busy.
// 4. A request is the bare page's but for the key: what its fields said; where one thing is done at a time, the same requests.
// 5. No error is thrown that the bare page does not throw.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makePlay } from "./player-pages.mjs";
import { servePlay } from "./player-site.mjs";
import { launch } from "./server.mjs";

/** @typedef {import("./player-pages.mjs").Play} Play */
/** @typedef {import("./player-pages.mjs").Act} Act */
/** @typedef {import("./player-site.mjs").Arrival} Arrival */
/** @typedef {Awaited<ReturnType<typeof servePlay>>} Site */
/** @typedef {import("playwright-core").Page} Page */
/** A submit, as the page was when it was made. @typedef {{ at: number, part: number, path: string, intents: string[], contents: string[], busy: boolean, fresh: boolean, act: string }} Submit */

const SECONDS = Number(process.env.ONCEKEY_PLAY ?? 120);
const SEED = Number(process.env.ONCEKEY_SEED ?? 1);
const WORKERS = 3;
/** Longer than a page takes to send what it is about to. In ms. */
const QUIET = 300;

/** @type {import("playwright-core").Browser} */
let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

/** What runs in the page: does what is asked and tells of each submit. */
function inPage() {
  const page = /** @type {any} */ (window);
  if (page.top !== page) return;
  const tell = (/** @type {string} */ kind, /** @type {unknown} */ what) => console.debug(kind, JSON.stringify(what));
  for (const name of ["issued", "blocked", "retry", "unknown", "settled"])
    document.addEventListener(`oncekey:${name}`, (event) => {
      const { key, reason } = /** @type {CustomEvent} */ (event).detail;
      tell("said", `${name} ${reason} ${String(key).slice(-4)}`);
    });
  const sorted = (/** @type {FormData} */ data) => JSON.stringify([...data].filter(([name]) => name !== "csrf").sort());
  /** @param {Act} act @param {string} serial @param {string} path @param {boolean} isOwn whether the page itself submits later */
  const perform = ({ act, part, button, edit }, serial, path, isOwn) => {
    const element = document.querySelector(`.p${part}`);
    if (!element) return tell("gone", { part });
    const form = /** @type {HTMLFormElement} */ (element);
    const field = /** @type {HTMLInputElement | undefined} */ (form.elements?.namedItem("n") ?? undefined);
    if (act === "insert") {
      const copy = /** @type {Element} */ (element.cloneNode(true));
      copy.className = "copy";
      for (const node of [copy, ...copy.querySelectorAll("*")]) for (const name of ["id", "aria-busy", "aria-disabled", "disabled"]) node.removeAttribute(name);
      element.before(copy);
      return page.htmx?.process(copy);
    }
    if (act === "move") return document.body.append(element);
    if (act === "abort") return page.htmx?.trigger(element, "htmx:abort");
    if (act === "read") return void (field && new FormData(form));
    if (field && (edit || act === "change")) field.value = serial;
    const by = /** @type {HTMLElement | undefined} */ (act === "click" ? element.querySelectorAll("button, input[type=submit]")[button] : undefined);
    if (act === "click" && !by) return tell("gone", { part, button });
    const submitter = by?.closest("form") && /** @type {any} */ (by).type === "submit" && !isOwn ? by : null;
    // htmx 1.9 and 2 send the button that was pressed last, Unpoly the first, where a script names none.
    const others = act === "requestSubmit" && (page.htmx || page.up) ? [...form.querySelectorAll("button, input[type=submit]")] : [];
    const dataOf = (/** @type {any} */ by) => {
      const data = new FormData(form);
      if (by?.name) data.append(by.name, by.value);
      return data;
    };
    const datas = field ? [submitter, null, ...others].map(dataOf) : [];
    const intents = datas.map((data) => [path, ...[...data].filter(([name]) => /^(n|op)$/.test(name)).map(String)].join(" "));
    const row = /"n":"(\w+)"/.exec(by?.getAttribute("hx-vals") ?? "")?.[1];
    tell("submit", {
      at: performance.timeOrigin + performance.now(),
      part, path, act,
      intents: row ? [`${path} n,${row}`] : act === "requestSubmit" ? intents : intents.slice(0, 1),
      contents: datas.map(sorted),
      busy: document.querySelector("[aria-busy],[aria-disabled],:disabled") !== null,
      fresh: edit,
    });
    if (act === "change") field?.dispatchEvent(new Event("change", { bubbles: true }));
    else if (act === "requestSubmit") form.requestSubmit();
    else if (act === "submit") form.submit();
    else by?.click();
  };
  /** @param {[Act, string, string, boolean][]} acts */
  page.play = (acts) => {
    let at = 0;
    for (const act of acts) setTimeout(() => perform(...act), (at += act[0].after));
  };
}

/** Plays once; returns what is wrong. @param {Play} play @param {boolean} isBare */
async function perform(play, isBare) {
  const site = await servePlay(play, isBare);
  const context = await browser.newContext();
  context.setDefaultTimeout(10_000);
  /** @type {Submit[]} */
  const submits = [];
  /** @type {string[]} */
  const errors = [];
  /** @type {string[]} */
  const log = [];
  /** @type {string[]} */
  const wrong = [];
  /** What was written in a burst of which the page told nothing more: it was left. @type {Set<string>} */
  const untold = new Set();
  let serial = 0;
  const stamp = () => String(Date.now() % 100_000).padStart(5, "0");
  try {
    const page = await context.newPage();
    // Unpoly and Turbo throw what has no answer.
    page.on("pageerror", (error) => /^up\.|Failed to fetch/.test(`${error.name}${error.message}`) || errors.push(String(error.stack ?? error)));
    page.on("console", (message) => {
      const [kind, ...rest] = message.text().split(" ");
      const text = rest.join(" ");
      if (kind === "submit") submits.push(JSON.parse(text));
      if (message.type() === "debug") log.push(`${stamp()} ${kind} ${text.slice(0, 200)}`);
    });
    await page.addInitScript(inPage);
    const open = async (/** @type {() => Promise<unknown>} */ by, isEarly = false) => {
      await by().catch(() => {});
      for (let tries = 0; tries < 3 && page.url() !== site.url; tries++) await page.goto(site.url).catch(() => {});
      if (isBare || isEarly) return;
      const ready = () => page.waitForSelector("html[data-oncekey=ready]", { state: "attached", timeout: 6000 });
      // A driver can lose a navigation to one that was under way.
      await ready().catch(() => page.goto(site.url).then(ready)).catch(() => wrong.push("never ready"));
    };
    const quiet = async () => {
      if (play.calm) await page.waitForFunction(() => !document.querySelector("[aria-busy]"), null, { timeout: 7000 }).catch(() => {});
      for (let tries = 0; tries < 160 && (site.open || Date.now() - site.lastAt < QUIET); tries++) await page.waitForTimeout(50);
    };
    /** @param {Act[]} acts */
    const act = async (acts) => {
      site.lastAt = Date.now();
      const list = acts.map((one) => [one, `s${++serial}`, `/p${one.part}`, /event.preventDefault/.test(play.parts[one.part]?.html ?? "")]);
      log.push(`${stamp()} acts ${acts.map((one) => `+${one.after} ${one.act} p${one.part}.${one.button}${one.edit ? " edit" : ""}`).join(", ")}`);
      await page.evaluate((acts) => /** @type {any} */ (window).play(acts), list).catch((error) => log.push(String(error)));
      await page.waitForTimeout(acts.reduce((sum, { after }) => sum + after, QUIET));
      await quiet();
    };
    const isEarly = play.late > 0;
    await open(() => page.goto(site.url, { waitUntil: isEarly ? "commit" : "load" }), isEarly);
    if (isEarly) await page.waitForFunction(() => document.readyState !== "loading" && "play" in window, null, { polling: 20 }).catch(() => {});
    for (const [number, { acts, then }] of play.bursts.entries()) {
      const [from, seen] = [site.arrivals.length, submits.length];
      await act(acts);
      // An answer may have brought the page anew.
      if (isEarly) {
        await page.waitForSelector("html[data-oncekey=ready]", { state: "attached", timeout: 4000 }).catch(() => {});
        await page.waitForTimeout(QUIET);
        await quiet();
      }
      const written = submits.length - seen < acts.filter(({ act }) => /click|submit|change/i.test(act)).length ? acts : [];
      for (const [at, { part }] of written.entries()) untold.add(`/p${part} s${serial - acts.length + at + 1}`);
      const first = submits[seen];
      // htmx is not there before the document, which waits for the module.
      const isTaken = acts.some(({ act, part }) => act === "abort" || part !== acts[0]?.part) || (isEarly && number === 0 && play.parts[first?.part ?? 0]?.kind === "rows");
      if (first && first.fresh && !first.busy && !isTaken && !site.arrivals.slice(from).some(({ path }) => path === first.path)) wrong.push(`lost: ${first.intents[0]}`);
      log.push(`${stamp()} then ${then || page.url().slice(site.url.length - 1)}`);
      if (then === "reload") await open(() => page.reload());
      else if (then === "back") await open(() => page.goBack({ timeout: 3000 }));
      else if (then === "home" || page.url() !== site.url) await open(() => page.goto(site.url));
    }
    if (!isBare) await recover();

    /** In the end the server is well, and every button works within three presses; nothing is busy. */
    async function recover() {
      await quiet();
      const isBusy = () => page.evaluate(() => document.querySelector("[aria-busy],[aria-disabled],:disabled")?.outerHTML.slice(0, 200) ?? "");
      let busy = await isBusy();
      // A plain form is busy for five seconds at most, and once more for what has waited to be saved.
      for (let tries = 0; tries < 120 && busy; tries++) {
        await page.waitForTimeout(100);
        busy = await isBusy();
      }
      if (busy) wrong.push(`busy for ever: ${busy}`);
      site.isHealthy = true;
      log.push(`${stamp()} healthy`);
      if (play.seed % 2) await open(() => page.goto(site.url));
      for (const [at, { kind, path, buttons }] of play.parts.entries()) {
        const act0 = kind === "saving" ? "change" : "click";
        if (kind === "rows") continue;
        for (let button = 0; button < Math.max(1, buttons); button++) {
          const before = site.arrivals.length;
          let done = false;
          for (let tries = 0; tries < 4 && !done; tries++) {
            const isThere = () => page.evaluate((at) => !!document.querySelector(`.p${at}`), at).catch(() => false);
            if (page.url() !== site.url || !(await isThere())) await open(() => page.goto(site.url));
            await page.waitForFunction(() => !document.querySelector("[aria-busy]"), null, { timeout: 7000 }).catch(() => wrong.push("busy before a press"));
            await act([{ after: 0, act: act0, part: at, button, edit: true }]);
            done = site.arrivals.slice(before).some((one) => one.path === path && one.ran);
          }
          if (!done) wrong.push(`lost for good: ${path}, button ${button}`);
        }
      }
    }
  } finally {
    site.close();
    await Promise.race([context.close(), new Promise((resolve) => setTimeout(resolve, 5000))]);
  }
  return { site, submits, errors, log, wrong, untold };
}

/** How often a person meant an intent: once more after an answer of success, and after other content of the same form and
 *  button, whose key takes the place of the first. @param {Submit[]} submits @param {Arrival[]} arrivals of the intent
 *  @param {Arrival[]} others of other content @param {number} slack milliseconds that pass between the press and the call */
function countMeant(submits, arrivals, others, slack) {
  let [meant, since] = [0, 0];
  for (const { at } of submits) {
    const isAnswered = arrivals.some(({ status, ended }) => status >= 200 && status < 400 && ended > since && ended < at + slack);
    const isReplaced = others.some((other) => other.at > since && other.at < at);
    if (meant && !isAnswered && !isReplaced) continue;
    meant++;
    since = at;
  }
  return Math.max(meant, 1);
}

/** @param {string} intent */
const withoutText = (intent) => intent.replace(/ n,\S+/, "");

/** @param {Play} play @param {Awaited<ReturnType<typeof perform>>} played */
function judge(play, { site, submits, errors, wrong, untold }) {
  const found = [...wrong, ...errors.map((error) => `error: ${error.slice(0, 400)}`)];
  for (const intent of new Set(site.arrivals.map(({ intent }) => intent))) {
    const arrivals = site.arrivals.filter((one) => one.intent === intent);
    // Before the module has come there is no key, and no promise.
    const ran = arrivals.filter((one) => one.ran && one.key).length;
    const own = submits.filter(({ intents }) => intents.includes(intent));
    const part = play.parts[Number(arrivals[0]?.path.slice(2))];
    if (part?.queues) continue;
    // Where the content is hidden fields or `hx-vals`, each content has a place of its own.
    const isOther = (/** @type {Arrival} */ one) => one.key && one.path === arrivals[0]?.path && one.intent !== intent && withoutText(one.intent) === withoutText(intent);
    const others = part?.kind === "dialog" || part?.kind === "rows" ? [] : site.arrivals.filter(isOther);
    // What imports the module first, calls `send` later.
    const meant = countMeant(own, arrivals, others, part?.kind === "send" ? 200 : 0);
    if (ran > meant) found.push(`${ran} orders for ${meant} intents: ${intent}`);
  }
  // htmx sends what a press has put into a queue with the fields of later, so that only how many there are is known.
  for (const [at, { queues, path }] of play.parts.entries()) {
    const [ran, meant] = [site.arrivals.filter((one) => one.path === path && one.ran && one.key).length, submits.filter(({ part }) => part === at).length];
    if (queues && ran > Math.max(meant, 1)) found.push(`${ran} orders for ${meant} presses: ${path}`);
  }
  for (const { path, pairs, key, intent } of site.arrivals) {
    const part = play.parts[Number(path.slice(2))];
    const isKnown = submits.some((one) => one.path === path && one.contents.includes(JSON.stringify(pairs.filter(([name]) => name !== "csrf").sort())));
    const isUntold = pairs.some(([name, value]) => name === "n" && untold.has(`${path} ${value}`));
    if (part?.exact && !isKnown && !isUntold) found.push(`sent what no one said: ${path} ${JSON.stringify(pairs)}`);
    if (!key && !play.late) found.push(`no key: ${intent}`);
  }
  return found;
}

/** What arrived, without what the module takes for a repeat. @param {Site} site */
const listOf = ({ arrivals }) =>
  arrivals.filter(({ intent }, at) => intent !== arrivals[at - 1]?.intent).map(({ method, path, pairs, head }) => `${method} ${path} ${JSON.stringify(pairs.map(([name, value]) => [name, name === "csrf" ? "" : value]))} ${head}`);

/** @param {number} seed @returns {Promise<string | undefined>} */
async function tryPlay(seed) {
  const play = makePlay(seed);
  const played = await perform(play, false);
  const found = judge(play, played);
  let bare = "";
  if (play.calm) {
    const other = await perform(play, true);
    const [mine, bares] = [listOf(played.site).slice(0, listOf(other.site).length), listOf(other.site)];
    const differs = bares.findIndex((one, at) => one !== mine[at]);
    if (differs >= 0) found.push("not the bare page's requests"), (bare = `\n  bare: ${bares[differs]}\n  mine: ${mine[differs]}\n  ${other.log.join("\n  ")}`);
    if (other.errors.length) found.splice(0, found.length, ...found.filter((one) => !one.startsWith("error")));
  }
  if (!found.length) return;
  const arrivals = played.site.arrivals.map((one) => `${one.at % 100_000} ${one.method} ${one.intent} key ${one.key.slice(-4)} -> ${one.status} ${one.ran ? "ran" : ""} ${one.ended % 100_000}`);
  return [`seed ${seed}: ${found.join("; ")}`, play.head, ...play.parts.map(({ html, answer }) => `${html} (${answer})`), ...played.log, ...arrivals].join("\n  ") + bare;
}

test("random pages, actions and faults", { timeout: (SECONDS + 120) * 1000 }, async () => {
  const end = Date.now() + SECONDS * 1000;
  let [next, count] = [SEED, 0];
  /** @type {string[]} */
  const findings = [];
  const work = async () => {
    do {
      count++;
      const seed = next++;
      // A driver that has lost a page is no finding, unless it loses it twice.
      const finding = await tryPlay(seed).catch(() => tryPlay(seed)).catch((error) => `seed ${seed}: ${error}`);
      if (finding) findings.push(finding), console.log(finding);
    } while (Date.now() < end && findings.length < 20);
  };
  await Promise.all(Array.from({ length: SECONDS > 1 ? WORKERS : 1 }, work));
  console.log(`${count} sequences from seed ${SEED}, ${findings.length} findings`);
  assert.deepEqual(findings.map((finding) => finding.split("\n")[0]), []);
});
