// The events of toolgraft, in their JSON form. Made from events.schema.json by a test.
// Members and variants may be added: ignore what you do not know.

/**
 * The events of a turn, in order. The JSON form has the variant under `type`.
 *
 * Guarantees: rounds are numbered from 1, and each `RoundStarted` has its `RoundFinished`; `index` counts the calls of
 * a round's message from 0; `id` is unique in the conversation, and every event about a call that has ended has the
 * same one; every `CallRunning`, `ApprovalAsked` and `Display` is followed by an `Outcome` of its `id`; `Finished`
 * comes last. A suspended turn leaves its open question without an outcome, and the turn that continues its
 * conversation asks again, before the first `RoundStarted`.
 */
export type AgentEvent =
  /** A request is sent to the model. */
  | {
      type: "round_started";
      /** Round of this turn, from 1. */
      round: number;
      /** Name of the requested model; `None` for the client's own. */
      model?: string | null;
    }
  /** Progress before the model's message began. Occurs between `RoundStarted` and the message, any number of times. */
  | {
      type: "progress";
      /** The progress. */
      progress: Progress;
    }
  /**
   * The turn decided, before the round's message was written, whether it must be a call: by the probability that it
   * begins with one, or because the model named a tool or said that it needs none
   * (`TurnConfig::way`).
   */
  | {
      type: "decided";
      /** `true` if the message must be a call. */
      call: boolean;
      /** Natural logarithm of the probability that the message begins with a call, if it was measured and is not 0. */
      likely?: number | null;
    }
  /** Text for the user. */
  | {
      type: "text";
      /** The text. */
      text: string;
    }
  /** Text of the reasoning. */
  | {
      type: "reasoning";
      /** The text. */
      text: string;
    }
  /**
   * All text and calls of this round so far belong to `to`. Calls that belong to the content are reported again,
   * each as a `CallEnded` or a `CallRejected` with its index.
   */
  | {
      type: "reclassified";
      /** The region that they belong to. */
      to: Region;
    }
  /** The model has begun a call. */
  | {
      type: "call_started";
      /** Index of the call in this message. */
      index: number;
      /** The server, as far as it is known now. */
      server: string | null;
      /** The tool's name, as written. */
      tool: string;
    }
  /** More of the arguments' JSON text, as a preview. */
  | {
      type: "args_delta";
      /** Index of the call. */
      index: number;
      /** The text. */
      text: string;
    }
  /** A call is complete and its arguments are accepted; it has not run. */
  | {
      type: "call_ended";
      /** Index of the call. */
      index: number;
      /** The call's id. */
      id: string;
      /** The call. */
      call: Call;
    }
  /** A call will not run. */
  | {
      type: "call_rejected";
      /** Index of the call. */
      index: number;
      /** The call and the reason. */
      rejected: Rejected;
    }
  /**
   * A call of a display-only tool: the user interface shows its arguments now, in addition to the text. Nothing
   * runs.
   */
  | DisplayCall & {
      type: "display";
    }
  /**
   * A draft in the reasoning is a call and needs approval. So is a call after other text in a message that was
   * taken for reasoning, and a call in the code fence that the message begins with.
   */
  | {
      type: "promoted";
      /** Index of the call. */
      index: number;
      /** The call's id. */
      id: string;
      /** The provenance of the call. */
      provenance: Provenance;
    }
  /** The model's message has ended. */
  | {
      type: "round_finished";
      /** Round of this turn. */
      round: number;
      /** The reason why the message ended; `None` if the turn cancelled it or it was cut off. */
      finish: 
        | FinishReason
        | null;
      /**
       * The usage as the endpoint reported it; otherwise, if `TurnConfig::tokens` is
       * set, an estimate, which is marked as one.
       */
      usage?: 
        | Usage
        | null;
    }
  /** The model will be told about a mistake in its message. */
  | {
      type: "correcting";
      /** The kind of a rejected call; `None` if the message as a whole was wrong. */
      kind?: 
        | RejectedKind
        | null;
      /** The mistake. */
      message: string;
    }
  /** A call needs approval. */
  | ApprovalRequest & {
      type: "approval_asked";
    }
  /** A call starts to run. */
  | {
      type: "call_running";
      /** The call's id. */
      id: string;
      /** Server. */
      server: string | null;
      /** Tool. */
      tool: string;
      /** Arguments. */
      arguments: Record<string, unknown>;
    }
  /** A call has its outcome. */
  | {
      type: "outcome";
      /** The call's id. */
      id: string;
      /** The outcome. */
      outcome: Outcome;
    }
  /** A warning for the caller; the turn continues. */
  | {
      type: "notice";
      /** The warning. */
      notice: CallerWarning;
    }
  /** The answer matches the requested schema. */
  | {
      type: "output";
      /** The value. */
      value: unknown;
      /** The repairs that were needed to read it. */
      repairs: Array<Repair>;
    }
  /** The turn has ended. */
  | Finished & {
      type: "finished";
    };

