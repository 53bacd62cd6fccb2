// @ts-check
// A browser whose tabs can be copied, closed and opened again, crashed and thrown away, as a person's are: by an extension,
// since a driver's own pages are never copies.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { FLAGS, until } from "./server.mjs";

/** @typedef {import("playwright-core").BrowserContext} Context */
/** @typedef {import("playwright-core").Page} Page */

const MANIFEST = {
  manifest_version: 3,
  name: "tabs",
  version: "1",
  permissions: ["tabs", "sessions"],
  background: { service_worker: "worker.js" },
};
/** What the extension's worker calls. @type {any} */
const chrome = undefined;

/** The browsers that run, by the driver's view of them: the extension, and where each may be reached a second time. @type {Map<Context, { worker: import("playwright-core").Worker, port: string }>} */
const ours = new Map();
/** @param {Context} context */
const of = (context) => {
  const known = ours.get(context);
  if (!known) throw new Error("not a browser of `profiles`");
  return known;
};

/** Starts a browser with a profile and the extension for each context; closing the context ends it. */
export const profiles = {
  async newContext() {
    const room = await mkdtemp(join(tmpdir(), "oncekey-tabs-"));
    await writeFile(join(room, "manifest.json"), JSON.stringify(MANIFEST));
    await writeFile(join(room, "worker.js"), "");
    const context = await chromium.launchPersistentContext(join(room, "profile"), {
      executablePath: process.env.CHROMIUM || undefined,
      ignoreDefaultArgs: ["--disable-extensions", "--disable-back-forward-cache"],
      args: [...FLAGS, `--disable-extensions-except=${room}`, `--load-extension=${room}`, "--remote-debugging-port=0"],
    });
    const close = context.close.bind(context);
    context.close = async () => {
      await close();
      ours.delete(context);
      await rm(room, { recursive: true, force: true, maxRetries: 10 });
    };
    try {
      const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent("serviceworker"));
      const [port = ""] = (await readFile(join(room, "profile", "DevToolsActivePort"), "utf8")).split("\n");
      ours.set(context, { worker, port });
      return context;
    } catch (error) {
      await context.close();
      throw error;
    }
  },
  /** Ends those that a case has given up. */
  close: () => Promise.all([...ours.keys()].map((context) => context.close())),
};

/** The number that the browser knows a tab by: its title tells it from its copies. @param {Page} page @returns {Promise<number>} */
async function tabOf(page) {
  const title = await page.evaluate(() => (document.title = `tab ${Math.random()}`));
  return of(page.context()).worker.evaluate(async (title) => {
    const find = async () => (await chrome.tabs.query({})).find((/** @type {any} */ tab) => tab.title === title);
    while (!(await find())) await new Promise((done) => setTimeout(done, 20));
    return (await find()).id;
  }, title);
}

/** The page that something opens, once the module is ready in it. @param {Page} page @param {() => Promise<unknown>} open */
async function opened(page, open) {
  const [other] = await Promise.all([page.context().waitForEvent("page"), open()]);
  await other.waitForSelector("html[data-oncekey=ready]");
  return other;
}

/** What "Duplicate" in a tab's menu does. @param {Page} page */
export async function duplicate(page) {
  const tab = await tabOf(page);
  return opened(page, () => of(page.context()).worker.evaluate((tab) => chrome.tabs.duplicate(tab), tab));
}

/** A window that the page opens of the same address, by script or by a link. @param {Page} page @param {"script" | "link"} by */
export const openWindow = (page, by) =>
  opened(page, () =>
    page.evaluate((by) => {
      if (by === "script") return void open(location.href);
      const link = Object.assign(document.createElement("a"), { href: location.href, target: "_blank", rel: "opener" });
      document.body.append(link);
      link.click();
    }, by),
  );

/** Closes a tab, and opens it again from the list of those that were closed. @param {Page} page */
export async function reopen(page) {
  const [tab, { worker }, url] = [await tabOf(page), of(page.context()), page.url()];
  await Promise.all([page.waitForEvent("close"), worker.evaluate((tab) => chrome.tabs.remove(tab), tab)]);
  return opened(page, () =>
    worker.evaluate(async (url) => {
      const closed = (/** @type {any} */ one) => one.tab?.url === url;
      /** @type {any} */
      let one;
      while (!(one = (await chrome.sessions.getRecentlyClosed()).find(closed))) await new Promise((done) => setTimeout(done, 20));
      await chrome.sessions.restore(one.tab.sessionId);
    }, url),
  );
}

/** Has the browser discard a tab that is not looked at, as it does when memory is short, and looks at it again. @param {Page} page */
export async function discard(page) {
  const [tab, { worker }] = [await tabOf(page), of(page.context())];
  await page.context().newPage();
  return opened(page, () =>
    worker.evaluate(async (tab) => {
      const discarded = await chrome.tabs.discard(tab);
      await chrome.tabs.update(discarded.id, { active: true });
    }, tab),
  );
}

/** Ends a tab's process, and has the browser open the address in it once more. @param {Page} page @param {"reload" | "address"} by */
export async function crash(page, by) {
  const [tab, { worker, port }, url] = [await tabOf(page), of(page.context()), page.url()];
  const session = await page.context().newCDPSession(page);
  const crashed = page.waitForEvent("crash");
  session.send("Page.crash").catch(() => {});
  await crashed;
  await worker.evaluate(({ by, tab, url }) => (by === "reload" ? chrome.tabs.reload(tab) : chrome.tabs.update(tab, { url })), { by, tab, url });
  // The driver has given the tab up. A second one has not.
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
  const find = () => browser.contexts()[0]?.pages().find((one) => one.url() === url);
  await until(find, "the tab is there again");
  const again = /** @type {Page} */ (find());
  await again.waitForSelector("html[data-oncekey=ready]");
  return again;
}
