// @ts-check
// Random contents in the running gate, two under one key: whether the second is the same request is told beforehand by
// parsers that are not ours. ONCEKEY_FUZZ sets the pairs of each kind, ONCEKEY_SEED where they begin.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { LosslessNumber, parse } from "lossless-json";
import { Chance } from "../chance.mjs";
import { executed, refused, replayed, World } from "./gate.mjs";

const PAIRS = Number(process.env.ONCEKEY_FUZZ ?? 600);
const SEED = Number(process.env.ONCEKEY_SEED ?? 1);

/** @type {World} */
let world;
before(async () => {
  world = await World.start({ scope: ["header:authorization"], routes: [{ path: "/*" }] });
});
after(() => world?.end());

/**
 * One content as it is sent.
 * @typedef {{ type: string, bytes: Buffer }} Content
 */

/**
 * Sends pairs of contents, each under a key of its own, and counts what reached the origin.
 * @param {string} kind
 * @param {(chance: Chance) => Promise<[Content, Content, boolean]> | [Content, Content, boolean]} pair two contents, and whether they are the same request
 */
async function check(kind, pair) {
  const seen = { same: 0, other: 0 };
  const tryPair = async (/** @type {number} */ seed) => {
    const [one, two, isSame] = await pair(new Chance(seed));
    const spot = await world.spot(`/${kind}`);
    const post = (/** @type {Content} */ { type, bytes }) => spot.post({ type, content: bytes });
    const first = await post(one);
    try {
      executed(first);
      const second = await post(two);
      if (isSame) replayed(second, first);
      else refused(second, "idempotency_key_reused");
      const [arrived] = await spot.seen();
      assert.equal(arrived.content, one.bytes.toString("latin1"), "what was sent on");
      await spot.ran(1);
    } catch (failure) {
      const texts = JSON.stringify([one, two].map(({ bytes }) => bytes.toString("latin1")));
      throw new Error(`${kind}, seed ${seed}: ${texts} ${isSame ? "the same" : "another"}`, { cause: failure });
    }
    seen[isSame ? "same" : "other"]++;
  };
  const seeds = Array.from({ length: PAIRS }, (_, at) => SEED * 1_000_000 + at).values();
  const work = async () => {
    for (const seed of seeds) await tryPair(seed);
  };
  await Promise.all([work(), work(), work(), work()]);
  assert.ok(Math.min(seen.same, seen.other) > PAIRS / 10, `one-sided: ${JSON.stringify(seen)}`);
}

const TEXTS = ["", "a", "b", "ab", "A", "a b", "é", "é", "日本", "😀", "0", "a=b", "a&b", "100%", "+", "~*'()", "\t", "a\r\nb", "[]", "\u2028"];