/** An answer to an `ApprovalRequest`. */
export type Approval =
  /** The call may run. */
  | {
      answer: "approved";
    }
  /** The call must not run. */
  | {
      answer: "denied";
      /** The reason that the model is told. */
      reason?: string | null;
    };

/** A call that needs approval. */
export type ApprovalRequest = {
  /** The call's id. */
  id: string;
  /** Server. */
  server: string | null;
  /** Tool. */
  tool: string;
  /** Arguments. */
  arguments: Record<string, unknown>;
  /** The reason why it needs approval. */
  reason: AskReason;
  /** The changes since the tool was approved, with `AskReason::Changed`. They quote the server, which is untrusted. */
  changes?: Array<string>;
};

/** The reason why a call needs approval. */
export type AskReason =
  /** The tool runs for the first time. */
  | "first_use"
  /** The tool was approved, or the policy allowed it, and the server has changed it since. */
  | "changed"
  /** The policy requires approval each time, or the model itself requests it. */
  | "policy"
  /**
   * Text of an untrusted server is in the conversation
   * (`TurnConfig::untrusted`) and may have led the model to the call.
   */
  | "untrusted"
  /** The call was only drafted in the reasoning. */
  | "promoted"
  /** The call was in a code fence followed by prose, so it may have been an example. */
  | "fenced_first"
  /** The call had no marker and followed prose, so it may have been an example in the text. */
  | "after_prose"
  /** The call had no marker and was followed by prose. */
  | "before_prose"
  /** The line before the call or after it puts it in doubt: a question, an example, another's words. */
  | "hedged"
  /** The call did not begin its line. */
  | "in_a_line"
  /** The call was alone in a code fence after prose. */
  | "fenced_after_prose"
  /** The call is inside an element with an unknown name. */
  | "in_element"
  /** A value of the call was recovered from text without quotation marks. */
  | "mended"
  /**
   * The call occurs in a result or a file of the conversation or in what another server says about itself, or its
   * arguments contain a text of the program to the model.
   */
  | "echoed"
  /** The call may change what a rejected call just before it only tried to read. */
  | "instead_of_read"
  /**
   * The call may destroy something, and names a path, an identifier or an address that neither the user nor a result
   * mentioned.
   */
  | "ungrounded"
  /**
   * The call may change something, and it equals the call just before it, or begins a cycle of two or three calls
   * for the third time, after equal results. The policy may allow it.
   */
  | "repeated"
  /**
   * The answer should have begun with the model's reasoning, but no think tag came, so it is uncertain whether the
   * call is only a draft.
   */
  | "no_reasoning_tag";

/** A message of the model. */
export type Assistant = {
  /** Text and calls, in the order in which they were written. */
  parts: Array<Part>;
  /** The model's reasoning; sent back only where that is asked for. */
  reasoning?: string;
  /** The message ended before the model was done: it was cancelled, was cut off, or hit the output limit. */
  cut_off?: boolean;
};

/** A complete call of a tool or resource, not yet checked against a schema. */
export type Call = {
  /** Server, as written or as resolved from the catalog. */
  server: string | null;
  /** Tool; `ACCESS_RESOURCE` for a resource. */
  tool: string;
  /** Arguments: any JSON value until they are validated. */
  arguments: unknown;
  /** The arguments' text as the model wrote it. */
  raw_arguments: string;
  /** Syntax that the call was written in. */
  dialect: Dialect;
  /** Everything that had to be mended, in order. */
  repairs: Array<Repair>;
  /** The way in which the call was found. */
  provenance?: Provenance;
};

