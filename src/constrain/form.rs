//! The words of a constraint: when it holds, what it holds, where reasoning may stand, tags.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dialect::PromptStyle;
use crate::message::keyword_enum;

/// Whether answers are held to a structure where one is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Constrain {
    /// Where the endpoint takes it.
    #[default]
    Auto,
    /// Never.
    Off,
    /// Always: an endpoint that takes it in no form is an error before the request.
    Require,
}

keyword_enum!(Constrain, "whether answers are held to a structure",
    "auto" => Constrain::Auto, "off" => Constrain::Off, "require" => Constrain::Require);

/// How it comes to a call where the model may as well answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Way {
    /// The model writes one, or does not.
    #[default]
    Free,
    /// The probability that the answer begins with a call is read from the stream, and a threshold
    /// decides; the call is then asked for under its structure. Where the endpoint gives no
    /// probabilities, or holds to no structure, as [`Free`](Way::Free).
    Measured,
    /// As [`Measured`](Way::Measured) for a small model, and nobody is told where the endpoint gives no
    /// probabilities; as [`Free`](Way::Free) for any other ([`for_style`](Way::for_style)).
    Auto,
}

impl Way {
    /// What [`Auto`](Way::Auto) is for a model whose prompt has this style: [`Free`](Way::Free) but where that is
    /// compact.
    #[must_use]
    pub fn for_style(self, style: PromptStyle) -> Self {
        if self == Way::Auto && style != PromptStyle::Compact { Way::Free } else { self }
    }
}

keyword_enum!(Way, "a way to come to a call",
    "free" => Way::Free, "measured" => Way::Measured, "auto" => Way::Auto);

/// Where the model's reasoning may stand before its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Thinking {
    /// Nowhere.
    #[default]
    Off,
    /// Between `<think>` and `</think>`.
    Marked,
    /// Before `</think>`, with or without the opening tag, which a chat template may write.
    Open,
}

/// What is held to a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Constrained {
    /// The whole answer, after a schema.
    Answer,
    /// The whole answer is one or several calls.
    Calls,
    /// Calls, where the model begins one.
    BegunCalls,
    /// The whole answer is text that begins no call.
    Prose,
}

/// Structural tags: `begin`, JSON after a schema, `end`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StructuralTags {
    /// What each `begin` begins with; it puts the tags in force.
    pub trigger: String,
    /// The tags.
    pub tags: Vec<StructuralTag>,
    /// Whether there has to be one.
    pub at_least_one: bool,
    /// Whether the answer ends behind the first.
    pub only_one: bool,
}

/// One of [`StructuralTags`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StructuralTag {
    /// What stands before the JSON.
    pub begin: String,
    /// Schema of the JSON.
    pub schema: Value,
    /// What stands behind it.
    pub end: String,
}
