// The types, as TypeScript reads them in strict mode: with both versions of the AI SDK.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const HERE = fileURLToPath(new URL(".", import.meta.url));

function checked(...args) {
  const { status, stdout } = spawnSync(process.execPath, [require.resolve("typescript/bin/tsc"), ...args], { cwd: HERE, encoding: "utf8" });
  assert.equal(status, 0, stdout);
}

test("the types themselves", () => checked("--noEmit", "--strict", require.resolve("toolgraft").replace(/js$/, "d.ts")));
test("a program that uses them, with ai 6", () => checked("-p", "types"));
test("a program that uses them, with ai 7", () => checked("-p", "types/ai-7.json"));
