// The events of toolgraft, in their JSON form. Made from events.schema.json by a test.
// Members and variants may be added: ignore what you do not know.

/**
 * An event of a turn. In JSON, the member `type` is the event's name.
 *
 * Guarantees: rounds are numbered from 1, and each `RoundStarted` has its `RoundFinished`; `index` counts the calls of
 * a round's message from 0; `id` is unique in the conversation, and every event about a call that has ended has the
 * same one; every `CallRunning`, `ApprovalAsked` and `Display` is followed by an `Outcome` of its `id`; `Finished`
 * comes last. A suspended turn leaves an unanswered `ApprovalAsked` without an outcome; the turn that continues its
 * conversation asks again, before its first `RoundStarted`.
 */
export type AgentEvent =
  /** A request is sent to the model. */
  | {
      type: "round_started";
      /** Number of the round in this turn, from 1. */
      round: number;
      /** Name of the requested model; `None` for the default model of the client. */
      model?: string | null;
    }
  /**
   * The server is still loading the model, or the model reads the prompt. Occurs any number of times between
   * `RoundStarted` and the model's message.
   */
  | {
      type: "progress";
      /** Progress of loading the model or of reading the prompt. */
      progress: Progress;
    }
  /**
   * The turn decided, before the model wrote the round's message, whether the message must be a call: by the
   * probability that it begins with one, or because the model named a tool or answered that it needs none
   * (`TurnConfig::way`).
   */
  | {
      type: "decided";
      /** `true` if the model's message in this round must be a call. */
      call: boolean;
      /**
       * Natural logarithm of the probability that the message begins with a call; `None` if the probability is 0 or
       * was not measured.
       */
      likely?: number | null;
    }
  /** A piece of the answer's text, which the user sees. */
  | {
      type: "text";
      /** Next piece of the answer's text. */
      text: string;
    }
  /** A piece of the model's reasoning. */
  | {
      type: "reasoning";
      /** Next piece of the reasoning's text. */
      text: string;
    }
  /**
   * All text and calls of this round so far belong to another region of the message. If that is the answer, the
   * calls are reported again, each as a `CallEnded` or a `CallRejected` with its index.
   */
  | {
      type: "reclassified";
      /** Region that the text and calls of this round so far belong to. */
      to: Region;
    }
  /** The model has begun a call, and the tool's name is known. */
  | {
      type: "call_started";
      /** Index of the call in the model's message, from 0. */
      index: number;
      /** Name of the tool's server, if it is known already. */
      server: string | null;
      /** Name of the tool, as the model wrote it. */
      tool: string;
    }
  /** A further piece of a call's arguments as JSON text, as a preview. */
  | {
      type: "args_delta";
      /** Index of the call in the model's message, from 0. */
      index: number;
      /** Next piece of the arguments' JSON text. */
      text: string;
    }
  /** A call is complete, and the tool's schema accepts its arguments. The call has not run yet. */
  | {
      type: "call_ended";
      /** Index of the call in the model's message, from 0. */
      index: number;
      /** Id of the call, unique in the conversation. */
      id: string;
      /** The complete call. */
      call: Call;
    }
  /** A call of the model was rejected and will not run. */
  | {
      type: "call_rejected";
      /** Index of the call in the model's message, from 0. */
      index: number;
      /** The rejected call with the reason. */
      rejected: Rejected;
    }
  /**
   * A call of a display-only tool: the user interface shows the call's arguments now, in addition to the text.
   * Nothing runs.
   */
  | DisplayCall & {
      type: "display";
    }
  /**
   * A call that was reported as a draft or an example is a call after all, and needs approval: a draft in the
   * reasoning, a call after other text in a message that was taken for reasoning, or a
   * call in the code fence that the message begins with.
   */
  | {
      type: "promoted";
      /** Index of the call in the model's message, from 0. */
      index: number;
      /** Id of the call, unique in the conversation. */
      id: string;
      /** Provenance of the call. */
      provenance: Provenance;
    }
  /** The model's message has ended. */
  | {
      type: "round_finished";
      /** Number of the round in this turn, from 1. */
      round: number;
      /**
       * Reason why the message ended, as the endpoint reported it; `None` if the turn cancelled the message or it
       * was cut off.
       */
      finish: 
        | FinishReason
        | null;
      /**
       * Token usage of the round as the endpoint reported it; otherwise, if
       * `TurnConfig::tokens` is set, an estimate, which is marked as one.
       */
      usage?: 
        | Usage
        | null;
    }
  /** The model's message contains a mistake, and the next request tells the model about it. */
  | {
      type: "correcting";
      /** Kind of the rejected call that is corrected; `None` if the mistake concerns the message as a whole. */
      kind?: 
        | RejectedKind
        | null;
      /** Description of the mistake. */
      message: string;
    }
  /** A call needs approval, and the turn asks the caller for it. */
  | ApprovalRequest & {
      type: "approval_asked";
    }
  /** A call starts to run: its tool is called. */
  | {
      type: "call_running";
      /** Id of the call, unique in the conversation. */
      id: string;
      /** Name of the tool's server; `None` if the tool has none. */
      server: string | null;
      /** Name of the called tool. */
      tool: string;
      /** Arguments of the call, after validation. */
      arguments: Record<string, unknown>;
    }
  /** A call is finished: its outcome is known. */
  | {
      type: "outcome";
      /** Id of the call, unique in the conversation. */
      id: string;
      /** Outcome of the call. */
      outcome: Outcome;
    }
  /** A warning for the caller; the turn continues. */
  | {
      type: "notice";
      /** The warning, with its kind and details. */
      notice: CallerWarning;
    }
  /** The model's answer is JSON that matches the requested schema. */
  | {
      type: "output";
      /** The answer as a JSON value. */
      value: unknown;
      /** Repairs that were needed to read the answer as JSON. */
      repairs: Array<Repair>;
    }
  /** The turn has ended. This is its last event. */
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
      /** Reason for the denial, which is sent to the model; `None` for none. */
      reason?: string | null;
    };

