// The module's own side: arguments, errors, records, words.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

import * as toolgraft from "toolgraft";
import { Call, Catalog, Parser, Rejected, Tool, ToolResult, parse } from "toolgraft";

const ROOT = new URL("../../../", import.meta.url);
const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
};
const TOOLS = new Catalog([new Tool("forecast", { server: "weather", description: "The weather.", inputSchema: SCHEMA })]);
const HERMES = '<tool_call>{"name": "forecast", "arguments": {"city": "Ulm", "days": "3"}}</tool_call>';
const TYPES = readFileSync(createRequire(import.meta.url).resolve("toolgraft").replace(/\.js$/, ".d.ts"), "utf8");

/** The words of a type. */
function words(name) {
  const [, alternatives] = new RegExp(`export type ${name} =([^;]*);`).exec(TYPES);
  return [...alternatives.matchAll(/"(\w+)"/g)].map(([, word]) => word);
}

test("the dialects of the types are those of the library", () => {
  assert.deepEqual(words("Dialect"), toolgraft.DIALECTS);
});

test("a dialect of a file is read and taught by its name", () => {
  const file = '{"name": "moon", "calls": [{"header": "<moon:{name}>", "close": "</moon>"}]}';
  const name = toolgraft.loadDialect(file);
  assert.equal(name, "moon");
  const [call] = parse('<moon:forecast>{"city": "Ulm"}</moon>', TOOLS, { dialects: ["auto", name] }).calls;
  assert.equal(call.dialect, "moon");
  assert.match(toolgraft.renderPrompt(TOOLS, { dialect: name }), /<moon:forecast>/);
  assert.throws(() => toolgraft.loadDialect(file.replace("</moon>", "}")), { name: "SettingError", message: /calls\[0\]\.close/ });
});

test("the words of the types are those of the schema of events", () => {
  const schema = JSON.parse(readFileSync(new URL("docs/events.schema.json", ROOT), "utf8")).$defs;
  for (const name of ["Dialect", "MarkerKind", "Provenance", "QuotedIn", "RejectedKind", "Status"]) {
    // A dialect may also be one of a file, whose name is any text.
    const one = schema[name].enum ?? (schema[name].oneOf ?? schema[name].anyOf).map((one) => one.const);
    const stated = one.filter((word) => word !== undefined);
    assert.deepEqual(words(name).sort(), [...stated].sort(), name);
  }
  for (const status of words("Status")) assert.equal(new ToolResult(new Call("f", {}), "", { status }).status, status);
});

