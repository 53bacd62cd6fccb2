// @ts-check
// What is a key, where it may stand, which requests are the same, and which routes look for one.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { brotliCompressSync } from "node:zlib";
import { executed, refused, replayed, World } from "./gate.mjs";

/** @typedef {import("./gate.mjs").Change} Change */
/** @typedef {[string, string][]} Lines */

const LIMIT = 4096;
const FORM = "application/x-www-form-urlencoded";

/** @type {World} */
let world;
before(async () => {
  world = await World.start({
    max_content: LIMIT,
    routes: [
      { path: "/must/*", require: true },
      { path: "/exact", require: true },
      { path: "/put/*", methods: ["PUT", "DELETE"] },
      { path: "/free/*" },
    ],
  });
});
after(() => world?.end());

/** A UTF-8 text as the bytes of a header. @param {string} text */
const utf8 = (text) => Buffer.from(text).toString("latin1");

/** Two requests are one. @param {string} name @param {Change} a @param {Change} b */
const same = (name, a, b) =>
  test(`${name}: one request`, async () => {
    const spot = await world.spot("/free");
    const first = await spot.post(a);
    executed(first);
    replayed(await spot.post(b), first);
    await spot.ran(1);
  });

/** One key, two requests. @param {string} name @param {Change} a @param {Change} b */
const differs = (name, a, b) =>
  test(`${name}: another request`, async () => {
    const spot = await world.spot("/free");
    const first = await spot.post(a);
    executed(first);
    refused(await spot.post(b), "idempotency_key_reused");
    replayed(await spot.post(a), first);
    await spot.ran(1);
  });

/** Two keys. @param {string} name @param {Change} a @param {Change} b */
const apart = (name, a, b) =>
  test(`${name}: two keys`, async () => {
    const spot = await world.spot("/free");
    executed(await spot.post(a));
    executed(await spot.post(b));
    await spot.ran(2);
  });

/** Refused, and nothing reaches the origin. @param {string} name @param {Change} change */
const invalid = (name, change) =>
  test(`${name}: refused`, async () => {
    const spot = await world.spot("/free");
    refused(await spot.post(change), "key_invalid");
    await spot.ran(0);
  });

/** No key: it runs each time. @param {string} name @param {Change} change @param {string} [reason] */
const passes = (name, change, reason = "no-key") =>
  test(`${name}: passes as it is`, async () => {
    const spot = await world.spot("/free");
    for (const _ of [1, 2]) {
      const answer = await spot.post({ key: null, ...change });
      assert.deepEqual([answer.status, answer.word], [201, `bypassed;reason=${reason}`], answer.brief);
    }
    await spot.ran(2);
    for (const seen of await spot.seen()) {
      const sent = change.chunks ? Buffer.concat(change.chunks.map((chunk) => Buffer.from(chunk))) : change.content;
      assert.equal(seen.content, Buffer.from(sent ?? '{"item":"lamp"}').toString("latin1"));
    }
  });

const long = (/** @type {number} */ length) => `L${"k".repeat(length - 1)}`;

describe("the header", { concurrency: 8 }, () => {
  same("quoted and bare", { key: '"k-1"' }, { key: "k-1" });
  same("blanks around it", { key: "k-2" }, { key: "  k-2\t" });
  same("parameters of a quoted key", { key: "k-3" }, { key: '"k-3";v=1;w="a;b"' });
  same("escapes in a quoted key", { key: '"k\\"-\\\\4"' }, { key: '"k\\"-\\\\4"' });
  same("255 characters", { key: long(255) }, { key: `"${long(255)}"` });
  apart("letter case", { key: "k-5" }, { key: "K-5" });
  apart("a semicolon belongs to a bare key", { key: "k-6;v=1" }, { key: "k-6" });
  apart("an inner blank", { key: '"k 7"' }, { key: '"k  7"' });
  apart("a comma in a quoted key", { key: '"k,8"' }, { key: '"k,8,"' });
  for (const [name, key] of /** @type {Lines} */ ([
    ["blank", ""],
    ["blanks", "   "],
    ["empty quotes", '""'],
    ["quoted blanks", '"  "'],
    ["256 characters", long(256)],
    ["256 characters, quoted", `"${long(256)}"`],
    ["8,000 characters", long(8000)],
    ["a comma", "a,b"],
    ["two quoted", '"a", "b"'],
    ["a blank inside", "a b"],
    ["an open quote", '"a'],
    ["a closing quote alone", 'a"'],
    ["text after the quotes", '"a"b'],
    ["a backslash", "a\\b"],
    ["an escape of another character", '"a\\b"'],
    ["UTF-8", utf8("clé")],
    ["UTF-8, quoted", utf8('"clé"')],
    ["latin-1", "cl\xe9"],
    ["a tab", "a\tb"],
  ])) {
    invalid(name, { key });
  }
  for (const [name, a, b] of [
    ["equal", "k-9", "k-9"],
    ["one blank", "k-9", ""],
    ["different", "k-9", "k-10"],
  ]) {
    invalid(`two lines, ${name}`, { key: a, more: [["idempotency-KEY", b]] });
  }
  passes("no header", {});
});