/** A call that needs approval before it runs, with the reason. */
export type ApprovalRequest = {
  /** Id of the call, unique in the conversation. */
  id: string;
  /** Name of the tool's server; `None` if the tool has none. */
  server: string | null;
  /** Name of the called tool. */
  tool: string;
  /** Arguments of the call, after validation. */
  arguments: Record<string, unknown>;
  /** Reason why the call needs approval. */
  reason: AskReason;
  /**
   * Changes of the tool's definition since it was approved; empty unless the reason is `AskReason::Changed`. They
   * quote text of the server, which is untrusted.
   */
  changes?: Array<string>;
};

/** The reason why a call needs approval. */
export type AskReason =
  /** The policy requires approval of a tool's first use, and the tool was not approved yet. */
  | "first_use"
  /** The server has changed the tool's definition since the tool was approved or the policy allowed it. */
  | "changed"
  /** The policy requires approval of each such call, or the model requests approval in the call's arguments. */
  | "policy"
  /**
   * Text of an untrusted server (`TurnConfig::untrusted`) is in the
   * conversation or the prompt, and may have led the model to the call.
   */
  | "untrusted"
  /** The call was only a draft in the reasoning, or in text that may be reasoning. */
  | "promoted"
  /** The call was in the code fence that the message begins with, followed by prose, so it may be an example. */
  | "fenced_first"
  /** The call had no delimiter and followed prose, so it may be an example in the text. */
  | "after_prose"
  /** The call had no delimiter and was followed by prose, so it may be an example in the text. */
  | "before_prose"
  /**
   * The line before or after the call makes it doubtful that the call was meant, for example because that line asks
   * a question or introduces an example.
   */
  | "hedged"
  /** The call did not begin its line: other text precedes it there, so it may be an example in the text. */
  | "in_a_line"
  /** The call was alone in a code fence after prose, so it may be an example. */
  | "fenced_after_prose"
  /**
   * The call is inside an element with an unknown name, a file edit or a block of YAML, so it may be part of a
   * file's content or of a plan.
   */
  | "in_element"
  /** A value of the call was recovered from text without quotation marks. */
  | "mended"
  /**
   * The call may be a copy: it occurs in a result or a file of the conversation or in another server's descriptions,
   * or its arguments contain a text that the program wrote for the model.
   */
  | "echoed"
  /** The call may change something that a rejected call just before it only tried to read. */
  | "instead_of_read"
  /**
   * The call may destroy something, and names a path, an identifier or an address that neither the user nor a result
   * mentioned.
   */
  | "ungrounded"
  /**
   * The call may change something, and it equals the call just before it, or begins a cycle of two or three calls
   * for the third time, after equal results. The reason applies even if the policy allows the tool.
   */
  | "repeated"
  /** The model's message should have begun with reasoning, but it has no think tag, so the call may be only a draft. */
  | "no_reasoning_tag";

/** A message of the model. */
export type Assistant = {
  /** Text, syntax and calls of the message, in the order in which the model wrote them. */
  parts: Array<Part>;
  /**
   * Reasoning of the model for this message. It is sent back to the model only if the settings or the endpoint
   * require it.
   */
  reasoning?: string;
  /**
   * `true` if the message ended before the model had finished it: it was cancelled, was cut off, or reached the
   * output limit.
   */
  cut_off?: boolean;
};

/**
 * A complete call of a tool, or a read of a resource. The parser does not check the arguments against the tool's
 * schema.
 */