/**
 * A warning for the caller; the turn continues as before. Its text for people ends with the remedy. The JSON form has
 * the variant under `kind`.
 */
export type CallerWarning =
  /** The endpoint read far fewer tokens than were sent, so it has cut the prompt. */
  | {
      kind: "prompt_cut";
      /** Tokens that were sent, by our own count. */
      sent: number;
      /** Tokens that the endpoint reported. */
      read: number;
    }
  /** The endpoint refuses tools in the request; from here on the prompt describes them. */
  | {
      kind: "tools_refused";
      /** The endpoint's message. */
      message: string;
    }
  /** The endpoint failed on a request that carried the tools; from here on the prompt describes them. */
  | {
      kind: "native_failed";
      /** The endpoint's message. */
      message: string;
    }
  /** The endpoint refuses the structure for the answer; the answer is constrained less, or not at all. */
  | {
      kind: "constraint_refused";
      /** The endpoint's message. */
      message: string;
    }
  /** A result does not match its tool's output schema. The model reads it unchanged. */
  | {
      kind: "result_mismatch";
      /** The tool's server, if it has one. */
      server?: string | null;
      /** The tool. */
      tool: string;
      /** The expected values and their places. */
      message: string;
    }
  /** The endpoint gives no probabilities of tokens; from here on the model decides whether to call. */
  | {
      kind: "no_probabilities";
    }
  /**
   * The endpoint does not constrain answers; from here on the model decides by what it writes whether to call
   * (free).
   */
  | {
      kind: "no_structure";
    }
  /**
   * The oldest part of the conversation was left out of the request, because it does not fit the context. The
   * conversation itself is complete.
   */
  | {
      kind: "history_left_out";
      /** Number of the model's messages that were left out, with their outcomes and notes. */
      rounds: number;
      /** Number of the user's questions that were left out. */
      questions: number;
      /** Number of this turn's results that were shortened to a line. */
      results: number;
      /** Tokens of the context. */
      context: number;
      /** The way to get a longer context, if the server is known. */
      remedy?: string | null;
    };

/** A history in its serialized form. */
export type Conversation = {
  /** Version of the form. */
  version: number;
  /** The entries, oldest first. */
  entries: Array<HistoryEntry>;
};

/** The part of a message to which text was moved. */
export type Destination =
  /** To the answer: what was read as reasoning was one, and no tag of reasoning came. */
  | "content"
  /** To the reasoning: a closing tag without an opening one followed. */
  | "reasoning"
  /** The same, and the syntax around calls is text: they are drafts. */
  | "drafts"
  /** To no text: it is the syntax around calls, where one of those is a call. */
  | "syntax";

/** A call syntax. As text it is its name. */
export type Dialect =
  /**
   * `<use_mcp_tool>` with `<server_name>`, `<tool_name>`, `<arguments>` in
   * JSON, and `<access_mcp_resource>` with `<server_name>`, `<uri>`.
   */
  | "use_mcp_tool"
  /** `<tool><parameter>text</parameter></tool>` for known tools. */
  | "tool_tag"
  /** A line `TYPE: MCP`, then JSON. */
  | "type_marker"
  /** `<tool_call>` with JSON, as Hermes and Qwen write it. */
  | "hermes"
  /** `TOOL_CALLS` with JSON, or with a name and JSON, as Mistral's models write it. */
  | "tool_calls"
  /** `TOOL_REQUEST` with JSON, as LM Studio asks for it. */
  | "tool_request"
  /** `<|python_tag|>` with JSON, as Llama writes it. */
  | "python_tag"
  /** `<function=NAME>`, then JSON or `<parameter=KEY>` tags. */
  | "function_tag"
  /** `<invoke name="NAME">` with `<parameter name="KEY">` tags. */
  | "invoke"
  /** DeepSeek's special tokens around a name and JSON. */
  | "deepseek"
  /** Kimi K2's special tokens around a name and JSON. */
  | "kimi"
  /** `<tool_call>NAME` with `<arg_key>` and `<arg_value>` tags, as GLM-4.5 writes it. */
  | "glm"
  /** Harmony's channels, as gpt-oss writes them. */
  | "harmony"
  /** `<|START_ACTION|>` with JSON, as Cohere's Command writes it. */
  | "command"
  /** Solar Open's special tokens around a name and JSON. */
  | "solar"
  /** Kimi K3's elements of special tokens. */
  | "kimi_k3"
  /** `<|tool_call>call:NAME{…}` with bare keys and texts between tokens, as Gemma 4 writes it. */
  | "gemma"
  /** `f(a=1), g(b='x')` and, at a line's start, `f(a=1)`, for known tools. */
  | "python"
  /** JSON as the whole message or alone in a fence, for known tools. */
  | "json"
  /** `Action:` and `Action Input:` with JSON, for known tools. */
  | "react"
  /** One that was read from a file (`Dialect::from_json`). */
  | string;

