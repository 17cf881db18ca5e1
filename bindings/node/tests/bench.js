// Megabytes in a second through `Parser.push`, in chunks of 16 bytes and of other sizes:
//     node bench.js [SECONDS]

import { Parser } from "toolgraft";

const PROSE = "The quick brown fox jumps over the lazy dog, and nobody knows why it does so. ".repeat(30);
const CONTENT = "fn main() { println!(); }\\n".repeat(60);
const CALL = `<tool_call>{"name": "write_file", "arguments": {"path": "src/main.rs", "content": "${CONTENT}"}}</tool_call>`;
const TEXTS = { prose: PROSE.repeat(20), calls: CALL.repeat(20), "prose and calls": `${PROSE}\n${CALL}\n`.repeat(10) };

/** The best of many passes: others may use the machine, too. */
function rate(text, size, seconds) {
  const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g"));
  const parser = new Parser();
  const end = performance.now() + seconds * 1000;
  let best = Infinity;
  while (performance.now() < end) {
    const start = performance.now();
    for (const chunk of chunks) parser.push(chunk);
    parser.finish();
    best = Math.min(best, performance.now() - start);
    parser.reset();
  }
  return text.length / best / 1000;
}

const seconds = Number(process.argv[2] ?? 1);
for (const [name, text] of Object.entries(TEXTS)) {
  const rates = [16, 64, 4096].map((size) => `${size} bytes ${rate(text, size, seconds).toFixed(0)}`);
  console.log(`${name}: MB/s at ${rates.join(", ")}`);
}
