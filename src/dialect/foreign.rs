//! The dialects of other prompts and chat templates: read, never taught.

use super::{Lead, MarkedJson, Shape, Spec, Wrapper};

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
        argument_keys: &["arguments", "parameters", "args", "params", "input"],
        server_keys: SERVER_KEYS,
        idle_keys: IDLE_KEYS,
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

/// Mistral up to Nemo. The closing marker is the one that some servers add.
pub(super) const TOOL_CALLS: Spec =
    spec("tool_calls", json(&[Wrapper { open: "[TOOL_CALLS]", close: Some("[/TOOL_CALLS]"), must_close: false }]));

/// What LM Studio's default prompt asks for.
pub(super) const TOOL_REQUEST: Spec = spec("tool_request", json(&[tag("[TOOL_REQUEST]", "[END_TOOL_REQUEST]")]));

/// Llama 3.1 and later; a token of the chat template ends the run.
pub(super) const PYTHON_TAG: Spec = spec(
    "python_tag",
    MarkedJson {
        argument_keys: &["parameters", "arguments", "args", "params", "input"],
        ..json(&[Wrapper { open: "<|python_tag|>", close: None, must_close: false }])
    },
);
