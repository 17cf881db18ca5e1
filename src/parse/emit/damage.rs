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

/// The text or the brackets that close a call.
#[derive(Debug, Clone)]
pub(crate) struct CallCloser {
    /// Closing text of the call; empty where only brackets close the call.
    pub(crate) close: Cow<'static, str>,
    /// `true` if brackets close the call's arguments, too, as in JSON and in Python's syntax.
    pub(crate) brackets: bool,
}

impl CallCloser {
    /// Closer of a call that only its brackets close.
    pub(crate) const BRACKETS: CallCloser = CallCloser { close: Cow::Borrowed(""), brackets: true };

    /// Matches the closing text at the start of `text`; returns its length. Brackets are matched elsewhere.
    pub(crate) fn begins(&self, text: &str, more: bool) -> Match<usize> {
        ends(&self.close, text, more)
    }

    /// Returns `true` if `text`, that of a call, ends with the closing text.
    pub(crate) fn ends(&self, text: &str) -> bool {
        last_marks(text).any(|at| self.begins(&text[at..], false) == Ok(text.len() - at))
    }
}

/// State of damage in a region: an unreadable call that is not closed yet, and the closers of the calls so far.
#[derive(Debug, Default)]
pub(crate) struct Damage {
    /// Closer and dialect of an unreadable call that is not closed yet: calls before that closer may be text of it.
    /// `None` if there is no damage.
    pub(crate) open: Option<(CallCloser, Dialect)>,
    /// Closers of the calls so far, each once, the latest at the end.
    came: Vec<Came>,
    /// `true` if only white space, or the last call's closer again (up to offset `near_to`), has followed the last
    /// call.
    pub(crate) is_near: bool,
    near_to: u64,
    pub(crate) brackets: Brackets,
    /// Index after that of the last call that is neither quoted nor invented.
    pub(crate) last: u32,
    /// `true` if unmatched closing brackets in the text are significant: a bracket ends the damaged call, or an earlier
    /// call may have ended too early.
    pub(crate) watches_brackets: bool,
}

/// A closer, with the calls that it closed.
#[derive(Debug, Clone)]
struct Came {
    closer: CallCloser,
    /// Index of the first call that it closed; `after` is the index of the call after that.
    first: u32,
    after: u32,
    /// `true` if the last call with this closer lacks it: the closer may still follow.
    is_due: bool,
}

impl Came {
    /// Returns `true` if brackets close the call and at least one further call before index `last` came after it.
    fn is_before(&self, last: u32) -> bool {
        self.closer.brackets && self.after < last
    }
}

/// State of the brackets in the text since the last call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Brackets {
    /// Number of open brackets by kind: braces, square ones, round ones.
    open: [u32; 3],
    /// `true` if only closing brackets and white space have followed the last quotation mark.
    pub(crate) after_quote: bool,
    /// `true` if only white space, quotation marks and unmatched closing brackets have followed the last line break.
    after_line: bool,
}

/// Returns a bracket's kind (0 for braces, 1 for square, 2 for round), and `true` if it opens; `None` for other bytes.
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

/// Returns `true` for white space, closing brackets and quotation marks, after which an earlier quotation mark or
/// line's start still counts.
fn closes_or_is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'}' | b']' | b')')
}

impl Brackets {
    /// Reads `text` up to the first unmatched closing bracket that follows a quotation mark or, with `any`, begins a
    /// line; returns the offset after that bracket, or `None` without one.
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

    /// Counts the open brackets in `bytes`; returns `false` at the first closing bracket without an opening one.
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

    /// Returns `true` if `text` ends with an unmatched closing bracket that follows a quotation mark.
    fn end_stray(text: &str) -> bool {
        let (mut brackets, mut from) = (Brackets::default(), 0);
        while let Some(length) = brackets.read(&text[from..], false) {
            from += length;
        }
        from > 0 && from == text.len()
    }
}

impl Damage {
    /// Records the damage that an unreadable call begins, until `closer` closes it; ignored while other damage is open.
    pub(crate) fn begins(&mut self, closer: CallCloser, dialect: Dialect) {
        self.open.get_or_insert((closer, dialect));
        self.changed();
    }

    /// Records the closer of the call number `index`, which is over; `is_due`: the call lacks its closer.
    pub(crate) fn call_came(&mut self, closer: CallCloser, index: u32, is_due: bool) {
        self.is_near = true;
        self.last = index + 1;
        self.came(Came { closer, first: index, after: index + 1, is_due });
    }

    /// Records the closer of held calls that turned out to be text; the next call is number `index`.
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

    /// Clears `is_near` if the text between the offsets `from` and `to` is more than white space.
    pub(crate) fn text_came(&mut self, window: &Window<'_>, from: u64, to: u64) {
        if self.is_near {
            self.is_near = window.slice(from.max(self.near_to).min(to)..to).trim_ascii_start().is_empty();
        }
    }

    /// Matches the closer of the damaged call, or one that closed an earlier call, at the start of `text`, which is
    /// between calls; returns its meaning and length. `near`: only white space is between the last call and `text`.
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

