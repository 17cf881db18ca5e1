// The AI SDK with its provider for compatible endpoints.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { all_cases } from "./ai_sdk_common.mjs";
import { url } from "./common.mjs";

await all_cases(createOpenAICompatible({ name: "toolgraft", baseURL: url, apiKey: "none", includeUsage: true }), true);
