// @ts-check
// Both packages as npm packs them: what is in them, and what publint and are-the-types-wrong say of them.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { pack, run } from "./room.mjs";

const BIN = fileURLToPath(new URL("node_modules/.bin/", import.meta.url));
const NEEDED = ["LICENSE", "README.md", "package.json"];

for (const [name, tarball] of Object.entries(pack()))
  describe(name, () => {
    const cwd = dirname(tarball);

    test("the licence and a README are in it, and nothing of this machine", () => {
      const files = run("tar", ["-tzf", tarball], cwd).split("\n").filter(Boolean).map((path) => path.replace("package/", ""));
      for (const file of NEEDED) assert.ok(files.includes(file), `${file} is not in ${files}`);
      assert.ok(!files.some((file) => /node_modules|\.dev\.vars|\.tgz$/.test(file)), files.join(" "));
      const text = run("sh", ["-c", 'tar -xzOf "$0" | tr -d "\\000" | grep -c "$1" || true', tarball, fileURLToPath(new URL("../..", import.meta.url))], cwd);
      assert.equal(text.trim(), "0", "a path of this machine");
    });

    test("publint finds nothing", () => {
      assert.match(run(process.execPath, [join(BIN, "publint"), tarball, "--strict"], cwd), /All good!/);
    });

    test("are-the-types-wrong finds nothing: as ES modules, of which alone it consists", () => {
      run(process.execPath, [join(BIN, "attw"), tarball, "--profile", "esm-only", "--quiet"], cwd);
    });
  });
