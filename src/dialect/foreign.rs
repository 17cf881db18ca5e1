//! The dialects of other prompts and chat templates: read, and taught by an example to models that
//! were trained on them.

use super::spec::{ARGUMENTS_FIRST, PARAMETERS_FIRST};
use super::{
    Announcer, CallKeys, Group, MarkedJson, Named, NamedArguments, NamedCall, Piece, React, Shape, Spec, Wrapper,
};
use Piece::{Any, Attributes, Before, Id, Index, Maybe, Name, OneOf, Quote, Space, Text};

/// Keys that objects of any family have, whatever announces them.
pub(super) const KEYS: CallKeys = CallKeys {
    tool: &["name", "tool_name", "tool", "function_name"],
    arguments: ARGUMENTS_FIRST,
    server: &["server_name", "server"],
    // What chat templates and interfaces put beside name and arguments; xLAM has `thought` beside a
    // list of calls.
    idle: &["id", "type", "tool_call_id", "index", "call_id", "thought"],
    list: "tool_calls",
};

pub(super) const fn tag(open: &'static str, close: &'static str) -> Wrapper {
    Wrapper { open, close: Some(close), must_close: true }
}

const fn spec(name: &'static str, shape: MarkedJson) -> Spec {
    Spec { name, template: None, shape: Shape::MarkedJson(shape), objects: None }
}

pub(super) const fn json(wrappers: &'static [Wrapper]) -> MarkedJson {
    MarkedJson { announcer: Announcer::Marker(wrappers), separators: b",;", keys: &KEYS, named: None }
}

/// A token that nothing need close.
const fn open_token(open: &'static str, close: &'static str) -> Wrapper {
    Wrapper { open, close: Some(close), must_close: false }
}

macro_rules! group {
    ($tag:literal) => {
        Group { open: concat!("<", $tag, ">"), close: concat!("</", $tag, ">"), gated: true, glued: false }
    };
}

/// NousResearch's Hermes, Qwen 2.5 and 3, Granite 4; with other tags Jamba,
/// Apriel, Nemotron and LongCat; with tokens Phi-4-mini, Granite 3 (which closes none) and
/// InternLM, LFM2 and openPangu (where a list of JSON stands between theirs), GigaChat 3; with a
/// word Phi-4-mini, too.
pub(super) const HERMES: Spec = spec("hermes", MarkedJson { named: Some(&TAGS_WITH_NAME), ..json(HERMES_MARKERS) });

const HERMES_MARKERS: &[Wrapper] = &[
    tag("<tool_call>", "</tool_call>"),
    tag("<tool_calls>", "</tool_calls>"),
    tag("<TOOLCALL>", "</TOOLCALL>"),
    tag("<function_call>", "</function_call>"),
    // Glaive, and what was trained on its data.
    tag("<functioncall>", "</functioncall>"),
    tag("<longcat_tool_call>", "</longcat_tool_call>"),
    open_token("<|tool_call|>", "<|/tool_call|>"),
    tag("<|action_start|><|plugin|>", "<|action_end|>"),
    open_token("<|tool_call_start|>", "<|tool_call_end|>"),
    // Apertus, where the tool's name is the object's only key.
    open_token("<|tools_prefix|>", "<|tools_suffix|>"),
    // GigaChat 3.1, and 3 (SG/gigachat3_detector.py): the end of the message ends the call.
    Wrapper { open: "<|function_call|>", close: None, must_close: false },
    Wrapper { open: "function call<|role_sep|>", close: None, must_close: false },
    // Phi-4-mini and Firefunction v2 (VT/phi4mini_tool_parser.py).
    Wrapper { open: "functools", close: None, must_close: false },
    // The tag of the list of tools in Hermes' prompt, which its models write back around calls.
    tag("<tools>", "</tools>"),
];

/// A tag with the tool's name as an attribute, and JSON.
macro_rules! named_tag {
    ($tag:literal) => {
        NamedCall {
            head: &[Text(concat!("<", $tag, " ")), Space, Before, Text("name="), Quote, Name, Quote, Attributes],
            arguments: NamedArguments::Json { fenced: false },
            close: concat!("</", $tag, ">"),
        }
    };
}