export type Call = {
  /** Name of the tool's server, as the model wrote it or as resolved from the catalog; `None` if neither gives one. */
  server: string | null;
  /** Name of the called tool; `ACCESS_RESOURCE` for the read of a resource. */
  tool: string;
  /** Arguments of the call: any JSON value before validation, an object after it. */
  arguments: unknown;
  /** Text of the call's arguments as the model wrote it. */
  raw_arguments: string;
  /** Dialect (call syntax) in which the model wrote the call. */
  dialect: Dialect;
  /** Repairs that made the call readable or valid, in the order in which they were made. */
  repairs: Array<Repair>;
  /** Provenance of the call: how it was found, and so how certain it is that the model meant it. */
  provenance?: Provenance;
};

/**
 * A warning for the caller; the turn continues as before. Its display text is a message for the user, with a remedy if
 * one is known. In JSON, the member `kind` is the warning's name.
 */
export type CallerWarning =
  /** The endpoint reported far fewer prompt tokens than were sent, so it has truncated the prompt. */
  | {
      kind: "prompt_cut";
      /** Number of prompt tokens that were sent, by this program's own count. */
      sent: number;
      /** Number of prompt tokens that the endpoint reported. */
      read: number;
    }
  /** The endpoint refused a request with native tools; from now on, the prompt describes the tools instead. */
  | {
      kind: "tools_refused";
      /** Error message of the endpoint. */
      message: string;
    }
  /** The endpoint failed on a request with native tools; from now on, the prompt describes the tools instead. */
  | {
      kind: "native_failed";
      /** Error message of the endpoint. */
      message: string;
    }
  /** The endpoint refused the constraint on the answer's structure; the answer is constrained less, or not at all. */
  | {
      kind: "constraint_refused";
      /** Error message of the endpoint. */
      message: string;
    }
  /** A tool's result does not match the tool's output schema. The model reads the result unchanged. */
  | {
      kind: "result_mismatch";
      /** Name of the tool's server; `None` if the tool has none. */
      server?: string | null;
      /** Name of the called tool. */
      tool: string;
      /** Description of the mismatch: the expected values with their places in the result. */
      message: string;
    }
  /** The endpoint reports no token probabilities; from now on, the model decides by itself whether to call a tool. */
  | {
      kind: "no_probabilities";
    }
  /**
   * The endpoint does not apply constraints to answers; from now on, each message that the model writes freely is
   * either a call or an answer (the strategy `free`).
   */
  | {
      kind: "no_structure";
    }
  /**
   * The oldest part of the conversation was omitted from the request, because it does not fit the model's context.
   * The conversation itself is complete.
   */
  | {
      kind: "history_left_out";
      /** Number of the model's messages that were omitted, together with their outcomes and notes. */
      rounds: number;
      /** Number of the user's questions that were omitted. */
      questions: number;
      /** Number of tool results of this turn that were shortened to one line. */
      results: number;
      /** Size of the model's context, in tokens. */
      context: number;
      /** Instruction for getting a longer context, in the terms of the server; `None` if the server is unknown. */
      remedy?: string | null;
    };

/** A conversation in its serialized form. */
export type Conversation = {
  /** Version of the serialized form: 1, or 2 if the conversation contains images. */
  version: number;
  /** Entries of the conversation, oldest first. */
  entries: Array<HistoryEntry>;
};

/** The part of a message to which text that was reported earlier is moved. */
export type Destination =
  /** The text moves to the answer: it was reported as reasoning, and the stream ended without a closing think tag. */
  | "content"
  /**
   * The text moves to the reasoning, because a closing think tag without an opening one followed. Its calls stay
   * calls.
   */
  | "reasoning"
  /**
   * The text moves to the reasoning, because a closing think tag without an opening one followed. Its calls become
   * drafts, and the syntax around them becomes text of the reasoning.
   */
  | "drafts"
  /**
   * The text leaves answer and reasoning: it becomes syntax around calls, provided that a call between the moved
   * pieces may run.
   */
  | "syntax";

