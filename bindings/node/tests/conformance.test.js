// Every parser fixture, whole and in pieces, as the library itself reads it.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Parser } from "toolgraft";

const FILE = new URL("../../../fixtures/conformance.jsonl", import.meta.url);
const FIXTURES = readFileSync(FILE, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));

/** Pieces of sixteen bytes, or as many as whole characters leave. */
function sixteen(text) {
  const pieces = [];
  let [piece, size] = ["", 0];
  for (const character of text) {
    const width = Buffer.byteLength(character);
    if (size + width > 16) {
      pieces.push(piece);
      [piece, size] = ["", 0];
    }
    piece += character;
    size += width;
  }
  return piece ? [...pieces, piece] : pieces;
}

const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());

/** The parser of a fixture, its reasoning field, and why its message ended. */
function parser({ reasoning_field = "", finish_reason = "stop", tools, dialect, limits, ...config }) {
  const settings = { validate: false, ...(dialect && { dialects: dialect }), ...config, ...limits };
  const named = Object.fromEntries(Object.entries(settings).map(([name, value]) => [camel(name), value]));
  return [new Parser(tools, named), reasoning_field, finish_reason];
}

/** What a message says, in the file's form. */
function found(message) {
  const calls = message.calls.map(({ server, tool, arguments: args, dialect, repairs, provenance }) => ({
    server,
    tool,
    arguments: args,
    dialect,
    repairs,
    provenance,
  }));
  const isPromoted = ({ call, rejected }) => (call ?? rejected?.call)?.provenance === "promoted";
  return {
    content: message.content,
    reasoning: message.reasoning,
    calls,
    rejected: message.rejected.map(({ kind, raw, message }) => ({ kind, raw, message })),
    promoted: message.entries.filter(isPromoted).map((entry) => entry.index),
    deltas: message.entries.map((entry) => entry.deltas),
    answer_in_reasoning: message.answerInReasoning,
  };
}

/** Events follow each other without a gap, from 0 to the text's length. */
function tile(events, length) {
  let at = 0;
  for (const { span } of events) {
    assert.equal(span.start, at);
    at = span.end;
  }
  assert.equal(at, length);
}

/** What the events alone say of calls. */
function told(events) {
  const ends = events.filter((event) => event.type === "call_end");
  const deltas = ends.map(({ index }) =>
    events.flatMap((event) => (event.type === "args_delta" && event.index === index ? event.text : [])).join(""),
  );
  return { ends: ends.map(({ index, raw }) => [index, raw]), deltas };
}

function replay(pieces) {
  assert.ok(FIXTURES.length > 1000);
  for (const { name, text, config, found: expected } of FIXTURES) {
    const [reader, reasoning, reason] = parser(config ?? {});
    const events = [
      ...pieces(reasoning).flatMap((piece) => reader.pushReasoning(piece)),
      ...pieces(text).flatMap((piece) => reader.push(piece)),
      ...reader.finish(reason),
    ];
    assert.deepStrictEqual(found(reader.message), expected, name);
    assert.deepStrictEqual(told(events).deltas, expected.deltas, name);
    tile(events, Buffer.byteLength(reasoning + text));
    assert.deepStrictEqual(reader.parse(text, { reasoning, reason }), reader.message, name);
  }
}

test("whole", () => replay((text) => [text]));
test("by character", () => replay((text) => [...text]));
test("in pieces of sixteen bytes", () => replay(sixteen));
test("by halves of characters", () => replay((text) => text.split("")));
