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

/// A dialect of which no template of ours is known.
const fn spec(name: &'static str, shape: Shape) -> Spec {
    Spec { name, template: None, shape, objects: None }
}

const fn marked(name: &'static str, shape: MarkedJson) -> Spec {
    spec(name, Shape::MarkedJson(shape))
}

const fn named(name: &'static str, shape: &'static Named) -> Spec {
    spec(name, Shape::Named(shape))
}

pub(super) const fn json(wrappers: &'static [Wrapper]) -> MarkedJson {
    MarkedJson { announcer: Announcer::Marker(wrappers), separators: b",;", keys: &KEYS, named: None }
}

/// A token that nothing need close.
const fn open_token(open: &'static str, close: &'static str) -> Wrapper {
    Wrapper { open, close: Some(close), must_close: false }
}

/// Calls in no group, under their names alone.
const NAMED: Named = Named { calls: &[], groups: &[], name_line: false, types: &[] };

macro_rules! group {
    ($tag:literal) => {
        gated(concat!("<", $tag, ">"), concat!("</", $tag, ">"))
    };
}

/// A group that only counts before a call.
const fn gated(open: &'static str, close: &'static str) -> Group {
    Group { open, close, gated: true, glued: false }
}

/// A group of special tokens, which always counts.
const fn tokens(open: &'static str, close: &'static str) -> Group {
    Group { open, close, gated: false, glued: false }
}

/// A head, or an opening tag, as it looks: a text stands for itself, `_` for white space, if any.
macro_rules! head {
    ($($piece:tt)*) => { &[$(piece!($piece)),*] };
}

macro_rules! piece {
    (_) => {
        Space
    };
    ($text:literal) => {
        Text($text)
    };
    ($piece:expr) => {
        $piece
    };
}

/// A tag with a name as its attribute.
macro_rules! name_attribute {
    ($tag:literal) => { head!((Text(concat!("<", $tag, " "))) _ Before "name=" Quote Name Quote Attributes) };
}

/// A call of its head, JSON and its closer.
const fn with_json(head: &'static [Piece], close: &'static str) -> NamedCall {
    NamedCall { head, arguments: NamedArguments::Json { fenced: false }, close }
}

/// Arguments as tags, to which the template glues their values.
const fn glued(open: &'static [Piece], close: &'static str) -> NamedArguments {
    NamedArguments::Tags { open, close, glued: true }
}

/// A tag with the tool's name as an attribute, and JSON.
macro_rules! attribute_json {
    ($tag:literal) => {
        with_json(name_attribute!($tag), concat!("</", $tag, ">"))
    };
}

/// NousResearch's Hermes, Qwen 2.5 and 3, Granite 4; with other tags Jamba,
/// Apriel, Nemotron and LongCat; with tokens Phi-4-mini, Granite 3 (which closes none) and
/// InternLM, LFM2 and openPangu (where a list of JSON stands between theirs), GigaChat 3; with a
/// word Phi-4-mini, too.
pub(super) const HERMES: Spec = marked("hermes", MarkedJson { named: Some(&TAGS_WITH_NAME), ..json(HERMES_MARKERS) });

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

/// The tool's name beside its JSON, where Hermes has it inside: models that saw several syntaxes
/// mix them.
static TAGS_WITH_NAME: Named = Named {
    calls: &[
        attribute_json!("tool_call"),
        attribute_json!("function_call"),
        with_json(head!("<tool_call>" _ "<function>" _ Name _ "</function>"), "</tool_call>"),
        with_json(head!("<tool_call>" _ "<name>" _ Name _ "</name>" _ "<arguments>"), "</arguments>"),
    ],
    groups: &[group!("tool_call")],
    ..NAMED
};

const MISTRAL: &str = "[TOOL_CALLS]";
const TOOL_CALL: &str = "[TOOL_CALL]";