describe("in content", { concurrency: 8 }, () => {
  const json = (/** @type {string} */ content) => ({ key: null, content });
  const form = (/** @type {string} */ content) => ({ key: null, type: FORM, content });
  same("JSON and header", json('{"n":1,"idempotency_key":"c-1"}'), { key: "c-1", content: '{"n":1}' });
  same("JSON and an agreeing header", json('{"n":1,"idempotency_key":"c-2"}'), {
    key: '"c-2"',
    content: '{"idempotency_key":"c-2","n":1}',
  });
  same("JSON with an escape", json('{"idempotency_key":"c-3"}'), json('{"idempotency_key":"c\\u002d3"}'));
  same(
    "JSON of another type",
    { ...json('{"idempotency_key":"c-4"}'), type: "application/vnd.shop+json" },
    { ...json('{"idempotency_key":"c-4"}'), type: "Application/Vnd.Shop+JSON; v=1" },
  );
  apart("JSON takes its text literally", json('{"idempotency_key":"\\"c-5\\""}'), json('{"idempotency_key":"c-5"}'));
  same("form field", form("n=1&idempotency_key=c-6"), form("idempotency_key=c%2D6&n=1"));
  same("form field and another header", form("n=1&idempotency_key=c-7"), {
    ...form("n=1&idempotency_key=c-7"),
    key: "of-the-browser",
  });
  same("form field and a malformed header", form("n=1&idempotency_key=c-8"), {
    ...form("n=1&idempotency_key=c-8"),
    key: "a,b",
  });
  same("form without a field, by header", { type: FORM, content: "n=1" }, { type: FORM, content: "n=1" });
  invalid("JSON and header disagree", { key: "c-9", content: '{"idempotency_key":"c-10"}' });
  for (const [name, member] of [
    ["number", "7"],
    ["null", "null"],
    ["list", '["a"]'],
    ["empty", '""'],
    ["blank", '"  "'],
    ["non-ASCII", '"clé"'],
    ["over-long", JSON.stringify(long(256))],
  ]) {
    invalid(`JSON member: ${name}`, json(`{"idempotency_key":${member}}`));
  }
  invalid("JSON member twice", json('{"idempotency_key":"c-11","idempotency_key":"c-11"}'));
  invalid("form field twice", form("idempotency_key=c-12&idempotency_key=c-12"));
  invalid("form field blank", form("idempotency_key=&n=1"));
  invalid("form field over-long", form(`idempotency_key=${long(256)}`));
  passes("a nested member", { content: '{"a":{"idempotency_key":"c-13"}}' });
  passes("a list", { content: '[{"idempotency_key":"c-14"}]' });
  passes("broken JSON", { content: '{"idempotency_key":"c-15"' });
  passes("JSON in another coding", { content: brotliCompressSync('{"idempotency_key":"c-16"}'), more: [["Content-Encoding", "br"]] });
  passes("JSON that is not so coded", { content: '{"idempotency_key":"c-17"}', more: [["Content-Encoding", "gzip"]] });
  passes("a text", { content: "idempotency_key=c-17", type: "text/plain" });
});

