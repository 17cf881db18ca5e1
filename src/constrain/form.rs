//! The options and parts of a constraint: when it applies, what it applies to, the place of reasoning, tags.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dialect::PromptStyle;
use crate::message::keyword_enum;

/// The option that decides when answers are constrained to a structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Constrain {
    /// If the endpoint supports it.
    #[default]
    Auto,
    /// Never.
    Off,
    /// Always: if the endpoint supports no form, the request fails before it is sent.
    Require,
}

keyword_enum!(Constrain, "a constraint on answers",
    "auto" => Constrain::Auto, "off" => Constrain::Off, "require" => Constrain::Require);

/// The strategy for deciding whether to call a tool, if the model may also answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Way {
    /// The model decides by what it writes.
    #[default]
    Free,
    /// The probability that the answer begins with a call is read from the stream and compared with a threshold; the
    /// call is then requested under its structure. Works as [`Free`](Way::Free) if the endpoint gives no probabilities
    /// or supports no structure.
    Measured,
    /// Like [`Measured`](Way::Measured) for a small model, without a warning if the endpoint gives no probabilities; as
    /// [`Free`](Way::Free) for any other ([`for_style`](Way::for_style)).
    Auto,
}

impl Way {
    /// Resolves [`Auto`](Way::Auto) for a model whose prompt has this style: any style but the compact one makes it
    /// [`Free`](Way::Free).
    #[must_use]
    pub fn for_style(self, style: PromptStyle) -> Self {
        if self == Way::Auto && style != PromptStyle::Compact { Way::Free } else { self }
    }
}

keyword_enum!(Way, "a strategy for calls",
    "free" => Way::Free, "measured" => Way::Measured, "auto" => Way::Auto);

/// The place of the model's reasoning before its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Thinking {
    /// The answer has no reasoning.
    #[default]
    Off,
    /// Reasoning is between `<think>` and `</think>`.
    Marked,
    /// Reasoning is before `</think>`, with or without the opening tag, which a chat template may write.
    Open,
}

/// The part of an answer that is constrained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Constrained {
    /// The whole answer, by a schema.
    Answer,
    /// The whole answer, which is one or several calls.
    Calls,
    /// Each call that the model begins.
    BegunCalls,
    /// The whole answer, which is text that begins no call.
    Prose,
}

/// Structural tags: `begin`, JSON that matches a schema, `end`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StructuralTags {
    /// Common prefix of every `begin`; it activates the tags.
    pub trigger: String,
    /// The tags.
    pub tags: Vec<StructuralTag>,
    /// `true` if the answer must contain a tag.
    pub at_least_one: bool,
    /// `true` if the answer ends after the first tag.
    pub only_one: bool,
}

/// One tag of [`StructuralTags`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StructuralTag {
    /// Text before the JSON.
    pub begin: String,
    /// Schema of the JSON.
    pub schema: Value,
    /// Text after the JSON.
    pub end: String,
}
