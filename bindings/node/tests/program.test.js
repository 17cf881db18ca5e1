// What runs the program: a stand-in for it says what it was given.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, test } from "node:test";

const SYSTEM = `@toolgraft/${process.platform}-${process.arch}`;
const folders = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

/** The path of the launcher, installed with a program that is this script. */
function installed(script) {
  const folder = mkdtempSync(join(tmpdir(), "toolgraft-"));
  folders.push(folder);
  const modules = join(folder, "node_modules");
  const real = realpathSync(fileURLToPath(new URL("node_modules/toolgraft", import.meta.url)));
  cpSync(real, join(modules, "toolgraft"), { recursive: true });
  if (script) {
    mkdirSync(join(modules, SYSTEM, "bin"), { recursive: true });
    writeFileSync(join(modules, SYSTEM, "package.json"), JSON.stringify({ name: SYSTEM, version: "0.1.0" }));
    writeFileSync(join(modules, SYSTEM, "bin", "toolgraft"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return join(modules, "toolgraft", "bin", "toolgraft.js");
}

const run = (launcher, ...args) => spawnSync(process.execPath, [launcher, ...args], { input: "in\n", encoding: "utf8" });

test("arguments, standard input and output and the exit code are the program's", () => {
  const launcher = installed('read line; echo "out $1|$2 $line"; echo err >&2; exit 3');
  const { status, stdout, stderr } = run(launcher, "a b", "--flag=*");
  assert.deepEqual([status, stdout, stderr], [3, "out a b|--flag=* in\n", "err\n"]);
});

test("a signal ends the program, which may end in its own way", { timeout: 60_000 }, async () => {
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
    // No script of a shell: that cannot catch a signal which was ignored when it began.
    const program = `process.on("${signal}", () => { console.log("bye"); process.exitCode = 5; clearInterval(timer); });
      const timer = setInterval(() => {}, 1000); console.log("up");`;
    const launcher = installed(`exec '${process.execPath}' -e '${program}'`);
    const child = spawn(process.execPath, [launcher], { stdio: ["pipe", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (data) => {
      if (!said) child.kill(signal);
      said += data;
    });
    const [code] = await once(child, "close");
    assert.deepEqual([code, said], [5, "up\nbye\n"], signal);
  }
});

test("a program that a signal ended is told as shells tell it", () => {
  assert.equal(run(installed("kill -KILL $$")).status, 137);
});

test("without the package for this system it says what is missing, and so does the module", () => {
  const launcher = installed();
  const { status, stderr } = run(launcher, "demo");
  assert.equal(status, 127);
  assert.match(stderr, new RegExp(`^toolgraft: ${SYSTEM} is not installed\\. .*--omit=optional.*cargo install`));
  const module = join(launcher, "..", "..", "js", "index.js");
  const imported = spawnSync(process.execPath, ["--input-type=module", "--eval", `import ${JSON.stringify(module)}`], { encoding: "utf8" });
  assert.match(imported.stderr, /is not installed\. .*make node/);
});
