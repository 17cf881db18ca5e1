/**
 * Tool calling for language models that have none.
 *
 * The prompt that teaches a syntax of calls, an incremental parser that finds the calls in a
 * model's text, and checks of their arguments against the tools' schemas.
 */

/** The version of this package. */
export declare const version: string;
/** The names of all dialects. */
export declare const DIALECTS: readonly Dialect[];
/**
 * Reads a dialect of your own from the text of its file (docs/dialects.md). Settings take its name from
 * then on: `dialect: name` teaches it, `dialects: ["auto", name]` reads it beside all others.
 */
export declare function loadDialect(file: string): Dialect;

/** Syntax that calls are written in. */
export type Dialect =
  | "use_mcp_tool"
  | "tool_tag"
  | "type_marker"
  | "hermes"
  | "tool_calls"
  | "tool_request"
  | "python_tag"
  | "function_tag"
  | "invoke"
  | "kimi"
  | "deepseek"
  | "glm"
  | "harmony"
  | "command"
  | "solar"
  | "kimi_k3"
  | "gemma"
  | "python"
  | "json"
  | "react";

/** How a call was found. Any but `plain` wants a person's approval. */
export type Provenance =
  | "plain"
  | "fenced_first"
  | "after_prose"
  | "before_prose"
  | "hedged"
  | "in_a_line"
  | "fenced_after_prose"
  | "in_element"
  | "mended"
  | "echoed"
  | "instead_of_read"
  | "promoted";

/** Why a call must not run. */
export type RejectedKind =
  | "in_reasoning"
  | "invented"
  | "quoted"
  | "after_damage"
  | "limit"
  | "truncated"
  | "malformed"
  | "unknown_tool"
  | "invalid_arguments"
  | "near_call";

/** What quotes a call. */
export type QuotedIn =
  | "fence"
  | "code_span"
  | "quotation"
  | "block_quote"
  | "indented_code"
  | "comment"
  | "block"
  | "sign"
  | "own_words";

/** Syntax that is neither text nor part of a call, such as a think tag or the fence around a call. */
export type MarkerKind =
  | "think_open"
  | "think_close"
  | "fence"
  | "call_line"
  | "answer_line"
  | "wrapper"
  | "token"
  | "turn";

/** How a call ended. */
export type Status = "result" | "tool_error" | "denied" | "timed_out" | "cancelled" | "displayed";

/** The base class of this package's exceptions: a mistake of the caller. */
export declare class ToolgraftError extends Error {}
/** A setting does not exist, or has a value that it does not take. */
export declare class SettingError extends ToolgraftError {}
/** A description of a tool, a call, a message or a result cannot be read. */
export declare class ToolError extends ToolgraftError {}
/** A prompt cannot be written. */
export declare class PromptError extends ToolgraftError {}
/** A parser or a turn was used after its end, or asked before it. */
export declare class StateError extends ToolgraftError {}

/** Bytes of the stream, in UTF-8: offsets from its start; or indices of calls. */
export interface Span {
  /** The first one. */
  readonly start: number;
  /** The position after the last one. */
  readonly end: number;
}

/** JSON Schema. */
export type Schema = boolean | { readonly [key: string]: unknown };

/** A tool in MCP's form, with its server. */
export interface ToolDescription {
  readonly name: string;
  readonly server?: string | null;
  readonly title?: string | null;
  readonly description?: string | null;
  readonly inputSchema?: Schema | null;
  readonly outputSchema?: Schema | null;
  readonly [key: string]: unknown;
}

/** An item of `tools` in a request to OpenAI. */
export interface FunctionDescription {
  readonly type?: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string | null;
    readonly parameters?: Schema | null;
    readonly [key: string]: unknown;
  };
  readonly [key: string]: unknown;
}

/** What a tool is, apart from its name. */
export interface ToolOptions {
  /** What the tool does. */
  description?: string | null;
  /** JSON Schema of the arguments, without which any object is taken. */
  inputSchema?: Schema | null;
  /** Server that offers the tool. */
  server?: string | null;
  /** Name for people. */
  title?: string | null;
  /** JSON Schema of the tool's structured result, if it has one. */
  outputSchema?: Schema | null;
  /** Whether calls run nothing and only show their arguments. */
  displayOnly?: boolean;
}

/** A tool that a model may call. */
export declare class Tool {
  constructor(name: string, options?: ToolOptions);
  /** The tool of an object: of MCP's form, or a function in a request to OpenAI, Anthropic or Gemini. */
  static from(description: ToolDescription | FunctionDescription | Tool): Tool;
  readonly name: string;
  readonly server: string | null;
  readonly title: string | null;
  readonly description: string | null;
  readonly inputSchema: Schema | null;
  readonly outputSchema: Schema | null;
  readonly displayOnly: boolean;
  /** The tool in MCP's form, with its server. */
  toJSON(): ToolDescription;
}

