// What the clients for Node share: the cases, and how they are counted.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

export const url = process.env.TOOLGRAFT_URL;
export const cases = JSON.parse(readFileSync(new URL("cases.json", import.meta.url)));
const sizes = [1, 7, 0];
export const tools = [
  ["weather", "The weather of a city.", { type: "object", properties: { city: { type: "string" } }, required: ["city"] }],
  ["now", "The time.", { type: "object", properties: {} }],
];

// Runs every case with every size of chunks in every way of asking.
export async function each(ways, run) {
  let done = 0;
  for (const [name, { expect }] of Object.entries(cases)) {
    for (const size of sizes) {
      for (const way of ways) {
        try {
          await run(way, `${name}@${size}@${process.pid}${way}${done}`, expect);
        } catch (error) {
          console.log(`${name}, chunks of ${size}, ${way}: ${error.stack}`);
          process.exit(1);
        }
        done += 1;
      }
    }
  }
  console.log(`${done} answers`);
}

export function same(found, expected, what) {
  if (!isDeepStrictEqual(found, expected)) {
    throw new Error(`${what} is ${JSON.stringify(found)}, and should be ${JSON.stringify(expected)}`);
  }
}

// The error that a promise fails with says what happened.
export async function fails(promise, words) {
  let answer;
  try {
    answer = await promise;
  } catch (error) {
    const text = `${error.message} ${error.cause ?? ""} ${JSON.stringify(error)} ${error.responseBody ?? ""}`;
    if (!text.includes(words)) throw new Error(`it should say ${words}: ${text}`);
    return;
  }
  throw new Error(`no error came, but ${JSON.stringify(answer)}`);
}
