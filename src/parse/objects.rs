//! A run of JSON objects behind a marker, as text: what leads to an object,
//! what may stand between two, and what ends the run.

use super::line::{Fence, fence_chars, fence_close_before, fence_end, fence_run};
use super::tables::Marked;
use super::window::{Match, begins, leading_space};

/// Where a run of objects stands: each is a call while nothing else comes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Objects {
    pub(super) marked: Marked,
    /// The fence around them that the dialect expects, while it is open.
    pub(super) fence: Option<Fence>,
    /// Whether an array around them is open.
    pub(super) array: bool,
    /// Whether think tags count here.
    pub(super) think_tags: bool,
}

/// What leads to a JSON object, in bytes, each with the white space behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Ahead {
    /// The marker.
    pub(super) lead: usize,
    pub(super) fence: Option<Fence>,
    pub(super) fence_length: usize,
    pub(super) bracket: usize,
    pub(super) array: bool,
}

impl Ahead {
    /// The same behind `length` bytes more.
    pub(super) fn behind(self, length: usize) -> Self {
        Ahead { lead: self.lead + length, ..self }
    }
}

/// What goes on with a run, behind an object and white space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Following {
    /// A further object, and what leads to it.
    Object(Ahead),
    /// The end of the array.
    Bracket,
    /// The line that closes the run's fence, and its length.
    FenceClose(usize),
    /// What closes the run, and its length.
    Close(usize),
    /// Brackets that nothing opened, in front of what closes the run.
    Surplus(usize),
}

impl Objects {
    /// Whether `text`, behind an object and white space, goes on with the run.
    pub(super) fn following(&self, text: &str, more: bool) -> Match<Following> {
        match self.marked.close(text, more) {
            Match::Yes(length) => return Match::Yes(Following::Close(length)),
            Match::Undecided => return Match::Undecided,
            Match::No => {}
        }
        match text.bytes().next() {
            Some(b'{') => Match::Yes(Following::Object(Ahead::default())),
            Some(b']') if self.array => Match::Yes(Following::Bracket),
            Some(b'[') if !self.array => json_ahead(text, more).map(Following::Object),
            Some(b'`' | b'~' | b'\'') => match self.fence {
                Some(fence) => self.fence_end(text, fence, more).map(Following::FenceClose),
                None => json_ahead(text, more).map(Following::Object),
            },
            Some(byte) if self.marked.spec.separators.contains(&byte) => {
                let bracket = next_object(&text[1..], more).map(|space| space + 1);
                bracket.map(|bracket| Following::Object(Ahead { bracket, ..Ahead::default() }))
            }
            Some(b'}' | b']') if self.marked.must_close() => self.surplus(text, more),
            _ => Match::No,
        }
    }

    /// Whether `text` closes the run's fence; what closes the run may follow on the line.
    fn fence_end(&self, text: &str, fence: Fence, more: bool) -> Match<usize> {
        let close = |rest: &str| self.marked.close(rest, more);
        fence_end(text, fence, self.think_tags, more).or_else(|| fence_close_before(text, fence, close))
    }

    fn surplus(&self, text: &str, more: bool) -> Match<Following> {
        let length = text.bytes().take_while(|b| matches!(b, b'}' | b']')).count();
        let length = length + leading_space(&text[length..]);
        if length == text.len() {
            return if more { Match::Undecided } else { Match::No };
        }
        self.marked.close(&text[length..], more).map(|_| Following::Surplus(length))
    }

    /// Whether `text`, right behind an object, has a further object or what
    /// closes the run; yields whether surplus brackets stand before that.
    pub(super) fn goes_on(mut self, mut text: &str, more: bool) -> Match<bool> {
        loop {
            text = &text[leading_space(text)..];
            if text.is_empty() {
                return if more { Match::Undecided } else { Match::No };
            }
            let length = match self.following(text, more) {
                Match::No => return Match::No,
                Match::Undecided => return Match::Undecided,
                Match::Yes(Following::Object(_) | Following::Close(_)) => return Match::Yes(false),
                Match::Yes(Following::Surplus(_)) => return Match::Yes(true),
                Match::Yes(Following::Bracket) => {
                    self.array = false;
                    1
                }
                Match::Yes(Following::FenceClose(length)) => {
                    self.fence = None;
                    length
                }
            };
            text = &text[length..];
        }
    }
}

/// Whether `text` begins with a marker line that leads to an object.
pub(super) fn line_ahead(marked: Marked, text: &str, more: bool) -> Match<Ahead> {
    match marked.call_line(text, more) {
        Match::Yes(length) => lead_ahead(text, length, more),
        Match::Undecided => Match::Undecided,
        Match::No => Match::No,
    }
}

/// Whether `text`, whose first `lead` bytes are a marker, leads to an object.
pub(super) fn lead_ahead(text: &str, lead: usize, more: bool) -> Match<Ahead> {
    let lead = lead + leading_space(&text[lead..]);
    json_ahead(&text[lead..], more).map(|ahead| ahead.behind(lead))
}

/// Whether `text` leads to an object: a fence, a bracket, or the object itself.
pub(super) fn json_ahead(text: &str, more: bool) -> Match<Ahead> {
    let mut ahead = Ahead::default();
    match fence_run(text, more) {
        Match::Undecided => return Match::Undecided,
        Match::No => {}
        Match::Yes(length) => {
            ahead.fence = match fence_chars(text, false) {
                Match::Yes(fence) => Some(fence),
                _ => None,
            };
            ahead.fence_length = length + leading_space(&text[length..]);
        }
    }
    let rest = &text[ahead.fence_length..];
    match begins(rest, "[", more) {
        Match::Undecided => return Match::Undecided,
        Match::No => {}
        Match::Yes(()) => ahead.array = true,
    }
    let bracket = usize::from(ahead.array);
    // White space before an object without a bracket was counted already.
    next_object(&rest[bracket..], more).map(|space| Ahead { bracket: bracket + space, ..ahead })
}

/// Whether white space and an object's brace follow; yields the white space's length.
fn next_object(text: &str, more: bool) -> Match<usize> {
    let space = leading_space(text);
    begins(&text[space..], "{", more).map(|()| space)
}