/** A call of a display-only tool, with arguments that its schema accepts. */
export type DisplayCall = {
  /** The call's id. */
  id: string;
  /** Index of the call in its message. */
  index: number;
  /** Server. */
  server: string | null;
  /** Tool. */
  tool: string;
  /** Arguments. */
  arguments: Record<string, unknown>;
};

/** Why a model stopped: `stop`, `length`, `tool_calls`, or a word of the endpoint's own. */
export type FinishReason = string;

/** The result of a turn. */
export type Finished = {
  /** The reason why the turn ended. */
  reason: StopReason;
  /** The text of the model's last message for the user. */
  answer: string;
  /** The answer's value, if it had to match a schema and does. */
  output?: unknown;
  /** The repairs that were needed to read `output`. */
  repairs?: Array<Repair>;
  /** Number of requests. */
  rounds: number;
  /** Number of calls that ran. */
  calls: number;
  /** Sum over the rounds; an estimate if a part of it is one. */
  usage?: 
    | Usage
    | null;
  /** The conversation. Every call in it has an outcome, unless the turn was suspended. */
  conversation: Conversation;
};

/** A call in its message. */
export type HistoryCall = {
  /** Identifier, unique in the conversation. */
  id: string;
  /** The call, with its arguments as the tool's schema wants them. */
  call: Call;
  /** The call's text as the model wrote it. */
  raw: string;
  /**
   * The call was promoted although it may be reasoning: the model's reasoning should have come first, and no think
   * tag came.
   */
  untagged?: boolean;
};

/** One entry of a history. */
export type HistoryEntry =
  /** A message of the user. */
  | User & {
      type: "user";
    }
  /** A message of the model. */
  | Assistant & {
      type: "assistant";
    }
  /** The outcome of a call of the last model message. */
  | {
      type: "outcome";
      /** The call's id. */
      id: string;
      /** The outcome. */
      outcome: Outcome;
    }
  /** A note of the program to the model about its last message. */
  | {
      type: "note";
      /** The text, in the prompt's language. */
      text: string;
    };

/**
 * An image that goes to a model that reads images: PNG, JPEG, GIF or WebP. Cheap to clone.
 *
 * Its `Display` form replaces it wherever only text is shown: `image cat.png, 12 KB`.
 *
 * ```
 * use toolgraft::message::Image;
 *
 * let image = Image::new(b"GIF89a\x01\x00\x01\x00")?.with_name("dot.gif");
 * assert_eq!(image.to_string(), "image dot.gif, 10 B");
 * assert!(image.data_url().starts_with("data:image/gif;base64,R0lGODlh"));
 * # Ok::<(), toolgraft::message::ImageError>(())
 * ```
 */
export type Image = {
  /** The image's name, such as a file name. */
  name?: string | null;
  /** Its media type. */
  media_type: ImageType;
  /** Its bytes in base64. */
  data: string;
};

/** The media type of an image. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** An event for the caller's user interface that came with an `Outcome`. */
export type InterfaceEvent = {
  /** The kind of event, in terms that tool and user interface share. */
  kind: string;
  /** The content. It is untrusted if the tool is. */
  data: unknown;
};

