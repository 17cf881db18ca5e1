/** A middleware for the AI SDK: `tools` and structured output with a model that has neither. */

import type { LanguageModelMiddleware } from "ai";

import type { TurnSettings } from "./index.js";

/** A middleware for `wrapLanguageModel`; the settings are those of a `Turn`. */
export declare function toolMiddleware(settings?: Omit<TurnSettings, "output">): LanguageModelMiddleware;
