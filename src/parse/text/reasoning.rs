//! Marks around reasoning beside the think tags, and Harmony's channels.

use super::context::Context;
use super::lines::Line;
use super::tags::Here;
use super::{Next, Scanner};
use crate::dialect::TokenClass;
use crate::dialect::{Dialect, ReasoningMark};
use crate::event::{MarkerKind, Region};
use crate::json::window::{Answer, Match, No, Undecided, Window, begins, first_of};
use crate::message::ReasoningMode;
use crate::parse::emit::sink::Sink;
use crate::parse::marks::channel::{Channel, Header, OWN, START, header};
use crate::parse::marks::head::{Head, head};
use crate::parse::marks::turn::{Role, Turn};
use crate::parse::shape::named::{NamedJson, call_of};
use crate::parse::tables::NamedDialect;
use crate::parse::text::open::OpenCall;
use crate::parse::text::tags::named_head;

/// With what a message to a function goes on whose role the chat template wrote.
const RECIPIENT: &str = "to=functions.";

impl Scanner {
    /// Whether the first bytes of `text`, at a `<` or a `[`, are those of a mark that counts.
    pub(super) fn may_be_mark(&self, text: &str) -> bool {
        let fits = || self.tables.reasoning_marks.fit(text) != Err(No);
        self.reads_marks() && (!text.starts_with(['<', '[']) || fits())
    }

    /// At a `<` or a `[`: a mark that opens the reasoning, or the one that closes it. Whether
    /// it closes, and its length.
    pub(super) fn reasoning_mark(
        &self,
        text: &str,
        at_line_start: bool,
        more: bool,
    ) -> Match<(&'static ReasoningMark, bool, usize)> {
        if !self.reads_marks() {
            return Err(No);
        }
        if let Some(mark) = self.mark {
            return begins(text, mark.close, more).map(|()| (mark, true, mark.close.len()));
        }
        let named = &self.tables.config.reasoning_marks;
        let is_named = |mark: &&&'static ReasoningMark| named.iter().any(|open| open == mark.open);
        // Of a model that is known to write a mark, the template may have written its opener.
        if self.emitter.region.is_undecided() {
            let marks = self.tables.marks.iter().filter(is_named);
            let closed = marks.map(|mark| begins(text, mark.close, more).map(|()| (*mark, true, mark.close.len())));
            if let Some(next) = first_of(closed).decided()? {
                return Ok(next);
            }
        }
        // At the message's start or a line's.
        if !self.may_begin_block() || !(at_line_start || self.emitter.begins_region()) {
            return Err(No);
        }
        // Behind the first block those count that the model is known to write.
        let counts = |mark: &&&'static ReasoningMark| !self.reasoning_told || is_named(mark);
        let begins = self.emitter.begins_region();
        let first = text.as_bytes().first();
        let marks = self.tables.marks.iter().filter(|mark| first.is_none() || mark.open.as_bytes().first() == first);
        let marks = marks.filter(counts).filter(|mark| begins || !mark.is_phrase());
        first_of(marks.map(|mark| mark_open(mark, text, more).map(|length| (*mark, false, length))))
    }

    /// At a line's start: a mark that begins only there.
    pub(super) fn reasoning_line(&mut self, line: Line<'_>, window: &Window<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Line { indent, text, more } = line;
        // Others are found by their first bytes, wherever they stand.
        let is_own = self.tables.reasoning_leads.fit(text.as_bytes());
        if indent > 0 || self.mark.is_some() || !self.reads_marks() || !is_own {
            return Err(No);
        }
        self.emitter.text(window, self.at, sink);
        let (mark, close, length) = self.reasoning_mark(text, true, more)?;
        self.take_mark(mark, close, length, window, sink)
    }

    fn reads_marks(&self) -> bool {
        self.mode != ReasoningMode::Off && !self.reasoning_channel && self.fence.is_none()
    }

    /// Whether a block may begin here: in the answer, or, in a stream that is taken to start in
    /// the reasoning, right at its start.
    fn may_begin_block(&self) -> bool {
        self.emitter.region.reads_answer() || !self.emitter.region.has_text()
    }

