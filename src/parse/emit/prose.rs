//! The position of prose (text other than white space) before an offset, which tells whether the offset begins its
//! line.

/// Position of the prose before an offset: none, on the offset's line, or above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Prose {
    #[default]
    None,
    /// Prose is on the offset's line, and on no line above.
    OnTheLine,
    /// Prose is on a line above.
    Above,
}

impl Prose {
    /// Updates the position of the prose for the offset after `text`.
    pub(crate) fn read(&mut self, text: &str) {
        let begins = match self {
            Prose::Above => return,
            Prose::OnTheLine => 0,
            Prose::None => text.len() - text.trim_ascii_start().len(),
        };
        if begins < text.len() || *self == Prose::OnTheLine {
            let ends_line = memchr::memchr(b'\n', &text.as_bytes()[begins..]).is_some();
            *self = if ends_line { Prose::Above } else { Prose::OnTheLine };
        }
    }
}
