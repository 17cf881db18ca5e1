//! The shape of a name, then JSON: a call whose opener holds its tool's name.
//!
//! ```text
//! Lead ──▶ Json ──▶ Tail ──closer──▶ end
//!   └──closer──▶ end  └──something else──▶ end, `missing_close`
//! ```

use serde_json::{Map, Value};

use super::arguments::{Arguments, ArgumentsStep};
use super::body::{CallOut, JsonCloser, Step, think_close};
use super::calm::CalmKind;
use super::config::MIN_HOLD;
use super::head::{begins_token, closes, unit};
use super::line::{fence_chars, fence_run};
use super::verdict::{Fault, Parts};
use super::window::{Match, Window, leading_space};
use crate::call::Repair;
use crate::dialect::{Named, NamedArguments, NamedCall, Piece};

/// An open call of a name and JSON.
#[derive(Debug)]
pub(super) struct NamedJson {
    named: &'static Named,
    call: &'static NamedCall,
    state: State,
    pub(super) cursor: u64,
    /// The call is past the limit; see [`CallOut::is_past`].
    past: bool,
    parts: Parts,
    started: bool,
    fence: FenceState,
    json: Option<Arguments>,
    /// Where the call ends if nothing more of it follows.
    complete_at: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Lead,
    Json,
    Tail,
}

/// A code fence around the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FenceState {
    None,
    Open,
    Closed,
}

enum Go {
    On,
    Wait,
    End(u64),
}

impl NamedJson {
    /// A call of a server's tool whose head ends at `at`; it may name none.
    pub(super) fn new(
        named: &'static Named,
        call: &'static NamedCall,
        (server, tool): (Option<String>, Option<String>),
        at: u64,
    ) -> Self {
        NamedJson {
            named,
            call,
            state: State::Lead,
            cursor: at,
            past: false,
            parts: Parts { server, tool, ..Parts::default() },
            started: false,
            fence: FenceState::None,
            json: None,
            complete_at: None,
        }
    }

    pub(super) fn advance(&mut self, window: &Window<'_>, max_depth: usize, out: &mut CallOut<'_, '_>) -> Step {
        self.past = out.is_past();
        if !std::mem::replace(&mut self.started, true)
            && let Parts { server, tool: Some(tool), .. } = &self.parts
        {
            out.start(self.cursor, server.as_deref(), tool);
        }
        loop {
            if self.state == State::Json {
                match self.json(window, max_depth, out) {
                    Some(step) => return step,
                    None => continue,
                }
            }
            self.cursor += leading_space(window.from(self.cursor)) as u64;
            let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
            if rest.is_empty() {
                return Step::More;
            }
            let go = match self.state {
                State::Lead => self.lead(rest, more, max_depth),
                State::Tail | State::Json => self.tail(rest, more, window),
            };
            match go {
                Go::On => {}
                Go::Wait => return Step::More,
                Go::End(at) => return Step::End(at),
            }
        }
    }

    /// Where the call ends if the stream ends with the window. A closer that
    /// was cut off belongs to the call.
    pub(super) fn stream_ended(&mut self, window: &Window<'_>) -> Option<u64> {
        let at = self.ends_here()?;
        let cut = window.from(at).trim_start();
        let fence = if self.fence == FenceState::Open { unit(fence_chars(cut, true)) } else { Match::No };
        let is_cut = cut.len() > 1 && unit(closes(self.call, cut, true)).or(fence) == Match::Undecided;
        Some(if is_cut { window.end() } else { at })
    }

    /// Where the call ended if nothing more belongs to it, once its JSON is closed.
    pub(super) fn completed(&self) -> Option<u64> {
        let at = self.complete_at.filter(|_| self.parts.fault.is_none())?;
        // Past the limit little is kept: what was read beyond that is the call's.
        let let_go = self.past && self.cursor - at > MIN_HOLD as u64;
        Some(if let_go { self.cursor } else { at })
    }

    /// What the call says. `truncated`: neither its end nor its completeness was seen.
    pub(super) fn into_parts(mut self, window: &Window<'_>, truncated: Option<&str>, max_depth: usize) -> Parts {
        match &self.json {
            Some(json) => json.read(window, max_depth, &mut self.parts),
            None => self.parts.arguments = Value::Object(Map::new()),
        }
        if let Some(what) = truncated {
            self.parts.fault = Some(Arguments::cut(self.json.as_ref(), what, max_depth));
        }
        self.parts
    }

    /// Server and tool, as far as they are known.
    pub(super) fn names(&self) -> (Option<String>, Option<String>) {
        (self.parts.server.clone(), self.parts.tool.clone())
    }

    /// Where the call ends if nothing more of it follows; that its closer is missing is noted.
    fn ends_here(&mut self) -> Option<u64> {
        let at = self.completed()?;
        if !self.call.close.is_empty() && !self.parts.repairs.contains(&Repair::MissingClose) {
            self.parts.repairs.push(Repair::MissingClose);
        }
        Some(at)
    }

