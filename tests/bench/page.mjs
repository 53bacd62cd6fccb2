// @ts-check
// How long a page waits for the module: from its script's first statement to `data-oncekey="ready"`, as the first page of a
// fresh browser profile and as the next page of its tab, beside a module that does nothing but set the mark. Then what a
// press costs on a page of 2,000 rows, beside the same page without the module.
//
//     node page.mjs ROUNDS, with ONCEKEY_NPM and CHROMIUM as the browser specs have them

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { chromium } from "playwright-core";

const npm = process.env.ONCEKEY_NPM ?? "";
const rounds = Number(process.argv[2] ?? 15);
const RUN = `performance.mark("run");`;
/** @type {Record<string, Buffer | string>} */
const files = {
  "/empty.js": `${RUN} document.documentElement.setAttribute("data-oncekey", "ready");`,
  "/oncekey.js": RUN + (await readFile(join(npm, "oncekey.js"), "utf8")),
  "/external.js": RUN + (await readFile(join(npm, "external.js"), "utf8")),
  "/oncekey.wasm": await readFile(join(npm, "oncekey.wasm")),
  "/htmx.js": await readFile(new URL("../node_modules/htmx2/dist/htmx.min.js", import.meta.url)),
};
const ROWS = 2000;
/** Each row has a button of htmx's, all with one address. @param {string} script */
const rowsPage = (script) =>
  `<!doctype html><script src=/htmx.js></script><script type=module src=/${script}.js></script>` +
  Array.from({ length: ROWS }, (_, row) => `<button hx-post=/rows hx-vals='{"row":${row}}' hx-swap=none>delete</button>`).join("");
const TYPES = { js: "text/javascript", wasm: "application/wasm", html: "text/html" };

const server = createServer((request, response) => {
  const path = request.url ?? "/";
  if (request.method === "POST") return void response.writeHead(204).end();
  const type = /** @type {keyof typeof TYPES} */ (path.split(".")[1] ?? "html");
  const page = `<!doctype html><script>new MutationObserver(() => performance.mark("ready")).observe(document.documentElement, { attributes: true });</script><script type=module src=${path.replace("/page/", "/")}.js></script><form></form>`;
  response.writeHead(200, { "content-type": TYPES[type] ?? "image/x-icon", "cache-control": "no-store" }).end(files[path] ?? (path.startsWith("/rows/") ? rowsPage(path.slice(6)) : page));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || undefined, args: ["--no-sandbox", "--disable-gpu"] });

const SUBJECTS = ["empty", "oncekey", "external"];
const VISITS = ["first", "next"];
/** @type {Record<string, number[]>} */
const times = {};
for (let round = 0; round < rounds; round += 1)
  for (const name of SUBJECTS) {
    const context = await browser.newContext();
    const page = await context.newPage();
    for (const visit of VISITS) {
      await page.goto(`http://127.0.0.1:${port}/page/${name}`);
      await page.waitForSelector("html[data-oncekey=ready]");
      const [run, ready] = await page.evaluate(() => ["run", "ready"].map((mark) => performance.getEntriesByName(mark)[0]?.startTime ?? NaN));
      (times[name + visit] ??= []).push(Number(ready) - Number(run));
    }
    await context.close();
  }

/** What the page's thread works for a press, in ms: the page's first, and the others. @param {string} script @param {number[]} firsts @param {number[]} others */
async function pressRows(script, firsts, others) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${port}/rows/${script}`);
  await page.waitForSelector("html[data-oncekey=ready]");
  const times = await page.evaluate(async () => {
    const times = [];
    for (const button of [...document.querySelectorAll("button")].filter((_, row) => row % 200 === 7)) {
      const start = performance.now();
      button.click();
      times.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    return times;
  });
  firsts.push(Number(times.shift()));
  others.push(...times);
  await context.close();
}
/** @type {Record<string, [number[], number[]]>} */
const presses = { empty: [[], []], oncekey: [[], []] };
for (let round = 0; round < rounds; round += 3) for (const [script, [firsts, others]] of Object.entries(presses)) await pressRows(script, firsts, others);
await browser.close();
server.close();

/** @param {number[]} [all] median, best and worst */
const show = (all = []) => {
  all.sort((a, b) => a - b);
  return [all[all.length >> 1], all[0], all.at(-1)].map((ms) => ms?.toFixed(1) ?? "–").join(" / ");
};
console.log(`\n| ready after its script runs, ms: median / best / worst of ${rounds} | a tab's first page | its next |\n|---|---|---|`);
for (const name of SUBJECTS) console.log(`| ${[name, ...VISITS.map((visit) => show(times[name + visit]))].join(" | ")} |`);
console.log(`\n| a press among ${ROWS} rows, ms: median / best / worst | the page's first | the others |\n|---|---|---|`);
for (const [script, times] of Object.entries(presses)) console.log(`| ${[script, ...times.map(show)].join(" | ")} |`);
