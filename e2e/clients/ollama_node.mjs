// ollama for Node: whole and streamed; a prompt, a schema, images, models.
import { Ollama } from "ollama";
import { each, fails, same, tools as all, url } from "./common.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const host = url.replace(/\/v1$/, "");
const client = new Ollama({ host });
const tools = all.map(([name, description, parameters]) => ({ type: "function", function: { name, description, parameters } }));

async function ask(way, request) {
  if (way === "whole") return client.chat(request);
  const message = { role: "assistant", content: "", thinking: "", tool_calls: [] };
  let last;
  for await (last of await client.chat({ ...request, stream: true })) {
    message.content += last.message.content;
    message.thinking += last.message.thinking ?? "";
    message.tool_calls.push(...(last.message.tool_calls ?? []));
  }
  return { ...last, message };
}

async function run(way, model, expect) {
  const messages = [{ role: "user", content: "What is the weather?" }];
  const request = { model, messages, tools, think: true, options: { num_ctx: 8192 }, keep_alive: "5m" };
  if (expect.error) return fails(ask(way, request), expect.error);
  // It tries nothing again by itself.
  if (model.startsWith("flaky")) await fails(ask(way, request), "slow down");
  const { message, done, done_reason } = await ask(way, request);
  same(message.content, expect.content, "the content");
  if (expect.reasoning) same(message.thinking, expect.reasoning, "the reasoning");
  same((message.tool_calls ?? []).map((call) => [call.function.name, call.function.arguments]), expect.calls, "the calls");
  same([done, done_reason], [true, expect.finish === "length" ? "length" : "stop"], "the reason");
  if (expect.then) {
    messages.push(message);
    for (const call of message.tool_calls) messages.push({ role: "tool", content: "-3 degrees", tool_name: call.function.name });
    const answer = await ask(way, request);
    same([answer.message.content, answer.done_reason], [expect.then, "stop"], "the answer to the results");
  }
}

const question = [{ role: "user", content: "How warm is it?" }];
const format = { type: "object", properties: { degrees: { type: "integer" } }, required: ["degrees"] };
for (const way of ["whole", "stream"]) {
  const answer = await ask(way, { model: `schema@0@node${way}`, messages: question, format });
  same(JSON.parse(answer.message.content), { degrees: 3 }, "the answer by its schema");
}
const seen = [{ type: "text", text: "What is this?" }, { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } }];
const looked = await client.chat({ model: "echo@0@0", messages: [{ role: "user", content: "What is this?", images: [PNG] }] });
same(JSON.parse(looked.message.content), seen, "what the endpoint sees of an image");
const generated = await client.generate({ model: "echo@0@0", prompt: "What is this?", images: [PNG] });
same(JSON.parse(generated.response), seen, "what it sees of an image beside a prompt");
same((await client.list()).models.map((model) => model.model), ["text@0@0"], "the models");
same((await client.show({ model: "text@0@0" })).capabilities.includes("tools"), true, "what it can do");
same((await client.embed({ model: "text@0@0", input: "a" })).embeddings, [[0.5, 1]], "the vectors");
await fails(client.pull({ model: "gemma3" }), "the endpoint manages the models");
await each(["whole", "stream"], run);
