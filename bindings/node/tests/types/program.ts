// Is read by TypeScript only, never run. What must be refused says so.

import { wrapLanguageModel, type LanguageModel, type LanguageModelMiddleware } from "ai";
import {
  Call,
  Catalog,
  DIALECTS,
  Parser,
  Rejected,
  Tool,
  ToolResult,
  Turn,
  neutralise,
  parse,
  renderPrompt,
  resultsMessage,
  validate,
  type Dialect,
  type Event,
  type Message,
} from "toolgraft";
import { toolMiddleware } from "toolgraft/ai";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isMiddleware: Same<ReturnType<typeof toolMiddleware>, LanguageModelMiddleware> = true;
const isNoAny: Same<LanguageModelMiddleware, any> = false;

declare const inner: Parameters<typeof wrapLanguageModel>[0]["model"];
const model: LanguageModel = wrapLanguageModel({
  model: inner,
  middleware: toolMiddleware({ dialect: "hermes", maxCorrections: 1 }),
});
// @ts-expect-error no such dialect
toolMiddleware({ dialect: "no such" });
// @ts-expect-error the form of the answer is the request's
toolMiddleware({ output: {} });

const tools = new Catalog([
  new Tool("forecast", { inputSchema: { type: "object" }, displayOnly: true }),
  { name: "search", inputSchema: { type: "object" }, server: null },
  { type: "function", function: { name: "look", parameters: {} } },
]);
// @ts-expect-error a name is due
new Tool();
// @ts-expect-error a tool has a name
new Catalog([{ inputSchema: {} }]);

const parser = new Parser(tools, { dialects: ["hermes", "json"], callBytes: 1000, keepNotCalls: true });
// @ts-expect-error no such setting
new Parser(tools, { call_bytes: 1000 });

function shown(event: Event): string {
  switch (event.type) {
    case "text":
    case "reasoning":
    case "args_delta":
    case "marker":
      return event.text;
    case "call_start":
      return event.tool;
    case "call_end":
      return event.call?.tool ?? event.rejected?.message ?? "";
    case "revised":
      return event.provenance ?? event.reason?.kind ?? `${event.calls.start}`;
    case "moved":
      return `${event.spans.length} ${event.to}`;
    default: {
      const none: never = event;
      return none;
    }
  }
}

const said: string[] = [...parser.push("x"), ...parser.pushReasoning("y"), ...parser.finish("stop", { stop: ["z"] })].map(shown);
const message: Message = parse("text", tools, { finishReason: "length", model: "qwen3:4b" });
const dialect: Dialect | undefined = DIALECTS[0];
const checked: Call | Rejected = validate(new Call("forecast", { city: "Ulm" }), tools);
const answer: string =
  checked instanceof Rejected ? checked.message : resultsMessage(tools, [new ToolResult(checked, "Sunny.", { status: "tool_error" })], { request: null });
// @ts-expect-error what was parsed cannot be changed
message.content = "";
// @ts-expect-error nobody makes one
new Rejected();

const turn = new Turn(tools, [{ role: "user", content: "Hello." }], { output: { type: "object" }, toolChoice: "forecast" });
// @ts-expect-error the system text is a message
new Turn(tools, [], { system: "Be brief." });
const requested = turn.request()?.map(({ role, content }) => `${role}: ${typeof content === "string" ? content : content.length}`);
const texts: string[] = turn.push("x").map((told) => (told.type === "text" ? told.text : ""));

export { answer, dialect, isMiddleware, isNoAny, model, requested, said, texts };
export const prompt: string = neutralise(renderPrompt(tools, { lang: "zh", maxCalls: null }), tools);
