//! Harmony's channels.

use super::context::Context;
use super::tags::{Here, named_head};
use super::{Recognised, Scanner};
use crate::dialect::{Dialect, TokenClass};
use crate::event::{MarkerKind, Region};
use crate::json::window::{Answer, Match, No, Window, begins, first_of};
use crate::parse::emit::sink::Sink;
use crate::parse::marks::channel::{Channel, Header, OWN, RECIPIENTS, START, header};
use crate::parse::marks::head::{Head, head};
use crate::parse::marks::turn::{RoleToken, TextTurn};
use crate::parse::shape::named::{call_of, open_call};
use crate::parse::tables::{NamedDialect, NamedForm};

/// Beginning of the model's text in a Harmony message to a function, if the chat template wrote the role before it.
const RECIPIENT: &str = "to=functions.";

impl Scanner {
    /// Recognises the header of a Harmony channel at a `<` that opens no call.
    pub(super) fn channel(&mut self, here: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { text, more, window, .. } = here;
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
        Ok(Recognised::Taken)
    }

    fn take_header(&mut self, header: Header, window: &Window<'_>, sink: &mut Sink<'_>) {
        let Header { channel, starts, length } = header;
        self.at += length as u64;
        (self.channels.are_seen, self.channels.in_final) = (true, channel == Channel::Final);
        self.resume(starts);
        let reads_channels = self.reasoning.reads_channels();
        let in_reasoning = self.emitter.region.kind == Region::Reasoning;
        match channel {
            Channel::Analysis if reads_channels && !(in_reasoning && self.emitter.region.has_text) => {
                self.enter_reasoning(window, sink);
                self.channels.in_analysis = true;
            }
            // The answer begins here, also where a think tag was left open (`harmony/final_within_think`).
            Channel::Final if reads_channels && in_reasoning => self.leave_reasoning(window, sink),
            Channel::Commentary if reads_channels && self.is_message(starts) => self.leave_reasoning(window, sink),
            _ => self.emitter.marker(MarkerKind::Token, false, window, self.at, sink),
        }
        self.line_start = true;
    }

    /// Resumes the model's turn after the end of a message, if a header of the model's own came.
    fn resume(&mut self, starts: bool) {
        let turn = self.emitter.region.turn;
        if starts || turn == (TextTurn::Ended { resumes: true }) {
            self.emitter.region.turn = turn.after(TokenClass::OpensRole("<|"), Some(RoleToken::Own));
        }
    }

    /// Returns `true` if a header in the reasoning begins a message of its own, and is no mention.
    fn is_message(&self, starts: bool) -> bool {
        self.emitter.region.kind == Region::Reasoning && (starts || !self.emitter.region.has_text)
    }

    /// Recognises a recipient at the message's start, with which a message continues whose role the chat template wrote
    /// (`harmony/recipient_first`).
    pub(super) fn recipient_first(&mut self, line: Here<'_>, sink: &mut Sink<'_>) -> Match<Recognised> {
        let Here { indent, text, more, window, .. } = line;
        let of_channel = first_of(RECIPIENTS.iter().map(|(recipient, _)| begins(text, recipient, more))).decided()?;
        let written = || format!("{OWN} {text}");
        if of_channel.is_some() {
            let header = header(&written(), more)?;
            let length = indent + header.length - OWN.len() - 1;
            self.take_header(Header { length, ..header }, window, sink);
            self.context = Context::new(self.at);
            return Ok(Recognised::Taken);
        }
        let harmony = self.tables.named.iter().position(|known| known.dialect == Dialect::Harmony);
        let Some(item) = harmony else { return Err(No) };
        begins(text, RECIPIENT, more)?;
        let written = written();
        let (form, length) = call_of(self.tables.named[item].named, &written, more)?;
        let NamedDialect { dialect, named } = self.tables.named[item];
        let call = &named.calls[form];
        let Ok(Head { name, .. }) = head(&call.head, &written, false) else { return Err(No) };
        // The opener's first bytes are before the message.
        let at = (indent + length - OWN.len() - 1) as u64;
        let shape = open_call(NamedForm { dialect, named, call }, name, at, &self.tables);
        self.open(self.call_of(dialect, shape), window, sink)
    }

    /// Ends the reasoning, which may have been left open, before a call in a channel of its own.
    pub(super) fn leave_for_call(&mut self, text: &str, window: &Window<'_>, sink: &mut Sink<'_>) {
        let starts = text.starts_with(START);
        self.resume(starts);
        if self.reasoning.reads_channels() && self.is_message(starts) {
            self.leave_reasoning(window, sink);
        }
    }
}