    pub(super) fn take_mark(
        &mut self,
        mark: &'static ReasoningMark,
        close: bool,
        length: usize,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Match<Next> {
        self.at += length as u64;
        self.line_start = true;
        self.context = Context::new(self.at);
        self.group = None;
        if close {
            self.leave_reasoning(window, sink);
        } else {
            // What a chat template may have opened a think tag closes all the same.
            self.think_closes = self.emitter.region.is_undecided();
            self.is_first_block = !self.reasoning_told;
            self.enter_reasoning(window, sink);
            self.mark = Some(mark);
        }
        Ok(Next::Taken)
    }

    /// Goes over to the reasoning with a mark up to `at`.
    pub(super) fn enter_reasoning(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) {
        self.begin_reasoning();
        self.reasoning_told = true;
        self.emitter.think(MarkerKind::ThinkOpen, Region::Reasoning, window, self.at, sink);
    }

    /// The reasoning begins: what a token says in it holds in it alone.
    pub(super) fn begin_reasoning(&mut self) {
        if self.emitter.region.kind() == Region::Content {
            let turn = self.emitter.region.turn();
            self.turn_before = if matches!(turn, Turn::Ended { .. }) { Turn::Over } else { turn };
            self.set_turn(self.turn_before);
        }
    }

    /// Goes over to the answer with a mark up to `at`.
    pub(super) fn leave_reasoning(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) {
        let is_undecided = self.emitter.region.is_undecided();
        self.emitter.think(MarkerKind::ThinkClose, Region::Content, window, self.at, sink);
        self.reasoning_told = true;
        self.end_reasoning(is_undecided);
    }

    /// The reasoning is over. `untold`: no mark said that it began.
    pub(super) fn end_reasoning(&mut self, untold: bool) {
        self.set_turn(if untold { self.emitter.region.turn().behind_reasoning() } else { self.turn_before });
        self.mark = None;
        self.in_analysis = false;
    }

    /// At a `<` that opens no call: the header of a channel.
    pub(super) fn channel(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Next> {
        let Here { text, more, window } = here;
        if self.fence.is_some() || !text.starts_with('<') {
            return Err(No);
        }
        let header = header(text, more)?;
        if self.is_mention(&text[header.length..], more, window).decided()?.is_some() {
            return Err(No);
        }
        let called = named_head(&self.tables, text);
        self.take_header(header, window, sink);
        if let Some((dialect, call, _)) = called {
            self.broken_call(dialect, call);
        }
        self.context = Context::new(self.at);
        Ok(Next::Taken)
    }

    fn take_header(&mut self, header: Header, window: &Window<'_>, sink: &mut Sink<'_>) {
        let Header { channel, starts, length } = header;
        self.at += length as u64;
        self.saw_channel = true;
        self.in_final = channel == Channel::Final;
        self.resume(starts);
        let reads_channels = self.mode != ReasoningMode::Off && !self.reasoning_channel && self.mark.is_none();
        let in_reasoning = self.emitter.region.kind() == Region::Reasoning;
        match channel {
            Channel::Analysis if reads_channels && !(in_reasoning && self.emitter.region.has_text()) => {
                self.enter_reasoning(window, sink);
                self.in_analysis = true;
            }
            Channel::Final if reads_channels && in_reasoning => self.leave_reasoning(window, sink),
            Channel::Commentary if reads_channels && self.is_message(starts) => self.leave_reasoning(window, sink),
            _ => self.emitter.marker(MarkerKind::Token, false, window, self.at, sink),
        }
        self.line_start = true;
    }

    /// A header of the model's own came: its turn goes on behind the end of a message.
    fn resume(&mut self, starts: bool) {
        let turn = self.emitter.region.turn();
        if starts || turn == (Turn::Ended { resumes: true }) {
            self.set_turn(turn.behind(TokenClass::OpensRole("<|"), Some(Role::Own)));
        }
    }

    /// Whether a header in the reasoning begins a message of its own, and is no mention.
    fn is_message(&self, starts: bool) -> bool {
        self.emitter.region.kind() == Region::Reasoning && (starts || !self.emitter.region.has_text())
    }

    /// Where the message begins: a recipient, with which a message goes on whose role the chat
    /// template wrote (`harmony/recipient_first`).
    pub(super) fn recipient_first(
        &mut self,
        text: &str,
        indent: usize,
        more: bool,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) -> Match<Next> {
        let harmony = self.tables.named.iter().position(|known| known.dialect == Dialect::Harmony);
        let Some(item) = harmony else { return Err(No) };
        begins(text, RECIPIENT, more)?;
        let written = format!("{OWN} {text}");
        let (form, length) = call_of(self.tables.named[item].named, &written, more)?;
        let NamedDialect { dialect, named, .. } = self.tables.named[item];
        let call = &named.calls[form];
        let Ok(Head { name, .. }) = head(call.head, &written, false) else { return Err(No) };
        let (server, name) = self.tables.split_name(name);
        // The opener's first bytes stand before the message.
        let at = (indent + length - OWN.len() - 1) as u64;
        let limits = self.tables.config.limits;
        let shape = NamedJson::new(named, call, (server, Some(name)), at, limits.depth);
        self.open(OpenCall::new(dialect, self.at, Box::new(shape), limits.call_bytes), window, sink)
    }

    /// A call in a channel of its own stands behind the reasoning, wherever that was left open.
    pub(super) fn leave_for_call(&mut self, text: &str, window: &Window<'_>, sink: &mut Sink<'_>) {
        let starts = text.starts_with(START);
        self.resume(starts);
        if self.mode != ReasoningMode::Off && !self.reasoning_channel && self.mark.is_none() && self.is_message(starts)
        {
            self.leave_reasoning(window, sink);
        }
    }
}

/// Whether `text` begins with what opens a mark; yields its length with its label and the line
/// break behind that (`reasoning/gemma_label`, `reasoning/gemma_no_label`).
fn mark_open(mark: &ReasoningMark, text: &str, more: bool) -> Match<usize> {
    match (begins(text, mark.open, more), mark.label) {
        (Ok(()), Some(label)) => {
            let rest = &text[mark.open.len()..];
            label_length(label, rest, more).map(|length| mark.open.len() + length)
        }
        (found, _) => found.map(|()| mark.open.len()),
    }
}

fn label_length(label: &str, text: &str, more: bool) -> Match<usize> {
    match begins(text, label, more) {
        Ok(()) => match text.as_bytes().get(label.len()) {
            Some(b'\n') => Ok(label.len() + 1),
            Some(b'<') => Ok(label.len()),
            Some(_) => Ok(0),
            None if more => Err(Undecided),
            None => Ok(label.len()),
        },
        Err(Undecided) => Err(Undecided),
        Err(No) => Ok(0),
    }
}
