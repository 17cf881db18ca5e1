// `toolgraft/ai` with the real package, in two versions, in front of a scripted model.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import * as six from "ai";
import * as sixTest from "ai/test";
import * as seven from "ai-7";
import * as sevenTest from "ai-7/test";
import { toolMiddleware } from "toolgraft/ai";
import { z } from "zod";

const SCHEMA = z.object({ city: z.string(), days: z.number().int().optional() });
const call = (name, args) => `<use_mcp_tool>\n<tool_name>${name}</tool_name>\n<arguments>\n${args}\n</arguments>\n</use_mcp_tool>`;
const CALL = call("forecast", '{"city": "Ulm", "days": "3"}');
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const USAGE = {
  inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 5, text: 5, reasoning: undefined },
};
const STOP = { unified: "stop", raw: "stop" };

/** A model that knows no tools and gives these answers: a text, or a text with reasoning before it. */
function scripted(Mock, answers, { fails, falls } = {}) {
  const left = [...answers];
  const requests = [];
  const closed = [];
  let isSilent;
  const silent = new Promise((resolve) => {
    isSilent = () => (resolve(), new Promise(() => {}));
  });
  const next = (params) => {
    requests.push(params);
    assert.equal(params.tools ?? params.responseFormat, undefined, "the model knows no tools");
    if (!left.length) throw new Error("the model has no further answer");
    const answer = left.shift();
    return typeof answer === "string" ? { text: answer } : answer;
  };
  const model = new Mock({
    modelId: "scripted",
    doGenerate: async (params) => {
      const { text, thought } = next(params);
      const content = [...(thought ? [{ type: "reasoning", text: thought }] : []), { type: "text", text }];
      return { content, finishReason: STOP, usage: USAGE, warnings: [] };
    },
    doStream: async (params) => {
      const { text, thought = "" } = next(params);
      const cut = (type, text) => (text.match(/[^]{1,7}/g) ?? []).map((delta) => ({ type: `${type}-delta`, id: "1", delta }));
      const block = (type, text) => [{ type: `${type}-start`, id: "1" }, ...cut(type, text), { type: `${type}-end`, id: "1" }];
      const parts = [
        { type: "stream-start", warnings: [] },
        { type: "response-metadata", id: "answer", modelId: "scripted" },
        ...(thought && block("reasoning", thought)),
        ...block("text", text),
        ...(fails ? [{ type: "error", error: new Error(fails) }] : []),
        { type: "finish", finishReason: STOP, usage: USAGE },
      ];
      const stream = new ReadableStream({
        pull(controller) {
          if (falls === "silent" && parts.length < 100) return isSilent();
          parts.length ? controller.enqueue(parts.shift()) : controller.close();
        },
        cancel() {
          closed.push(parts.length);
        },
      }, { highWaterMark: 0 });
      return { stream };
    },
  });
  return { model, requests, closed, silent };
}