/** Which syntax a `Event::Marker` is. */
export type MarkerKind =
  /** `<think>`, `<thinking>` or another mark that opens the reasoning. */
  | "think_open"
  /** `</think>`, `</thinking>` or another mark that closes it. */
  | "think_close"
  /** A fence line around a call. */
  | "fence"
  /** A `TYPE: MCP` line. */
  | "call_line"
  /** A `TYPE: ANSWER` line. */
  | "answer_line"
  /** Brackets, commas and tags around several calls; calls past the limit on calls. */
  | "wrapper"
  /** A leaked token of the model's chat template. */
  | "token"
  /**
   * A token that ends the model's turn or begins another's, and what follows it in
   * another's name. Empty where a line or a result of another's begins in the text.
   */
  | "turn";

/** The kind of a `ModelError`. */
export type ModelErrorKind =
  /** The answer was cut off after it had begun. */
  | "broke_off"
  /** The endpoint cannot be reached. */
  | "unreachable"
  /** The endpoint refused the request. */
  | "refused"
  /** The prompt does not fit the model's context. */
  | "context_exceeded"
  /** The endpoint's response is not a model's answer. */
  | "bad_answer"
  /** The endpoint does not support a required structure. */
  | "unconstrained"
  /** A recording does not fit the conversation. */
  | "recording"
  /** Any other error. */
  | "other";

/**
 * A `ModelError` that ended a turn, with the details that a user interface needs.
 *
 * Its JSON form has everything except the error itself.
 */
export type ModelFailure = {
  /** The problem and possible remedies. */
  message: string;
  /** The kind of error. */
  error: ModelErrorKind;
  /** The HTTP status of a refusal. */
  status?: number | null;
  /** `true` if the same request may succeed later. */
  retryable: boolean;
};

/** A call that the endpoint reported in its own field (`tool_calls`, `tool_use`). */
export type NativeCall = {
  /** The endpoint's identifier. */
  id?: string | null;
  /** Name of the tool, as the endpoint knows it. */
  name: string;
  /** The arguments' JSON text. */
  arguments: string;
};

/** The outcome of a call. A tool's failure is an outcome, not an `Err`. */
export type Outcome = {
  /** The status. */
  status: Status;
  /** The tool's whole answer as text; control tokens in it are not escaped yet. */
  text: string;
  /** MCP's `structuredContent`. */
  structured?: unknown;
  /**
   * Events from the tool for the caller's user interface, besides the text. No model sees them, except images and
   * sound (`MEDIA_EVENT`). They are kept with the outcome, so that a stored conversation can
   * be shown again.
   */
  events?: Array<InterfaceEvent>;
  /** Time from the start of the call to its outcome; milliseconds in the serialized form. */
  took?: number | null;
};

/** An `Event` that owns its text; its JSON form has the variant under `type`. */
export type OwnedEvent =
  /** See `Event::Text`. */
  | {
      type: "text";
      text: string;
      span: Range_of_uint64;
    }
  /** See `Event::Reasoning`. */
  | {
      type: "reasoning";
      text: string;
      syntax?: 
        | MarkerKind
        | null;
      span: Range_of_uint64;
    }
  /** See `Event::CallStart`. */
  | {
      type: "call_start";
      index: number;
      server: string | null;
      tool: string;
      span: Range_of_uint64;
    }
  /** See `Event::ArgsDelta`. */
  | {
      type: "args_delta";
      index: number;
      text: string;
      span: Range_of_uint64;
    }
  /** See `Event::CallEnd`; exactly one of `call` and `rejected` is there. */
  | {
      type: "call_end";
      index: number;
      call?: 
        | Call
        | null;
      rejected?: 
        | Rejected
        | null;
      raw: string;
      restated: boolean;
      span: Range_of_uint64;
    }
  /** See `Event::Marker`. */
  | {
      type: "marker";
      kind: MarkerKind;
      text: string;
      span: Range_of_uint64;
    }
  /** See `Event::Revised`; exactly one of `provenance` and `reason` is there. */
  | {
      type: "revised";
      calls: Range_of_uint32;
      provenance?: 
        | Provenance
        | null;
      reason?: 
        | Reason
        | null;
      span: Range_of_uint64;
    }
  /** See `Event::Moved`. */
  | {
      type: "moved";
      spans: Array<Range_of_uint64>;
      to: Destination;
      span: Range_of_uint64;
    };