/** A dialect: a syntax of tool calls. In JSON and as text it is its name. */
export type Dialect =
  /**
   * Calls as `<use_mcp_tool>` with `<server_name>`, `<tool_name>` and `<arguments>` in JSON; reads of resources as
   * `<access_mcp_resource>` with `<server_name>` and `<uri>`.
   */
  | "use_mcp_tool"
  /**
   * Calls as elements with the names of the tool and its parameters, `<tool><parameter>text</parameter></tool>`;
   * only for known tools.
   */
  | "tool_tag"
  /** Calls in JSON after a line `TYPE: MCP`. */
  | "type_marker"
  /** Calls in JSON inside `<tool_call>`, as Hermes and Qwen write them. */
  | "hermes"
  /** Calls after `[TOOL_CALLS]`, in JSON or as a name and JSON, as Mistral's models write them. */
  | "tool_calls"
  /** Calls in JSON after `[TOOL_REQUEST]`, as the prompt of LM Studio asks for them. */
  | "tool_request"
  /** Calls in JSON after `<|python_tag|>`, as Llama writes them. */
  | "python_tag"
  /** Calls as `<function=NAME>` with arguments in JSON or in `<parameter=KEY>` tags. */
  | "function_tag"
  /** Calls as `<invoke name="NAME">` with arguments in `<parameter name="KEY">` tags. */
  | "invoke"
  /** Calls as a name and JSON between the special tokens of DeepSeek's models. */
  | "deepseek"
  /** Calls as a name and JSON between the special tokens of Kimi K2. */
  | "kimi"
  /** Calls as `<tool_call>NAME` with arguments in `<arg_key>` and `<arg_value>` tags, as GLM-4.5 writes them. */
  | "glm"
  /** Calls in messages of Harmony's channels, as gpt-oss writes them. */
  | "harmony"
  /** Calls in JSON after `<|START_ACTION|>`, as Cohere's Command writes them. */
  | "command"
  /** Calls as a name and JSON between the special tokens of Solar Open. */
  | "solar"
  /** Calls as elements whose tags are special tokens, as Kimi K3 writes them. */
  | "kimi_k3"
  /**
   * Calls as `<|tool_call>call:NAME{…}` with keys without quotes and strings between special tokens, as Gemma 4
   * writes them.
   */
  | "gemma"
  /** Calls as in Python: `[f(a=1), g(b='x')]` and, at the start of a line, `f(a=1)`; only for known tools. */
  | "python"
  /** Calls in JSON that is the whole message or alone in a code fence; only for known tools. */
  | "json"
  /** Calls as a line `Action:` with the tool's name and a line `Action Input:` with JSON; only for known tools. */
  | "react"
  /** A dialect that was loaded from a file (`Dialect::from_json`). */
  | string;

/** A call of a display-only tool, with arguments that its schema accepts. */
export type DisplayCall = {
  /** Id of the call, unique in the conversation. */
  id: string;
  /** Index of the call in the model's message, from 0. */
  index: number;
  /** Name of the tool's server; `None` if the tool has none. */
  server: string | null;
  /** Name of the called tool. */
  tool: string;
  /** Arguments of the call, after validation. */
  arguments: Record<string, unknown>;
};

/** Why a model stopped: `stop`, `length`, `tool_calls`, or a word of the endpoint's own. */
export type FinishReason = string;

/** The result of a turn. */
export type Finished = {
  /** Reason why the turn ended. */
  reason: StopReason;
  /** Text of the model's last message for the user; may be empty. */
  answer: string;
  /** The answer as a JSON value, if a schema was requested and the answer matches it; `None` otherwise. */
  output?: unknown;
  /** Repairs that were needed to read `output` as JSON. */
  repairs?: Array<Repair>;
  /** Number of rounds of the turn, each a request to the model and its message. */
  rounds: number;
  /** Number of tool calls that ran in the turn. */
  calls: number;
  /** Token usage, summed over the rounds of the turn; marked as an estimate if a part of it is one. */
  usage?: 
    | Usage
    | null;
  /**
   * The conversation, with the messages of this turn. Every call in it has an outcome, unless the turn was
   * suspended.
   */
  conversation: Conversation;
};

/** A call in a message of a conversation, with its id. */
export type HistoryCall = {
  /** Id of the call, unique in the conversation. */
  id: string;
  /** The call, with its arguments after validation. */
  call: Call;
  /** Text of the call as the model wrote it. */
  raw: string;
  /**
   * `true` if the call was promoted although it may be only a draft: the message should have begun with reasoning,
   * and it has no think tag.
   */
  untagged?: boolean;
};

/** One entry of a conversation. */
export type HistoryEntry =
  /** A message of the user. */
  | User & {
      type: "user";
    }
  /** A message of the model. */
  | Assistant & {
      type: "assistant";
    }
  /** The outcome of a call in the model's last message. */
  | {
      type: "outcome";
      /** Id of the call. */
      id: string;
      /** Outcome of the call. */
      outcome: Outcome;
    }
  /** A note of the program to the model about the model's last message. */
  | {
      type: "note";
      /** Text of the note, in the prompt's language. */
      text: string;
    };

