#!/usr/bin/env node
// @ts-check
// The command `oncekey`: reads words and files, asks the rules, and asks a gate over the network. It holds no rules.
import { readFileSync } from "node:fs";
import { explainRequest, faultOfPolicy, policySchema, policyTypes } from "./rules.mjs";

/** A command: what it takes, what it does, and what it ends with. @typedef {{ usage: string, help: string, run(words: string[]): number | Promise<number> }} Command */

/** What was asked is wrong: status 2. */
class Misused extends Error {}

const EXPLAIN = `  -d, --data BODY       the content, as a form unless -H says otherwise; @FILE is a file's bytes
      --json BODY       the content, as application/json
  -H, --header LINE     a header line, "Name: value"; as often as you like
      --policy FILE     the policy; without it, its defaults
      --and METHOD PATH a second request, which the words after it describe

PATH is a path, or a URL where the host counts. Says which route takes the request, which key it has, which parts of it
count, its canonical form and its fingerprint; of two requests, in which part they differ. Status 0; of two, 1 where the second
would not get the first's answer.`;

const KEYS = `KEY is the scoped key, as the origin saw it; the gate's secret is taken from ONCEKEY_ADMIN.
Status 0, or 1 where the gate refuses.`;

/** @type {Record<string, Command>} */
const COMMANDS = {
  "policy check": {
    usage: "FILE",
    help: "Reads a policy, - for standard input. Says what is wrong by JSON pointer: status 1.",
    run(words) {
      const { rest } = read(words, {});
      const [file] = wanted(rest, 1);
      const fault = faultOfPolicy(text(file));
      if (fault !== undefined) console.error(`${file}: ${fault}`);
      return fault === undefined ? 0 : 1;
    },
  },
  "policy explain": { usage: "METHOD PATH [-d BODY] [-H LINE]… [--and METHOD PATH …]", help: EXPLAIN, run: explain },
  "keys get": { usage: "URL KEY", help: `What the gate at URL knows of a key. ${KEYS}`, run: (words) => ask("GET", "", words) },
  "keys release": { usage: "URL KEY", help: `Makes the gate forget a key, so that its next request runs. ${KEYS}`, run: (words) => ask("DELETE", "", words) },
  "keys deliver": { usage: "URL KEY", help: `Has an accepted request that is dead or of unknown fate delivered once more. ${KEYS}`, run: (words) => ask("POST", "/deliver", words) },
  schema: { usage: "", help: "Prints the policy's JSON Schema.", run: (words) => print(policySchema(), words) },
  types: { usage: "", help: "Prints the policy's TypeScript types.", run: (words) => print(policyTypes(), words) },
};

/**
 * Parts words into options and the rest. `takes`: the options with a value, by each of their spellings.
 * @param {string[]} words @param {Record<string, string>} takes
 */
function read(words, takes) {
  /** @type {string[]} */
  const rest = [];
  /** @type {[string, string][]} */
  const options = [];
  for (let at = 0; at < words.length; at++) {
    const [name, inline] = words[at].startsWith("--") ? words[at].split(/=(.*)/s) : [words[at], undefined];
    if (!name.startsWith("-") || name === "-") rest.push(name);
    else if (!takes[name]) throw new Misused(`unknown option ${name}`);
    else {
      const value = inline ?? words[++at];
      if (value === undefined) throw new Misused(`${name} needs a value`);
      options.push([takes[name], value]);
    }
  }
  return { rest, options };
}

/** As many words as are needed. @param {string[]} words @param {number} count */
function wanted(words, count) {
  if (words.length !== count) throw new Misused(words.length < count ? "something is missing" : `unknown word ${words[count]}`);
  return words;
}

/** @param {string} file */
function bytes(file) {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (why) {
    throw new Misused(`cannot read ${file}: ${/** @type {Error} */ (why).message}`);
  }
}

/** @param {string} file */
const text = (file) => bytes(file).toString("utf8");

/** @param {string} said @param {string[]} words */
function print(said, words) {
  wanted(read(words, {}).rest, 0);
  process.stdout.write(said);
  return 0;
}

/** @param {string[]} words */
function explain(words) {
  const and = words.indexOf("--and");
  const parts = and < 0 ? [words] : [words.slice(0, and), words.slice(and + 1)];
  const sent = parts.map(request);
  const file = sent.map(({ policy }) => policy).findLast((named) => named !== undefined);
  const policy = file === undefined ? "" : text(file);
  const fault = faultOfPolicy(policy);
  if (fault !== undefined) throw new Misused(`${file}: ${fault}`);
  const [first, second] = sent.map(({ method, url, head, content }) => {
    const explained = explainRequest(policy, method, url, head, content);
    if (!explained) throw new Misused("the policy is wrong");
    return explained;
  });
  if (!second) {
    process.stdout.write(first.words());
    return 0;
  }
  process.stdout.write(`first\n${first.words()}\nsecond\n${second.words()}\n${first.compareWith(second)}`);
  return first.isRepeatedBy(second) ? 0 : 1;
}