/// The tool's name beside its JSON, where Hermes has it inside: models that saw several syntaxes
/// mix them.
static TAGS_WITH_NAME: Named = Named {
    calls: &[
        named_tag!("tool_call"),
        named_tag!("function_call"),
        NamedCall {
            head: &[Text("<tool_call>"), Space, Text("<function>"), Space, Name, Space, Text("</function>")],
            arguments: NamedArguments::Json { fenced: false },
            close: "</tool_call>",
        },
        NamedCall {
            head: &[
                Text("<tool_call>"),
                Space,
                Text("<name>"),
                Space,
                Name,
                Space,
                Text("</name>"),
                Space,
                Text("<arguments>"),
            ],
            arguments: NamedArguments::Json { fenced: false },
            close: "</arguments>",
        },
    ],
    groups: &[group!("tool_call")],
    name_line: false,
    types: &[],
};

const MISTRAL: &str = "[TOOL_CALLS]";

/// A call of Mistral's with a name, and what stands between name and JSON.
macro_rules! mistral {
    ($($piece:expr),*) => {
        NamedCall {
            head: &[Text(MISTRAL), Space, Name, $(Space, $piece),*],
            arguments: NamedArguments::Json { fenced: false },
            close: "",
        }
    };
}

/// What LM Studio's default prompt asks for, and the marker of MiniMax M2 where its own tags are
/// not taught, with arrows or flags in place of JSON's colons
/// (github.com/openclaw/openclaw, `sanitizeUserFacingText`).
pub(super) const TOOL_REQUEST: Spec = spec(
    "tool_request",
    MarkedJson {
        named: Some(&Named {
            calls: &[
                NamedCall {
                    head: &[
                        Text(TOOL_CALL),
                        Space,
                        Text("{"),
                        Space,
                        Text("tool"),
                        Space,
                        Text("=>"),
                        Space,
                        Quote,
                        Name,
                        Quote,
                        Any(" \t\r\n,"),
                        Text("args"),
                        Space,
                        Text("=>"),
                        Space,
                    ],
                    arguments: NamedArguments::Arrows,
                    close: "[/TOOL_CALL]",
                },
                NamedCall {
                    head: &[
                        Text(TOOL_CALL),
                        Space,
                        Text("{"),
                        Space,
                        Text("tool"),
                        Space,
                        Text("=>"),
                        Space,
                        Quote,
                        Name,
                        Quote,
                        Space,
                        Text("}"),
                        Space,
                        Text("[/TOOL_CALL]"),
                    ],
                    arguments: NamedArguments::None,
                    close: "",
                },
            ],
            groups: &[],
            name_line: false,
            types: &[],
        }),
        ..json(&[tag("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"), tag(TOOL_CALL, "[/TOOL_CALL]")])
    },
);

const TOOL_CALL: &str = "[TOOL_CALL]";

/// Cohere's Command R7B, A and 4.
pub(super) const COMMAND: Spec = spec(
    "command",
    MarkedJson {
        keys: &CallKeys { tool: &["tool_name", "name", "tool", "function_name"], arguments: PARAMETERS_FIRST, ..KEYS },
        ..json(&[tag("<|START_ACTION|>", "<|END_ACTION|>")])
    },
);

/// Llama 3.1 and later; a token of the chat template ends the run.
pub(super) const PYTHON_TAG: Spec = spec(
    "python_tag",
    MarkedJson {
        keys: &CallKeys { arguments: PARAMETERS_FIRST, ..KEYS },
        ..json(&[Wrapper { open: "<|python_tag|>", close: None, must_close: false }])
    },
);

/// Mistral up to Nemo, and with the name before the JSON from version 11 of its
/// tokenizer on. The closing marker is the one that some servers add.
pub(super) const TOOL_CALLS: Spec = spec(
    "tool_calls",
    MarkedJson {
        named: Some(&Named {
            calls: &[mistral!(Text("[ARGS]")), mistral!(Text("[CALL_ID]"), Id, Text("[ARGS]")), mistral!()],
            groups: &[Group { open: MISTRAL, close: "[/TOOL_CALLS]", gated: true, glued: false }],
            name_line: false,
            types: &[],
        }),
        ..json(&[Wrapper { open: MISTRAL, close: Some("[/TOOL_CALLS]"), must_close: false }])
    },
);

