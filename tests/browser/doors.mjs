// @ts-check
// The pages that Firefox and WebKit are tried with: a door each, small enough to run in every engine.

import { form, script } from "./server.mjs";

export const UUID = /^[0-9a-f-]{36}$/;
export const READY = "html[data-oncekey=ready]";
export const FREE = "#order:not([aria-busy]) #buy:not([aria-disabled]):not([disabled])";
/** Longer than a queued second request takes to leave. In ms. */
export const QUIET = 300;
/** No answer ever comes. @type {import("./server.mjs").Fault} */
export const LOST = { after: new Promise(() => {}) };
export const HTMX = "hx-post=/orders hx-target=#out";
export const PLAIN = form("method=post action=/orders");
export const SEND = `<button id=buy>Buy</button><script type=module>
  import { send } from "/oncekey.js";
  const body = new FormData();
  body.append("file", new File([new Uint8Array([0, 255, 10, 13])], "\u00e4.bin"));
  document.getElementById("buy").onclick = () => send("/orders", { method: "POST", body }, { intent: "tea", retry: "10ms,3" })
    .then((answer) => answer.text(), String).then((text) => (document.getElementById("out").innerHTML = text));
</script>`;

/** @type {[string, string, string][]} a way of sending: its name, the page, what the head loads */
export const WAYS = [
  ["htmx 1.9", form(HTMX), script("htmx1")],
  ["htmx 2", form(HTMX), script("htmx2")],
  ["htmx 4", form(HTMX), script("htmx4")],
  ["plain", PLAIN, ""],
  ["send()", SEND, ""],
];
/** A form of htmx and a plain one, where nothing depends on htmx's version. */
export const SOME = WAYS.filter(([way]) => way === "htmx 2" || way === "plain");

/** @param {string} more */
export const policy = (more) => ({ "content-security-policy": `default-src 'self'; script-src 'self'${more}; style-src 'self'` });
/** Without `no-store`, so that a browser keeps the page for Back, and Firefox its form over a reload. */
export const KEPT = { "cache-control": "no-cache" };
/** A page's own script that sets an option. */
export const DISABLE = `<script type=module>import { start } from "/oncekey.js"; start({ disable: true });</script>`;