/** One request, as words describe it. @param {string[]} words */
function request(words) {
  const { rest, options } = read(words, { "-d": "data", "--data": "data", "--json": "json", "-H": "header", "--header": "header", "--policy": "policy" });
  const [method, path] = wanted(rest, 2);
  const url = /^https?:\/\//i.test(path) ? path : `http://localhost${path.startsWith("/") ? "" : "/"}${path}`;
  const headers = new Headers();
  let content = new Uint8Array();
  let policy;
  let usual;
  for (const [name, value] of options) {
    if (name === "policy") policy = value;
    else if (name === "header") line(headers, value);
    else {
      content = value.startsWith("@") ? bytes(value.slice(1)) : Buffer.from(value);
      usual = name === "json" ? "application/json" : "application/x-www-form-urlencoded";
    }
  }
  if (usual && !headers.has("content-type")) headers.set("content-type", usual);
  return { method, url, head: [...headers].map(([name, value]) => `${name},${value}`).join("\n"), content, policy };
}

/** @param {Headers} headers @param {string} value */
function line(headers, value) {
  const colon = value.indexOf(":");
  if (colon < 1) throw new Misused(`no header line: ${value}`);
  try {
    headers.append(value.slice(0, colon), value.slice(colon + 1));
  } catch {
    throw new Misused(`no header line: ${value}`);
  }
}

/** @param {string} method @param {string} below @param {string[]} words */
async function ask(method, below, words) {
  const [base, key] = wanted(read(words, {}).rest, 2);
  if (!/^https?:\/\//i.test(base)) throw new Misused(`no URL: ${base}`);
  const secret = process.env.ONCEKEY_ADMIN;
  if (!secret) throw new Misused("ONCEKEY_ADMIN is not set: the gate's secret");
  const url = `${base.replace(/\/+$/, "")}/.oncekey/keys/${encodeURIComponent(key)}${below}`;
  let answer;
  try {
    answer = await fetch(url, { method, headers: { authorization: `Bearer ${secret}`, accept: "application/json" }, redirect: "manual" });
  } catch (why) {
    console.error(`oncekey: ${new URL(url).origin} does not answer: ${/** @type {Error & { cause?: unknown }} */ (why).cause ?? why}`);
    return 1;
  }
  const said = await answer.text();
  console[answer.ok ? "log" : "error"](said || String(answer.status));
  return answer.ok ? 0 : 1;
}

/** What is said to `--help`, of the commands that begin so. @param {string} start */
function help(start) {
  const found = Object.entries(COMMANDS).filter(([name]) => name === start || start === "" || name.startsWith(`${start} `));
  if (found.length === 1) return found.map(([name, { usage, help }]) => `oncekey ${name} ${usage}\n\n${help}\n`).join("");
  const lines = found.map(([name, { usage }]) => `  oncekey ${name} ${usage}`.trimEnd());
  return `One intent, one effect: the gate's rules on the command line.\n\n${lines.join("\n")}\n\nEach says more with --help.\n`;
}

/** @param {string[]} words */
async function main(words) {
  const name = Object.keys(COMMANDS).find((name) => name === words.slice(0, name.split(" ").length).join(" "));
  const end = words.indexOf("--");
  if (words.slice(0, end < 0 ? undefined : end).some((word) => word === "--help" || word === "-h")) {
    const named = words.slice(0, words.findIndex((word) => word.startsWith("-")));
    const known = name ?? named.join(" ");
    if (!Object.keys(COMMANDS).some((other) => known === "" || other === known || other.startsWith(`${known} `))) throw new Misused(`unknown command ${known}`);
    process.stdout.write(help(known));
    return 0;
  }
  if (!name) throw new Misused(words.length === 0 ? "a command is missing" : `unknown command ${words.join(" ")}`);
  try {
    return await COMMANDS[name].run(words.slice(name.split(" ").length));
  } catch (why) {
    if (why instanceof Misused) why.message += `\nusage: oncekey ${name} ${COMMANDS[name].usage}`;
    throw why;
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (why) {
  if (!(why instanceof Misused)) throw why;
  console.error(`oncekey: ${why.message}\noncekey --help says what there is`);
  process.exitCode = 2;
}
