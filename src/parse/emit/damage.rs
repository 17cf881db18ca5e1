//! Damage: which calls may be text of another one, whose text cannot be read.
//!
//! ```text
//!   a call ──cannot be read, and its closer did not come──▶ open: calls are `after_damage`
//!     │                                                      │
//!     │ its closer came                                      │ its closer comes
//!     ▼                                                      ▼
//!   closed ──the same closer comes once more, with text before it──▶ all calls since are withdrawn
//! ```
//!
//! A closer that follows calls and closes nothing says that a text before it ended too early: a file that holds
//! `</content></write_to_file>`, or a quotation mark and two brackets. The text between is text of that file. A closer
//! right after its own call is only written twice.

use std::borrow::Cow;

use crate::dialect::Dialect;
use crate::json::bytes::{Bracket, Places, has_none};
use crate::json::window::{Answer, Match, Window, first_of};
use crate::parse::marks::head::{begins_token, ends};
use crate::parse::tables::{Marked, Tables};

/// The closer of a call.
#[derive(Debug, Clone)]
pub(crate) struct CallCloser {
    /// Its text; empty where only brackets close the call.
    pub(crate) close: Cow<'static, str>,
    /// `true` if brackets close its arguments, too: JSON, and calls in Python's syntax.
    pub(crate) brackets: bool,
}

impl CallCloser {
    /// Brackets alone.
    pub(crate) const BRACKETS: CallCloser = CallCloser { close: Cow::Borrowed(""), brackets: true };

    /// Checks whether `text` begins with it; yields its length. Brackets are looked for elsewhere.
    pub(crate) fn begins(&self, text: &str, more: bool) -> Match<usize> {
        ends(&self.close, text, more)
    }

    /// Returns `true` if a call's text ends with it.
    pub(crate) fn ends(&self, text: &str) -> bool {
        last_marks(text).any(|at| self.begins(&text[at..], false) == Ok(text.len() - at))
    }
}

/// The damage in a region of the message.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    /// A call of a dialect cannot be read, and this, which closes it, did not come yet: calls are text of it, for all that
    /// is known.
    pub(crate) open: Option<(CallCloser, Dialect)>,
    /// Closers of the calls so far, each once.
    came: Vec<Came>,
    /// `true` if nothing came since the last call but its closer once more, up to `near_to`.
    pub(crate) is_near: bool,
    near_to: u64,
    pub(crate) brackets: Brackets,
    /// The first call after the last one that may run: an example says nothing of those before.
    pub(crate) last: u32,
    /// Brackets in the text say something: the damaged call ends with one, or calls came of which
    /// the first may have ended too early.
    pub(crate) watches_brackets: bool,
}

/// A closer of calls that came.
#[derive(Debug, Clone)]
struct Came {
    closer: CallCloser,
    /// The first call that it closed, and the first after that.
    first: u32,
    after: u32,
    /// `true` if the last of them lacks it: it may still come.
    is_due: bool,
}

impl Came {
    /// Returns `true` if brackets close such calls, and the call before number `last` is none of them.
    fn is_before(&self, last: u32) -> bool {
        self.closer.brackets && self.after < last
    }
}

/// Brackets in the text since the last call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Brackets {
    /// Open brackets by kind: braces, square ones, round ones.
    open: [u32; 3],
    /// Only closing brackets and white space follow a quotation mark.
    pub(crate) after_quote: bool,
    /// The same of the line's start.
    after_line: bool,
}

/// Which kind a bracket is of, and whether it opens.
fn bracket(byte: u8) -> Option<(usize, bool)> {
    Some(match byte {
        b'{' => (0, true),
        b'}' => (0, false),
        b'[' => (1, true),
        b']' => (1, false),
        b'(' => (2, true),
        b')' => (2, false),
        _ => return None,
    })
}

/// Returns `true` for white space, closing brackets and quotation marks: what is before them counts after them, too.
fn closes_or_is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'}' | b']' | b')')
}

