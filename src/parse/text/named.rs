//! The text around calls whose opener holds their tool's name.

use super::state::CallGroup;
use super::{Recognised, Scanner};
use crate::event::MarkerKind;
use crate::json::window::{Answer, Match, No, Undecided, Window, first_of, leading_space};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::head::{begins_token, group_close};
use crate::parse::shape::named::call_of;

impl Scanner {
    /// Consumes the opener of a group of calls, `length` bytes.
    pub(super) fn open_group(
        &mut self,
        named: usize,
        length: usize,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Recognised {
        // The group's values may be directly beside their tags.
        let mut glued = self.tables.named[named].named.groups.iter().filter(|group| group.glued);
        let glued = glued.any(|group| begins_token(window.from(self.at), &group.open, false).is_ok());
        self.group = Some(CallGroup { named, is_open: true, glued, is_near: true });
        self.take_syntax(length, window, sink)
    }

    /// Consumes the closer of a group of calls, `length` bytes.
    pub(super) fn close_group(
        &mut self,
        named: usize,
        length: usize,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Recognised {
        self.group = None;
        self.emitter.region.damage().group_closes(self.tables.named[named].dialect);
        self.take_syntax(length, window, sink)
    }

    fn take_syntax(&mut self, length: usize, window: &Window<'_>, sink: &mut Sink<'_>) -> Recognised {
        self.line_start = false;
        self.wrapper(length, MarkerKind::Wrapper, window, sink)
    }

    /// Updates the state after syntax of a run or a group, which reaches from `start` to the current offset.
    pub(super) fn after_outer_syntax(&mut self, start: u64, window: &Window<'_>) {
        self.context.after(window, start, self.at);
        self.outer.end = self.at;
        if window.slice(start..self.at).contains('\n') {
            // A code span ends with its line.
            self.outer.marks.run_before = 0;
        }
    }

    /// Returns the length of the text at the start of `text`, right after the open call, that belongs to the call's run
    /// or group: its closers, and the white space before them.
    pub(super) fn after_syntax(&self, text: &str, more: bool) -> Match<usize> {
        let dialect = self.call.as_ref().map(|call| call.dialect);
        let groups = self.tables.named.iter().filter(|known| Some(known.dialect) == dialect);
        let (mut run, mut length) = (self.run, 0);
        loop {
            let rest = &text[length..];
            let space = leading_space(rest);
            let inner = &rest[space..];
            let group = first_of(groups.clone().map(|known| group_close(known.named, inner, more)));
            let close = run.map_or(Err(No), |run| run.marked.close(inner, more));
            let bracket = run.is_some_and(|run| run.array && inner.starts_with(']'));
            length += match (group.either(close), bracket) {
                (Ok(close), _) => {
                    run = None;
                    space + close
                }
                (Err(No), true) => space + 1,
                (Err(No), false) if inner.is_empty() && more => return Err(Undecided),
                (Err(No), false) => return Ok(length),
                (Err(Undecided), _) => return Err(Undecided),
            };
        }
    }

    /// Notes that a call of `dialect` ended: the closer of its group may follow.
    pub(super) fn after_call(&mut self, dialect: crate::dialect::Dialect) {
        let named =
            self.tables.named.iter().position(|known| known.dialect == dialect && !known.named.groups.is_empty());
        if let Some(named) = named {
            let open = self.group.filter(|group| group.named == named && group.is_open);
            let glued = open.is_some_and(|group| group.glued);
            self.group = Some(CallGroup { named, is_open: open.is_some(), glued, is_near: true });
        }
    }

    /// Recognises the group's closer right after a call or a group's opener, and white space before the group's next
    /// call, which is syntax.
    pub(super) fn around_calls(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Some(group) = self.group.filter(|group| group.is_near) else { return Err(No) };
        let (text, more) = window.candidate(self.at, self.tables.hold);
        let space = leading_space(text);
        let inner = &text[space..];
        let named = self.tables.named[group.named].named;
        match (group_close(named, inner, more), inner.is_empty() && more) {
            (Ok(length), _) => {
                return Ok(self.close_group(group.named, space + length, window, sink));
            }
            (Err(Undecided), _) | (_, true) => return Err(Undecided),
            (Err(No), false) => {}
        }
        // A token that begins with a bracket is known by the `<` after that (`invoke/minimax_m3_two`).
        let bracket = usize::from(inner.starts_with("]<"));
        let is_around = group.is_open && space > 0 || bracket > 0;
        if is_around && call_of(named, inner, more).decided()?.is_some() {
            return Ok(self.take_syntax(space + bracket, window, sink));
        }
        self.group = group.is_open.then_some(CallGroup { is_near: false, ..group });
        Err(No)
    }
}