/**
 * An image that goes to a model that reads images: PNG, JPEG, GIF or WebP. Cheap to clone.
 *
 * Its `Display` form replaces it wherever only text is shown: `[image cat.png, 12 KB]`.
 *
 * ```
 * use toolgraft::message::Image;
 *
 * let image = Image::new(b"GIF89a\x01\x00\x01\x00")?.with_name("dot.gif");
 * assert_eq!(image.to_string(), "[image dot.gif, 10 B]");
 * assert!(image.data_url().starts_with("data:image/gif;base64,R0lGODlh"));
 * # Ok::<(), toolgraft::message::ImageError>(())
 * ```
 */
export type Image = {
  /** Name of the image, such as a file name. */
  name?: string | null;
  /** Media type of the image. */
  media_type: ImageType;
  /** Bytes of the image file in base64. */
  data: string;
};

/** The media type of an image. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** An event for the caller's user interface that came with an `Outcome`. */
export type InterfaceEvent = {
  /** Kind of the event: a name that tool and user interface agree on. */
  kind: string;
  /** Content of the event, which is untrusted if the tool is untrusted. */
  data: unknown;
};

/** The kind of a piece of syntax that is neither text nor part of a call (`Event::Marker`). */
export type MarkerKind =
  /** A think tag or another delimiter that opens the reasoning, such as `<think>`. */
  | "think_open"
  /** A think tag or another delimiter that closes the reasoning, such as `</think>`. */
  | "think_close"
  /** The opening or closing line of a code fence around a call. */
  | "fence"
  /** A line `TYPE: MCP`, which announces a call. */
  | "call_line"
  /** A line `TYPE: ANSWER`, which announces the answer to the user. */
  | "answer_line"
  /** Brackets, commas and tags around or between calls, and the whole text of a call past the limit on calls. */
  | "wrapper"
  /** A special token of the model's chat template that leaked into the text and does not end the model's turn. */
  | "token"
  /**
   * A special token that ends the model's turn or begins another's, and the text of another's turn after it. Empty
   * where a line of the user or a tool result in the text begins another's turn.
   */
  | "turn";

/** The kind of a `ModelError`. */
export type ModelErrorKind =
  /** The model's answer was cut off after it had begun. */
  | "broke_off"
  /** The endpoint cannot be reached. */
  | "unreachable"
  /** The endpoint refused the request. */
  | "refused"
  /** The prompt does not fit the model's context. */
  | "context_exceeded"
  /** The endpoint's response is not a model's answer. */
  | "bad_answer"
  /** The answer must be constrained to a structure, and the endpoint supports no form of the constraint. */
  | "unconstrained"
  /** A replayed recording has fewer rounds than were requested, so it does not fit the conversation. */
  | "recording"
  /** Any other error. */
  | "other";

/**
 * A `ModelError` that ended a turn, with the details that a user interface needs.
 *
 * Its JSON form has all fields except the error itself.
 */
export type ModelFailure = {
  /** Description of the problem and possible remedies. */
  message: string;
  /** Kind of the error. */
  error: ModelErrorKind;
  /** HTTP status with which the endpoint refused the request; `None` for any other error. */
  status?: number | null;
  /** `true` if the same request may succeed later. */
  retryable: boolean;
};

/** A call that the endpoint reported in a field of its own (`tool_calls`, `tool_use`) instead of the text. */
export type NativeCall = {
  /** Identifier that the endpoint gave the call; `None` if it gave none. */
  id?: string | null;
  /** Name of the called tool, as the endpoint reported it. */
  name: string;
  /** JSON text of the call's arguments, which may be invalid. */
  arguments: string;
};

/** The outcome of a call. A tool's failure is an outcome as well, not an `Err`. Every call has exactly one outcome. */
export type Outcome = {
  /** Status of the finished call. */
  status: Status;
  /** The tool's whole answer as text, or the reason why there is none. Control tokens in it are not escaped yet. */
  text: string;
  /** Structured result of the tool (`structuredContent` in MCP); `None` if it returned none. */
  structured?: unknown;
  /**
   * Events from the tool for the caller's user interface, in addition to the text. No model sees them, except images
   * and sound (`MEDIA_EVENT`). They are stored with the outcome, so that a stored conversation
   * can be shown again.
   */
  events?: Array<InterfaceEvent>;
  /** Time from the start of the call to its outcome; milliseconds in the serialized form. */
  took?: number | null;
};

