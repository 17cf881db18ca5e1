// The AI SDK with a provider for Ollama's interface.
import { createOllama } from "ai-sdk-ollama";
import { all_cases } from "./ai_sdk_common.mjs";
import { url } from "./common.mjs";

const provider = createOllama({ baseURL: url.replace(/\/v1$/, "") });
await all_cases((model) => provider(model, { think: true }), false);
