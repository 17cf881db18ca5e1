/**
 * A middleware for the AI SDK: `tools` and structured output with a model that has neither.
 *
 * It speaks the SDK's interface to models as versions 6 and 7 of the package `ai` have it.
 */

import { randomUUID } from "node:crypto";

import { Turn } from "./index.js";

/** A middleware for `wrapLanguageModel`; the settings are those of a `Turn`. */
export function toolMiddleware(settings = {}) {
  return {
    specificationVersion: "v4",
    // What stands at an address is fetched by the SDK: a turn takes images as data alone.
    overrideSupportedUrls: () => ({}),
    wrapGenerate: ({ doGenerate, params, model }) =>
      needsTools(params) ? new Exchange(params, model, settings).whole() : doGenerate(),
    wrapStream: ({ doStream, params, model }) =>
      needsTools(params) ? new Exchange(params, model, settings).streamed() : doStream(),
  };
}

/** Whether a request asks for anything that a model without tools has not. */
function needsTools({ tools, responseFormat }) {
  return Boolean(tools?.length) || responseFormat?.type === "json";
}

/** One request on its way. */
class Exchange {
  #model;
  #params;
  #turn;
  #warnings;
  #usage;
  #reason;
  /** What the model's stream is read by, and whether nobody wants more of it. */
  #reader;
  #isLeft = false;