/// What LM Studio's default prompt asks for, and the marker of MiniMax M2 where its own tags are
/// not taught, with arrows or flags in place of JSON's colons
/// (github.com/openclaw/openclaw, `sanitizeUserFacingText`).
pub(super) const TOOL_REQUEST: Spec = marked(
    "tool_request",
    MarkedJson {
        named: Some(&Named {
            calls: &[
                NamedCall {
                    head: head!((Text(TOOL_CALL)) _ "{" _ "tool" _ "=>" _ Quote Name Quote (Any(" \t\r\n,")) "args" _ "=>" _),
                    arguments: NamedArguments::Arrows,
                    close: "[/TOOL_CALL]",
                },
                NamedCall {
                    head: head!((Text(TOOL_CALL)) _ "{" _ "tool" _ "=>" _ Quote Name Quote _ "}" _ "[/TOOL_CALL]"),
                    arguments: NamedArguments::None,
                    close: "",
                },
            ],
            ..NAMED
        }),
        ..json(&[tag("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"), tag(TOOL_CALL, "[/TOOL_CALL]")])
    },
);

/// Cohere's Command R7B, A and 4.
pub(super) const COMMAND: Spec = marked(
    "command",
    MarkedJson {
        keys: &CallKeys { tool: &["tool_name", "name", "tool", "function_name"], arguments: PARAMETERS_FIRST, ..KEYS },
        ..json(&[tag("<|START_ACTION|>", "<|END_ACTION|>")])
    },
);

/// Llama 3.1 and later; a token of the chat template ends the run.
pub(super) const PYTHON_TAG: Spec = marked(
    "python_tag",
    MarkedJson {
        keys: &CallKeys { arguments: PARAMETERS_FIRST, ..KEYS },
        ..json(&[Wrapper { open: "<|python_tag|>", close: None, must_close: false }])
    },
);

/// Mistral up to Nemo, and with the name before the JSON from version 11 of its
/// tokenizer on. The closing marker is the one that some servers add.
pub(super) const TOOL_CALLS: Spec = marked(
    "tool_calls",
    MarkedJson {
        named: Some(&Named {
            calls: &[
                with_json(head!((Text(MISTRAL)) _ Name _ "[ARGS]"), ""),
                with_json(head!((Text(MISTRAL)) _ Name _ "[CALL_ID]" _ Id _ "[ARGS]"), ""),
                with_json(head!((Text(MISTRAL)) _ Name), ""),
            ],
            groups: &[gated(MISTRAL, "[/TOOL_CALLS]")],
            ..NAMED
        }),
        ..json(&[Wrapper { open: MISTRAL, close: Some("[/TOOL_CALLS]"), must_close: false }])
    },
);

const FUNCTION: &[Piece] = head!("<function=" Name ">");
const HALF_FUNCTION: &[Piece] = head!("<function=" Name _);

/// A call in Anthropic's style that is one tag, without arguments.
macro_rules! empty_tag {
    ($call:literal) => {
        NamedCall {
            head: head!((Text(concat!("<", $call, " "))) _ "name=" Quote Name Quote _ "/>"),
            arguments: NamedArguments::None,
            close: "",
        }
    };
}

/// A call in Anthropic's style: tags with the name as an attribute.
macro_rules! attributes {
    ($call:literal, $parameter:literal) => {
        NamedCall {
            head: name_attribute!($call),
            arguments: glued(name_attribute!($parameter), concat!("</", $parameter, ">")),
            close: concat!("</", $call, ">"),
        }
    };
}

/// Llama 3's `<function=NAME>{…}</function>`, and Qwen3-Coder's with
/// parameters as tags, usually in a `<tool_call>`; Seed's tag has a namespace.
pub(super) const FUNCTION_TAG: Spec = named(
    "function_tag",
    &Named {
        calls: &[
            with_json(FUNCTION, "</function>"),
            NamedCall {
                head: FUNCTION,
                // Some write the sign behind the name once more.
                arguments: NamedArguments::Tags {
                    open: head!("<parameter=" Name (OneOf(">="))),
                    close: "</parameter>",
                    glued: false,
                },
                close: "</function>",
            },
            // Llama 3.3 at times leaves the bracket out.
            with_json(HALF_FUNCTION, "</function>"),
        ],
        // Seed's template glues values to the same tags (ByteDance-Seed/Seed-OSS-36B-Instruct).
        groups: &[group!("tool_call"), Group { glued: true, ..group!("seed:tool_call") }],
        ..NAMED
    },
);

/// Anthropic's `<function_calls><invoke name="…">`, with and without a
/// namespace; MiniMax, Step-3, Muse, GigaChat 3.5, dots and DeepSeek from V3.2 on have
/// tags of their own, MiniCPM has other words.
pub(super) const INVOKE: Spec = named(
    "invoke",
    &Named {
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
        ..NAMED
    },
);