/** An event of the parser that owns its text (`Event` borrows it). In JSON, the member `type` is the event's name. */
export type OwnedEvent =
  /** Text of the answer, which the user sees; the fields are those of `Event::Text`. */
  | {
      type: "text";
      text: string;
      span: Range_of_uint64;
    }
  /** Text of the reasoning; the fields are those of `Event::Reasoning`. */
  | {
      type: "reasoning";
      text: string;
      syntax?: 
        | MarkerKind
        | null;
      span: Range_of_uint64;
    }
  /** A call has begun and its tool's name is known; the fields are those of `Event::CallStart`. */
  | {
      type: "call_start";
      index: number;
      server: string | null;
      tool: string;
      span: Range_of_uint64;
    }
  /** A preview of a call's arguments as JSON text; the fields are those of `Event::ArgsDelta`. */
  | {
      type: "args_delta";
      index: number;
      text: string;
      span: Range_of_uint64;
    }
  /** A call has ended: exactly one of `call` and `rejected` is set. The other fields are those of `Event::CallEnd`. */
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
  /** Syntax that is neither text nor part of a call; the fields are those of `Event::Marker`. */
  | {
      type: "marker";
      kind: MarkerKind;
      text: string;
      span: Range_of_uint64;
    }
  /**
   * A new verdict on calls that were reported earlier: exactly one of `provenance` and `reason` is set. The other
   * fields are those of `Event::Revised`.
   */
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
  /** Text that was reported earlier moves to another part of the message; the fields are those of `Event::Moved`. */
  | {
      type: "moved";
      spans: Array<Range_of_uint64>;
      to: Destination;
      span: Range_of_uint64;
    };

/** A part of a model's message: text, syntax or a call. */
export type Part =
  /** Text of the answer, which the user sees. */
  | {
      type: "text";
      /** The answer's text, verbatim. */
      text: string;
    }
  /** Syntax around calls and answers, a think tag or a special token, which the user does not see. */
  | {
      type: "marker";
      /** Kind of the syntax. */
      kind: MarkerKind;
      /** Text of the syntax, verbatim. */
      text: string;
    }
  /** A call that may run. The conversation must contain its outcome before the next message. */
  | HistoryCall & {
      type: "call";
    }
  /** A call that was rejected and must not run. */
  | {
      type: "rejected";
      /** The rejected call with the reason. */
      rejected: Rejected;
      /** `true` if a message about the rejection is sent to the model. */
      feedback: boolean;
      /** The call as the endpoint reported it in a field of its own; `None` if it was in the text. */
      native?: 
        | NativeCall
        | null;
    };

/** The progress of a request before the model's answer begins. In JSON, the member `kind` is its name. */
export type Progress =
  /** The server is still loading the model; the request is sent again until the model is loaded. */
  | {
      kind: "loading";
    }
  /** The model is reading the prompt. */
  | {
      kind: "prompt";
      /** Number of prompt tokens that the model has read so far. */
      processed: number;
      /** Number of tokens of the whole prompt. */
      total: number;
    };

/**
 * The position and form in which a call was found, and so how certain it is that the model meant the call. A call with
 * any provenance but `Plain` needs approval, even if the policy allows its tool by name.
 */
export type Provenance =
  /** The call is where calls are expected, so it needs no approval because of its provenance. */
  | "plain"
  /**
   * The call is in the code fence that the message begins with, and prose follows the fence. It counts as a call
   * only because the message has no other (`FencedCalls`).
   */
  | "fenced_first"
  /**
   * The call has no delimiter (dialects `json` and `python`), and prose precedes it on other lines: many such calls
   * are examples.
   */
  | "after_prose"
  /** The call has no delimiter (dialects `json` and `python`), and prose follows it. */
  | "before_prose"
  /**
   * The text around the call puts it in doubt: the line before it asks a question, speaks of an example or
   * introduces another's words; that line neither announces the call nor is a finished sentence, and prose follows
   * the call; text between an earlier call and this one does not announce it; or the line after it asks a question
   * or speaks of the call.
   */
  | "hedged"
  /** The call does not begin its line: prose precedes it on the same line. */
  | "in_a_line"
  /** The call is alone in a code fence, and prose precedes the fence. */
  | "fenced_after_prose"
  /**
   * The call is inside an element with an unknown name, the delimiters of a file edit, an indented block of YAML or
   * the element of a parameter's value outside any call, so it may be part of a file's content or of a plan.
   */
  | "in_element"
  /** A value of the call was recovered from text without quotation marks, which may be prose. */
  | "mended"
  /**
   * The call is a copy: its text, or its tool with its arguments, occurs in a result or a file of the conversation,
   * or in the instructions, descriptions or schemas of another server. Or it may change something, and its arguments
   * contain a text that the program wrote for the model.
   */
  | "echoed"
  /**
   * The call may change something, and a text in its arguments occurs in a rejected call of a read-only tool just
   * before it.
   */
  | "instead_of_read"
  /**
   * The call was promoted: it was in the reasoning of a message without any other content, or in text that may be
   * reasoning.
   */
  | "promoted";