test("every name of the module and every member of its classes is in the types, and no other", () => {
  const stated = [...TYPES.matchAll(/export declare (?:class|function|const) (\w+)/g)].map(([, name]) => name);
  assert.deepEqual(stated.sort(), Object.keys(toolgraft).sort());
  for (const [name, kind] of Object.entries(toolgraft)) {
    if (!/^class/.test(String(kind)) || kind.prototype instanceof Error) continue;
    const [, body] = new RegExp(`export declare class ${name} {\\n(.*?)\\n}`, "s").exec(TYPES);
    const members = [...body.matchAll(/^ {2}(?:static |get )?(\w+)\(/gm)].map(([, member]) => member);
    const own = Object.getOwnPropertyNames(kind.prototype);
    const ours = [...own, ...Object.getOwnPropertyNames(kind).filter((member) => typeof kind[member] === "function")];
    const expected = new Set([...members.filter((member) => member !== "constructor"), "constructor"]);
    assert.deepEqual(new Set(ours), expected, name);
  }
});

test("it is the version of its package, and of the native half", () => {
  const { version } = createRequire(import.meta.url)("toolgraft/package.json");
  assert.equal(toolgraft.version, version);
});

test("events are JSON under the library's names", () => {
  const parser = new Parser(TOOLS);
  const events = JSON.parse(JSON.stringify([...parser.push(HERMES), ...parser.finish()]));
  const end = events.find((event) => event.type === "call_end");
  assert.deepEqual(Object.keys(end).sort(), ["call", "index", "raw", "rejected", "restated", "span", "type"]);
  assert.deepEqual(end.call.arguments, { city: "Ulm", days: "3" });
  assert.deepEqual(Object.keys(end.call), [
    "server",
    "tool",
    "arguments",
    "raw_arguments",
    "dialect",
    "repairs",
    "provenance",
  ]);
});

test("a piece that is text is the text of one event, and so is a piece of arguments", () => {
  const parser = new Parser(TOOLS);
  parser.push("Some ");
  assert.deepEqual(parser.push("plain words"), [{ type: "text", text: "plain words", span: { start: 5, end: 16 } }]);
  parser.push('\n<tool_call>{"name": "forecast", "arguments": {"city": "U');
  const [delta] = parser.push("lm");
  assert.deepEqual([delta.type, delta.index, delta.text], ["args_delta", 0, "lm"]);
});

test("half a character that nothing completes is the one that stands for none", () => {
  const parser = new Parser();
  assert.deepEqual(parser.push("\ud83d"), []);
  assert.equal(parser.push("\ude00")[0].text, "😀");
  parser.push("a\ud83d");
  parser.finish();
  assert.equal(parser.message.content, "😀a\ufffd");
  assert.equal(parse("a\ud83db").content, "a\ufffdb");
});

test("reasoning of a field of its own comes first", () => {
  const parser = new Parser();
  assert.deepEqual(parser.pushReasoning("Hm. ")[0].type, "reasoning");
  parser.push("Yes.");
  parser.finish();
  assert.deepEqual([parser.message.reasoning, parser.message.content], ["Hm. ", "Yes."]);
  assert.deepEqual(parser.parse("Yes.", { reasoning: "Hm. " }), parser.message);
  assert.deepEqual(parse("Yes.", null, { reasoningField: "Hm. " }), parser.message);
});

test("a near call is the last event", () => {
  const parser = new Parser(TOOLS);
  parser.push(HERMES.replace("<tool_call>", "<tol_call>"));
  const last = parser.finish().at(-1);
  assert.equal(last.rejected.kind, "near_call");
  assert.deepEqual(parser.message.rejected[0], last.rejected);
});

test("a cut call is none, and a stop string may be told at the end", () => {
  const cut = parse(HERMES.slice(0, -30), TOOLS, { finishReason: "length" });
  assert.deepEqual(cut.rejected.map((one) => one.kind), ["truncated"]);
  const parser = new Parser(TOOLS);
  parser.push(HERMES.slice(0, -"</tool_call>".length));
  parser.finish("stop", { stop: ["</tool_call>"] });
  assert.equal(parser.message.calls.length, 1);
});

test("what is no call is kept for who asks", () => {
  const [text, tools] = ["f(b)\nso\nf(a=2), you see\nf(", [new Tool("f")]];
  const told = [false, true].map((keepNotCalls) => {
    const parser = new Parser(tools, { keepNotCalls }).fork();
    parser.push(text);
    parser.finish();
    return parser.notCalls;
  });
  assert.deepEqual(told[0], []);
  const found = told[1].find((one) => one.span.start === 8);
  assert.deepEqual(found, { dialect: "python", span: { start: 8, end: 16 }, reason: "text_after" });
});

test("settings are those of the library", () => {
  const draft = `<think>I ask. ${HERMES}</think>`;
  assert.equal(parse(draft).rejected[0].kind, "in_reasoning");
  assert.equal(parse(draft, null, { reasoningCalls: "last_resort" }).calls[0].provenance, "promoted");
  assert.deepEqual(parse(HERMES, null, { dialects: ["json", "react"] }).calls, []);
  assert.equal(parse(HERMES.repeat(3), null, { calls: 1 }).rejected[0].kind, "limit");
  assert.equal(parse("x</think>y", null, { model: "deepseek-r1:14b" }).reasoning, "x");
});

test("a message ends once, and a parser begins another", () => {
  const parser = new Parser();
  assert.throws(() => parser.message, toolgraft.StateError);
  parser.push("One.");
  parser.finish();
  assert.equal(parser.message, parser.message);
  for (const use of [() => parser.push("x"), () => parser.pushReasoning("x"), () => parser.finish()]) {
    assert.throws(use, toolgraft.StateError);
  }
  parser.reset();
  assert.deepEqual(parser.push("Two.")[0].span, { start: 0, end: 4 });
  parser.finish();
  assert.equal(parser.message.content, "Two.");
});

test("nothing is kept unless it is wanted, and a fork has the settings and nothing else", () => {
  const parser = new Parser(TOOLS, { dialects: "json", collect: false });
  parser.push("One.");
  const fork = parser.fork();
  parser.finish();
  assert.throws(() => parser.message, toolgraft.StateError);
  assert.equal(fork.push(HERMES).map((event) => event.text).join(""), HERMES);
});

test("every error is of one family, under its name", () => {
  const loop = {};
  loop.loop = loop;
  const cases = [
    ["SettingError", () => new Parser(null, { dialects: "no such" })],
    ["SettingError", () => new Parser(null, { reasoning: "no such" })],
    ["SettingError", () => new Parser(null, { noSuch: 1 }), /`noSuch`/],
    ["SettingError", () => new Parser(null, { callBytes: "many" }), /`callBytes`/],
    ["SettingError", () => new Parser(null, { call_bytes: 1 }), /`call_bytes`/],
    ["SettingError", () => toolgraft.renderPrompt(TOOLS, { listing: "index" })],
    ["SettingError", () => new ToolResult(new Call("f", {}), "", { status: "no such" }), /timed_out/],
    ["ToolError", () => new Catalog([{}])],
    ["ToolError", () => new Call("f", loop)],
    ["ToolError", () => new Call("f", { a: 1n })],
    ["ToolError", () => new Call("f", undefined)],
    ["ToolError", () => toolgraft.resultsMessage(TOOLS, [new ToolResult(new Call("f", []), "x")])],
    ["PromptError", () => toolgraft.renderPrompt(TOOLS, { toolChoice: "no_such_tool" })],
    ["PromptError", () => toolgraft.renderPrompt([], { toolChoice: "required" })],
  ];
  for (const [name, mistake, words = /./] of cases) {
    assert.throws(mistake, (error) => {
      assert.ok(error instanceof toolgraft.ToolgraftError && error instanceof toolgraft[name], String(error));
      assert.equal(error.name, name);
      assert.match(error.message, words);
      return true;
    });
  }
});

test("what is no string where one is due is JavaScript's own error", () => {
  for (const mistake of [
    () => new Parser().push(3),
    () => new Parser().push(Buffer.from("x")),
    () => parse(null),
    () => new Tool("f", { input_schema: {} }),
    () => toolgraft.validate({ tool: "f", arguments: {} }, TOOLS),
    () => toolgraft.resultsMessage(TOOLS, ["Sunny."]),
  ]) {
    assert.throws(mistake, TypeError);
  }
});

test("a tool is read in three forms, and nothing of it is lost", () => {
  const parameters = { name: "forecast", description: "The weather.", parameters: SCHEMA };
  const openai = Tool.from({ type: "function", function: parameters });
  const mcp = Tool.from({ name: "forecast", description: "The weather.", inputSchema: SCHEMA });
  assert.deepEqual(openai, mcp);
  assert.deepEqual(mcp, new Tool("forecast", { description: "The weather.", inputSchema: SCHEMA }));
  assert.deepEqual(Tool.from(mcp), mcp);
  assert.deepEqual(mcp.inputSchema, SCHEMA);
  const hinted = { name: "f", annotations: { readOnlyHint: true }, inputSchema: false };
  assert.deepEqual(Tool.from(hinted).toJSON(), hinted);
  assert.deepEqual([TOOLS.size, TOOLS.tools.map((tool) => tool.name)], [1, ["forecast"]]);
});

test("a schema that cannot be used is an error when its tool is made", () => {
  const wrong = { type: "object", properties: { city: { type: "no such type" } } };
  const said = { name: "ToolError", message: /tool 'f' is not usable.*properties\/city\/type/ };
  assert.throws(() => new Tool("f", { inputSchema: wrong }), said);
  assert.throws(() => new Catalog([{ type: "function", function: { name: "f", parameters: wrong } }]), said);
});

test("arguments are mended or refused, and what was refused is told", () => {
  const mended = toolgraft.validate(new Call("forecast", { city: "Ulm", days: "3" }), TOOLS);
  assert.ok(mended instanceof Call);
  assert.deepEqual([mended.arguments.days, mended.repairs], [3, ["coerced:/days"]]);
  const refused = toolgraft.validate(new Call("forecast", { days: "x" }), TOOLS);
  assert.ok(refused instanceof Rejected);
  assert.match(toolgraft.resultsMessage(TOOLS, [refused], { request: "The weather?" }), /city/);
});

test("a result without a text is told by its structure", () => {
  const result = new ToolResult(new Call("forecast", { city: "Ulm" }), "", { structured: { celsius: 20 } });
  assert.match(toolgraft.resultsMessage(TOOLS, [result]), /celsius/);
});

test("a message is checked unless that is not wanted", () => {
  assert.equal(parse(HERMES, TOOLS).calls[0].arguments.days, 3);
  assert.equal(parse(HERMES, TOOLS, { validate: false }).calls[0].arguments.days, "3");
});

test("the calls of the first fence want arguments that are accepted", () => {
  const fenced = (args) => `\`\`\`json\n${JSON.stringify({ name: "forecast", arguments: args })}\n\`\`\`\nThat is it.`;
  const settings = { fencedCalls: "last_resort" };
  assert.equal(parse(fenced({ city: "Ulm" }), TOOLS, settings).calls[0].provenance, "fenced_first");
  assert.equal(parse(fenced({}), TOOLS, settings).rejected[0].kind, "quoted");
});

test("arguments with the names of JavaScript's own members arrive as they are", () => {
  const args = '{"__proto__": {"a": 1}, "constructor": 2, "toJSON": 3}';
  const [call] = parse(`<tool_call>{"name": "f", "arguments": ${args}}</tool_call>`, [new Tool("f")]).calls;
  assert.deepEqual(Object.keys(call.arguments), ["__proto__", "constructor", "toJSON"]);
  assert.equal(Object.getPrototypeOf(call.arguments), Object.prototype);
});

test("a prompt is that of its settings", () => {
  const full = toolgraft.renderPrompt(TOOLS, { system: "Be kind.", lang: "zh", listing: "schema" });
  assert.ok(full.startsWith("Be kind.") && full.includes('"city"'));
  assert.equal(toolgraft.renderPrompt([], { system: "Be kind." }), "Be kind.");
  const compact = toolgraft.renderPrompt(TOOLS, { style: "compact" });
  assert.ok(compact.length < toolgraft.renderPrompt(TOOLS).length);
});

test("what holds no marker comes back as it is", () => {
  assert.equal(toolgraft.neutralise("Nothing here."), "Nothing here.");
  assert.notEqual(toolgraft.neutralise("<forecast>", TOOLS), "<forecast>");
});