const FUNCTION: &[Piece] = &[Text("<function="), Name, Text(">")];
const HALF_FUNCTION: &[Piece] = &[Text("<function="), Name, Space];

/// A call in Anthropic's style that is one tag, without arguments.
macro_rules! empty_tag {
    ($call:literal) => {
        NamedCall {
            head: &[Text(concat!("<", $call, " ")), Space, Text("name="), Quote, Name, Quote, Space, Text("/>")],
            arguments: NamedArguments::None,
            close: "",
        }
    };
}

/// The same with JSON inside.
macro_rules! attribute_json {
    ($call:literal) => {
        NamedCall {
            head: &[Text(concat!("<", $call, " ")), Space, Before, Text("name="), Quote, Name, Quote, Attributes],
            arguments: NamedArguments::Json { fenced: false },
            close: concat!("</", $call, ">"),
        }
    };
}

/// A call in Anthropic's style: tags with the name as an attribute.
macro_rules! attributes {
    ($call:literal, $parameter:literal) => {
        NamedCall {
            head: &[Text(concat!("<", $call, " ")), Space, Before, Text("name="), Quote, Name, Quote, Attributes],
            arguments: NamedArguments::Tags {
                open: &[
                    Text(concat!("<", $parameter, " ")),
                    Space,
                    Before,
                    Text("name="),
                    Quote,
                    Name,
                    Quote,
                    Attributes,
                ],
                close: concat!("</", $parameter, ">"),
                glued: true,
            },
            close: concat!("</", $call, ">"),
        }
    };
}

/// Llama 3's `<function=NAME>{…}</function>`, and Qwen3-Coder's with
/// parameters as tags, usually in a `<tool_call>`; Seed's tag has a namespace.
pub(super) const FUNCTION_TAG: Spec = Spec {
    name: "function_tag",
    template: None,
    objects: None,
    shape: Shape::Named(&Named {
        calls: &[
            NamedCall { head: FUNCTION, arguments: NamedArguments::Json { fenced: false }, close: "</function>" },
            NamedCall {
                head: FUNCTION,
                arguments: NamedArguments::Tags {
                    // Some write the sign behind the name once more.
                    open: &[Text("<parameter="), Name, OneOf(">=")],
                    close: "</parameter>",
                    glued: false,
                },
                close: "</function>",
            },
            // Llama 3.3 at times leaves the bracket out.
            NamedCall { head: HALF_FUNCTION, arguments: NamedArguments::Json { fenced: false }, close: "</function>" },
        ],
        // Seed's template glues values to the same tags (ByteDance-Seed/Seed-OSS-36B-Instruct).
        groups: &[group!("tool_call"), Group { glued: true, ..group!("seed:tool_call") }],
        name_line: false,
        types: &[],
    }),
};

/// Anthropic's `<function_calls><invoke name="…">`, with and without a
/// namespace; MiniMax, Step-3, Muse, GigaChat 3.5, dots and DeepSeek from V3.2 on have
/// tags of their own, MiniCPM has other words.
pub(super) const INVOKE: Spec = Spec {
    name: "invoke",
    template: None,
    objects: None,
    shape: Shape::Named(&Named {
        calls: &[
            attributes!("invoke", "parameter"),
            attributes!("antml:invoke", "antml:parameter"),
            attributes!("steptml:invoke", "steptml:parameter"),
            attributes!("｜DSML｜invoke", "｜DSML｜parameter"),
            attributes!("function", "param"),
            attributes!("atem:invoke", "atem:parameter"),
            attributes!("｜GCML｜invoke", "｜GCML｜parameter"),
            // V4.1 means the space.
            attributes!("｜DSML｜ invoke", "｜DSML｜ parameter"),
            // Some double the bars of the token.
            attributes!("｜｜DSML｜｜invoke", "｜｜DSML｜｜parameter"),
            empty_tag!("invoke"),
            empty_tag!("antml:invoke"),
            empty_tag!("｜DSML｜invoke"),
            empty_tag!("｜DSML｜ invoke"),
            empty_tag!("｜｜DSML｜｜invoke"),
            attribute_json!("invoke"),
            attribute_json!("antml:invoke"),
            attribute_json!("｜DSML｜invoke"),
            attribute_json!("function"),
        ],
        groups: &[
            group!("function_calls"),
            group!("antml:function_calls"),
            group!("minimax:tool_call"),
            group!("｜DSML｜function_calls"),
            group!("｜DSML｜tool_calls"),
            group!("atem:function_calls"),
            group!("dots_function_call"),
            group!("｜GCML｜tool_calls"),
            group!("｜DSML｜ calls"),
            group!("｜｜DSML｜｜function_calls"),
            group!("｜｜DSML｜｜tool_calls"),
        ],
        name_line: false,
        types: &[],
    }),
};