/** A tool, or the description of one. */
export type AnyTool = Tool | ToolDescription | FunctionDescription;
/** What stands wherever tools are taken. */
export type Tools = Catalog | Iterable<AnyTool>;

/** Tools that are known together: made once, and used for many messages. */
export declare class Catalog {
  constructor(tools: Iterable<AnyTool>);
  /** Tools of the catalog, grouped by server. */
  get tools(): readonly Tool[];
  /** How many there are. */
  get size(): number;
}

/** A complete call of a tool, or a read of a resource. */
export declare class Call {
  /** A call as if a model had written it without a mistake. */
  constructor(tool: string, args: unknown, options?: { server?: string | null; dialect?: Dialect });
  /** Name of the tool's server, as the model wrote it or as resolved from the catalog; null if neither gives one. */
  readonly server: string | null;
  /** Tool. */
  readonly tool: string;
  /** Arguments: any JSON value until they are validated, an object then. */
  readonly arguments: any;
  /** Text of the call's arguments as the model wrote it. */
  readonly rawArguments: string;
  /** Dialect (call syntax) in which the model wrote the call. */
  readonly dialect: Dialect;
  /** Repairs that made the call readable or valid, in the order in which they were made. */
  readonly repairs: readonly string[];
  /** How the call was found. */
  readonly provenance: Provenance;
  /** The library's JSON form. */
  toJSON(): { [key: string]: unknown };
}

/** A call that must not run, with the reason. */
export declare class Rejected {
  private constructor();
  /** Reason. */
  readonly kind: RejectedKind;
  /** The call's whole text. */
  readonly raw: string;
  /** What was wrong and where, for people and for the model. */
  readonly message: string;
  /** Name of the tool's server; null if it is unknown. */
  readonly server: string | null;
  /** Name of the called tool; null if it could not be read. */
  readonly tool: string | null;
  /** Names of tools that the model may have meant; empty unless the kind is `unknown_tool`. */
  readonly nearest: readonly string[];
  /** Dialect (call syntax) in which the model wrote the call. */
  readonly dialect: Dialect;
  /** The call itself where it was complete. */
  readonly call: Call | null;
  /** What quotes it (`quoted` only). */
  readonly quotedIn: QuotedIn | null;
  /** Whether its text stays where it stands. */
  readonly inText: boolean;
  /** The library's JSON form. */
  toJSON(): { [key: string]: unknown };
}

/** The reason why a call must not run, without the call itself. */
export declare class Reason {
  private constructor();
  /** What is wrong with it. */
  readonly kind: RejectedKind;
  /** Error message that names the fault and its position, for the user and for the model. */
  readonly message: string;
  /** Names of tools that the model may have meant; empty unless the kind is `unknown_tool`. */
  readonly nearest: readonly string[];
  /** What quotes it (`quoted` only). */
  readonly quotedIn: QuotedIn | null;
  /** How the call was found, which counts once nothing else rejects it. */
  readonly provenance: Provenance;
  /** The library's JSON form. */
  toJSON(): { [key: string]: unknown };
}

/** One call of a message, or what was left of it; exactly one of `call` and `rejected` is there. */
export interface Entry {
  /** Index that the events used. */
  readonly index: number;
  /** The call. */
  readonly call: Call | null;
  /** Why it must not run. */
  readonly rejected: Rejected | null;
  /** The call's whole text. */
  readonly raw: string;
  /** All deltas of the arguments, joined. */
  readonly deltas: string;
  /** Whether the arguments do not continue the deltas. */
  readonly restated: boolean;
}

/** What a message says. */
export declare class Message {
  private constructor();
  /** What the user sees. */
  readonly content: string;
  /** The reasoning, with the calls that were drafted in it. */
  readonly reasoning: string;
  /** The calls, in order. */
  readonly calls: readonly Call[];
  /** Rejected calls, which must not run, in the order of the message. */
  readonly rejected: readonly Rejected[];
  /** Whether what looked like reasoning was the answer. */
  readonly answerInReasoning: boolean;
  /** Calls and rejected calls together, in the order of the message. */
  readonly entries: readonly Entry[];
  /** The library's JSON form. */
  toJSON(): { [key: string]: unknown };
}

/** Text that looked like a call and is none. */
export interface NotACall {
  /** Dialect (call syntax) in which the text looked like a call. */
  readonly dialect: Dialect;
  /** Its bytes. */
  readonly span: Span;
  /** Why it is none. */
  readonly reason: string;
}