impl Brackets {
    /// Goes on after `text`: up to after a bracket that closes nothing and is right after
    /// a text in quotes. `any`: or alone on its line.
    #[inline(never)]
    fn read(&mut self, text: &str, any: bool) -> Option<usize> {
        // Before the last byte that says that no text in quotes and no line's start is right before what follows,
        // brackets only have to be counted.
        let tail = text.bytes().rposition(|byte| !closes_or_is_blank(byte)).unwrap_or(0);
        let before = *self;
        if self.count(&text.as_bytes()[..tail]) {
            return self.read_bytes(&text.as_bytes()[tail..], any).map(|length| tail + length);
        }
        *self = before;
        self.read_bytes(text.as_bytes(), any)
    }

    /// Counts the brackets, unless one closes nothing.
    fn count(&mut self, bytes: &[u8]) -> bool {
        for (kind, opens) in Places::new(Bracket, bytes).filter_map(|at| bracket(bytes[at])) {
            match self.open[kind].checked_sub(1) {
                _ if opens => self.open[kind] += 1,
                Some(left) => self.open[kind] = left,
                None => return false,
            }
        }
        true
    }

    fn read_bytes(&mut self, text: &[u8], any: bool) -> Option<usize> {
        for (at, byte) in text.iter().copied().enumerate() {
            match (byte, bracket(byte)) {
                (_, Some((kind, true))) => {
                    self.open[kind] += 1;
                    (self.after_quote, self.after_line) = (false, false);
                }
                (_, Some((kind, false))) if self.open[kind] > 0 => {
                    self.open[kind] -= 1;
                    self.after_line = false;
                }
                // A text that ended too early leaves its quotation mark before the bracket; other
                // brackets are text.
                (_, Some(_)) if self.after_quote || any && self.after_line => return Some(at + 1),
                (_, Some(_)) => {}
                (b'"' | b'\'', _) => self.after_quote = true,
                (b'\n', _) => self.after_line = true,
                (byte, _) if byte.is_ascii_whitespace() => {}
                _ => (self.after_quote, self.after_line) = (false, false),
            }
        }
        None
    }

    /// Returns `true` if `text` ends with a bracket that closes nothing and follows a text in quotes.
    fn end_stray(text: &str) -> bool {
        let (mut brackets, mut from) = (Brackets::default(), 0);
        while let Some(length) = brackets.read(&text[from..], false) {
            from += length;
        }
        from > 0 && from == text.len()
    }
}

impl Damage {
    /// A call cannot be read; what closes it did not come yet.
    pub(crate) fn begins(&mut self, closer: CallCloser, dialect: Dialect) {
        self.open.get_or_insert((closer, dialect));
        self.changed();
    }

    /// A call is over, which `index` names.
    pub(crate) fn call_came(&mut self, closer: CallCloser, index: u32, is_due: bool) {
        self.is_near = true;
        self.last = index + 1;
        self.came(Came { closer, first: index, after: index + 1, is_due });
    }

    /// Notes that held calls are text; the next call is number `index`.
    pub(crate) fn given_back(&mut self, closer: CallCloser, index: u32) {
        self.came(Came { closer, first: index, after: index, is_due: false });
    }

    fn came(&mut self, came: Came) {
        match self.came.iter().position(|known| *known.closer.close == *came.closer.close) {
            Some(at) => {
                self.came[at].is_due = came.is_due;
                // The latest one is moved to the end.
                self.came[at..].rotate_left(1);
            }
            None => self.came.push(came),
        }
        self.changed();
    }

    /// Text came up to `to`, before which all up to `from` was emitted.
    pub(crate) fn text_came(&mut self, window: &Window<'_>, from: u64, to: u64) {
        if self.is_near {
            self.is_near = window.slice(from.max(self.near_to).min(to)..to).trim_ascii_start().is_empty();
        }
    }

    /// Checks whether `text`, between calls, may begin with a closer: of the damaged call, or one that
    /// closed a call before. `near`: nothing but white space is between the last call and `text`.
    pub(crate) fn closer(&self, near: bool, text: &str, more: bool) -> Match<(StrayCloser, usize)> {
        if let Some((closer, _)) = &self.open {
            let own = closer.begins(text, more).map(|length| (StrayCloser::Own, length));
            // What closes a call before may be text of the damaged one, or both are text of that call
            // (`mixed/closer_after_an_open_bracket`).
            return own.else_try(|| self.closer_of_calls(false, text, more));
        }
        self.closer_of_calls(near, text, more)
    }