    /// Returns the first stray closer in `text`, which is no call: it closed an earlier call and closes nothing here.
    pub(crate) fn stray_in(&self, text: &str) -> Option<StrayCloser> {
        if self.came.is_empty() {
            return None;
        }
        let closers = memchr::memchr2_iter(b'<', b'[', text.as_bytes())
            .filter_map(|at| self.closer(false, &text[at..], false).ok());
        let stray = closers.map(|(found, _)| found).find(|found| matches!(found, StrayCloser::Stray(_)));
        stray.or_else(|| self.stray_bracket().filter(|_| Brackets::default().read(text, false).is_some()))
    }

    /// Returns the stray closer of an earlier call with which `text`, an unreadable call, ends; `None` if it ends with
    /// `own`, its own closer.
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

    /// Updates the bracket state with an unreadable call's text, if brackets are significant and no damage is open.
    pub(crate) fn passes_call(&mut self, text: &str) {
        if self.watches_brackets && self.open.is_none() {
            let mut rest = text;
            while let Some(length) = self.brackets.read(rest, false) {
                rest = &rest[length..];
            }
        }
    }

    /// Returns the meaning of an unmatched closing bracket: the first call closed by brackets after which another came
    /// is to be withdrawn. `None` without such a call, or while damage is open.
    fn stray_bracket(&self) -> Option<StrayCloser> {
        let first = self.came.iter().filter(|came| came.is_before(self.last)).map(|came| came.first);
        first.min().filter(|_| self.open.is_none()).map(StrayCloser::Stray)
    }

    /// Records that the last call's closer came late or once more, and ends at offset `end`.
    pub(crate) fn last_closes(&mut self, end: u64) {
        self.near_to = end;
        if let Some(last) = self.came.last_mut() {
            last.is_due = false;
        }
    }

    /// Ends the open damage, after the damaged call's closer.
    pub(crate) fn closes(&mut self) {
        self.open = None;
        self.changed();
    }

    /// Ends the open damage if it is of this dialect, after the closer of a group of its calls.
    pub(crate) fn group_closes(&mut self, dialect: Dialect) {
        if self.open.as_ref().is_some_and(|(_, own)| *own == dialect) {
            self.closes();
        }
    }

    /// Ends the open damage if its closer is that of `run`, a run of objects that is over.
    pub(crate) fn run_closes(&mut self, run: Marked) {
        let own = run.closer().unwrap_or_default();
        if self.open.as_ref().is_some_and(|(open, _)| *open.close == *own) {
            self.closes();
        }
    }

    /// Resets the bracket state, and recomputes whether brackets are significant, after a call or a closer.
    fn changed(&mut self) {
        self.brackets = Brackets::default();
        self.watches_brackets = match &self.open {
            Some((open, _)) => open.close.is_empty(),
            None => self.came.iter().any(|came| came.is_before(self.last)),
        };
    }

    /// Returns `true` if a closer between calls may be significant: damage is open, or calls came before.
    #[inline]
    pub(crate) fn knows_closers(&self) -> bool {
        self.open.is_some() || !self.came.is_empty()
    }

    /// Reads the brackets of plain text in a region without damage; returns `false`, with the state unchanged, if one
    /// is unmatched after a quotation mark, so that [`read_brackets`](Self::read_brackets) must handle the text.
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

    /// Reads text in which brackets are significant up to an unmatched closing one; returns the offset after that and
    /// its meaning, or `None`.
    pub(crate) fn read_brackets(&mut self, text: &str) -> Option<(usize, StrayCloser)> {
        let is_open = self.open.as_ref().is_some_and(|(open, _)| open.close.is_empty());
        let at = self.brackets.read(text, is_open)?;
        let found = if is_open { Some(StrayCloser::Own) } else { self.stray_bracket() };
        found.map(|found| (at, found))
    }

    /// Returns the damage state for a reasoning block that begins here: closers of earlier calls count in it as in
    /// other text, except that none is due.
    pub(crate) fn in_reasoning(&self) -> Damage {
        let mut damage = Damage { came: self.came.clone(), last: self.last, ..Damage::default() };
        damage.came.iter_mut().for_each(|came| came.is_due = false);
        damage.changed();
        damage
    }

    /// Forgets all closers and the open damage, after calls were withdrawn.
    pub(crate) fn withdrawn(&mut self) {
        self.came.clear();
        self.open = None;
        self.changed();
    }
}

/// Returns `text` without the closer of a group of calls at its end and the white space before that; `None` if it does
/// not end with one.
pub(crate) fn without_group<'t>(text: &'t str, tables: &Tables) -> Option<&'t str> {
    let groups = || tables.named.iter().flat_map(|known| &known.named.groups);
    let ends = |at: usize| groups().any(|group| begins_token(&text[at..], &group.close, false) == Ok(text.len() - at));
    last_marks(text).find(|at| ends(*at)).map(|at| text[..at].trim_end())
}

/// Returns the offsets, from the end, of the last two `<` or `[`: the closer at the end of `text` may begin there, and
/// has at most two tokens (`<|close|>call<|sep|>`).
fn last_marks(text: &str) -> impl Iterator<Item = usize> {
    memchr::memrchr2_iter(b'<', b'[', text.as_bytes()).take(2)
}

/// Meaning of a closer between calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StrayCloser {
    /// The closer of the damaged call.
    Own,
    /// The closer of the last call, which lacked it or has it twice.
    Last,
    /// A closer that has nothing to close: the calls from this index on are withdrawn.
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