/** A piece of a model's message. */
export type Part =
  /** Syntax around calls and answers, which is not shown to the user. */
  | {
      type: "text";
      /** The text, verbatim. */
      text: string;
    }
  /** Syntax around calls and answers, which the user does not see. */
  | {
      type: "marker";
      /** The kind of the syntax. */
      kind: MarkerKind;
      /** Its text, verbatim. */
      text: string;
    }
  /** A call that may run, and must be answered. */
  | HistoryCall & {
      type: "call";
    }
  /** A call that must not run. */
  | {
      type: "rejected";
      /** The call and the reason. */
      rejected: Rejected;
      /** `true` if the model is told about the rejection. */
      feedback: boolean;
      /** The call as the endpoint reported it in its own field, if it did. */
      native?: 
        | NativeCall
        | null;
    };

/** Progress before an answer begins. */
export type Progress =
  /** The server loads the model; the request is sent again until it has. */
  | {
      kind: "loading";
    }
  /** The model reads the prompt. */
  | {
      kind: "prompt";
      /** Tokens that were read. */
      processed: number;
      /** Tokens to read. */
      total: number;
    };

/**
 * The way in which a call was found. It tells how certain it is that the call was meant: any but
 * `Plain` needs approval, whatever a policy allows by name.
 */
export type Provenance =
  /** It is where calls are expected. */
  | "plain"
  /**
   * It was alone in the fence that the message begins with, and prose followed: taken as a
   * last resort (`FencedCalls`).
   */
  | "fenced_first"
  /** No marker announces it, and prose is before it on other lines: many such calls are examples. */
  | "after_prose"
  /** No marker announces it, and prose follows it. */
  | "before_prose"
  /**
   * The line before it asks, speaks of an example or introduces another's words; or it neither announces the call nor
   * is a finished sentence, and prose follows; text between it and an earlier call does not announce it; or the line
   * after it speaks of it or asks.
   */
  | "hedged"
  /** It does not begin its line: prose is before it there. */
  | "in_a_line"
  /** It is alone in a fence, and prose is before the fence. */
  | "fenced_after_prose"
  /**
   * It is inside an element of an unknown name, an edit, a block of YAML or a value outside any call, which may be
   * what it is about: a file's content, a plan.
   */
  | "in_element"
  /** A value of it was chosen from text without quotes, which may be prose. */
  | "mended"
  /**
   * It is in a result or a file of the conversation, or in the instructions, descriptions and schemas of another
   * server: its bytes, or its tool and arguments. Or it may change something, and its arguments contain a text of the program to the model.
   */
  | "echoed"
  /** It may change something, and names what a rejected call of a read-only tool named just before. */
  | "instead_of_read"
  /** It was promoted out of the reasoning, or out of what may be reasoning. */
  | "promoted";

/** A construct that quotes a call; `docs/parser.md` has the rules. */
export type QuotedIn =
  /** A code fence with other text in or after it. */
  | "fence"
  /** A code span: backticks on its line, or `<code>`. */
  | "code_span"
  /** Quotation marks. */
  | "quotation"
  /** A line that begins with `>`. */
  | "block_quote"
  /** A line that is indented as code is. */
  | "indented_code"
  /** A comment: `<!-- -->`, `/* */`, or a line after the sign of one, such as `//`. */
  | "comment"
  /** A block that holds text as it is: `<blockquote>`, CDATA, a heredoc, triple quotes, … */
  | "block"
  /** A sign before it says that it is not meant: a backslash, `~~`, or that of a diff's line. */
  | "sign"
  /** It follows a line with which the prompt introduces an example. */
  | "own_words";

export type Range_of_uint32 = {
  start: number;
  end: number;
};

export type Range_of_uint64 = {
  start: number;
  end: number;
};

