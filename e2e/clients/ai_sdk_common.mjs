// The AI SDK: every case with a provider, whole and streamed, the loop included.
import { generateText, isStepCount, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { each, fails, same, tools as all } from "./common.mjs";

const steps = stepCountIs ?? isStepCount;

async function ask(provider, way, model, most) {
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

// `retries`: the provider tries again by itself what may pass later.
export async function all_cases(provider, retries) {
  await each(["whole", "stream"], async (way, model, expect) => {
    if (expect.error) return fails(ask(provider, way, model, 1), expect.error);
    if (model.startsWith("flaky") && !retries) await fails(ask(provider, way, model, 1), "slow down");
    const { calls, text, first, finish } = await ask(provider, way, model, expect.then ? 2 : 1);
    same(first.text, expect.content, "the content");
    if (expect.reasoning) same(first.reasoningText, expect.reasoning, "the reasoning");
    same(calls, expect.calls, "the calls");
    same(first.finishReason, words[expect.finish], "the reason");
    if (expect.then) same([text, finish], [expect.then, "stop"], "the answer to the results");
  });
}
