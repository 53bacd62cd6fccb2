// @ts-check
// What editors are given of the policy: the JSON Schema takes and refuses what the gate does, the types do in TypeScript.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";

/** @typedef {{ name: string, input?: unknown, text?: string, pointer: string, beyond_schema?: string }} Case */

const FOLDER = process.env.ONCEKEY_POLICY ?? "";
const schema = JSON.parse(readFileSync(join(FOLDER, "policy.schema.json"), "utf8"));
const vectors = JSON.parse(readFileSync(new URL("../vectors/policies.json", import.meta.url), "utf8"));
const ajv = new Ajv2020({ strict: true, allErrors: true });
const validate = ajv.compile(schema);

/** What a case says, as a parser of JSON reads it. @param {Case} found @returns {unknown} */
const read = ({ input, text }) => (text === undefined ? input : JSON.parse(text));

/** Where a validator finds something wrong: the value, or a member of it. @returns {string[]} */
const places = () =>
  (validate.errors ?? []).flatMap(({ instancePath, params }) => {
    const member = params.missingProperty ?? params.additionalProperty ?? params.propertyName;
    if (member === undefined) return [instancePath];
    return [`${instancePath}/${String(member).replaceAll("~", "~0").replaceAll("/", "~1")}`];
  });

test("the schema is one of 2020-12", () => {
  assert.equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  assert.equal(ajv.validateSchema(schema), true, ajv.errorsText());
});

for (const found of /** @type {Case[]} */ ([...vectors.valid, ...vectors.published])) {
  test(`valid: ${found.name}`, () => assert.ok(validate(read(found)), ajv.errorsText(validate.errors)));
}

for (const found of vectors.published) {
  test(`what is published is valid: ${found.name}`, () =>
    assert.ok(validate(JSON.parse(found.expect)), ajv.errorsText(validate.errors)));
}

test("the demo's policy is valid", () => {
  const policy = readFileSync(new URL("../../www/policy.json", import.meta.url), "utf8");
  assert.ok(validate(JSON.parse(policy)), ajv.errorsText(validate.errors));
});

for (const found of /** @type {Case[]} */ (vectors.invalid)) {
  const { name, pointer, beyond_schema: reason } = found;
  if (reason === "not JSON") {
    test(`no JSON: ${name}`, () => assert.throws(() => read(found), SyntaxError));
  } else if (reason !== undefined) {
    // Where a schema learns to say it, the mark in the vectors is old.
    test(`beyond a schema, ${reason}: ${name}`, () => assert.ok(validate(read(found)), ajv.errorsText(validate.errors)));
  } else {
    test(`invalid at ${pointer || "the top"}: ${name}`, () => {
      assert.ok(!validate(read(found)), "the schema takes it");
      assert.ok(places().includes(pointer), ajv.errorsText(validate.errors));
    });
  }
}

test("the types take what is right and refuse what is wrong", () => {
  const room = mkdtempSync(join(tmpdir(), "oncekey-types-"));
  try {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: "esnext",
      module: "esnext",
      moduleResolution: "bundler",
      types: [],
      paths: { "oncekey/policy": [join(FOLDER, "policy.d.ts")] },
    };
    const files = [fileURLToPath(new URL("types.ts", import.meta.url))];
    writeFileSync(join(room, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const tsc = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");
    const { status, stdout } = spawnSync(process.execPath, [tsc, "--project", room], { encoding: "utf8" });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(room, { recursive: true, force: true });
  }
});
