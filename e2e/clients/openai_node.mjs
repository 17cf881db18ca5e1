// openai for Node: whole, streamed, and the helper that puts a stream together.
import OpenAI from "openai";
import { each, fails, same, tools as all, url } from "./common.mjs";

const client = new OpenAI({ baseURL: url, apiKey: "none", maxRetries: 2 });
const tools = all.map(([name, description, parameters]) => ({ type: "function", function: { name, description, parameters } }));

async function ask(way, model, messages) {
  const body = { model, messages, tools };
  if (way === "whole") {
    return (await client.chat.completions.create(body)).choices[0];
  }
  if (way === "helper") {
    const stream = client.chat.completions.stream(body);
    return (await stream.finalChatCompletion()).choices[0];
  }
  const message = { role: "assistant", content: "", reasoning_content: "" };
  const calls = [];
  let finish_reason = null;
  for await (const chunk of await client.chat.completions.create({ ...body, stream: true })) {
    const { delta, finish_reason: reason } = chunk.choices[0];
    message.content += delta.content ?? "";
    message.reasoning_content += delta.reasoning_content ?? "";
    for (const { index, id, function: { name, arguments: text } } of delta.tool_calls ?? []) {
      calls[index] ??= { id, type: "function", function: { name, arguments: "" } };
      calls[index].function.arguments += text ?? "";
    }
    finish_reason = reason ?? finish_reason;
  }
  if (calls.length) message.tool_calls = calls;
  return { message, finish_reason };
}

async function run(way, model, expect) {
  const messages = [{ role: "user", content: "What is the weather?" }];
  if (expect.error) return fails(ask(way, model, messages), expect.error);
  const { message, finish_reason } = await ask(way, model, messages);
  same(message.content ?? "", expect.content, "the content");
  if (expect.reasoning && way !== "helper") same(message.reasoning_content, expect.reasoning, "the reasoning");
  const calls = (message.tool_calls ?? []).map((call) => [call.function.name, JSON.parse(call.function.arguments)]);
  same(calls, expect.calls, "the calls");
  same(finish_reason, expect.finish, "the reason");
  if (expect.then) {
    messages.push(message);
    for (const call of message.tool_calls) messages.push({ role: "tool", tool_call_id: call.id, content: "-3 degrees" });
    const answer = await ask(way, model, messages);
    same([answer.message.content, answer.finish_reason], [expect.then, "stop"], "the answer to the results");
  }
}

await each(["whole", "stream", "helper"], run);
