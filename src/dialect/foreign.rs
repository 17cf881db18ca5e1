//! The dialects of other prompts and chat templates: read, never taught.

use super::spec::{ARGUMENTS_FIRST, PARAMETERS_FIRST};
use super::{
    Group, Lead, MarkedJson, Named, NamedArguments, NamedCall, ObjectKeys, Piece, React, Shape, Spec, Wrapper,
};
use Piece::{Any, Attributes, Id, Name, OneOf, Quote, Space, Text};

/// Names that objects of any family have for the tool.
const TOOL_KEYS: &[&str] = &["name", "tool_name", "tool"];

const SERVER_KEYS: &[&str] = &["server_name", "server"];

/// What chat templates put beside name and arguments.
const IDLE_KEYS: &[&str] = &["id", "type"];

const fn tag(open: &'static str, close: &'static str) -> Wrapper {
    Wrapper { open, close: Some(close), must_close: true }
}

const fn spec(name: &'static str, shape: MarkedJson) -> Spec {
    Spec { name, template: None, shape: Shape::MarkedJson(shape) }
}

const fn json(wrappers: &'static [Wrapper]) -> MarkedJson {
    MarkedJson {
        lead: Lead::Marker(wrappers),
        separators: b",;",
        tool_keys: TOOL_KEYS,
        argument_keys: ARGUMENTS_FIRST,
        server_keys: SERVER_KEYS,
        idle_keys: IDLE_KEYS,
        named: None,
    }
}

/// NousResearch's Hermes, Qwen 2.5 and 3, Granite 4; with other tags Jamba,
/// Apriel and Nemotron.
pub(super) const HERMES: Spec = spec(
    "hermes",
    json(&[
        tag("<tool_call>", "</tool_call>"),
        tag("<tool_calls>", "</tool_calls>"),
        tag("<TOOLCALL>", "</TOOLCALL>"),
        tag("<function_call>", "</function_call>"),
    ]),
);

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

/// What LM Studio's default prompt asks for.
pub(super) const TOOL_REQUEST: Spec = spec("tool_request", json(&[tag("[TOOL_REQUEST]", "[END_TOOL_REQUEST]")]));

/// Llama 3.1 and later; a token of the chat template ends the run.
pub(super) const PYTHON_TAG: Spec = spec(
    "python_tag",
    MarkedJson {
        argument_keys: PARAMETERS_FIRST,
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
            groups: &[Group { open: MISTRAL, close: "[/TOOL_CALLS]", gated: true }],
            types: &[],
        }),
        ..json(&[Wrapper { open: MISTRAL, close: Some("[/TOOL_CALLS]"), must_close: false }])
    },
);

const FUNCTION: &[Piece] = &[Text("<function="), Name, Text(">")];

/// A call in Anthropic's style: tags with the name as an attribute.
macro_rules! attributes {
    ($call:literal, $parameter:literal) => {
        NamedCall {
            head: &[Text(concat!("<", $call, " ")), Space, Text("name="), Quote, Name, Quote, Attributes],
            arguments: NamedArguments::Tags {
                open: &[Text(concat!("<", $parameter, " ")), Space, Text("name="), Quote, Name, Quote, Attributes],
                close: concat!("</", $parameter, ">"),
            },
            close: concat!("</", $call, ">"),
        }
    };
}

macro_rules! group {
    ($tag:literal) => {
        Group { open: concat!("<", $tag, ">"), close: concat!("</", $tag, ">"), gated: true }
    };
}

/// Llama 3's `<function=NAME>{…}</function>`, and Qwen3-Coder's with
/// parameters as tags, usually in a `<tool_call>`; Seed's tag has a namespace.
pub(super) const FUNCTION_TAG: Spec = Spec {
    name: "function_tag",
    template: None,
    shape: Shape::Named(&Named {
        calls: &[
            NamedCall { head: FUNCTION, arguments: NamedArguments::Json { fenced: false }, close: "</function>" },
            NamedCall {
                head: FUNCTION,
                arguments: NamedArguments::Tags {
                    open: &[Text("<parameter="), Name, Text(">")],
                    close: "</parameter>",
                },
                close: "</function>",
            },
        ],
        groups: &[group!("tool_call"), group!("seed:tool_call")],
        types: &[],
    }),
};

/// Anthropic's `<function_calls><invoke name="…">`, with and without a
/// namespace; MiniMax, Step-3 and DeepSeek from V3.2 on have tags of their own,
/// MiniCPM has other words.
pub(super) const INVOKE: Spec = Spec {
    name: "invoke",
    template: None,
    shape: Shape::Named(&Named {
        calls: &[
            attributes!("invoke", "parameter"),
            attributes!("antml:invoke", "antml:parameter"),
            attributes!("steptml:invoke", "steptml:parameter"),
            attributes!("｜DSML｜invoke", "｜DSML｜parameter"),
            attributes!("function", "param"),
        ],
        groups: &[
            group!("function_calls"),
            group!("antml:function_calls"),
            group!("minimax:tool_call"),
            group!("｜DSML｜function_calls"),
            group!("｜DSML｜tool_calls"),
        ],
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
    shape: Shape::Named(&Named {
        calls: &[
            deepseek!(true, CALL_BEGIN, Space, Text("function"), SEPARATOR, Space, Name),
            deepseek!(false, CALL_BEGIN, Space, Name, Space, SEPARATOR),
            deepseek!(false, CALL_BEGIN, Space, Name),
            deepseek!(true, Text("<｜tool▁calls▁begin｜>"), Space, Text("function"), SEPARATOR, Space, Name),
        ],
        groups: &[
            Group { open: "<｜tool▁calls▁begin｜>", close: "<｜tool▁calls▁end｜>", gated: false },
            Group { open: "<｜tool▁calls｜>", close: "<｜tool▁calls▁end｜>", gated: false },
        ],
        types: &["function"],
    }),
};

/// Llama 4, LFM2, Gorilla and others.
pub(super) const PYTHON: Spec = Spec { name: "python", template: None, shape: Shape::Python };

/// What any model writes that has seen other programs' calls. OpenAI's interface
/// puts name and arguments in `function`, and several calls in `tool_calls`.
pub(super) const JSON: Spec = Spec {
    name: "json",
    template: None,
    shape: Shape::Json(&ObjectKeys {
        tool: TOOL_KEYS,
        arguments: ARGUMENTS_FIRST,
        server: SERVER_KEYS,
        idle: &["id", "type", "index", "call_id"],
        function: "function",
        list: "tool_calls",
    }),
};

/// The words of the ReAct paper, as LangChain and others prompt for them.
pub(super) const REACT: Spec = Spec {
    name: "react",
    template: None,
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