  constructor({ tools = [], toolChoice, responseFormat, prompt, ...params }, model, settings) {
    const functions = tools.filter((tool) => tool.type === "function");
    const others = tools.filter((tool) => tool.type !== "function");
    this.#model = model;
    this.#params = params;
    this.#warnings = others.map((tool) => warning(`the tool ${tool.name} is the provider's own: it is not offered`));
    this.#turn = new Turn(
      functions.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
      chatMessages(prompt),
      {
        model: model.modelId,
        toolChoice: toolChoice?.type === "tool" ? toolChoice.toolName : (toolChoice?.type ?? "auto"),
        ...settings,
        output: responseFormat?.type === "json" ? (responseFormat.schema ?? { type: "object" }) : null,
      },
    );
  }

  // An answer that comes whole.

  async whole() {
    const turn = this.#turn;
    const others = [];
    let result;
    for (let messages = turn.request(); messages; messages = turn.request()) {
      result = await this.#model.doGenerate(this.#request(messages));
      this.#note(result);
      this.#warnings.unshift(...(result.warnings ?? []));
      for (const part of result.content) {
        if (part.type !== "text" && part.type !== "reasoning") others.push(part);
        else if (turn.isStreaming) part.type === "text" ? turn.push(part.text) : turn.pushReasoning(part.text);
      }
      if (turn.isStreaming) turn.finish(word(this.#reason));
    }
    const content = [
      ...(turn.reasoning ? [{ type: "reasoning", text: turn.reasoning }] : []),
      ...(turn.content ? [{ type: "text", text: turn.content }] : []),
      ...others,
      ...this.#calls(),
    ];
    const warnings = turn.problem ? [...this.#warnings, warning(turn.problem)] : this.#warnings;
    return { ...result, content, ...this.#end(), warnings };
  }

  // An answer that comes in pieces.

  async streamed() {
    const result = await this.#model.doStream(this.#request(this.#turn.request()));
    const parts = this.#parts(result);
    const stream = new ReadableStream({
      async pull(controller) {
        const { done, value } = await parts.next();
        done ? controller.close() : controller.enqueue(value);
      },
      // The model may be silent, and what waits for it then does not end by itself.
      cancel: async () => {
        this.#isLeft = true;
        await this.#reader?.cancel();
        await parts.return();
      },
    });
    return { ...result, stream };
  }

  async *#parts(result) {
    const turn = this.#turn;
    const blocks = new Blocks();
    for (let round = 0; ; round += 1) {
      this.#reader = result.stream.getReader();
      let failed = false;
      try {
        while (turn.isStreaming) {
          const { done, value: part } = await this.#reader.read();
          if (done) break;
          if (part.type === "text-delta") yield* blocks.told(turn.push(part.delta));
          else if (part.type === "reasoning-delta") yield* blocks.told(turn.pushReasoning(part.delta));
          else if (part.type === "finish") {
            this.#note(part);
            if (failed) yield part;
          } else if (part.type === "stream-start") {
            if (round === 0) yield { ...part, warnings: [...part.warnings, ...this.#warnings] };
          } else if (part.type === "response-metadata") {
            if (round === 0) yield part;
          } else if (!/^(text|reasoning)-(start|end)$/.test(part.type)) {
            failed ||= part.type === "error";
            yield part;
          }
        }
      } finally {
        await this.#reader.cancel();
      }
      if (failed || this.#isLeft) return;
      if (turn.isStreaming) yield* blocks.told(turn.finish(word(this.#reason)));
      const messages = turn.request();
      if (!messages) break;
      result = await this.#model.doStream(this.#request(messages));
    }
    yield* blocks.end();
    if (turn.finishReason === "error") yield { type: "error", error: new Error(turn.problem) };
    for (const call of this.#calls()) {
      const { toolCallId: id, toolName, input } = call;
      yield { type: "tool-input-start", id, toolName };
      yield { type: "tool-input-delta", id, delta: input };
      yield { type: "tool-input-end", id };
      yield call;
    }
    yield { type: "finish", ...this.#end() };
  }

  /** What the model is asked, with messages of a turn. */
  #request(messages) {
    return { ...this.#params, prompt: modelMessages(messages, this.#model.specificationVersion) };
  }

  /** Keeps why an answer ended, and adds up what the answers cost. */
  #note({ finishReason, usage }) {
    this.#reason = finishReason;
    this.#usage = sum(this.#usage, usage);
  }

  #calls() {
    return this.#turn.calls.map(({ tool, arguments: input }) => {
      const toolCallId = `call_${randomUUID().replaceAll("-", "").slice(0, 24)}`;
      return { type: "tool-call", toolCallId, toolName: tool, input: JSON.stringify(input) };
    });
  }

  /** Why the whole ended, and what it cost, as the interface of the model has it. */
  #end() {
    const isOld = this.#model.specificationVersion === "v2";
    const unified = (this.#turn.finishReason ?? "other").replaceAll("_", "-");
    const unknown = isOld
      ? { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined }
      : { inputTokens: { total: undefined }, outputTokens: { total: undefined } };
    const raw = typeof this.#reason === "object" ? this.#reason?.raw : this.#reason;
    return { finishReason: isOld ? unified : { unified, raw }, usage: this.#usage ?? unknown };
  }
}

/** Pieces of text and reasoning as blocks of a stream, each with its beginning and its end. */
class Blocks {
  #type;
  #count = 0;

  get #id() {
    return `${this.#type}-${this.#count}`;
  }

  *told(told) {
    for (const { type, text } of told) {
      if (type !== this.#type) {
        yield* this.end();
        this.#type = type;
        yield { type: `${type}-start`, id: this.#id };
      }
      yield { type: `${type}-delta`, id: this.#id, delta: text };
    }
  }

  *end() {
    if (!this.#type) return;
    yield { type: `${this.#type}-end`, id: this.#id };
    this.#type = undefined;
    this.#count += 1;
  }
}

function warning(message) {
  return { type: "other", message };
}

/** An endpoint's word for why an answer ended, as Chat Completions has it. */
function word(reason) {
  const unified = typeof reason === "object" ? reason?.unified : reason;
  return (unified ?? "stop").replaceAll("-", "_");
}

/** Numbers of the same name added up, however deep they stand. */
function sum(one, other) {
  if (typeof one === "number" && typeof other === "number") return one + other;
  if (!isObject(one) || !isObject(other)) return other ?? one;
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries([...names].map((name) => [name, sum(one[name], other[name])]));
}

function isObject(value) {
  return typeof value === "object" && value !== null;
}

// Messages of the SDK as Chat Completions has them, and back.

function chatMessages(prompt) {
  return prompt.flatMap(({ role, content }) => {
    if (role === "system") return { role, content };
    if (role === "user") return { role, content: content.map(chatPart) };
    if (role === "tool") return content.filter((part) => part.type === "tool-result").map(chatResult);
    const text = content.filter((part) => part.type === "text").map((part) => part.text);
    const calls = content.filter((part) => part.type === "tool-call" && !part.providerExecuted);
    return {
      role,
      content: text.join("\n\n"),
      tool_calls: calls.map(({ toolCallId: id, toolName: name, input }) => ({
        id,
        type: "function",
        function: { name, arguments: input },
      })),
    };
  });
}

function chatPart(part) {
  if (part.type === "text") return { type: "text", text: part.text };
  // Versions before 7 have the data itself where 7 says its kind beside it.
  const file = isObject(part.data) && "type" in part.data ? part.data : { type: "data", data: part.data };
  // A file's text is data: the user did not write it.
  const framed = (text) => ({ type: "file", file: { filename: part.filename, text } });
  if (file.type === "text") return framed(file.text);
  const { data } = file;
  const isData = typeof data === "string" || data instanceof Uint8Array;
  if (isData && part.mediaType.startsWith("text/")) return framed(Buffer.from(data, "base64").toString());
  // What is no image as data is a line that names it, in a turn.
  if (!isData || !part.mediaType.startsWith("image/")) return { type: part.mediaType };
  const base64 = typeof data === "string" ? data : Buffer.from(data).toString("base64");
  return { type: "image_url", image_url: { url: `data:${part.mediaType};base64,${base64}` } };
}

function chatResult({ toolCallId, output }) {
  const result = { role: "tool", tool_call_id: toolCallId, content: resultContent(output) };
  // What is said of a call that did not run is no result.
  return output.type === "execution-denied" ? { ...result, status: "denied" } : result;
}

function resultContent({ type, value, reason }) {
  switch (type) {
    case "text":
    case "error-text":
      return value;
    case "execution-denied":
      return reason ?? "";
    case "content":
      return value.map((part) => (part.type === "text" ? part : { type: part.mediaType ?? part.type }));
    default:
      return JSON.stringify(value) ?? "";
  }
}

function modelMessages(messages, version) {
  const part = (from) => {
    if (from.type === "text") return from;
    const [, mediaType, data] = /^data:([^;]*);base64,(.*)$/s.exec(from.image_url.url);
    return { type: "file", mediaType, data: version === "v4" ? { type: "data", data } : data };
  };
  return messages.map(({ role, content }) => {
    if (role === "system") return { role, content };
    return { role, content: typeof content === "string" ? [{ type: "text", text: content }] : content.map(part) };
  });
}