const CALL_BEGIN: Piece = Text("<｜tool▁call▁begin｜>");
const SEPARATOR: Piece = Text("<｜tool▁sep｜>");
const CALL_END: &str = "<｜tool▁call▁end｜>";

macro_rules! deepseek {
    ($fenced:literal, $($piece:expr),+) => {
        NamedCall { head: &[$($piece),+], arguments: NamedArguments::Json { fenced: $fenced }, close: CALL_END }
    };
}

/// DeepSeek's special tokens: V3 and R1 with the type `function` and a fence,
/// V3.1 without. R1 leaves the token before the type out at times.
pub(super) const DEEPSEEK: Spec = Spec {
    name: "deepseek",
    template: None,
    objects: None,
    shape: Shape::Named(&Named {
        calls: &[
            deepseek!(true, CALL_BEGIN, Space, Text("function"), SEPARATOR, Space, Name),
            deepseek!(false, CALL_BEGIN, Space, Name, Space, SEPARATOR),
            deepseek!(false, CALL_BEGIN, Space, Name),
            deepseek!(true, Text("<｜tool▁calls▁begin｜>"), Space, Text("function"), SEPARATOR, Space, Name),
        ],
        groups: &[
            Group {
                open: "<｜tool▁calls▁begin｜>", close: "<｜tool▁calls▁end｜>", gated: false, glued: false
            },
            Group { open: "<｜tool▁calls｜>", close: "<｜tool▁calls▁end｜>", gated: false, glued: false },
        ],
        name_line: false,
        types: &["function"],
    }),
};

const ARGUMENTS_BEGIN: Piece = Text("<｜tool▁call▁argument▁begin｜>");

/// Moonshot's Kimi K2: tokens like DeepSeek's, and the call's number behind the name.
/// A call without arguments lacks the token before them: `kimi/no_arguments`.
pub(super) const KIMI: Spec = Spec {
    name: "kimi",
    template: None,
    objects: None,
    shape: Shape::Named(&Named {
        calls: &[
            deepseek!(false, CALL_BEGIN, Space, Text("functions."), Name, Index, Space, ARGUMENTS_BEGIN),
            deepseek!(false, CALL_BEGIN, Space, Name, Index, Space, ARGUMENTS_BEGIN),
            deepseek!(false, CALL_BEGIN, Space, Text("functions."), Name, Index),
        ],
        groups: &[Group {
            open: "<｜tool▁calls▁section▁begin｜>",
            close: "<｜tool▁calls▁section▁end｜>",
            gated: false,
            glued: false,
        }],
        name_line: false,
        types: &[],
    }),
};

/// A call of Harmony's in a channel, with what stands around its recipient.
macro_rules! harmony {
    ($($before:expr),+; $($after:expr),*) => {
        NamedCall {
            head: &[
                $($before),+, Name, Space, $($after,)* Maybe("<|constrain|>"), Space, Maybe("json"), Maybe("code"), Space,
                Text("<|message|>")
            ],
            arguments: NamedArguments::Json { fenced: false },
            close: "<|call|>",
        }
    };
}

