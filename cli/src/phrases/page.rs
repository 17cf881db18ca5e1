//! Words that stand on pages only.

use super::Phrases;

impl Phrases {
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
