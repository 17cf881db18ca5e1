/**
 * Tool calling for language models that have none.
 *
 * The prompt that teaches a syntax of calls, an incremental parser that finds the calls in a
 * model's text, and checks of their arguments against the tools' schemas. The types, and what each
 * name is for, stand in `index.d.ts`.
 */

import { createRequire } from "node:module";

import { native } from "./platform.js";

/** The version of this package. */
export const version = createRequire(import.meta.url)("../package.json").version;

const half = native(version);

/** The names of all dialects. */
export const DIALECTS = Object.freeze(half.dialects());

export class ToolgraftError extends Error {
  get name() {
    return this.constructor.name;
  }
}
export class SettingError extends ToolgraftError {}
export class ToolError extends ToolgraftError {}
export class PromptError extends ToolgraftError {}
export class StateError extends ToolgraftError {}

const ERRORS = { SettingError, ToolError, PromptError, StateError };

/** What this gives; a mistake that the native half finds is thrown as the class that its code names. */
function guarded(work) {
  try {
    return work();
  } catch (error) {
    const kind = ERRORS[error?.code];
    throw kind ? new kind(error.message, { cause: error }) : error;
  }
}

/** A description in JSON, which has no value for some things. */
function json(value, what) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new ToolError(`${what}: ${cause.message}`, { cause });
  }
  if (text === undefined) throw new ToolError(`${what}: JSON has no value for it`);
  return text;
}

function string(value, what) {
  if (typeof value !== "string") throw new TypeError(`${what} is a string, not ${value === null ? "null" : typeof value}`);
  return value;
}

function settings(given, kind) {
  try {
    return JSON.stringify(given ?? {});
  } catch (cause) {
    throw new SettingError(`the settings of ${kind} cannot be read: ${cause.message}`, { cause });
  }
}

// Records. Fields have JavaScript's names, and `toJSON` gives the library's own form.

export class Call {
  constructor(tool, args, { server = null, dialect = "use_mcp_tool" } = {}) {
    string(tool, "a call's tool");
    const given = json(args, `the arguments of ${tool}`);
    return guarded(() => call(JSON.parse(half.call(tool, given, server, dialect))));
  }

  toJSON() {
    const { server, tool, arguments: args, rawArguments, dialect, repairs, provenance } = this;
    return { server, tool, arguments: args, raw_arguments: rawArguments, dialect, repairs, provenance };
  }
}

/** A call of the library's JSON form. */
function call(from) {
  const made = Object.create(Call.prototype);
  made.server = from.server ?? null;
  made.tool = from.tool;
  made.arguments = from.arguments;
  made.rawArguments = from.raw_arguments;
  made.dialect = from.dialect;
  made.repairs = from.repairs;
  made.provenance = from.provenance ?? "plain";
  return made;
}

export class Rejected {
  constructor() {
    throw new TypeError("a Rejected is made by `parse`, `Parser` and `validate`");
  }

  toJSON() {
    const { kind, raw, message, server, tool, nearest, dialect, call, count, quotedIn, inText } = this;
    return { kind, raw, message, server, tool, nearest, dialect, call, count, quoted_in: quotedIn, in_text: inText };
  }
}

function rejected(from) {
  const made = Object.create(Rejected.prototype);
  made.kind = from.kind;
  made.raw = from.raw;
  made.message = from.message;
  made.server = from.server ?? null;
  made.tool = from.tool ?? null;
  made.nearest = from.nearest ?? [];
  made.dialect = from.dialect;
  made.call = from.call ? call(from.call) : null;
  made.count = from.count ?? 0;
  made.quotedIn = from.quoted_in ?? null;
  made.inText = from.in_text ?? false;
  return made;
}

export class Reason {
  constructor() {
    throw new TypeError("a Reason is made by `Parser`");
  }

  toJSON() {
    const { kind, message, nearest, quotedIn, provenance } = this;
    return { kind, message, nearest, quoted_in: quotedIn, provenance };
  }
}

