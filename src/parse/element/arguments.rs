//! The child that holds JSON: what stands around it, and the JSON itself.

use super::{CDATA_OPEN, Element, Go, State};
use crate::call::Repair;
use crate::dialect::ChildRole;
use crate::parse::arguments::{Arguments, ArgumentsStep};
use crate::parse::body::{CallOut, JsonCloser, Step, think_close};
use crate::parse::calm::CalmKind;
use crate::parse::config::MIN_HOLD;
use crate::parse::line::fence_run;
use crate::parse::window::{Match, Window, begins, begins_tag};

const CDATA_CLOSE: &str = "]]>";

impl Element {
    /// See `Body::calm`.
    pub(in crate::parse) fn calm(&self, at: u64) -> Option<CalmKind> {
        let json = self.json.as_ref().filter(|_| self.state == State::Json)?;
        json.calm(at, Some("</"))
    }

    /// See `Body::read_on`.
    pub(in crate::parse) fn read_on(&mut self, at: u64, chunk: &str) -> Option<bool> {
        self.json.as_mut()?.read_on(at, chunk)
    }

    /// See `Body::go_on`.
    pub(in crate::parse) fn go_on(&mut self, at: u64) {
        self.cursor = at;
        if let Some(json) = &mut self.json {
            json.go_on(at);
        }
    }

    pub(super) fn lead(&mut self, window: &Window<'_>, max_depth: usize) -> Go {
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        let close = begins_tag(rest, self.arguments_tag(), true, more);
        let cdata = begins(rest, CDATA_OPEN, more);
        let fence = fence_run(rest, more);
        match (close, cdata, fence) {
            // What they were to be is missing.
            (Match::Yes(_), ..) if self.wrapped_in.is_some() => {
                let what = self.wrapped_in.unwrap_or_default();
                self.fault(format!("the arguments are missing: the {what} is open and empty"))
            }
            // Nothing inside: no arguments.
            (Match::Yes(_), ..) => {
                self.state = State::Tail;
                Go::On
            }
            (_, Match::Yes(()), _) => {
                self.wrapped_in = Some("CDATA section");
                self.lead_repair(Repair::Cdata, CDATA_OPEN.len())
            }
            (_, _, Match::Yes(length)) => {
                // A second fence line closes the first.
                self.wrapped_in = if self.wrapped_in.is_none() { Some("code fence") } else { None };
                self.lead_repair(Repair::Fence, length)
            }
            (Match::Undecided, ..) | (_, Match::Undecided, _) | (_, _, Match::Undecided) => Go::Wait,
            _ => {
                self.json = Some(Arguments::new(self.cursor, max_depth));
                self.scalar = !rest.starts_with(['{', '[']);
                self.state = State::Json;
                Go::On
            }
        }
    }

    fn lead_repair(&mut self, repair: Repair, length: usize) -> Go {
        if !self.parts.repairs.contains(&repair) {
            self.parts.repairs.push(repair);
        }
        self.cursor += length as u64;
        Go::On
    }

    pub(super) fn arguments_tag(&self) -> &'static str {
        self.block.children.iter().find(|c| c.role == ChildRole::Arguments).map_or("", |c| c.tag)
    }

    /// `None`: the state changed.
    pub(super) fn json(&mut self, window: &Window<'_>, max_depth: usize, out: &mut CallOut<'_, '_>) -> Option<Step> {
        let closer = TagsCloser { arguments: self.arguments_tag(), block: self.block.tag, think: out.think_ends };
        let json = self.json.get_or_insert_with(|| Arguments::new(self.cursor, max_depth));
        let step = json.next(window, max_depth, &closer, self.started, &mut self.parts, out);
        self.cursor = json.cursor();
        match step {
            ArgumentsStep::More => return Some(Step::More),
            ArgumentsStep::Ended(at) => self.complete_at = Some(at),
            ArgumentsStep::Closed => {}
            ArgumentsStep::Passed(at) => return Some(Step::End(at)),
        }
        self.state = State::Tail;
        None
    }

    pub(super) fn tail(&mut self, window: &Window<'_>) -> Go {
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        match begins_tag(rest, self.arguments_tag(), true, more) {
            Match::Yes(length) => {
                self.cursor += length as u64;
                if let Some(i) = self.block.children.iter().position(|c| c.role == ChildRole::Arguments) {
                    self.seen |= 1 << i;
                }
                self.complete_at = Some(self.cursor);
                self.state = State::Between;
                return Go::On;
            }
            Match::Undecided => return Go::Wait,
            Match::No => {}
        }
        let wrapped = |repair| self.parts.repairs.contains(&repair);
        if wrapped(Repair::Cdata) {
            match begins(rest, CDATA_CLOSE, more) {
                Match::Yes(()) => return self.skip(CDATA_CLOSE.len()),
                Match::Undecided => return Go::Wait,
                Match::No => {}
            }
        }
        if wrapped(Repair::Fence) {
            match fence_run(rest, more) {
                Match::Yes(length) => return self.skip(length),
                Match::Undecided => return Go::Wait,
                Match::No => {}
            }
        }
        // `</arguments>` is missing; what follows may still belong to the call.
        if begins(rest, "<", more) != Match::No {
            self.missing_close();
            self.state = State::Between;
            return Go::On;
        }
        if self.json.as_mut().is_some_and(|json| !json.look_behind(self.cursor, rest, more)) {
            return Go::Wait;
        }
        match self.ends_here() {
            Some(at) => Go::End(at),
            None => self.fault(format!("</{}> is missing", self.arguments_tag())),
        }
    }
}

/// The closers of an element's JSON.
struct TagsCloser {
    arguments: &'static str,
    block: &'static str,
    think: bool,
}

impl JsonCloser for TagsCloser {
    fn closes(&self, text: &str, _line_start: bool, more: bool) -> Match<()> {
        let think = if self.think { think_close(text, more) } else { Match::No };
        let own = [begins_tag(text, self.arguments, true, more), begins_tag(text, self.block, true, more)];
        Match::any(own).or(think).map(|_| ())
    }

    fn inner_first(&self) -> Option<u8> {
        Some(b'<')
    }

    fn inner(&self, text: &str, more: bool) -> Match<()> {
        begins_tag(text, self.arguments, true, more).map(|_| ())
    }

    fn last_passed(&self, line: &str) -> Option<usize> {
        let outer = format!("</{}>", self.block);
        let at = line.rfind(&outer)?;
        line[..at].trim_end().ends_with(&format!("</{}>", self.arguments)).then_some(at + outer.len())
    }
}