/** Why a call must not run, without the call. */
export type Reason = {
  /** The kind of the fault. */
  kind: RejectedKind;
  /** The same in words, with the place. */
  message: string;
  /** Known names that are near an unknown one. */
  nearest?: Array<string>;
  /** The construct that quotes it (`quoted` only). */
  quoted_in?: 
    | QuotedIn
    | null;
  /** The way in which the call was found. It counts once nothing else rejects the call. */
  provenance?: Provenance;
};

/** Part of a message that text belongs to. */
export type Region =
  /** The answer, which the user sees. */
  | "content"
  /** The reasoning of the model. */
  | "reasoning";

/** A call that must not run, and why. */
export type Rejected = {
  /** Reason. */
  kind: RejectedKind;
  /** The call's whole text, at most `Limits::call_bytes`. */
  raw: string;
  /** The fault and its place, for people and for the model. */
  message: string;
  /** Server, as far as it was known. */
  server: string | null;
  /** Tool, as far as it was known. */
  tool: string | null;
  /** Names of tools that the model may have meant (`unknown_tool` only). */
  nearest?: Array<string>;
  /** Syntax that the call was written in. */
  dialect: Dialect;
  /**
   * The call itself where it was complete: a draft, an example, or one with
   * arguments that its schema refuses.
   */
  call?: 
    | Call
    | null;
  /** The construct that quotes it (`quoted` only). */
  quoted_in?: 
    | QuotedIn
    | null;
  /**
   * `true` if its text stays in its place, visible to the reader: an `invented` call after a
   * line or a result in the text.
   */
  in_text?: boolean;
};

/** Why a call was rejected, in order of precedence. */
export type RejectedKind =
  /** It is in the reasoning. */
  | "in_reasoning"
  /**
   * It is after the end of the model's own message: in a user's turn or after a
   * result that the model wrote itself.
   */
  | "invented"
  /**
   * It is quoted, so it is an example: in a code fence with other text, in a code span,
   * between quotation marks, … (`Rejected::quoted_in` says which).
   */
  | "quoted"
  /**
   * It is after a call that cannot be read, before what closes that one, or before a closer
   * that closes nothing: it may be a part of that call's text.
   */
  | "after_damage"
  /** It passed a limit on size, depth or number. */
  | "limit"
  /** The stream ended before the call did. */
  | "truncated"
  /** It cannot be read. */
  | "malformed"
  /** No such tool. */
  | "unknown_tool"
  /** The tool's schema refuses the arguments. */
  | "invalid_arguments"
  /**
   * Text that is meant as a call of a known tool and fits no syntax of calls: a marker, a bracket
   * or a name in it is missing or misspelt. Known at the message's end; its text stays in
   * its place.
   */
  | "near_call";

/** Something that was mended: a word, for some followed by a colon and a place or a name (`coerced:/days`). */
export type Repair = string;

/** The status of a finished call. Every call has exactly one outcome. */
export type Status =
  /** The tool answered. */
  | "result"
  /** The tool or its server failed; the text says why. */
  | "tool_error"
  /** The call did not run: the policy, the user or a rule of the turn refused it; the text says which. */
  | "denied"
  /** The tool did not answer in time. */
  | "timed_out"
  /** The turn was cancelled. */
  | "cancelled"
  /** The call's arguments were shown to the user; nothing ran. */
  | "displayed";