function reason(from) {
  const made = Object.create(Reason.prototype);
  made.kind = from.kind;
  made.message = from.message;
  made.nearest = from.nearest ?? [];
  made.quotedIn = from.quoted_in ?? null;
  made.provenance = from.provenance ?? "plain";
  return made;
}

export class Message {
  constructor() {
    throw new TypeError("a Message is made by `parse` and `Parser`");
  }

  toJSON() {
    const { content, reasoning, calls, rejected, answerInReasoning } = this;
    return { content, reasoning, calls, rejected, answer_in_reasoning: answerInReasoning };
  }
}

function message(from) {
  const made = Object.create(Message.prototype);
  const entries = from.entries.map((entry) => ({
    ...entry,
    call: entry.call && call(entry.call),
    rejected: entry.rejected && rejected(entry.rejected),
  }));
  made.content = from.content;
  made.reasoning = from.reasoning;
  made.calls = entries.flatMap((entry) => entry.call ?? []);
  made.rejected = entries.flatMap((entry) => entry.rejected ?? []);
  made.answerInReasoning = from.answer_in_reasoning;
  made.entries = entries;
  return made;
}

export class ToolResult {
  constructor(call, text, { id = null, status = "result", structured = null } = {}) {
    if (!(call instanceof Call)) throw new TypeError("a ToolResult is of a Call");
    guarded(() => half.status(string(status, "a result's status")));
    this.call = call;
    this.text = string(text, "a result's text");
    this.id = id;
    this.status = status;
    this.structured = structured;
  }
}

// Tools.

const TOOL = {
  name: "",
  server: null,
  title: null,
  description: null,
  inputSchema: null,
  outputSchema: null,
  displayOnly: false,
};

export class Tool {
  constructor(name, options = {}) {
    string(name, "a tool's name");
    for (const key of Object.keys(options)) {
      if (!(key in TOOL)) throw new TypeError(`a tool has no \`${key}\``);
    }
    return Tool.from({ ...options, name });
  }

  static from(description) {
    const given = json(description, "a tool");
    return guarded(() => tool(JSON.parse(half.tool(given))));
  }

  toJSON() {
    return Object.fromEntries(Object.entries(this).filter(([key, value]) => value !== TOOL[key]));
  }
}

function tool(from) {
  return Object.assign(Object.create(Tool.prototype), TOOL, from);
}

/** The native half of what a caller hands over: a catalog, a list of tools, or nothing. */
let catalog;

export class Catalog {
  #native;
  #tools;

  static {
    catalog = (tools) => (tools instanceof Catalog ? tools : new Catalog(tools ?? [])).#native;
  }

  constructor(tools) {
    const given = json([...tools], "the tools");
    this.#native = guarded(() => new half.Catalog(given));
  }

  get tools() {
    this.#tools ??= Object.freeze(JSON.parse(this.#native.tools()).map(tool));
    return this.#tools;
  }

  get size() {
    return this.tools.length;
  }
}

// The parser.

const KINDS = ["", "text", "reasoning", "args_delta"];

/** An event of the library's JSON form. */
function event(from) {
  if (from.call) from.call = call(from.call);
  if (from.rejected) from.rejected = rejected(from.rejected);
  if (from.reason) from.reason = reason(from.reason);
  switch (from.type) {
    case "reasoning":
      from.syntax ??= null;
      break;
    case "call_start":
      from.server ??= null;
      break;
    case "call_end":
      from.call ??= null;
      from.rejected ??= null;
      break;
    case "revised":
      from.provenance ??= null;
      from.reason ??= null;
  }
  return from;
}

/** Pieces of a text, cut between characters: strings of JavaScript can be cut within one. */
class Pieces {
  #rest = "";

  next(chunk) {
    const text = this.#rest + string(chunk, "a chunk");
    const last = text.charCodeAt(text.length - 1);
    const isCut = last >= 0xd800 && last <= 0xdbff;
    this.#rest = isCut ? text.slice(-1) : "";
    return (isCut ? text.slice(0, -1) : text).toWellFormed();
  }

