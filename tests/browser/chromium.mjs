#!/usr/bin/env node
// The Chromium of @sparticuz/chromium, behind as much of Chromium's command line as the
// tests use. The package has no resources for `--dump-dom` and `--screenshot` of its own
// (they wait for ever), so that puppeteer does both. `--set-up` unpacks it and ends.
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const unpacked = join(here, "unpacked");

// The package unpacks into the folder for temporary files, and its libraries only where it
// believes itself in a Lambda; it takes what it finds there for whole.
const temporary = process.env.TMPDIR;
process.env.AWS_EXECUTION_ENV = "AWS_Lambda_nodejs20.x";
process.env.FONTCONFIG_FILE = join(here, "fonts.conf");
async function inFolder(folder) {
  process.env.TMPDIR = folder;
  const { default: chromium } = await import("@sparticuz/chromium");
  return { args: chromium.args, path: await chromium.executablePath() };
}

if (process.argv[2] === "--set-up") {
  const fresh = `${unpacked}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh);
  await inFolder(fresh);
  rmSync(unpacked, { recursive: true, force: true });
  renameSync(fresh, unpacked);
  process.exit();
}

if (!existsSync(unpacked)) throw new Error(`${unpacked} is missing: run \`make set-up\``);
const { args: ours, path } = await inFolder(unpacked);
if (temporary === undefined) delete process.env.TMPDIR;
else process.env.TMPDIR = temporary;

const { default: puppeteer } = await import("puppeteer-core");
const args = process.argv.slice(2);
const url = args.pop();
const value = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1];
const [width, height] = (value("window-size") ?? "800,600").split(",").map(Number);
// Whoever asks for a port talks to the browser over its own protocol, until they end.
const talks = value("remote-debugging-port") !== undefined;
const browser = await puppeteer.launch({
  args: ours.filter((arg) => !arg.startsWith("--headless")),
  defaultViewport: { width, height, deviceScaleFactor: Number(value("force-device-scale-factor") ?? 1) },
  executablePath: path,
  headless: "shell",
  pipe: !talks,
  userDataDir: value("user-data-dir"),
});
try {
  if (talks) {
    console.error(`DevTools listening on ${browser.wsEndpoint()}`);
    process.stdin.resume();
    await new Promise((over) => {
      browser.on("disconnected", over);
      process.stdin.on("end", over);
    });
    process.exit();
  }
  const page = await browser.newPage();
  if (args.includes("--force-dark-mode")) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  }
  await page.goto(url, { waitUntil: "load" });
  if (args.includes("--dump-dom")) process.stdout.write(await page.content());
  const file = value("screenshot");
  if (file !== undefined) await page.screenshot({ path: file });
} finally {
  await browser.close();
}