/** The reason why a turn ended. */
export type StopReason =
  /** The model answered. */
  | {
      kind: "answered";
    }
  /** The output limit cut the answer off. */
  | {
      kind: "output_limit";
    }
  /** The model's answer was empty, even after it was told so. */
  | {
      kind: "empty_answer";
    }
  /** The model refused to answer, in the endpoint's field for refusals. */
  | {
      kind: "refused";
      /** The text of the refusal. */
      message: string;
    }
  /** The endpoint withheld the answer or the rest of it (`content_filter`). */
  | {
      kind: "filtered";
    }
  /** The model did not make the required call. */
  | {
      kind: "call_missing";
    }
  /** The model repeated a passage until it was stopped. The text before the repetition is the answer. */
  | {
      kind: "repetition";
      /** Number of consecutive occurrences of the passage. */
      times: number;
    }
  /**
   * The model made only a call that was refused, because equal ones had returned the same result too often in a row
   * (`TurnConfig::max_same_results`).
   */
  | {
      kind: "same_calls";
      /** The tool. */
      tool: string;
    }
  /** The last permitted round ended with a call or a mistake. */
  | {
      kind: "max_rounds";
      /** Number of permitted rounds. */
      rounds: number;
    }
  /** The model made the same kind of mistake repeatedly. */
  | {
      kind: "corrections_used_up";
      /** Number of consecutive corrections that were sent. */
      corrections: number;
      /** The mistake in the last message. */
      message: string;
    }
  /** The answer did not match the requested schema. The last answer is available as text. */
  | {
      kind: "output_mismatch";
      /** Number of consecutive corrections that were sent. */
      corrections: number;
      /** The mistake in the last answer. */
      message: string;
    }
  /** The model failed. */
  | ModelFailure & {
      kind: "model_failed";
    }
  /** A text for the model could not be written: the program's prompt is wrong. */
  | {
      kind: "prompt_failed";
      /** The problem. */
      message: string;
    }
  /** The answer was cut off because prompt and answer fill the context. */
  | {
      kind: "context_full";
      /** Tokens of the context. */
      context: number;
      /** Tokens of the prompt, as the endpoint reports them. */
      prompt: number;
      /** Tokens of the answer. */
      answer: number;
      /** The way to get a longer context, if the server is known. */
      remedy?: string | null;
    }
  /** The necessary part of the request does not fit the context, even without the history. */
  | {
      kind: "context_too_small";
      /** Tokens of the context. */
      context: number;
      /** Tokens that are reserved for the reply. */
      reply: number;
      /** Tokens of the system text with its tools. */
      system: number;
      /** Tokens of the shortest request: system text, question, last results. */
      request: number;
      /** The way to get a longer context, if the server is known. */
      remedy?: string | null;
    }
  /** The endpoint reports that the prompt does not fit the model's context, and nothing more can be left out of it. */
  | {
      kind: "context_exceeded";
      /** Tokens of the prompt, if the endpoint reports them. */
      prompt: number | null;
      /** Tokens of the context, if the endpoint reports them. */
      context: number | null;
      /** The endpoint's message, and the way to get a longer context. */
      message: string;
    }
  /** The turn was cancelled. */
  | {
      kind: "cancelled";
    }
  /**
   * The turn was suspended: the conversation may contain calls that have not begun, and the next turn continues with
   * them.
   */
  | {
      kind: "suspended";
    };

/**
 * Tokens of a request and its answer, as the endpoint counts them.
 * `prompt_tokens` of most endpoints include the cached ones.
 */
export type Usage = {
  /** Tokens of the request. */
  prompt_tokens: number;
  /** Tokens of the answer, reasoning included. */
  completion_tokens: number;
  /** Tokens of the reasoning, if they were counted. */
  reasoning_tokens?: number | null;
  /** Tokens of the request that the endpoint had cached, if it reports them. */
  cached_tokens?: number | null;
  /** The price of the request in the endpoint's own unit, if it reports one. OpenRouter reports US dollars. */
  cost?: number | null;
  /** The tokens of request and answer are this program's own estimate: the endpoint reported none. */
  estimated?: boolean;
  /** The tokens of the reasoning are an estimate, or their share of the answer's tokens is. */
  reasoning_estimated?: boolean;
};

/**
 * A message of the user: a text, and images for a model that reads images.
 *
 * Everything that the user did not type is data: add the content of a file, a pipe or a resource by
 * `User::with_file`, so that a call that occurs in it is `Provenance::Echoed`.
 *
 * ```
 * use toolgraft::Conversation;
 * use toolgraft::conversation::User;
 * use toolgraft::message::Image;
 *
 * let image = Image::new(b"GIF89a\x01\x00\x01\x00")?.with_name("dot.gif");
 * let conversation = Conversation::from_user(User::new("What colour is it?").with_image(image));
 * # Ok::<(), toolgraft::message::ImageError>(())
 * ```
 */
export type User = {
  /** The text. */
  text: string;
  /** Images that go with it. */
  images?: Array<Image>;
};