    fn closer_of_calls(&self, near: bool, text: &str, more: bool) -> Match<(StrayCloser, usize)> {
        let last = self.came.last();
        let came = self.came.iter().map(|known| {
            let Came { closer, first, is_due, .. } = known;
            let is_last = last.is_some_and(|last| std::ptr::eq(last, known));
            let found = if is_last && (near || *is_due) { StrayCloser::Last } else { StrayCloser::Stray(*first) };
            closer.begins(text, more).map(|length| (found, length))
        });
        first_of(came)
    }

    /// Returns the first closer in `text`, which is no call, that closes an earlier call and nothing in the text.
    pub(crate) fn stray_in(&self, text: &str) -> Option<StrayCloser> {
        if self.came.is_empty() {
            return None;
        }
        let closers = memchr::memchr2_iter(b'<', b'[', text.as_bytes())
            .filter_map(|at| self.closer(false, &text[at..], false).ok());
        let stray = closers.map(|(found, _)| found).find(|found| matches!(found, StrayCloser::Stray(_)));
        stray.or_else(|| self.stray_bracket().filter(|_| Brackets::default().read(text, false).is_some()))
    }

    /// Returns the closer of an earlier call at the end of `text`, a call that cannot be read and whose
    /// own closer, `own`, it is not.
    pub(crate) fn stray_at_end(&self, text: &str, own: &CallCloser, tables: &Tables) -> Option<StrayCloser> {
        let last = self.came.last();
        // The last call lacked its closer, so that it may be this one.
        let due = |came: &Came| came.is_due && last.is_some_and(|last| std::ptr::eq(last, came));
        let mut left = Some(text.trim_end());
        while let Some(text) = left {
            if own.ends(text) {
                return None;
            }
            let mut others = self.came.iter().filter(|came| *came.closer.close != *own.close && !due(came));
            if let Some(came) = others.find(|came| came.closer.ends(text)) {
                return Some(StrayCloser::Stray(came.first));
            }
            // Where brackets alone close the call, the last one is its own.
            if !own.close.is_empty() && Brackets::end_stray(text) {
                return self.stray_bracket();
            }
            left = without_group(text, tables);
        }
        None
    }

    /// Goes on after the text of a call that cannot be read: brackets in it say what they open.
    pub(crate) fn passes_call(&mut self, text: &str) {
        if self.watches_brackets && self.open.is_none() {
            let mut rest = text;
            while let Some(length) = self.brackets.read(rest, false) {
                rest = &rest[length..];
            }
        }
    }

    /// Returns the meaning of a bracket that closes nothing, if it has one.
    fn stray_bracket(&self) -> Option<StrayCloser> {
        let first = self.came.iter().filter(|came| came.is_before(self.last)).map(|came| came.first);
        first.min().filter(|_| self.open.is_none()).map(StrayCloser::Stray)
    }

    /// The last call's closer came, after other text or once more; it ends at `end`.
    pub(crate) fn last_closes(&mut self, end: u64) {
        self.near_to = end;
        if let Some(last) = self.came.last_mut() {
            last.is_due = false;
        }
    }

    /// The damaged call's closer came.
    pub(crate) fn closes(&mut self) {
        self.open = None;
        self.changed();
    }

    /// Notes the closer of a group of calls of this dialect.
    pub(crate) fn group_closes(&mut self, dialect: Dialect) {
        if self.open.as_ref().is_some_and(|(_, own)| *own == dialect) {
            self.closes();
        }
    }

    /// Notes the closer of a run of objects.
    pub(crate) fn run_closes(&mut self, run: Marked) {
        let own = run.closer().unwrap_or_default();
        if self.open.as_ref().is_some_and(|(open, _)| *open.close == *own) {
            self.closes();
        }
    }