/** What became of a call, for the model. */
export declare class ToolResult {
  /** What became of a call: by default, that its tool answered with this text. */
  constructor(call: Call, text: string, options?: { id?: string | null; status?: Status; structured?: unknown });
  /** The call. */
  readonly call: Call;
  /** What the tool said. */
  readonly text: string;
  /** The call's identifier; its place in the message where none is given. */
  readonly id: string | null;
  /** How it ended. */
  readonly status: Status;
  /** MCP's `structuredContent`, which is told where `text` is empty. */
  readonly structured: unknown;
}

/** Text for the user. */
export interface Text {
  readonly type: "text";
  /** The text, verbatim. */
  readonly text: string;
  readonly span: Span;
}

/** Text of the reasoning. */
export interface Reasoning {
  readonly type: "reasoning";
  /** The text, verbatim. */
  readonly text: string;
  /** Syntax around a draft, if it is that. */
  readonly syntax: MarkerKind | null;
  readonly span: Span;
}

/** A call's name is known. */
export interface CallStart {
  readonly type: "call_start";
  /** Which call of this message, from 0. */
  readonly index: number;
  /** Server, as far as it is known here; `CallEnd` is authoritative. */
  readonly server: string | null;
  /** Tool, as written. */
  readonly tool: string;
  readonly span: Span;
}

/** A preview of the arguments' JSON text: all deltas of a call, joined, are a prefix of some JSON text. */
export interface ArgsDelta {
  readonly type: "args_delta";
  /** Which call. */
  readonly index: number;
  /** More of the JSON text. */
  readonly text: string;
  readonly span: Span;
}

/** A call is over. Authoritative; exactly one of `call` and `rejected` is there. */
export interface CallEnd {
  readonly type: "call_end";
  /** Which call. */
  readonly index: number;
  /** The call, its arguments not yet checked against a schema. */
  readonly call: Call | null;
  /** Why it must not run. */
  readonly rejected: Rejected | null;
  /** The call's whole text. */
  readonly raw: string;
  /** Whether the arguments do not continue the joined deltas. */
  readonly restated: boolean;
  readonly span: Span;
}

/** Syntax that is neither text nor part of a call, such as a think tag or the fence around a call. */
export interface Marker {
  readonly type: "marker";
  /** Which. */
  readonly kind: MarkerKind;
  /** Its text, verbatim. */
  readonly text: string;
  readonly span: Span;
}

/** Calls that were reported are judged anew, by what came after them. */
export interface Revised {
  readonly type: "revised";
  /** Which calls. */
  readonly calls: Span;
  /** How they were found; `null` where they must not run. */
  readonly provenance: Provenance | null;
  /** Why they must not run; `null` for calls that may. */
  readonly reason: Reason | null;
  readonly span: Span;
}

/** Text that was reported belongs elsewhere, with the markers and calls in it. */
export interface Moved {
  readonly type: "moved";
  /** Which bytes of the stream. */
  readonly spans: readonly Span[];
  /** Where they belong: `drafts` is the reasoning, whose syntax of calls is text; `syntax` is no text. */
  readonly to: "content" | "reasoning" | "drafts" | "syntax";
  readonly span: Span;
}

/** What `push` and `finish` give, under the names of the library's JSON form. Later versions may add to it. */
export type Event =
  | Text
  | Reasoning
  | CallStart
  | ArgsDelta
  | CallEnd
  | Marker
  | Revised
  | Moved;

/** How a message is read. */
export interface ReadingSettings {
  /** Syntaxes that are read. */
  dialects?: "auto" | Dialect | readonly ("auto" | Dialect)[];
  /** The model's name, for what is known of its family. */
  model?: string | null;
  reasoning?: "auto" | "open" | "off";
  reasoningCalls?: "ignore" | "last_resort" | "allow";
  reasoningMarks?: readonly string[];
  fencedCalls?: "ignore" | "last_resort";
  stop?: readonly string[];
  /** Longest text of a call, in bytes. */
  callBytes?: number;
  /** Deepest nesting of arguments. */
  depth?: number;
  /** Most calls of one message. */
  calls?: number;
  /** Whether a message's arguments are checked; true unless set. */
  validate?: boolean;
}

/** How a message is read, and what is kept of it. */
export interface ParserSettings extends ReadingSettings {
  /** Whether the message is kept for `message`; true unless set. */
  collect?: boolean;
  /** Whether `notCalls` is kept; false unless set. */
  keepNotCalls?: boolean;
}

