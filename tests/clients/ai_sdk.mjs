// The AI SDK with its provider for compatible endpoints: whole and streamed, the loop included.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, isStepCount, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { each, fails, same, tools as all, url } from "./common.mjs";

const provider = createOpenAICompatible({ name: "toolgraft", baseURL: url, apiKey: "none", includeUsage: true });
const steps = stepCountIs ?? isStepCount;

async function ask(way, model, most) {
  const calls = [];
  const tools = Object.fromEntries(all.map(([name, description, parameters]) => [name, tool({
    description,
    inputSchema: jsonSchema(parameters),
    execute: async (input) => {
      calls.push([name, input]);
      return "-3 degrees";
    },
  })]));
  const body = { model: provider(model), prompt: "What is the weather?", tools, stopWhen: steps(most), maxRetries: 2 };
  if (way === "whole") {
    const answer = await generateText(body);
    return { calls, text: answer.text, first: answer.steps[0], finish: answer.finishReason };
  }
  let failed;
  const stream = streamText({ ...body, onError: ({ error }) => { failed ??= error; } });
  await stream.consumeStream();
  if (failed) throw failed;
  const parts = await stream.steps;
  return { calls, text: await stream.text, first: parts[0], finish: await stream.finishReason };
}

const words = { tool_calls: "tool-calls", stop: "stop", length: "length" };

async function run(way, model, expect) {
  if (expect.error) return fails(ask(way, model, 1), expect.error);
  const { calls, text, first, finish } = await ask(way, model, expect.then ? 2 : 1);
  same(first.text, expect.content, "the content");
  if (expect.reasoning) same(first.reasoningText, expect.reasoning, "the reasoning");
  same(calls, expect.calls, "the calls");
  same(first.finishReason, words[expect.finish], "the reason");
  if (expect.then) same([text, finish], [expect.then, "stop"], "the answer to the results");
}

await each(["whole", "stream"], run);
