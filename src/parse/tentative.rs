//! Calls that no marker announces: nothing of one is handed on before it is
//! known to be a call, and if it is none, its bytes are text.

use std::fmt;
use std::ops::Range;

use super::body::{Step, think_close};
use super::given_back::NoCall;
use super::tables::Tables;
use super::verdict::Parts;
use super::window::{Match, Window, begins};
use crate::dialect::{SENTENCE_END, TEMPLATE_TOKENS};

/// Whether `text` begins with what ends a message or its reasoning: a closing
/// think tag, where they count, or a token of a chat template.
pub(super) fn ends_message(text: &str, think_tags: bool, more: bool) -> Match<()> {
    let think = if think_tags { think_close(text, more).map(|_| ()) } else { Match::No };
    let tokens = TEMPLATE_TOKENS.iter().map(|token| begins(text, token.text, more));
    think.or(sentence_end(text, more)).or(Match::any(tokens))
}

/// The same of the token that ends a message only where nothing follows it.
fn sentence_end(text: &str, more: bool) -> Match<()> {
    match begins(text, SENTENCE_END, more) {
        Match::Yes(()) if !text[SENTENCE_END.len()..].trim_ascii().is_empty() => Match::No,
        Match::Yes(()) if more => Match::Undecided,
        found => found,
    }
}

/// An open text that may be calls, of any shape.
pub(super) trait Tentative: fmt::Debug + Send + Sync {
    /// Reads on, a token or so.
    fn step(&mut self, tables: &Tables, window: &Window<'_>) -> Go;

    /// What it is where the stream ends.
    fn cut(&self, tables: &Tables) -> Cut;

    /// The calls in it, in order.
    fn calls(&mut self) -> &mut HeldCalls;

    /// Reads on. The bytes from its start to an [`End`](Step::End) hold its
    /// [calls](Tentative::calls); those to a [`Text`](Step::Text) are text, and
    /// `no_call` is why.
    fn advance(&mut self, tables: &Tables, window: &Window<'_>, no_call: &mut NoCall) -> Step {
        loop {
            match self.step(tables, window) {
                Go::On => {}
                Go::Wait => return Step::More,
                Go::End(at) => return Step::End(at),
                Go::Text(at, why) => {
                    *no_call = why;
                    return Step::Text(at);
                }
            }
        }
    }
}

/// What a step came to.
pub(super) enum Go {
    On,
    /// More of the text is needed.
    Wait,
    End(u64),
    /// No call: all up to here is text.
    Text(u64, NoCall),
}

/// A call in a tentative text.
#[derive(Debug)]
pub(super) struct HeldCall {
    pub(super) span: Range<u64>,
    pub(super) parts: Parts,
}

/// The calls in a tentative text, in order.
#[derive(Debug, Default)]
pub(super) struct HeldCalls {
    pub(super) listed: Vec<HeldCall>,
    /// Calls behind them that will not be reported: one past the limit on calls is there.
    pub(super) unlisted: u64,
}

impl HeldCalls {
    /// One call.
    pub(super) fn of(call: HeldCall) -> Self {
        HeldCalls { listed: vec![call], unlisted: 0 }
    }

    /// Adds a call to a message that may hold `limit`.
    pub(super) fn push(&mut self, call: HeldCall, limit: usize) {
        if self.listed.len() > limit {
            self.unlisted += 1;
        } else {
            self.listed.push(call);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }
}

/// A text that was cut off behind calls: it is named by its first one.
pub(super) fn cut_behind(calls: &HeldCalls) -> Option<Cut> {
    let Parts { server, tool, .. } = &calls.listed.first()?.parts;
    Some(Cut::Truncated(server.clone(), tool.clone()?))
}

/// What a tentative text is where the stream ends.
#[derive(Debug)]
pub(super) enum Cut {
    /// Its calls are over, and end here.
    Over(u64),
    /// It was certain to be a call, which is not over: its server and tool.
    Truncated(Option<String>, String),
    /// It may have become a call.
    Text,
}
