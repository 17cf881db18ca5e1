//! Where text other than white space stands before a place, and so whether that begins its line.

/// Where prose stands before a place.
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
    /// Goes on behind `text`.
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
