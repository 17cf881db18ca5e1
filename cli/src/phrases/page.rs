//! Words that stand on pages only.

use serde_json::{Value, json};

use super::Phrases;

impl Phrases {
    /// What the templates name.
    pub(crate) fn for_page(self) -> Value {
        json!({
            "lang": self.pick("en", "zh"),
            "more": self.more(),
            "characters": self.characters(),
            "note": self.note(),
            "timeline": self.timeline(),
            "contents": self.contents(),
            "tools": self.tools_on_offer(),
            "schema": self.schema(),
            "reasoning": capitalised(self.reasoning()),
            "answer": capitalised(self.answer()),
            "behind_call": capitalised(self.behind_call()),
            "as_written": self.as_written(),
            "structured": self.structured(),
            "events": self.events(),
            "made_by": self.made_by(),
        })
    }

    /// Heading of a notice by its kind; other kinds stand for themselves.
    pub(crate) fn notice(self, kind: &str) -> &str {
        match kind {
            "note" => self.note(),
            "correction" => self.model_is_told(),
            "warning" => self.warning(),
            "error" => self.model_failed(),
            "stopped" => self.turn_ended(),
            _ => kind,
        }
    }
}

/// A phrase as a heading.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