const CHANNEL: Piece = Text("<|channel|>");
const START: Piece = Text("<|start|>assistant");
const TO: Piece = Text(" to=functions.");
const COMMENTARY: Piece = Text("commentary");
const ANALYSIS: Piece = Text("analysis");
const CONSTRAIN: Piece = Maybe("<|constrain|>");
const JSON_TYPE: Piece = Maybe("json");

/// OpenAI's gpt-oss: a message in a channel, addressed to a function, whose name may stand
/// before the channel or behind it (openai/harmony, docs/format.md). Built-in tools are addressed in
/// `analysis`. Models name the channel twice, and the recipient behind the type (vllm-project/vllm
/// and ggml-org/llama.cpp read both).
pub(super) const HARMONY: Spec = Spec {
    name: "harmony",
    template: None,
    objects: None,
    shape: Shape::Named(&Named {
        calls: &[
            harmony!(CHANNEL, COMMENTARY, TO;),
            harmony!(CHANNEL, ANALYSIS, TO;),
            harmony!(START, CHANNEL, COMMENTARY, TO;),
            harmony!(START, CHANNEL, ANALYSIS, TO;),
            harmony!(START, TO; CHANNEL, COMMENTARY, Space),
            harmony!(START, TO; CHANNEL, ANALYSIS, Space),
            harmony!(CHANNEL, COMMENTARY, CHANNEL, COMMENTARY, TO;),
            harmony!(CHANNEL, ANALYSIS, CHANNEL, COMMENTARY, TO;),
            harmony!(START, CHANNEL, COMMENTARY, CHANNEL, COMMENTARY, TO;),
            harmony!(START, CHANNEL, ANALYSIS, CHANNEL, COMMENTARY, TO;),
            harmony!(START, TO; CHANNEL, COMMENTARY, CHANNEL, COMMENTARY, Space),
            harmony!(CHANNEL, COMMENTARY, TO; CHANNEL, COMMENTARY, Space),
            harmony!(START, CHANNEL, COMMENTARY, TO; CHANNEL, COMMENTARY, Space),
            harmony!(CHANNEL, COMMENTARY, Space, CONSTRAIN, Space, JSON_TYPE, TO;),
            harmony!(START, CHANNEL, COMMENTARY, Space, CONSTRAIN, Space, JSON_TYPE, TO;),
        ],
        groups: &[],
        name_line: false,
        types: &[],
    }),
};

/// What an id is made of.
const ID: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-:.";

/// Upstage's Solar Open: tokens around an id, the name and JSON; Solar Open 2 has tokens around
/// each argument.
pub(super) const SOLAR: Spec = Spec {
    name: "solar",
    template: None,
    objects: None,
    shape: Shape::Named(&Named {
        calls: &[
            NamedCall {
                head: &[
                    Text("<|tool_call:begin|>"),
                    Space,
                    Any(ID),
                    Space,
                    Text("<|tool_call:name|>"),
                    Space,
                    Name,
                    Space,
                    Text("<|tool_call:args|>"),
                ],
                arguments: NamedArguments::Json { fenced: false },
                close: "<|tool_call:end|>",
            },
            NamedCall {
                head: &[Text("<|tool_call:start|>"), Space, Name],
                arguments: NamedArguments::Tags {
                    open: &[Text("<|tool_arg:start|>"), Space, Name, Space, Text("<|tool_arg:value|>")],
                    close: "<|tool_arg:end|>",
                    glued: true,
                },
                close: "<|tool_call:end|>",
            },
        ],
        groups: &[Group { open: "<|tool_calls|>", close: "<|calls|>", gated: true, glued: false }],
        name_line: false,
        types: &[],
    }),
};

