//! The intended content of a message.

use super::bytes::Bytes;
use super::call::MeantCall;
use super::spellings::ALL;
use super::syntax::Syntax;

/// Prose that contains no beginning of a syntax.
const PROSE: &[&str] = &["", "I will look.", "好的，", "1 < 2 and a > b.", "It's here:", "First\nthis, then *that*."];

/// The intended message.
#[derive(Debug, Default)]
pub(crate) struct Meant {
    pub(crate) text: String,
    /// The part for the user.
    pub(crate) prose: String,
    pub(crate) calls: Vec<MeantCall>,
    /// `true` if the text ends where nothing may follow on the same line.
    line_end: bool,
}

impl Meant {
    pub(crate) fn write(bytes: &mut Bytes<'_>) -> Self {
        let mut meant = Meant::default();
        if bytes.one_in(4) {
            meant.text.push_str("<think>What is asked?</think>");
        }
        let first = bytes.pick(&ALL);
        if first.alone {
            meant.text.push_str(*bytes.pick(&["", "\n"]));
            meant.calls(first, false, bytes);
            return meant;
        }
        meant.prose(bytes, first);
        meant.calls(first, false, bytes);
        for _ in 0..bytes.below(3) {
            let next = bytes.pick(&ALL);
            if !next.alone {
                meant.prose(bytes, next);
                meant.calls(next, false, bytes);
            }
        }
        let last = bytes.pick(&ALL);
        match bytes.below(4) {
            0 => {}
            1 if !last.alone => {
                meant.text.push('\n');
                meant.calls(last, true, bytes);
            }
            _ => {
                meant.text.push('\n');
                meant.say(*bytes.pick(PROSE));
            }
        }
        meant
    }

    /// Adds prose before a call.
    pub(crate) fn prose(&mut self, bytes: &mut Bytes<'_>, next: &Syntax) {
        let line_end = std::mem::take(&mut self.line_end) || self.text.ends_with("```");
        self.text.push_str(if line_end { "\n" } else { *bytes.pick(&["", " ", "\n"]) });
        self.say(*bytes.pick(PROSE));
        if next.line_start && !self.text.is_empty() {
            self.text.push('\n');
        } else {
            self.text.push_str(*bytes.pick(&["\n", " ", "\n\n"]));
        }
    }

    pub(crate) fn say(&mut self, prose: &str) {
        self.text.push_str(prose);
        self.prose.push_str(prose);
    }

    /// Adds calls in one text, alone in a fence if `fenced` and possible.
    pub(crate) fn calls(&mut self, syntax: &Syntax, fenced: bool, bytes: &mut Bytes<'_>) {
        let Some((written, mut calls)) = syntax.some(syntax.most, bytes) else { return };
        let fenced = fenced && !has_fence(&written);
        let begin = self.text.len();
        self.text.push_str(&if fenced { format!("```\n{written}\n```") } else { written });
        for call in &mut calls {
            call.span = begin..self.text.len();
            call.fenced = fenced;
        }
        self.calls.append(&mut calls);
        self.line_end = syntax.line_end;
    }
}

/// Returns `true` if a line of a text may begin or end a fence.
pub(crate) fn has_fence(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with("```"))
}