for (const [version, sdk, Mock] of [
  ["ai 6", six, sixTest.MockLanguageModelV3],
  ["ai 7", seven, sevenTest.MockLanguageModelV4],
]) {
  const setUp = (answers, settings, options) => {
    const { model, ...rest } = scripted(Mock, answers, options);
    return { ...rest, model: sdk.wrapLanguageModel({ model, middleware: toolMiddleware(settings) }) };
  };
  const forecast = sdk.tool({ description: "The weather of the coming days.", inputSchema: SCHEMA });
  const running = sdk.tool({ inputSchema: SCHEMA, execute: async ({ city }) => `Sunny in ${city}, 20 °C.` });

  describe(version, () => {
    test("a call comes as a call, is run, and its result goes out as text", async () => {
      const { model, requests } = setUp([`Let me look.\n${CALL}\nAnd so on.`, "It is sunny."]);
      const answer = await sdk.generateText({
        model,
        prompt: "The weather in Ulm?",
        tools: { forecast: running },
        stopWhen: sdk.stepCountIs(3),
      });
      assert.equal(answer.text, "It is sunny.");
      const [first] = answer.steps;
      assert.deepEqual([first.text, first.finishReason], ["Let me look.", "tool-calls"]);
      assert.deepEqual(first.toolCalls[0].input, { city: "Ulm", days: 3 });
      assert.deepEqual(requests[1].prompt.map((message) => message.role), ["system", "user", "assistant", "user"]);
      assert.equal(requests[0].toolChoice, undefined);
      assert.match(requests[0].prompt[0].content, /forecast/);
      assert.match(requests[1].prompt[2].content[0].text, /<use_mcp_tool>/);
      assert.match(requests[1].prompt[3].content[0].text, /Sunny in Ulm, 20 °C\./);
    });

    test("an agent of the SDK runs with it", async () => {
      const { model } = setUp([CALL, "It is sunny."]);
      const agent = new sdk.ToolLoopAgent({ model, tools: { forecast: running } });
      const { text, steps } = await agent.generate({ prompt: "The weather in Ulm?" });
      assert.deepEqual([text, steps.length], ["It is sunny.", 2]);
    });

    test("a mistake is corrected, and its cost counts", async () => {
      const { model, requests } = setUp([call("forecast", '{"days": 3}'), CALL]);
      const answer = await sdk.generateText({ model, prompt: "The weather?", tools: { forecast } });
      assert.equal(answer.finishReason, "tool-calls");
      assert.match(requests[1].prompt.at(-1).content[0].text, /city/);
      assert.deepEqual([answer.usage.inputTokens, answer.usage.outputTokens], [20, 10]);
    });

    test("reasoning comes as reasoning, whether the endpoint tells it apart or not", async () => {
      for (const said of [{ thought: "A city?", text: CALL }, `<think>A city?</think>\n${CALL}`]) {
        const { model } = setUp([said]);
        const answer = await sdk.generateText({ model, prompt: "The weather?", tools: { forecast } });
        assert.deepEqual([answer.reasoningText.trim(), answer.toolCalls.length], ["A city?", 1]);
      }
    });

    test("a required call is asked for again", async () => {
      for (const toolChoice of ["required", { type: "tool", toolName: "forecast" }]) {
        const { model, requests } = setUp(["I will not.", CALL]);
        const answer = await sdk.generateText({ model, prompt: "The weather?", tools: { forecast }, toolChoice });
        assert.deepEqual([answer.finishReason, requests.length], ["tool-calls", 2]);
      }
    });

    test("no call where the choice is none", async () => {
      const { model, requests } = setUp(["Sunny."]);
      const answer = await sdk.generateText({ model, prompt: "The weather?", tools: { forecast }, toolChoice: "none" });
      assert.equal(answer.text, "Sunny.");
      assert.doesNotMatch(JSON.stringify(requests[0].prompt), /forecast/);
    });

    test("structured output, whole and streamed", async () => {
      const output = () => sdk.Output.object({ schema: z.object({ celsius: z.number().int() }) });
      const said = ['```json\n{"celsius": "warm"}\n```', 'Here:\n```json\n{"celsius": 20}\n```'];
      const whole = setUp(said);
      const answer = await sdk.generateText({ model: whole.model, prompt: "The weather?", output: output() });
      assert.deepEqual([answer.output, whole.requests.length], [{ celsius: 20 }, 2]);
      const streamed = setUp(said);
      const stream = sdk.streamText({ model: streamed.model, prompt: "The weather?", output: output() });
      assert.deepEqual(await stream.output, { celsius: 20 });
    });

    test("an answer that never matches is told with a warning", async () => {
      const { model } = setUp(["warm", "hot"], { maxCorrections: 1 });
      const { responseFormat } = { responseFormat: { type: "json", schema: { type: "integer" } } };
      const prompt = [{ role: "user", content: [{ type: "text", text: "The weather?" }] }];
      const { warnings } = await model.doGenerate({ prompt, responseFormat });
      assert.equal(warnings.length, 1);
    });

    test("a request without tools passes as it is", async () => {
      const { model, requests } = setUp([CALL]);
      const answer = await sdk.generateText({ model, prompt: "The weather?" });
      assert.equal(answer.text, CALL);
      assert.deepEqual(requests[0].prompt.map((message) => message.role), ["user"]);
    });

    test("an image goes on, and a text as a file, and what is neither is a line that names it", async () => {
      const { model, requests } = setUp(["A dot."]);
      const said = (mediaType, data) => [
        { role: "user", content: [{ type: "text", text: "What?" }, { type: "file", mediaType, data }] },
      ];
      await sdk.generateText({ model, messages: said("image/png", Buffer.from(PNG, "base64")), tools: { forecast } });
      const file = requests[0].prompt.at(-1).content.at(-1);
      assert.equal(file.mediaType, "image/png");
      assert.equal(file.data.data ?? file.data, PNG);
      for (const data of [Buffer.from("Milk."), Buffer.from("Milk.").toString("base64")]) {
        const { model, requests } = setUp(["Milk."]);
        await sdk.generateText({ model, messages: said("text/plain", data), tools: { forecast } });
        assert.match(JSON.stringify(requests[0].prompt.at(-1).content), /<file name=.*Milk/, "a text is a file, not the user's words");
      }
      const sound = setUp(["A horn."]);
      const messages = said("audio/wav", Buffer.from("RIFF\0\0\0\0WAVE"));
      await sdk.generateText({ model: sound.model, messages, tools: { forecast } });
      assert.match(JSON.stringify(sound.requests[0].prompt.at(-1).content), /What\?.*\[audio\/wav\]/);
    });

    test("a tool of the provider's own is not offered, with a warning", async () => {
      const { model, requests } = setUp(["Hello."]);
      const own = { type: "provider", id: "x.search", name: "search", args: {} };
      const tool = { type: "function", name: "forecast", inputSchema: { type: "object" } };
      const prompt = [{ role: "user", content: [{ type: "text", text: "Hello?" }] }];
      const { warnings } = await model.doGenerate({ prompt, tools: [own, tool] });
      assert.match(warnings[0].message, /search/);
      assert.match(requests[0].prompt[0].content, /forecast/);
    });

    test("results of every kind are read", async () => {
      const outputs = [
        [{ type: "json", value: { celsius: 20 } }, /"celsius":20/],
        [{ type: "error-text", value: "No network." }, /No network\./],
        [{ type: "execution-denied", reason: "Not today." }, /<tool_status status="not run"[^]*Not today\./],
        [{ type: "content", value: [{ type: "text", text: "Sunny." }] }, /Sunny\./],
      ];
      for (const [output, expected] of outputs) {
        const { model, requests } = setUp(["Well."]);
        const made = { toolCallId: "1", toolName: "forecast" };
        const messages = [
          { role: "user", content: "The weather?" },
          { role: "assistant", content: [{ type: "tool-call", ...made, input: { city: "Ulm" } }] },
          { role: "tool", content: [{ type: "tool-result", ...made, output }] },
        ];
        await sdk.generateText({ model, messages, tools: { forecast } });
        assert.match(requests[0].prompt.at(-1).content[0].text, expected);
      }
    });

    test("in a stream text comes at once and calls at the end", async () => {
      const { model, closed } = setUp([{ thought: "A city?", text: `Let me look.\n${CALL}\nAnd so on, and on, and on.` }]);
      const { fullStream } = sdk.streamText({ model, prompt: "The weather?", tools: { forecast } });
      const parts = [];
      for await (const part of fullStream) parts.push(part);
      const text = parts.flatMap((part) => (part.type === "text-delta" ? part.text : []));
      assert.equal(text.join(""), "Let me look.");
      assert.ok(text.length > 1);
      const thought = parts.flatMap((part) => (part.type === "reasoning-delta" ? part.text : []));
      assert.equal(thought.join(""), "A city?");
      const types = parts.map((part) => part.type);
      assert.ok(types.indexOf("text-end") < types.indexOf("tool-call"));
      assert.equal(parts.at(-1).finishReason, "tool-calls");
      assert.equal(closed.length, 1);
      assert.ok(closed[0] > 0, "what stands behind the call is not waited for");
    });

    test("in a stream a call is run and a mistake is corrected", async () => {
      const { model, requests } = setUp([`Look:\n${call("forecast", '{"days": 3}')}`, CALL, "Sunny."]);
      const stream = sdk.streamText({
        model,
        prompt: "The weather?",
        tools: { forecast: running },
        stopWhen: sdk.stepCountIs(3),
      });
      assert.equal(await stream.text, "Sunny.");
      const [first] = await stream.steps;
      assert.deepEqual([first.text, first.toolResults[0].output], ["Look:", "Sunny in Ulm, 20 °C."]);
      assert.equal(requests.length, 3);
    });

    test("an error in a stream arrives, and nothing is asked again", async () => {
      const { model, requests } = setUp(["Well,"], {}, { fails: "the endpoint is gone" });
      const errors = [];
      const onError = ({ error }) => errors.push(error.message);
      const { fullStream } = sdk.streamText({ model, prompt: "The weather?", tools: { forecast }, onError });
      for await (const _ of fullStream);
      assert.deepEqual([errors, requests.length], [["the endpoint is gone"], 1]);
    });

    test("who stops reading stops the model, a silent one too", { timeout: 60_000 }, async () => {
      const { model, closed, requests, silent } = setUp(["A long answer. ".repeat(50)], {}, { falls: "silent" });
      const prompt = [{ role: "user", content: [{ type: "text", text: "The weather?" }] }];
      const tools = [{ type: "function", name: "forecast", inputSchema: { type: "object" } }];
      const reader = (await model.doStream({ prompt, tools })).stream.getReader();
      const readAll = async () => {
        while (!(await reader.read()).done);
      };
      const waits = readAll();
      await silent;
      await reader.cancel();
      await waits;
      assert.deepEqual([closed.length, requests.length], [1, 1]);
    });

    test("what the model throws is thrown", async () => {
      const { model } = setUp([]);
      const asked = { model, prompt: "The weather?", tools: { forecast }, maxRetries: 0 };
      await assert.rejects(sdk.generateText(asked), /no further answer/);
    });
  });
}