describe("multipart", { concurrency: 8 }, () => {
  const field = "idempotency_key";
  /** @param {string} boundary @param {...[string, string]} parts */
  const multipart = (boundary, ...parts) => ({
    key: null,
    type: `multipart/form-data; boundary=${boundary}`,
    content:
      parts
        .map(([head, text]) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`)
        .join("") + `--${boundary}--\r\n`,
  });
  /** @param {string} key @returns {[string, string]} */
  const key = (key) => [`name="${field}"`, key];
  same(
    "another boundary",
    multipart("one", key("m-1"), ['name="n"', "1"]),
    multipart("another", key("m-1"), ['name="n"', "1"]),
  );
  same("field and another header", multipart("one", key("m-2")), {
    ...multipart("two", key("m-2")),
    key: "of-the-browser",
  });
  differs(
    "a part's bytes",
    multipart("one", key("m-3"), ['name="f"; filename="a"', "x"]),
    multipart("one", key("m-3"), ['name="f"; filename="a"', "y"]),
  );
  differs(
    "a file's name",
    multipart("one", key("m-4"), ['name="f"; filename="a"', "x"]),
    multipart("one", key("m-4"), ['name="f"; filename="b"', "x"]),
  );
  invalid("field twice", multipart("one", key("m-5"), key("m-5")));
  passes("no field", multipart("one", ['name="n"', "1"]));
});

describe("the same request", { concurrency: 8 }, () => {
  const json = (/** @type {string | Buffer} */ content) => ({ content });
  const form = (/** @type {string} */ content) => ({ type: FORM, content });
  same("members in another order", json('{"a":1,"b":[1,{"c":2,"d":3}]}'), json('{ "b" : [1, {"d":3,"c":2}],\n"a":1 }'));
  same("spellings of a number", json('{"n":[100,0.1,-0]}'), json('{"n":[1e2,1.0e-1,0]}'));
  same("escapes", json('{"a":"\\u00e9\\/"}'), json('{"a":"é/"}'));
  same("parameters of the type", { type: "application/json" }, { type: "APPLICATION/JSON; charset=utf-8" });
  same("form fields in another order", form("a=1&b=x+y"), form("b=x%20y&%61=1"));
  same("framing", { content: '{"item":"lamp"}' }, { chunks: ['{"item":', '"lamp"}'] });
  same("no content", { content: "" }, { content: "" });
  differs("large numbers apart by one", json('{"n":9007199254740992}'), json('{"n":9007199254740993}'));
  differs("a member twice", json('{"a":1,"a":2}'), json('{"a":2}'));
  differs("null and missing", json('{"a":null}'), json("{}"));
  differs("a list's order", json("[1,2]"), json("[2,1]"));
  differs("a repeated field's order", form("a=1&a=2"), form("a=2&a=1"));
  differs("bytes of a text", { type: "text/plain", content: "a b" }, { type: "text/plain", content: "a  b" });
  const deep = "[".repeat(2000) + "]".repeat(2000);
  for (const [name, one, other] of /** @type {[string, string | Buffer, string | Buffer][]} */ ([
    ["a deep nest", deep, `[${deep}]`],
    ["a number beyond a double", '{"n":1e400}', '{"n":1e401}'],
    ["a lone surrogate", '{"a":"\\ud800"}', '{"a":"\\ud801"}'],
    ["a byte order mark", "\ufeff{}", "{}"],
    ["invalid UTF-8", Buffer.from('{"a":"\xff"}', "latin1"), Buffer.from('{"a":"\xfe"}', "latin1")],
    ["no JSON", '{"a":', '{"a": '],
  ])) {
    differs(`${name}, by its bytes`, json(one), json(other));
  }
});

describe("too large", { concurrency: 8 }, () => {
  const over = `{"text":"${"x".repeat(LIMIT)}"}`;
  const limit = `"${"x".repeat(LIMIT - 2)}"`;
  passes("without a key", { content: over }, "content-too-large");
  passes("without a key or a length", { chunks: [over.slice(0, 3000), over.slice(3000)] }, "content-too-large");
  same("the limit itself", { content: limit }, { chunks: [limit] });
  for (const [name, path, change] of /** @type {[string, string, Change][]} */ ([
    ["with a header", "/free", { content: over }],
    ["with a header, in chunks", "/free", { chunks: [over.slice(0, 3000), over.slice(3000)] }],
    ["where a key is required", "/must", { content: over, key: null }],
  ])) {
    test(`${name}: refused`, async () => {
      const spot = await world.spot(path);
      refused(await spot.post(change), "content_too_large");
      await spot.ran(0);
    });
  }
});

describe("routes", { concurrency: 8 }, () => {
  /** @param {string} path */
  const required = (path) =>
    test(`${path} requires a key`, async () => {
      refused(await (await world.spot("/free")).post({ key: null, path }), "key_missing");
      assert.ok(!(await world.origin.targets()).includes(path), "it reached the origin");
    });
  for (const path of [
    "/must/r1",
    "/must/",
    "/must/r2?q=/free",
    "/%6dust/r3",
    "/m%75%73t/r4",
    "/free/../must/r5",
    "/free/%2e%2E/must/r6",
    "/./must/r7",
    "/exact?q",
  ])
    required(path);

  /** @param {string} path @param {string} [method] @param {string} [seen] */
  const unmatched = (path, method = "POST", seen = path) =>
    test(`${method} ${path} is no route`, async () => {
      const spot = await world.spot("/free");
      for (const key of ["no,key", spot.key, spot.key]) {
        const answer = await spot.post({ path, method, key });
        assert.deepEqual([answer.status, answer.word], [201, undefined], answer.brief);
      }
      assert.equal((await world.origin.targets()).filter((target) => target === seen).length, 3);
    });
  for (const path of [
    "/must",
    "/MUST/u1",
    "/must%2Fu2",
    "/musty/u3",
    "/exact/",
    "/exact/u4",
    "/Exact",
    "/x/u5?/must/x",
    "//must/u6",
  ])
    unmatched(path);
  unmatched("/free/u7", "PUT");
  unmatched("/free/u8", "DELETE");
  unmatched("/put/u9", "POST");

  for (const method of ["GET", "HEAD", "OPTIONS"]) {
    test(`${method} is never protected`, async () => {
      const spot = await world.spot("/must", { status: 200 });
      for (const key of [spot.key, spot.key, "a,b"]) {
        const { lines } = spot.request({ key });
        assert.equal((await world.send({ method, path: spot.path, lines })).status, 200);
      }
      await spot.ran(3);
    });
  }
  for (const [method, route] of [
    ["PATCH", "/free"],
    ["PUT", "/put"],
    ["DELETE", "/put"],
  ]) {
    test(`${method} is protected where its route says so`, async () => {
      const spot = await world.spot(route);
      const first = await spot.post({ method });
      executed(first);
      replayed(await spot.post({ method }), first);
      await spot.ran(1);
    });
  }

  test("the origin sees the target as sent", async () => {
    const spot = await world.spot("/free");
    const path = `/fr%65e/a%2Fb%20c/~x;y=1?q=%7E&&r=a+b&e=é`.replace("é", utf8("é"));
    executed(await spot.post({ path }));
    // Bytes that no target may hold (RFC 9112 §3.2) are percent-encoded by the platform, which sends URLs.
    const sent = path.replace(utf8("é"), "%C3%A9");
    const targets = await world.origin.targets();
    assert.ok(targets.includes(sent), targets.filter((target) => target.includes("%2Fb")).join());
  });

  for (const path of [
    "/.oncekey/x",
    "/.oncekey/",
    "/.oncekey",
    "/%2eoncekey/x",
    "/.%6Fncekey/x",
    "/free/../.oncekey/x",
    "/./.oncekey/keys",
    "/.well-known/idempotency",
    "/.well-known/%69dempotency",
  ]) {
    test(`${path} is never forwarded`, async () => {
      const spot = await world.spot("/free");
      for (const method of ["POST", "PUT", "OPTIONS"]) {
        const answer = await spot.post({ method, path });
        assert.ok(answer.status >= 400 && answer.status < 500, answer.brief);
      }
      const reached = (await world.origin.targets()).filter((target) => /oncekey|well-known/i.test(decodeURI(target)));
      assert.deepEqual(reached, []);
    });
  }
});