/** A construct that quotes a call, so that the call is only an example; `docs/parser.md` has the rules. */
export type QuotedIn =
  /** A code fence that contains other text than calls, or has other text after it. */
  | "fence"
  /** A code span: backticks on the call's line, or a tag `<code>` or `<pre>` before the call. */
  | "code_span"
  /** Quotation marks around the call, or right before it. */
  | "quotation"
  /** A block quote of Markdown: the call's line begins with `>`. */
  | "block_quote"
  /** Indented code of Markdown: the call's line is indented by at least four columns and follows a blank line. */
  | "indented_code"
  /** A comment around the call: `<!-- -->`, `/* */`, or a line that begins with a comment sign such as `//`. */
  | "comment"
  /** A block of verbatim text around the call, such as `<blockquote>`, CDATA, a heredoc or triple quotes. */
  | "block"
  /**
   * A sign that the call is not meant: a backslash before it, `~~` (strikethrough) around it, or the `-` or `+` of a
   * diff before it.
   */
  | "sign"
  /**
   * A line before the call that introduces an example or forbids to run it, in the prompt's words or other common
   * ones.
   */
  | "own_words";

export type Range_of_uint32 = {
  start: number;
  end: number;
};

export type Range_of_uint64 = {
  start: number;
  end: number;
};

/** The reason why a call must not run, without the call itself. */
export type Reason = {
  /** Kind of the reason why the call must not run. */
  kind: RejectedKind;
  /** Error message that names the fault and its position, for the user and for the model. */
  message: string;
  /** Names of tools that the model may have meant; empty unless the kind is `unknown_tool`. */
  nearest?: Array<string>;
  /**
   * Construct that quotes the call, such as a code span, if the parser rejected the call as `quoted`; `None`
   * otherwise.
   */
  quoted_in?: 
    | QuotedIn
    | null;
  /** Provenance of the rejected call, which applies if a later event revises the rejection. */
  provenance?: Provenance;
};

/** The part of a message that text belongs to: the answer or the reasoning. */
export type Region =
  /** The answer, which the user sees. */
  | "content"
  /** The reasoning of the model. */
  | "reasoning";

/** A call that must not run, with the reason. */
export type Rejected = {
  /** Kind of the reason why the call must not run. */
  kind: RejectedKind;
  /**
   * Text of the call as the model wrote it, cut off after `Limits::call_bytes`
   * bytes.
   */
  raw: string;
  /** Error message that names the fault and its position, for the user and for the model. */
  message: string;
  /** Name of the tool's server; `None` if it is unknown. */
  server: string | null;
  /** Name of the called tool; `None` if it could not be read. */
  tool: string | null;
  /** Names of tools that the model may have meant; empty unless the kind is `unknown_tool`. */
  nearest?: Array<string>;
  /** Dialect (call syntax) in which the model wrote the call. */
  dialect: Dialect;
  /**
   * The parsed call if it was complete, such as a draft, an example or a call with arguments that the tool's schema
   * refuses; `None` otherwise.
   */
  call?: 
    | Call
    | null;
  /**
   * Construct that quotes the call, such as a code span, if the parser rejected the call as `quoted`; `None`
   * otherwise.
   */
  quoted_in?: 
    | QuotedIn
    | null;
  /** `true` if the text of an `invented` call stays in the message's text, where the user sees it. */
  in_text?: boolean;
};

/** The kind of the reason why a call was rejected. If several apply, the first in this order counts. */
export type RejectedKind =
  /** The call is a draft: it is inside the model's reasoning. */
  | "in_reasoning"
  /**
   * The call is after the end of the model's own message: in a user's turn that the model wrote, or after a tool
   * result that the model wrote itself.
   */
  | "invented"
  /**
   * The call is an example: a construct such as a code fence with other text, a code span or quotation marks quotes
   * it (`Rejected::quoted_in`). Also a doubtful call in a turn that has nobody to approve it.
   */
  | "quoted"
  /**
   * The call may be part of the text of an earlier call: an earlier call is malformed and its closing tag has not
   * come yet, or a closing tag that closes nothing follows this call.
   */
  | "after_damage"
  /** The call exceeds a limit on its size or its nesting depth, or on the number of calls in a message. */
  | "limit"
  /** The stream ended before the call was complete. */
  | "truncated"
  /** The call's text is malformed: it cannot be parsed, even with repairs. */
  | "malformed"
  /** The call names a tool that the catalog does not have. */
  | "unknown_tool"
  /** The tool's schema does not accept the call's arguments. */
  | "invalid_arguments"
  /**
   * Text that is meant as a call of a known tool and fits no call syntax: a delimiter, a bracket or a name in it is
   * missing or misspelt. It is reported at the end of the message, and stays in the message's text.
   */
  | "near_call";

/** Something that was mended: a word, for some followed by a colon and a place or a name (`coerced:/days`). */
export type Repair = string;