const CALL_BEGIN: Piece = Text("<｜tool▁call▁begin｜>");
const SEPARATOR: Piece = Text("<｜tool▁sep｜>");
const CALL_END: &str = "<｜tool▁call▁end｜>";
const FENCED: NamedArguments = NamedArguments::Json { fenced: true };

/// DeepSeek's special tokens: V3 and R1 with the type `function` and a fence,
/// V3.1 without. R1 leaves the token before the type out at times.
pub(super) const DEEPSEEK: Spec = named(
    "deepseek",
    &Named {
        calls: &[
            NamedCall { head: head!(CALL_BEGIN _ "function" SEPARATOR _ Name), arguments: FENCED, close: CALL_END },
            with_json(head!(CALL_BEGIN _ Name _ SEPARATOR), CALL_END),
            with_json(head!(CALL_BEGIN _ Name), CALL_END),
            NamedCall {
                head: head!("<｜tool▁calls▁begin｜>" _ "function" SEPARATOR _ Name),
                arguments: FENCED,
                close: CALL_END,
            },
        ],
        groups: &[
            tokens("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"),
            tokens("<｜tool▁calls｜>", "<｜tool▁calls▁end｜>"),
        ],
        types: &["function"],
        ..NAMED
    },
);

const ARGUMENTS_BEGIN: Piece = Text("<｜tool▁call▁argument▁begin｜>");

/// Moonshot's Kimi K2: tokens like DeepSeek's, and the call's number behind the name.
/// A call without arguments lacks the token before them: `kimi/no_arguments`.
pub(super) const KIMI: Spec = named(
    "kimi",
    &Named {
        calls: &[
            with_json(head!(CALL_BEGIN _ "functions." Name Index _ ARGUMENTS_BEGIN), CALL_END),
            with_json(head!(CALL_BEGIN _ Name Index _ ARGUMENTS_BEGIN), CALL_END),
            with_json(head!(CALL_BEGIN _ "functions." Name Index), CALL_END),
        ],
        groups: &[tokens("<｜tool▁calls▁section▁begin｜>", "<｜tool▁calls▁section▁end｜>")],
        ..NAMED
    },
);

