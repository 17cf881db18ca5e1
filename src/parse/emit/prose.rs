//! The position of prose (text other than white space) before an offset, which tells whether the offset begins its
//! line.

/// The position of the prose before an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Prose {
    #[default]
    None,
    /// On its line alone.
    OnTheLine,
    /// On lines before.
    Above,
}

impl Prose {
    /// Advances past `text`.
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
