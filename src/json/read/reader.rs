//! The reader of a text: a position, and the repairs so far.

use std::borrow::Cow;

use crate::json::Repair;
use crate::json::window::leading_space;

/// The offset after which nothing certain can be said, and the reason.
#[derive(Debug)]
pub(super) struct Stop {
    pub(super) at: usize,
    pub(super) why: Cow<'static, str>,
    /// No repair can help.
    pub(super) is_final: bool,
}

/// Commas that are not those of the text: what follows the value may then belong inside.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Commas {
    /// One was missing between two members.
    pub(crate) is_supplied: bool,
    /// One before a closing bracket was left out.
    pub(crate) is_dropped: bool,
}

/// The text, how far it was read, and what was repaired.
#[derive(Default)]
pub(super) struct Reader<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) is_tolerant: bool,
    pub(super) repairs: Vec<Repair>,
    pub(super) unchanged: usize,
    pub(super) loses_digits: bool,
    pub(super) commas: Commas,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, is_tolerant: bool) -> Self {
        Reader { text, is_tolerant, unchanged: text.len(), ..Reader::default() }
    }

    pub(super) fn stop<T>(&self, why: &'static str) -> Result<T, Stop> {
        Err(Stop { at: self.at, why: Cow::Borrowed(why), is_final: false })
    }

    /// Names a repair of what begins at `at`; a strict reader stops there.
    pub(super) fn repair(&mut self, repair: Repair, at: usize) -> Result<(), Stop> {
        if !self.is_tolerant {
            return Err(Stop { at, why: Cow::Borrowed("it is not JSON"), is_final: false });
        }
        self.unchanged = self.unchanged.min(at);
        repair.note(&mut self.repairs);
        Ok(())
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Goes to the next character that is not white space.
    #[inline]
    pub(super) fn next(&mut self) -> Result<char, Stop> {
        match self.text.as_bytes().get(self.at) {
            Some(byte) if byte.is_ascii_graphic() => Ok(char::from(*byte)),
            _ => self.next_after_space(),
        }
    }

    #[inline(never)]
    fn next_after_space(&mut self) -> Result<char, Stop> {
        self.at += leading_space(self.rest());
        match self.rest().chars().next() {
            Some(c) => Ok(c),
            None => self.stop("the text ends before the value is closed"),
        }
    }
}