/** The status of a finished call: its result, or the reason why it has none. */
export type Status =
  /** The tool returned a result. */
  | "result"
  /** The tool or its server failed; the outcome's text gives the reason. */
  | "tool_error"
  /**
   * The call did not run, because the policy, the user or a rule of the turn refused it; the outcome's text says
   * which.
   */
  | "denied"
  /** The tool did not answer within the time limit. */
  | "timed_out"
  /** The turn was cancelled before the call was finished. */
  | "cancelled"
  /** The tool is display-only: the call's arguments were shown to the user, and nothing ran. */
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
  /** The model's answer was empty, and no further correction was permitted. */
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
  /** The model did not call a tool although the tool choice requires a call. */
  | {
      kind: "call_missing";
    }
  /**
   * The model repeated a passage again and again, so the turn cancelled the message. The text before the repetition
   * is the answer.
   */
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
      /** Name of the called tool. */
      tool: string;
    }
  /** The last permitted round ended with a call or a mistake. */
  | {
      kind: "max_rounds";
      /** Maximum number of rounds of the turn. */
      rounds: number;
    }
  /** The model's message still contained a mistake after the permitted number of consecutive corrections. */
  | {
      kind: "corrections_used_up";
      /** Number of consecutive corrections that were sent to the model. */
      corrections: number;
      /** Description of the mistake in the model's last message. */
      message: string;
    }
  /**
   * The model's answer did not match the requested schema, even after corrections. The last answer is available as
   * text.
   */
  | {
      kind: "output_mismatch";
      /** Number of consecutive corrections that were sent to the model. */
      corrections: number;
      /** Description of the mismatch in the model's last answer. */
      message: string;
    }
  /** The model gave no answer, or only a part of one, because of an error. */
  | ModelFailure & {
      kind: "model_failed";
    }
  /** A text for the model could not be rendered, because the program's prompt options or templates are faulty. */
  | {
      kind: "prompt_failed";
      /** Description of the problem. */
      message: string;
    }
  /** The answer was cut off because prompt and answer together fill the model's context. */
  | {
      kind: "context_full";
      /** Size of the model's context, in tokens. */
      context: number;
      /** Number of tokens of the prompt, as the endpoint reports it. */
      prompt: number;
      /** Number of tokens of the answer that was cut off. */
      answer: number;
      /** Instruction for getting a longer context, in the terms of the server; `None` if the server is unknown. */
      remedy?: string | null;
    }
  /** The shortest possible request, without the history, does not fit the model's context. */
  | {
      kind: "context_too_small";
      /** Size of the model's context, in tokens. */
      context: number;
      /** Number of tokens that are reserved for the model's reply. */
      reply: number;
      /** Number of tokens of the system text with the list of tools. */
      system: number;
      /** Number of tokens of the shortest possible request: system text, question and last results. */
      request: number;
      /** Instruction for getting a longer context, in the terms of the server; `None` if the server is unknown. */
      remedy?: string | null;
    }
  /**
   * The endpoint reports that the prompt does not fit the model's context, and nothing more can be omitted from the
   * prompt.
   */
  | {
      kind: "context_exceeded";
      /** Number of tokens of the prompt; `None` if the endpoint does not report it. */
      prompt: number | null;
      /** Size of the model's context, in tokens; `None` if the endpoint does not report it. */
      context: number | null;
      /** The endpoint's message, followed by an instruction for getting a longer context. */
      message: string;
    }
  /** The caller cancelled the turn. */
  | {
      kind: "cancelled";
    }
  /**
   * The caller suspended the turn: the conversation may contain calls that have not begun, and the next turn
   * continues with them.
   */
  | {
      kind: "suspended";
    };

/**
 * Token usage of a request and its answer, as the endpoint counts it or as an estimate. Most endpoints include cached
 * tokens in `prompt_tokens`.
 */
export type Usage = {
  /** Number of tokens of the request. */
  prompt_tokens: number;
  /** Number of tokens of the answer, including its reasoning. */
  completion_tokens: number;
  /** Number of tokens of the reasoning; `None` if they were not counted. */
  reasoning_tokens?: number | null;
  /** Number of tokens of the request that the endpoint had cached; `None` if it does not report it. */
  cached_tokens?: number | null;
  /** Price of the request in the endpoint's own unit (US dollars at OpenRouter); `None` if it reports none. */
  cost?: number | null;
  /**
   * `true` if the numbers of tokens of request and answer are this program's own estimate, because the endpoint
   * reported none.
   */
  estimated?: boolean;
  /** `true` if the number of tokens of the reasoning is an estimate, by itself or as a share of the answer's tokens. */
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
  /** Text of the message. */
  text: string;
  /** Images that belong to the message, in order. */
  images?: Array<Image>;
};