    /// Before the JSON: a fence, or the closer of a call without arguments.
    fn lead(&mut self, rest: &str, more: bool, max_depth: usize) -> Go {
        let fence = if self.fence == FenceState::None { fence_run(rest, more) } else { Match::No };
        match (closes(self.call, rest, more), fence) {
            (Match::Yes(length), _) => {
                if self.fence == FenceState::Open {
                    let message = "the arguments are missing: the code fence is open and empty";
                    self.parts.fault = Some(Fault::malformed(message));
                }
                return Go::End(self.cursor + length as u64);
            }
            (_, Match::Yes(length)) => {
                self.fence = FenceState::Open;
                self.cursor += length as u64;
                if !matches!(self.call.arguments, NamedArguments::Json { fenced: true }) {
                    self.parts.repairs.push(Repair::Fence);
                }
            }
            (Match::Undecided, _) | (_, Match::Undecided) => return Go::Wait,
            (Match::No, Match::No) => {
                self.json = Some(Arguments::new(self.cursor, max_depth));
                self.state = State::Json;
            }
        }
        Go::On
    }

    /// `None`: the state changed.
    fn json(&mut self, window: &Window<'_>, max_depth: usize, out: &mut CallOut<'_, '_>) -> Option<Step> {
        let closer = Closers {
            named: self.named,
            call: self.call,
            fenced: self.fence == FenceState::Open,
            think: out.think_ends,
        };
        let json = self.json.get_or_insert_with(|| Arguments::new(self.cursor, max_depth));
        let shown = self.parts.tool.is_some();
        let step = json.next(window, max_depth, &closer, shown, &mut self.parts, out);
        self.cursor = json.cursor();
        self.state = State::Tail;
        match step {
            ArgumentsStep::More => {
                self.state = State::Json;
                Some(Step::More)
            }
            ArgumentsStep::Ended(at) => {
                self.complete_at = Some(at);
                None
            }
            ArgumentsStep::Closed => None,
            ArgumentsStep::Passed(at) => Some(Step::End(at)),
        }
    }

    /// See `Body::calm`.
    pub(super) fn calm(&self, at: u64) -> Option<CalmKind> {
        let json = self.json.as_ref().filter(|_| self.state == State::Json)?;
        json.calm(at, Some(self.call.close).filter(|close| !close.is_empty()))
    }

    /// See `Body::read_on`.
    pub(super) fn read_on(&mut self, at: u64, chunk: &str) -> Option<bool> {
        self.json.as_mut()?.read_on(at, chunk)
    }

    /// See `Body::go_on`.
    pub(super) fn go_on(&mut self, at: u64) {
        self.cursor = at;
        if let Some(json) = &mut self.json {
            json.go_on(at);
        }
    }

    /// Behind the JSON: its fence's end, the closer, or something else.
    fn tail(&mut self, rest: &str, more: bool, window: &Window<'_>) -> Go {
        let fence = if self.fence == FenceState::Open { fence_chars(rest, more) } else { Match::No };
        match (closes(self.call, rest, more), fence) {
            (Match::Yes(length), _) => Go::End(self.cursor + length as u64),
            (_, Match::Yes(fence)) => {
                self.fence = FenceState::Closed;
                self.cursor += fence.length() as u64;
                self.complete_at = self.complete_at.map(|_| self.cursor);
                if self.call.close.is_empty() { Go::End(self.cursor) } else { Go::On }
            }
            (Match::Undecided, _) | (_, Match::Undecided) => Go::Wait,
            (Match::No, Match::No) => {
                if self.json.as_mut().is_some_and(|json| !json.look_behind(self.cursor, rest, more)) {
                    return Go::Wait;
                }
                let end = if window.more { self.ends_here() } else { self.stream_ended(window) };
                Go::End(end.unwrap_or(self.cursor))
            }
        }
    }
}

/// What ends damaged JSON from outside.
struct Closers {
    named: &'static Named,
    call: &'static NamedCall,
    fenced: bool,
    think: bool,
}

impl JsonCloser for Closers {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        let think = if self.think { think_close(text, more) } else { Match::No };
        let fence = if self.fenced && line_start { fence_chars(text, more) } else { Match::No };
        let own = unit(closes(self.call, text, more)).or(unit(think)).or(unit(fence));
        let groups = self.named.groups.iter().map(|group| unit(begins_token(text, group.close, more)));
        // The next call of the same kind; a token may stand anywhere, other openers in strings as well.
        let next = self.named.calls.iter().map(|call| match call.head {
            [Piece::Text(opener), ..] if line_start || opener.starts_with("<｜") => {
                unit(begins_token(text, opener, more))
            }
            _ => Match::No,
        });
        own.or(Match::any(groups.chain(next)))
    }

    fn inner_first(&self) -> Option<u8> {
        self.call.close.bytes().next()
    }

    fn inner(&self, text: &str, more: bool) -> Match<()> {
        unit(closes(self.call, text, more))
    }

    fn last_passed(&self, line: &str) -> Option<usize> {
        memchr::memrchr_iter(b'<', line.as_bytes()).find_map(|at| match closes(self.call, &line[at..], false) {
            Match::Yes(length) => Some(at + length),
            _ => None,
        })
    }
}
