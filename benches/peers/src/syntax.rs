//! The mix in the syntaxes that the parsers read.

use std::fmt;

use serde_json::Value;
use toolgraft_benches::corpus;

/// A call syntax of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// Qwen 2.5 and 3, Hermes: JSON in `<tool_call>`.
    Hermes,
    /// Qwen 3 Coder: `<function=…>` with `<parameter=…>` in `<tool_call>`.
    QwenCoder,
    /// DeepSeek V3 and R1: special tokens around fenced JSON.
    DeepSeek,
}

impl Syntax {
    /// The mix of the benches with its calls in this syntax.
    pub(crate) fn mix(self, bytes: usize) -> String {
        match self {
            Syntax::Hermes => corpus::mix(bytes, &corpus::hermes),
            Syntax::QwenCoder => corpus::mix(bytes, &corpus::qwen_coder),
            Syntax::DeepSeek => corpus::mix(bytes, &deep_seek),
        }
    }

    /// Returns the number of calls in a text of the mix.
    pub(crate) fn calls(self, text: &str) -> usize {
        match self {
            Syntax::Hermes | Syntax::QwenCoder => text.matches("<tool_call>").count(),
            Syntax::DeepSeek => text.matches("<｜tool▁call▁begin｜>").count(),
        }
    }
}

impl fmt::Display for Syntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Syntax::Hermes => "Hermes (JSON in `<tool_call>`)",
            Syntax::QwenCoder => "Qwen Coder (`<function=…>`)",
            Syntax::DeepSeek => "DeepSeek V3 (special tokens)",
        })
    }
}

fn deep_seek(tool: &str, arguments: &Value) -> String {
    format!(
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{tool}\n```json\n{arguments}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    )
}