/// A call of Harmony's in a channel, with what stands around its recipient.
macro_rules! harmony {
    ([$($before:tt)+] $($after:tt)*) => {
        with_json(
            head!($($before)+ Name _ $($after)* CONSTRAIN _ JSON_TYPE (Maybe("code")) _ "<|message|>"),
            "<|call|>",
        )
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
pub(super) const HARMONY: Spec = named(
    "harmony",
    &Named {
        calls: &[
            harmony!([CHANNEL COMMENTARY TO]),
            harmony!([CHANNEL ANALYSIS TO]),
            harmony!([START CHANNEL COMMENTARY TO]),
            harmony!([START CHANNEL ANALYSIS TO]),
            harmony!([START TO] CHANNEL COMMENTARY _),
            harmony!([START TO] CHANNEL ANALYSIS _),
            harmony!([CHANNEL COMMENTARY CHANNEL COMMENTARY TO]),
            harmony!([CHANNEL ANALYSIS CHANNEL COMMENTARY TO]),
            harmony!([START CHANNEL COMMENTARY CHANNEL COMMENTARY TO]),
            harmony!([START CHANNEL ANALYSIS CHANNEL COMMENTARY TO]),
            harmony!([START TO] CHANNEL COMMENTARY CHANNEL COMMENTARY _),
            harmony!([CHANNEL COMMENTARY TO] CHANNEL COMMENTARY _),
            harmony!([START CHANNEL COMMENTARY TO] CHANNEL COMMENTARY _),
            harmony!([CHANNEL COMMENTARY _ CONSTRAIN _ JSON_TYPE TO]),
            harmony!([START CHANNEL COMMENTARY _ CONSTRAIN _ JSON_TYPE TO]),
        ],
        ..NAMED
    },
);

/// What an id is made of.
const ID: &str = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-:.";

/// Upstage's Solar Open: tokens around an id, the name and JSON; Solar Open 2 has tokens around
/// each argument.
pub(super) const SOLAR: Spec = named(
    "solar",
    &Named {
        calls: &[
            with_json(
                head!("<|tool_call:begin|>" _ (Any(ID)) _ "<|tool_call:name|>" _ Name _ "<|tool_call:args|>"),
                "<|tool_call:end|>",
            ),
            NamedCall {
                head: head!("<|tool_call:start|>" _ Name),
                arguments: glued(head!("<|tool_arg:start|>" _ Name _ "<|tool_arg:value|>"), "<|tool_arg:end|>"),
                close: "<|tool_call:end|>",
            },
        ],
        groups: &[gated("<|tool_calls|>", "<|calls|>")],
        ..NAMED
    },
);

/// Moonshot's Kimi K3: elements whose tags are tokens.
pub(super) const KIMI_K3: Spec = named(
    "kimi_k3",
    &Named {
        calls: &[NamedCall {
            head: head!(
                "<|open|>call tool=" Quote Name Quote (Any("abcdefghijklmnopqrstuvwxyz=\"0123456789 ")) "<|sep|>"
            ),
            arguments: glued(
                head!(
                    "<|open|>argument key=" Quote Name Quote (Any("abcdefghijklmnopqrstuvwxyz=\" ")) "<|sep|>"
                ),
                "<|close|>argument<|sep|>",
            ),
            close: "<|close|>call<|sep|>",
        }],
        groups: &[gated("<|open|>tools<|sep|>", "<|close|>tools<|sep|>")],
        ..NAMED
    },
);

/// Zhipu's GLM-4.5 and later, Ling 3 and others; Hunyuan's Hy3 with a token behind the name
/// and a group; LongCat with a prefix.
/// GLM-4 writes the name on a line and the arguments as JSON on the next.
pub(super) const GLM: Spec = named(
    "glm",
    &Named {
        calls: &[
            NamedCall {
                head: head!("<tool_call>" _ Name (Maybe("<tool_sep>"))),
                arguments: glued(head!("<arg_key>" _ Name _ "</arg_key>" _ "<arg_value>"), "</arg_value>"),
                close: "</tool_call>",
            },
            // GLM-4's form in the later one's tag.
            with_json(head!("<tool_call>" _ Name _), "</tool_call>"),
            NamedCall {
                head: head!("<longcat_tool_call>" _ Name),
                arguments: glued(
                    head!("<longcat_arg_key>" _ Name _ "</longcat_arg_key>" _ "<longcat_arg_value>"),
                    "</longcat_arg_value>",
                ),
                close: "</longcat_tool_call>",
            },
        ],
        groups: &[group!("tool_calls")],
        name_line: true,
        ..NAMED
    },
);

/// Llama 4, LFM2, Gorilla and others.
pub(super) const PYTHON: Spec = spec("python", Shape::Python);

/// A call of Gemma's between these tokens, with texts between those.
macro_rules! gemma {
    ($open:literal, $text:literal, $close:literal) => {
        NamedCall {
            head: head!($open _ "call:" Name),
            arguments: NamedArguments::Delimited { text: $text },
            close: $close,
        }
    };
}

/// Gemma 4 (LC/gemma4.jinja), and FunctionGemma
/// (ai.google.dev/gemma/docs/functiongemma/formatting-and-best-practices).
pub(super) const GEMMA: Spec = named(
    "gemma",
    &Named {
        calls: &[
            gemma!("<|tool_call>", "<|\"|>", "<tool_call|>"),
            gemma!("<start_function_call>", "<escape>", "<end_function_call>"),
        ],
        ..NAMED
    },
);

/// What any model writes that has seen other programs' calls. OpenAI's interface
/// puts name and arguments in `function`, and several calls in `tool_calls`.
pub(super) const JSON: Spec = spec("json", Shape::Json(&KEYS));

/// The words of the ReAct paper, as LangChain and others prompt for them.
pub(super) const REACT: Spec = spec(
    "react",
    Shape::React(&React {
        head: head!(
            (Any("*_")) "Action" (Any("*_ \t")) (OneOf(":：")) (Any("*_ \t`")) Name (Any("`*_ \t\r")) (OneOf("\n"))
            (Any("\r\n \t*_")) "Action Input" (Any("*_ \t")) (OneOf(":：")) (Any("*_ \t"))
        ),
        lines: &["Action:", "Observation:", "Thought:", "Final Answer:"],
    }),
);