/** How a prompt is written. */
export interface PromptSettings {
  /** The model's name, for what is known of its family. */
  model?: string | null;
  /** Syntax that is taught. */
  dialect?: Dialect;
  lang?: "en" | "zh";
  style?: "full" | "compact";
  listing?: "schema" | "signature" | "brief";
  /** The caller's own text, which comes first. */
  system?: string | null;
  /** `auto`, `none`, `required` or a tool's name. */
  toolChoice?: string;
  maxCalls?: number | null;
  descriptionChars?: number | null;
}

/** How results are written: settings as the prompt has them. */
export interface ResultsSettings extends PromptSettings {
  /** How much of one result the model sees. */
  resultBytes?: number;
}

/** Settings of a turn. */
export interface TurnSettings extends Omit<ResultsSettings, "system" | "descriptionChars" | "maxCalls"> {
  /** 1 where the answer may hold one call at most. */
  maxCalls?: 1 | null;
  /** JSON Schema that the answer has to match. */
  output?: Schema | null;
  /** How many requests in a row may only correct. */
  maxCorrections?: number;
}

/** An incremental parser of one message of a model. */
export declare class Parser {
  /** Of `tools` it reads names; without them any name is taken, and syntaxes that read known names only are off. */
  constructor(tools?: Tools | null, settings?: ParserSettings);
  /** Takes the next piece of the answer's text, and gives the events that are certain now. */
  push(chunk: string): Event[];
  /** Takes the next piece of a separate reasoning field (`reasoning_content`). */
  pushReasoning(chunk: string): Event[];
  /** Ends the message by the endpoint's word for why it ended, and gives the last events. */
  finish(reason?: string, options?: { stop?: string[] }): Event[];
  /** What the message says, once it is over; arguments are checked, unless `validate` is false. */
  get message(): Message;
  /** What looked like a call and is none, with `keepNotCalls`. */
  get notCalls(): NotACall[];
  /** Begins another message; settings and tools stay. */
  reset(): void;
  /** A further parser with the same settings, at the start of a message; cheap however many tools are known. */
  fork(): Parser;
  /** Reads a whole text with these settings, whatever this parser is in the middle of. */
  parse(text: string, options?: { reasoning?: string; reason?: string }): Message;
}

/** What a whole text says; arguments are checked against the tools' schemas. */
export declare function parse(
  text: string,
  tools?: Tools | null,
  settings?: ReadingSettings & { finishReason?: string; reasoningField?: string },
): Message;

/** The system text that teaches a syntax of calls and lists the tools. */
export declare function renderPrompt(tools: Tools, settings?: PromptSettings): string;

/**
 * The one user message that answers the calls of the model's last message, rejected ones included.
 * `request` is what the person asked for, which is recalled.
 */
export declare function resultsMessage(
  tools: Tools,
  results: Iterable<ToolResult | Rejected>,
  settings?: ResultsSettings & { request?: string | null },
): string;

/**
 * The call with arguments that its tool's schema accepts, mended where that loses nothing; or why it
 * must not run, in words for the model. Of a tool that is not known, any object is taken.
 */
export declare function validate(call: Call, tools: Tools): Call | Rejected;

/** The text with nothing in it that any syntax of calls takes for a call or a result. */
export declare function neutralise(text: string, tools?: Tools | null): string;

/** More of an answer, for a client. */
export interface Told {
  readonly type: "text" | "reasoning";
  readonly text: string;
}

/** A part of a message of Chat Completions. */
export type ChatPart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

/** A message that a turn sends, in the form of Chat Completions, texts and images alone. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | ChatPart[];
}

/** A model without tools, asked as if it had some: requests to send in, and text and calls out. */
export declare class Turn {
  /** `messages` are those of a request to Chat Completions. */
  constructor(tools: Tools, messages: Iterable<object>, settings?: TurnSettings);
  /** Takes the messages that are to be sent now; `null` where the turn is over, or an answer is awaited. */
  request(): ChatMessage[] | null;
  /** Takes the next piece of the answer's text, and gives what the client is told now. */
  push(chunk: string): Told[];
  /** Takes the next piece of a separate reasoning field. */
  pushReasoning(chunk: string): Told[];
  /** Ends the answer, by the endpoint's word for why it ended. */
  finish(reason?: string): Told[];
  /** Whether more of the model's answer is wanted; once it is not, the stream can be closed. */
  get isStreaming(): boolean;
  /** Calls for the client to run. */
  get calls(): { readonly id: string; readonly tool: string; readonly arguments: { [key: string]: any } }[];
  /** What the answer says so far. */
  get content(): string;
  /** What the model thought so far. */
  get reasoning(): string;
  /** Why the answer ended, in the words of Chat Completions, `error` where there is none; `null` before that. */
  get finishReason(): "tool_calls" | "length" | "content_filter" | "stop" | "error" | null;
  /** What is wrong with the answer, in words for people, where it is not what was asked for. */
  get problem(): string | null;
}