  /** What no further piece completes: half a character is the one that stands for none. */
  last() {
    const rest = this.#rest;
    this.#rest = "";
    return rest && "\ufffd";
  }
}

export class Parser {
  #native;
  #message;
  /** The byte after the last event, and the index of the call that began last. */
  #at = 0;
  #index = 0;
  #text = new Pieces();
  #reasoning = new Pieces();

  constructor(tools, options) {
    // What another parser made of itself.
    if (tools instanceof half.Parser) {
      this.#native = tools;
      return;
    }
    const native = catalog(tools);
    this.#native = guarded(() => new half.Parser(native, settings(options, "a parser")));
  }

  push(chunk) {
    const text = this.#text.next(chunk);
    return this.#events(guarded(() => this.#native.push(text)), text);
  }

  pushReasoning(chunk) {
    const text = this.#reasoning.next(chunk);
    return this.#events(guarded(() => this.#native.pushReasoning(text)), text);
  }

  finish(reason = "stop", { stop } = {}) {
    string(reason, "a reason");
    const events = [];
    const [thought, text] = [this.#reasoning.last(), this.#text.last()];
    if (thought) events.push(...this.pushReasoning(thought));
    if (text) events.push(...this.push(text));
    events.push(...this.#events(guarded(() => this.#native.finish(reason, stop)), ""));
    return events;
  }

  #events(sent, chunk) {
    if (sent === 0) return [];
    if (typeof sent === "number") {
      const kind = sent % 4;
      const span = { start: this.#at, end: (sent - kind) / 4 };
      this.#at = span.end;
      if (kind === 1) return [{ type: "text", text: chunk, span }];
      if (kind === 2) return [{ type: "reasoning", text: chunk, syntax: null, span }];
      return [{ type: "args_delta", index: this.#index, text: chunk, span }];
    }
    const events = JSON.parse(sent);
    for (const one of events) {
      event(one);
      this.#at = one.span.end;
      if (one.type === "call_start") this.#index = one.index;
    }
    return events;
  }

  get message() {
    this.#message ??= guarded(() => message(JSON.parse(this.#native.takeMessage())));
    return this.#message;
  }

  get notCalls() {
    return JSON.parse(this.#native.notCalls());
  }

  reset() {
    this.#native.reset();
    this.#message = undefined;
    this.#at = this.#index = 0;
    this.#text.last();
    this.#reasoning.last();
  }

  fork() {
    return new Parser(this.#native.fork());
  }

  parse(text, { reasoning = "", reason = "stop" } = {}) {
    string(text, "a text");
    return guarded(() => message(JSON.parse(this.#native.parse(text, reasoning, reason))));
  }
}

/** The name of the dialect that a file describes, by which settings know it from then on. */
export function loadDialect(file) {
  return guarded(() => half.loadDialect(file));
}

export function parse(text, tools, { finishReason = "stop", reasoningField = "", ...options } = {}) {
  return new Parser(tools, options).parse(text, { reasoning: reasoningField, reason: finishReason });
}

// Texts.

export function renderPrompt(tools, options) {
  const native = catalog(tools);
  return guarded(() => native.render(settings(options, "a prompt")));
}

export function resultsMessage(tools, results, { request = null, ...options } = {}) {
  const native = catalog(tools);
  const told = [...results];
  for (const one of told) {
    if (!(one instanceof ToolResult || one instanceof Rejected)) {
      throw new TypeError("a result is a ToolResult or a Rejected");
    }
  }
  const given = json(told, "the results");
  return guarded(() => native.results(given, request, settings(options, "a results message")));
}

export function validate(made, tools) {
  if (!(made instanceof Call)) throw new TypeError("only a Call can be checked");
  const native = catalog(tools);
  const given = json(made, "a call");
  const checked = guarded(() => JSON.parse(native.validate(given)));
  return checked.call ? call(checked.call) : rejected(checked.rejected);
}

export function neutralise(text, tools) {
  string(text, "a text");
  return catalog(tools).neutralise(text) ?? text;
}

// A request with tools, to a model without.

/** What turns with the same settings share. */
const exchanges = new Map();

function exchangesOf(given) {
  if (!exchanges.has(given)) {
    if (exchanges.size >= 16) exchanges.clear();
    exchanges.set(given, guarded(() => new half.Exchanges(given)));
  }
  return exchanges.get(given);
}

export class Turn {
  #native;
  #text = new Pieces();
  #reasoning = new Pieces();
  #calls = [];
  #end = null;

  constructor(tools, messages, { output, toolChoice = null, maxCalls = null, ...options } = {}) {
    if ("system" in options) throw new SettingError("the system text is not a setting: put it first in the messages");
    if (maxCalls !== null && maxCalls !== 1) {
      throw new SettingError("a turn has any number of calls, or at most one: `maxCalls` is 1 or null");
    }
    const isWord = toolChoice === null || ["auto", "none", "required"].includes(toolChoice);
    const functions = JSON.parse(catalog(tools).tools());
    const body = {
      model: options.model ?? "model",
      stream: true,
      messages: [...messages],
      tools: functions.map(({ name, description, title, inputSchema: parameters, annotations }) => ({
        type: "function",
        function: { name, description: description ?? title, parameters, annotations },
      })),
      tool_choice: isWord ? toolChoice : { function: { name: toolChoice } },
      parallel_tool_calls: maxCalls ? false : null,
      response_format: output == null ? null : { type: "json_schema", json_schema: { name: "answer", schema: output } },
    };
    const shared = exchangesOf(settings(options, "a turn"));
    const given = json(body, "the messages");
    this.#native = guarded(() => shared.turn(given));
  }

  request() {
    const body = this.#native.request();
    return body == null ? null : JSON.parse(body).messages;
  }

  push(chunk) {
    return this.#take({ content: this.#text.next(chunk) });
  }

  pushReasoning(chunk) {
    return this.#take({ reasoning_content: this.#reasoning.next(chunk) });
  }

  finish(reason = "stop") {
    string(reason, "a reason");
    const [thought, text] = [this.#reasoning.last(), this.#text.last()];
    const before = [];
    if (thought && this.isStreaming) before.push(...this.#take({ reasoning_content: thought }));
    if (text && this.isStreaming) before.push(...this.#take({ content: text }));
    return [...before, ...this.#take({}, reason), ...this.#told(guarded(() => this.#native.end()))];
  }

  #take(delta, reason = null) {
    if (!this.isStreaming) throw new StateError("no answer is expected: send `request` first, unless the turn is over");
    const chunk = JSON.stringify({ choices: [{ delta, finish_reason: reason }] });
    return this.#told(guarded(() => this.#native.push(chunk)));
  }

  /** Takes events for a client of Chat Completions. */
  #told(events) {
    const told = [];
    for (const line of events.split("\n").filter((line) => line.startsWith("data: {"))) {
      const { error, choices = [] } = JSON.parse(line.slice(6));
      if (error) this.#end = "error";
      for (const { delta, finish_reason: end } of choices) {
        this.#end = end ?? this.#end;
        const [text, thought] = [delta.content || delta.refusal, delta.reasoning_content];
        if (text) told.push({ type: "text", text });
        if (thought) told.push({ type: "reasoning", text: thought });
        for (const { id, function: { name: tool, arguments: args } } of delta.tool_calls ?? []) {
          this.#calls.push({ id, tool, arguments: JSON.parse(args) });
        }
      }
    }
    return told;
  }

  get isStreaming() {
    return this.#native.isStreaming();
  }

  get calls() {
    return [...this.#calls];
  }

  get content() {
    return this.#native.content();
  }

  get reasoning() {
    return this.#native.reasoning();
  }

  get finishReason() {
    return this.#end;
  }

  get problem() {
    return this.#native.problem() ?? null;
  }
}