/// Moonshot's Kimi K3: elements whose tags are tokens.
pub(super) const KIMI_K3: Spec = Spec {
    name: "kimi_k3",
    template: None,
    objects: None,
    shape: Shape::Named(&Named {
        calls: &[NamedCall {
            head: &[
                Text("<|open|>call tool="),
                Quote,
                Name,
                Quote,
                Any("abcdefghijklmnopqrstuvwxyz=\"0123456789 "),
                Text("<|sep|>"),
            ],
            arguments: NamedArguments::Tags {
                open: &[
                    Text("<|open|>argument key="),
                    Quote,
                    Name,
                    Quote,
                    Any("abcdefghijklmnopqrstuvwxyz=\" "),
                    Text("<|sep|>"),
                ],
                close: "<|close|>argument<|sep|>",
                glued: true,
            },
            close: "<|close|>call<|sep|>",
        }],
        groups: &[Group { open: "<|open|>tools<|sep|>", close: "<|close|>tools<|sep|>", gated: true, glued: false }],
        name_line: false,
        types: &[],
    }),
};

/// Zhipu's GLM-4.5 and later, Ling 3 and others; Hunyuan's Hy3 with a token behind the name
/// and a group; LongCat with a prefix.
/// GLM-4 writes the name on a line and the arguments as JSON on the next.
pub(super) const GLM: Spec = Spec {
    name: "glm",
    template: None,
    objects: None,
    shape: Shape::Named(&Named {
        calls: &[
            NamedCall {
                head: &[Text("<tool_call>"), Space, Name, Maybe("<tool_sep>")],
                arguments: NamedArguments::Tags {
                    open: &[Text("<arg_key>"), Space, Name, Space, Text("</arg_key>"), Space, Text("<arg_value>")],
                    close: "</arg_value>",
                    glued: true,
                },
                close: "</tool_call>",
            },
            // GLM-4's form in the later one's tag.
            NamedCall {
                head: &[Text("<tool_call>"), Space, Name, Space],
                arguments: NamedArguments::Json { fenced: false },
                close: "</tool_call>",
            },
            NamedCall {
                head: &[Text("<longcat_tool_call>"), Space, Name],
                arguments: NamedArguments::Tags {
                    open: &[
                        Text("<longcat_arg_key>"),
                        Space,
                        Name,
                        Space,
                        Text("</longcat_arg_key>"),
                        Space,
                        Text("<longcat_arg_value>"),
                    ],
                    close: "</longcat_arg_value>",
                    glued: true,
                },
                close: "</longcat_tool_call>",
            },
        ],
        groups: &[group!("tool_calls")],
        name_line: true,
        types: &[],
    }),
};

/// Llama 4, LFM2, Gorilla and others.
pub(super) const PYTHON: Spec = Spec { name: "python", template: None, shape: Shape::Python, objects: None };

/// A call of Gemma's between these tokens, with texts between those.
macro_rules! gemma {
    ($open:literal, $text:literal, $close:literal) => {
        NamedCall {
            head: &[Text($open), Space, Text("call:"), Name],
            arguments: NamedArguments::Delimited { text: $text },
            close: $close,
        }
    };
}

/// Gemma 4 (LC/gemma4.jinja), and FunctionGemma
/// (ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices).
pub(super) const GEMMA: Spec = Spec {
    name: "gemma",
    template: None,
    objects: None,
    shape: Shape::Named(&Named {
        calls: &[
            gemma!("<|tool_call>", "<|\"|>", "<tool_call|>"),
            gemma!("<start_function_call>", "<escape>", "<end_function_call>"),
        ],
        groups: &[],
        name_line: false,
        types: &[],
    }),
};

/// What any model writes that has seen other programs' calls. OpenAI's interface
/// puts name and arguments in `function`, and several calls in `tool_calls`.
pub(super) const JSON: Spec = Spec { name: "json", template: None, objects: None, shape: Shape::Json(&KEYS) };

/// The words of the ReAct paper, as LangChain and others prompt for them.
pub(super) const REACT: Spec = Spec {
    name: "react",
    template: None,
    objects: None,
    shape: Shape::React(&React {
        head: &[
            Any("*_"),
            Text("Action"),
            Any("*_ \t"),
            OneOf(":："),
            Any("*_ \t`"),
            Name,
            Any("`*_ \t\r"),
            OneOf("\n"),
            Any("\r\n \t*_"),
            Text("Action Input"),
            Any("*_ \t"),
            OneOf(":："),
            Any("*_ \t"),
        ],
        lines: &["Action:", "Observation:", "Thought:", "Final Answer:"],
    }),
};