    /// Looks anew at what closers and calls came: the brackets of a text begin here.
    fn changed(&mut self) {
        self.brackets = Brackets::default();
        self.watches_brackets = match &self.open {
            Some((open, _)) => open.close.is_empty(),
            None => self.came.iter().any(|came| came.is_before(self.last)),
        };
    }

    /// Returns `true` if what closes a call may say something here.
    #[inline]
    pub(crate) fn knows_closers(&self) -> bool {
        self.open.is_some() || !self.came.is_empty()
    }

    /// Advances past plain text in a region that is not damaged; `false` if it is to be [read](Self::read_brackets),
    /// since a bracket in it closes nothing.
    pub(crate) fn passes_brackets(&mut self, text: &str) -> bool {
        if text.is_empty() || has_none(text.as_bytes(), Bracket) {
            if let Some(last) = text.trim_ascii_end().bytes().next_back() {
                self.brackets.after_quote = matches!(last, b'"' | b'\'');
            }
            return true;
        }
        let mut brackets = self.brackets;
        let passes = brackets.read(text, false).is_none();
        if passes {
            self.brackets = brackets;
        }
        passes
    }

    /// Goes on after text in which brackets are watched: up to after one that closes nothing,
    /// and what that says.
    pub(crate) fn read_brackets(&mut self, text: &str) -> Option<(usize, StrayCloser)> {
        let is_open = self.open.as_ref().is_some_and(|(open, _)| open.close.is_empty());
        let at = self.brackets.read(text, is_open)?;
        let found = if is_open { Some(StrayCloser::Own) } else { self.stray_bracket() };
        found.map(|found| (at, found))
    }

    /// Returns the state for the reasoning that begins here: what closes nothing in it says of the calls
    /// before it what it says in text, unless the reasoning ends.
    pub(crate) fn in_reasoning(&self) -> Damage {
        let mut damage = Damage { came: self.came.clone(), last: self.last, ..Damage::default() };
        damage.came.iter_mut().for_each(|came| came.is_due = false);
        damage.changed();
        damage
    }

    /// Calls from `first` on were withdrawn.
    pub(crate) fn withdrawn(&mut self) {
        self.came.clear();
        self.open = None;
        self.changed();
    }
}

/// A text without the closer of a group that it ends with, and the white space before that.
pub(crate) fn without_group<'t>(text: &'t str, tables: &Tables) -> Option<&'t str> {
    let groups = || tables.named.iter().flat_map(|known| &known.named.groups);
    let ends = |at: usize| groups().any(|group| begins_token(&text[at..], &group.close, false) == Ok(text.len() - at));
    last_marks(text).find(|at| ends(*at)).map(|at| text[..at].trim_end())
}

/// Returns the position where the closer may begin that a text ends with, which has at most two tokens
/// (`<|close|>call<|sep|>`).
fn last_marks(text: &str) -> impl Iterator<Item = usize> {
    memchr::memrchr2_iter(b'<', b'[', text.as_bytes()).take(2)
}

/// A closer between calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StrayCloser {
    /// It closes the damaged call.
    Own,
    /// It is the last call's, which lacked it, or has it twice.
    Last,
    /// It closes nothing: the calls from this one on are withdrawn.
    Stray(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_read_as_byte_by_byte() {
        const LENGTH: u32 = 6;
        let alphabet = ['{', '}', '(', ')', '"', '\n', '\u{200b}'];
        let starts = [
            Brackets::default(),
            Brackets { open: [1, 0, 0], after_quote: true, after_line: false },
            Brackets { open: [0, 0, 1], after_quote: false, after_line: true },
        ];
        for number in 0..alphabet.len().pow(LENGTH) {
            let at = |place: u32| alphabet[number / alphabet.len().pow(place) % alphabet.len()];
            let text: String = (0..LENGTH).map(at).collect();
            for (start, any) in starts.iter().flat_map(|start| [(start, false), (start, true)]) {
                let (mut read, mut by_byte) = (*start, *start);
                let expected = (by_byte.read_bytes(text.as_bytes(), any), by_byte);
                assert_eq!((read.read(&text, any), read), expected, "{text:?} {start:?}");
            }
        }
    }
}
