#!/usr/bin/env node
// Runs the program, which is a file of the package for this system.

import { spawn } from "node:child_process";
import { constants } from "node:os";

import { found } from "../js/platform.js";

function run(file) {
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
  // At a terminal Ctrl-C reaches the program itself, and this waits for what it does.
  process.on("SIGINT", () => process.stdin.isTTY || child.kill("SIGINT"));
  for (const signal of ["SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => {
    console.error(`toolgraft: ${file} cannot be run: ${error.message}`);
    process.exitCode = 126;
  });
  child.on("exit", (code, signal) => {
    process.exitCode = signal ? 128 + constants.signals[signal] : code;
  });
}

try {
  run(found("bin/toolgraft"));
} catch (error) {
  console.error(error.message);
  process.exitCode = 127;
}
