//! The options and parts of a constraint: when it applies, what it applies to, the place of reasoning, tags.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dialect::PromptStyle;
use crate::message::keyword_enum;

/// The option that decides when answers are constrained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Constrain {
    /// Answers are constrained if the endpoint supports it.
    #[default]
    Auto,
    /// Answers are never constrained.
    Off,
    /// Answers are always constrained: if the endpoint supports no form, the request fails before it is sent.
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
    /// The probability that the answer begins with a call is read from the stream and compared with a threshold; a call
    /// above it is then requested with a constraint. Works as [`Free`](Way::Free) if the endpoint reports no
    /// probabilities or supports no constraint.
    Measured,
    /// Works as [`Measured`](Way::Measured) for a small model, without a warning if the endpoint reports no
    /// probabilities, and as [`Free`](Way::Free) for any other ([`for_style`](Way::for_style)).
    Auto,
}

impl Way {
    /// Resolves [`Auto`](Way::Auto) for a model whose prompt has this style: [`Free`](Way::Free) for any style but the
    /// compact one. Other values are unchanged.
    #[must_use]
    pub fn for_style(self, style: PromptStyle) -> Self {
        if self == Way::Auto && style != PromptStyle::Compact { Way::Free } else { self }
    }
}

keyword_enum!(Way, "a strategy for calls",
    "free" => Way::Free, "measured" => Way::Measured, "auto" => Way::Auto);

/// The position of the model's reasoning, relative to its calls, that a grammar allows.
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
    /// The whole answer is constrained, by a schema.
    Answer,
    /// The whole answer is constrained to one or several calls.
    Calls,
    /// Each call that the model begins is constrained; other text is free.
    BegunCalls,
    /// The whole answer is constrained to text that does not begin a call.
    Prose,
}

/// Structural tags, by which an endpoint constrains parts of an answer: `begin`, JSON that matches a schema, `end`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StructuralTags {
    /// Common prefix of every `begin`; once the model writes it, the tags apply.
    pub trigger: String,
    /// The tags, one for each tool.
    pub tags: Vec<StructuralTag>,
    /// `true` if the answer must contain at least one tag.
    pub at_least_one: bool,
    /// `true` if the answer ends after the first tag.
    pub only_one: bool,
}

/// One tag of [`StructuralTags`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StructuralTag {
    /// Literal text before the JSON.
    pub begin: String,
    /// JSON Schema of the JSON.
    pub schema: Value,
    /// Literal text after the JSON.
    pub end: String,
}
