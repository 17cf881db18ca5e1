// anthropic for Node: whole, and the helper that puts a stream together.
import Anthropic from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { each, fails, same, tools as all, url } from "./common.mjs";

const client = new Anthropic({ baseURL: url.replace(/\/v1$/, ""), apiKey: "none", maxRetries: 2 });
const tools = all.map(([name, description, input_schema]) => ({ name, description, input_schema }));
const reasons = { stop: "end_turn", tool_calls: "tool_use", length: "max_tokens" };

function ask(way, model, messages) {
  const body = { model, messages, tools, max_tokens: 4000 };
  return way === "whole" ? client.messages.create(body) : client.messages.stream(body).finalMessage();
}

const of = (message, type) => message.content.filter((block) => block.type === type);
const text = (message) => of(message, "text").map((block) => block.text).join("");

async function run(way, model, expect) {
  const messages = [{ role: "user", content: "What is the weather?" }];
  if (expect.error) return fails(ask(way, model, messages), expect.error);
  const message = await ask(way, model, messages);
  same(text(message), expect.content, "the content");
  same(of(message, "thinking"), [], "the thinking that nobody asked for");
  same(of(message, "tool_use").map((call) => [call.name, call.input]), expect.calls, "the calls");
  same(message.stop_reason, reasons[expect.finish], "the reason");
  if (expect.then) {
    messages.push({ role: "assistant", content: message.content });
    const results = of(message, "tool_use").map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "-3 degrees" }));
    messages.push({ role: "user", content: results });
    const answer = await ask(way, model, messages);
    same([text(answer), answer.stop_reason], [expect.then, "end_turn"], "the answer to the results");
  }
}

// The tool runner, which first asks the service to keep the conversation and then sends only what is new.
async function byItself(stream) {
  const { name, description, input_schema: inputSchema } = tools[0];
  const weather = betaTool({ name, description, inputSchema, run: async () => "-3 degrees" });
  const messages = [{ role: "user", content: "What is the weather?" }];
  const body = { model: `runner@0@${stream}`, max_tokens: 4000, tools: [weather], messages, stream };
  const answers = [];
  for await (const step of client.beta.messages.toolRunner(body)) {
    answers.push(stream ? await step.finalMessage() : step);
  }
  same(answers.map((answer) => answer.stop_reason), ["tool_use", "end_turn"], "the ends of the runner's answers");
  same(text(answers.at(-1)), "All is here.", "the runner's answer");
}

await byItself(false);
await byItself(true);
await each(["whole", "stream"], run);
