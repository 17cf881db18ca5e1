//! ReAct: a line with the name of a known tool, a line with its arguments.
//!
//! ```text
//! Lead ──fence──▶ Lead ──▶ Json ──▶ Tail ──fence's end, anything──▶ call, end
//!                            └──cannot be read, a further line of ReAct's──▶ text
//! ```
//!
//! Nothing marks such a call but words, so it is one only if its name is known
//! and its JSON is whole; else its bytes are text.

use crate::dialect;
use crate::event::RejectedKind;
use crate::json::Closer;
use crate::json::window::{Match, Window, begins, leading_space};
use crate::parse::call::json::{Around, CallJson, JsonCloser, JsonLead, JsonStep};
use crate::parse::call::{CallOut, CallShape, CalledTool, Ending, Missing, Step};
use crate::parse::config::MIN_HOLD;
use crate::parse::out::not_a_call::Reason;
use crate::parse::out::unresolved::UnresolvedCall;
use crate::parse::tables::Tables;

/// A call in ReAct's words that may yet be text; see the module.
#[derive(Debug)]
pub(crate) struct React {
    spec: &'static dialect::React,
    start: u64,
    cursor: u64,
    call: UnresolvedCall,
    json: CallJson,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Lead,
    Json,
    /// Behind the JSON, which ends here.
    Tail(u64),
    /// Behind the call.
    Over(u64),
}

impl React {
    /// A call of a server's tool that begins at `start` and whose JSON, or the fence
    /// around it, begins at `at`.
    pub(crate) fn new(
        spec: &'static dialect::React,
        called: CalledTool,
        (start, at): (u64, u64),
        max_depth: usize,
    ) -> Self {
        React {
            spec,
            start,
            cursor: at,
            call: UnresolvedCall::of(called),
            json: CallJson::arguments(at, max_depth, Around::Fence { expected: false }, None),
            state: State::Lead,
        }
    }

    /// Before the JSON: a fence.
    fn lead(&mut self, rest: &str, more: bool) -> Step {
        match self.json.lead(rest, more, Match::No, &mut self.call) {
            JsonLead::More => return Step::More,
            JsonLead::Around(length) | JsonLead::Closer(length) => self.cursor += length as u64,
            JsonLead::Value => {
                self.json.begin(self.cursor);
                self.state = State::Json;
            }
        }
        Step::Next
    }

    fn json(&mut self, window: &Window<'_>, out: &CallOut<'_, '_>) -> Step {
        let step = self.json.next(window, &Lines(self.spec), out);
        self.cursor = self.json.cursor;
        match step {
            JsonStep::More => return Step::More,
            JsonStep::End(at) => self.state = State::Tail(at),
            JsonStep::Closed(at) | JsonStep::Passed(at) => return Step::Text(at, Reason::Unclosed),
            JsonStep::Fault | JsonStep::Key(_) | JsonStep::ValueStart(_) | JsonStep::ValueEnd(_) => {}
        }
        Step::Next
    }

    /// Behind the JSON: the fence's end.
    fn tail(&mut self, json_end: u64, rest: &str, more: bool, window: &Window<'_>) -> Step {
        match self.json.unwrap(rest, more) {
            Match::Undecided => Step::More,
            Match::Yes(length) => self.over(self.cursor + length as u64, window),
            Match::No if !self.json.peek_trailing(self.cursor, rest, more) => Step::More,
            // Which of two objects is meant nobody knows (`react/two_objects`).
            Match::No if self.json.is_followed_by_object() => Step::Text(json_end, Reason::Damaged),
            Match::No => self.over(json_end, window),
        }
    }

    fn over(&mut self, end: u64, window: &Window<'_>) -> Step {
        self.json.resolve(window, &mut self.call);
        if self.call.fault.as_ref().is_some_and(|fault| fault.kind != RejectedKind::Limit) {
            return Step::Text(end, Reason::Damaged);
        }
        self.state = State::Over(end);
        Step::Call(self.start..end, Box::new(std::mem::take(&mut self.call)))
    }
}

impl CallShape for React {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        match self.state {
            State::Json => return self.json(window, out),
            State::Over(end) => return Step::End(end),
            State::Lead | State::Tail(_) => {}
        }
        self.cursor += leading_space(window.from(self.cursor)) as u64;
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        match self.state {
            State::Tail(end) => self.tail(end, rest, more, window),
            _ if rest.is_empty() => Step::More,
            _ => self.lead(rest, more),
        }
    }

    fn ending(&mut self, _: &Window<'_>, _: &Tables) -> Ending {
        if self.state == State::Lead { Ending::Text } else { Ending::Cut }
    }

    fn missing(&self, window: &Window<'_>, _: &Tables) -> Missing {
        Missing { inner: self.json.missing(window), close: String::new() }
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.call.called()
    }
}

/// What ends damaged JSON from outside: a further line of ReAct's.
struct Lines(&'static dialect::React);

impl Closer for Lines {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        Match::any(self.0.lines.iter().filter(|_| line_start).map(|line| begins(text, line, more)))
    }
}

impl JsonCloser for Lines {}