describe("urlencoded forms, by URLSearchParams", () => {
  const FORM = "application/x-www-form-urlencoded";

  /** A text in one of its spellings. @param {Chance} chance @param {string} text */
  const spell = (chance, text) =>
    [...text]
      .map((character) => {
        if (character === " ") return chance.pick(["+", "%20"]);
        if (/[\w.~*'()!-]/.test(character) && !chance.once(5)) return character;
        const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
        return chance.once(2) ? bytes.toUpperCase() : bytes;
      })
      .join("");

  /** @param {Chance} chance @param {[string, string][]} pairs */
  const write = (chance, pairs) => {
    const text = pairs.map(([name, value]) => {
      const isBare = value === "" && name !== "" && chance.once(2);
      return spell(chance, name) + (isBare ? "" : "=" + spell(chance, value)) + (chance.once(20) ? "&" : "");
    });
    return { type: FORM, bytes: Buffer.from(text.join("&")) };
  };

  /** @param {Content} content */
  const read = ({ bytes }) => {
    const form = new URLSearchParams(bytes.toString());
    form.sort();
    return form.toString();
  };

  test("the same pairs are the same request, however they are spelt and mixed", () =>
    check("form", (chance) => {
      const pairs = chance.many(6, () => /** @type {[string, string]} */ ([chance.pick(TEXTS), chance.pick(TEXTS)]));
      const others = pairs.map((pair) => /** @type {[string, string]} */ ([...pair]));
      if (chance.once(2)) chance.shuffle(others);
      if (chance.once(3)) others.splice(chance.below(others.length + 1), chance.below(2), [chance.pick(TEXTS), chance.pick(TEXTS)]);
      const [one, two] = [write(chance, pairs), write(chance, others)];
      // What is no pair, and what is no escape, is there as well.
      if (chance.once(6)) two.bytes = Buffer.concat([two.bytes, Buffer.from(chance.pick(["&", "&&", "%", "%zz", "=%4"]))]);
      return [one, two, read(one) === read(two)];
    }));
});

describe("multipart forms, by the platform's FormData", () => {
  /** @typedef {{ name: string, bytes: Buffer, filename?: string, type?: string }} Part */
  const NAMES = ["a", "b", "file", "a b", "é", "x[]"];
  const BYTES = ["", "a", "\r\n", "--", "\r\n--", "--x", "\r\n--x", "\r", "\n", "\0", "é", "a".repeat(300)];

  /** @param {Chance} chance @returns {Part} */
  const some = (chance) => {
    const bytes = Buffer.from(chance.many(4, () => chance.pick(BYTES)).join(""));
    const part = { name: chance.pick(NAMES), bytes };
    if (chance.once(2)) return part;
    const type = chance.pick(["text/plain", "image/png", "application/octet-stream"]);
    return { ...part, filename: chance.pick(["a.txt", "b.png", "é.txt"]), type, bytes: Buffer.concat([bytes, Buffer.from(chance.pick([[], [0xff], [0xfe, 0]]))]) };
  };

  /** @param {Chance} chance @param {Part[]} parts */
  const write = (chance, parts) => {
    const boundary = chance.pick(["x", "----WebKitFormBoundaryAaBb", "a'()+_,-./:=?b", "0".repeat(60)]) + chance.below(1e9);
    const name = (/** @type {string} */ text) => chance.pick([text, text.toLowerCase(), text.toUpperCase()]);
    const lines = parts.flatMap(({ name: field, filename, type, bytes }) => {
      const head = [`${name("Content-Disposition")}: form-data; name="${field}"${filename === undefined ? "" : `; filename="${filename}"`}`];
      if (type !== undefined) head.push(`${name("Content-Type")}: ${type}`);
      return [Buffer.from(`--${boundary}\r\n${head.join("\r\n")}\r\n\r\n`), bytes, Buffer.from("\r\n")];
    });
    const mark = boundary.slice(0, 70);
    if (lines.some((line) => line.includes(`\r\n--${mark}`) && !line.toString().startsWith("--"))) throw new Error("a boundary within");
    const bytes = Buffer.concat([...lines, Buffer.from(`--${boundary}--\r\n`)]);
    return { type: `multipart/form-data; boundary=${/[^\w-]/.test(boundary) ? `"${boundary}"` : boundary}`, bytes };
  };

  /** Its parts, those of one name in their order. @param {Content} content */
  const read = async ({ type, bytes }) => {
    const form = await new Response(new Uint8Array(bytes), { headers: { "Content-Type": type } }).formData();
    const parts = [];
    for (const [name, value] of form) {
      if (typeof value === "string") parts.push([name, value]);
      else parts.push([name, value.name, value.type, Buffer.from(await value.arrayBuffer()).toString("latin1")]);
    }
    return parts;
  };

  test("the same parts are the same request, whatever their boundary", () =>
    check("multipart", async (chance) => {
      const parts = [some(chance), ...chance.many(4, () => some(chance))];
      const others = parts.map((part) => ({ ...part }));
      if (chance.once(2)) others.splice(chance.below(others.length), chance.below(2), some(chance));
      const [one, two] = [write(chance, parts), write(chance, others)];
      return [one, two, JSON.stringify(await read(one)) === JSON.stringify(await read(two))];
    }));
});

describe("JSON, by JSON.parse and a reader that keeps every digit", () => {
  const NUMBERS = ["0", "-0", "1", "1.0", "1e0", "10e-1", "100", "1E2", "0.1", "0.10", "1e21", "1e-7", "9007199254740993", "0.1000000000000000055", "1e400", "5e-324", "1e-400", "123456789012345680000", "-1.5e3"];

  /** A number's digits without noughts at their ends, and where they stand. @param {string} text */
  const digitsOf = (text) => {
    const [mantissa, exponent = "0"] = text.replace(/^-/, "").split(/e/i);
    const [whole, fraction = ""] = mantissa.split(".");
    const digits = (whole + fraction).replace(/^0+/, "");
    const trimmed = digits.replace(/0+$/, "");
    return trimmed && `${trimmed}e${Number(exponent.replace("+", "")) - fraction.length + digits.length - trimmed.length}`;
  };

  /** Whether the platform says the same number again. @param {string} written */
  const survives = (written) => digitsOf(written) === digitsOf(String(Number(written)));

  /** @param {Chance} chance @param {number} depth @returns {any} a value, numbers as they are written */
  const some = (chance, depth) => {
    const kind = chance.below(depth > 0 ? 6 : 4);
    if (kind === 0) return chance.pick([null, true, false]);
    if (kind < 3) return kind === 1 ? chance.pick(TEXTS) : new LosslessNumber(chance.pick(NUMBERS));
    if (kind < 5) return Object.fromEntries(chance.many(4, () => [chance.pick(TEXTS), some(chance, depth - 1)]));
    return chance.many(3, () => some(chance, depth - 1));
  };

  /** @param {Chance} chance @param {string} text */
  const quote = (chance, text) => {
    let quoted = "";
    for (let at = 0; at < text.length; at++) {
      const unit = `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
      quoted += chance.once(6) ? (chance.once(2) ? unit : unit.replace(/[a-f]/g, (digit) => digit.toUpperCase())) : JSON.stringify(text[at]).slice(1, -1);
    }
    // Half of a pair is no text of its own.
    return /[\ud800-\udfff]/.test(text) ? JSON.stringify(text) : `"${quoted}"`;
  };

  /** @param {Chance} chance @param {any} value @param {boolean} mixed @returns {string} */
  const write = (chance, value, mixed) => {
    const gap = () => (chance.once(8) ? chance.pick([" ", "\n", "\t", "\r\n  "]) : "");
    if (value instanceof LosslessNumber) {
      if (!mixed || !survives(value.value)) return value.value;
      const spelt = String(Number(value.value));
      return chance.pick([value.value, spelt, /[.e]/.test(spelt) ? spelt : `${spelt}.0`, /e/.test(spelt) ? spelt : `${spelt}e0`]);
    }
    if (typeof value === "string") return quote(chance, value);
    if (Array.isArray(value)) return `[${gap()}${value.map((item) => write(chance, item, mixed) + gap()).join(",")}]`;
    if (value === null || typeof value !== "object") return String(value);
    const members = Object.entries(value);
    if (mixed) chance.shuffle(members);
    return `{${gap()}${members.map(([name, item]) => `${gap()}${quote(chance, name)}${gap()}:${gap()}${write(chance, item, mixed)}`).join(",")}${gap()}}`;
  };

  /** By RFC 8785; nothing where that would lose a digit. @param {string} text @returns {string | undefined} */
  const canonical = (text) => {
    let isLossless = true;
    parse(text, null, (digits) => (isLossless &&= survives(digits)));
    /** @type {(value: any) => any} */
    const sorted = (value) => {
      if (value === null || typeof value !== "object") return value;
      if (Array.isArray(value)) return value.map(sorted);
      // In a list, so that no name is taken for an index.
      return { list: Object.keys(value).sort().map((name) => [name, sorted(value[name])]) };
    };
    return isLossless ? JSON.stringify(sorted(JSON.parse(text))) : undefined;
  };

  test("the same value is the same request, however it is written, unless that loses a digit", () =>
    check("json", (chance) => {
      const value = some(chance, 3);
      const other = chance.once(3) ? some(chance, 2) : value;
      const one = write(chance, value, false);
      const two = chance.once(8) ? one : write(chance, other, true);
      const [first, second] = [canonical(one), canonical(two)];
      const isSame = one === two || (first !== undefined && first === second);
      const content = (/** @type {string} */ text) => ({ type: "application/json", bytes: Buffer.from(text) });
      return [content(one), content(two), isSame];
    }));
});
