//! ReAct: a line with the name of a known tool, a line with its arguments.
//!
//! Nothing marks such a call but words, so it is one only if its name is known
//! and its JSON is whole; else its bytes are text.

use super::body::{JsonCloser, JsonStep, JsonText, think_close};
use super::config::MIN_HOLD;
use super::given_back::NoCall;
use super::head::unit;
use super::line::{fence_chars, fence_run};
use super::tables::Tables;
use super::tentative::{Cut, Go, HeldCall, HeldCalls, Tentative};
use super::verdict::Parts;
use super::window::{Match, Window, begins, leading_space};
use crate::call::{RejectedKind, Repair};
use crate::dialect;

/// A call in ReAct's words that may yet be text; see the module.
#[derive(Debug)]
pub(super) struct React {
    spec: &'static dialect::React,
    start: u64,
    cursor: u64,
    server: Option<String>,
    tool: String,
    repairs: Vec<Repair>,
    json: Option<JsonText>,
    json_end: Option<u64>,
    max_depth: usize,
    think_ends: bool,
    calls: HeldCalls,
}

impl React {
    /// A call of a server's tool that begins at `start` and whose JSON, or the fence
    /// around it, begins at `at`.
    pub(super) fn new(
        spec: &'static dialect::React,
        (server, tool): (Option<String>, String),
        (start, at): (u64, u64),
        max_depth: usize,
        think_ends: bool,
    ) -> Self {
        React {
            spec,
            start,
            cursor: at,
            server,
            tool,
            repairs: Vec::new(),
            json: None,
            json_end: None,
            max_depth,
            think_ends,
            calls: HeldCalls::default(),
        }
    }

    /// Before the JSON: white space, a fence.
    fn lead(&mut self, window: &Window<'_>) -> Go {
        self.cursor += leading_space(window.from(self.cursor)) as u64;
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        if rest.is_empty() {
            return Go::Wait;
        }
        let fence = if self.repairs.is_empty() { fence_run(rest, more) } else { Match::No };
        match fence {
            Match::Undecided => return Go::Wait,
            Match::Yes(length) => {
                self.repairs.push(Repair::Fence);
                self.cursor += length as u64;
            }
            Match::No => self.json = Some(JsonText::new(self.cursor, self.max_depth)),
        }
        Go::On
    }

    /// Behind the JSON: the fence's end.
    fn tail(&mut self, end: u64, window: &Window<'_>) -> Go {
        self.cursor += leading_space(window.from(self.cursor)) as u64;
        let at = self.cursor;
        let (rest, more) = window.candidate(at, MIN_HOLD);
        let fence = if self.repairs.is_empty() { Match::No } else { fence_chars(rest, more) };
        match fence {
            Match::Yes(fence) => return self.over(end, at + fence.length() as u64, window),
            Match::Undecided => return Go::Wait,
            Match::No => {}
        }
        if self.json.as_mut().is_some_and(|json| !json.look_behind(at, rest, more)) {
            return Go::Wait;
        }
        self.over(end, end, window)
    }

    /// The JSON ends at `json_end`, the call at `end`.
    fn over(&mut self, json_end: u64, end: u64, window: &Window<'_>) -> Go {
        let mut parts = Parts {
            server: self.server.clone(),
            tool: Some(self.tool.clone()),
            repairs: std::mem::take(&mut self.repairs),
            ..Parts::default()
        };
        if let Some(json) = &self.json {
            json.read(window, json_end, self.max_depth, &mut parts);
        }
        if parts.fault.as_ref().is_some_and(|fault| fault.kind != RejectedKind::Limit) {
            return Go::Text(end, NoCall::Damaged);
        }
        self.calls = HeldCalls::of(HeldCall { span: self.start..end, parts });
        Go::End(end)
    }
}

impl Tentative for React {
    fn step(&mut self, _: &Tables, window: &Window<'_>) -> Go {
        if let Some(end) = self.json_end {
            return self.tail(end, window);
        }
        let closer = LinesCloser { spec: self.spec, think: self.think_ends };
        let Some(json) = &mut self.json else { return self.lead(window) };
        let step = json.next(window, false, &closer);
        self.cursor = json.cursor;
        match step {
            JsonStep::More => return Go::Wait,
            JsonStep::End(at) => self.json_end = Some(at),
            JsonStep::Closed(at) | JsonStep::Passed(at) => return Go::Text(at, NoCall::Unclosed),
            JsonStep::Fault | JsonStep::Key(_) | JsonStep::ValueStart(_) | JsonStep::ValueEnd(_) => {}
        }
        Go::On
    }

    fn cut(&self, _: &Tables) -> Cut {
        match self.json {
            Some(_) => Cut::Truncated(self.server.clone(), self.tool.clone()),
            None => Cut::Text,
        }
    }

    fn calls(&mut self) -> &mut HeldCalls {
        &mut self.calls
    }
}

/// What ends damaged JSON from outside: a further line of ReAct's.
struct LinesCloser {
    spec: &'static dialect::React,
    think: bool,
}

impl JsonCloser for LinesCloser {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        let think = if self.think { unit(think_close(text, more)) } else { Match::No };
        let lines = self.spec.lines.iter().filter(|_| line_start).map(|line| begins(text, line, more));
        think.or(Match::any(lines))
    }
}
