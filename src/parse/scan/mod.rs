//! The text between calls: think tags, fences, marker lines, openers.
//!
//! ```text
//!            ┌──────────── end of call ────────────┐
//!            ▼                                     │
//!   text ──opener and gate──▶ call (element, tool tag, name and JSON, object)
//!    │ │
//!    │ └─known tool's name, first key──▶ held until it is known to be calls or text
//!    │ ▲
//!    │ └─fence line, think tag, marker line: changes what the next opener means
//!    └─fence line and opener alone in it: held until what follows decides
//! ```

mod bare;
mod lines;
mod named;
mod objects;
mod react;
mod tags;
mod tokens;

use std::sync::Arc;

use named::Around;

use crate::event::Region;
use crate::parse::body::Step;
use crate::parse::calm::{Calm, CalmText, LastChar};
use crate::parse::emit::{Emitter, Sink};
use crate::parse::given_back::{GivenBack, NoCall};
use crate::parse::line::Fence;
use crate::parse::objects::Objects;
use crate::parse::open::OpenCall;
use crate::parse::signs::Plain;
use crate::parse::tables::Tables;
use crate::parse::window::Window;
use crate::reasoning::ReasoningMode;

/// Where the text between calls stands.
#[derive(Debug)]
pub(super) struct Scanner {
    tables: Arc<Tables>,
    emitter: Emitter,
    call: Option<OpenCall>,
    /// Text was scanned up to here.
    at: u64,
    /// Only spaces stand between the last line break and `at`.
    line_start: bool,
    /// Last character before the window.
    before: Option<char>,
    fence: Option<Fence>,
    /// Behind the line that closed the last fence.
    fence_end: u64,
    /// A run of objects behind a marker.
    objects: Option<Objects>,
    /// What may stand around calls here.
    around: Option<Around>,
    /// The text comes from a separate reasoning field.
    reasoning_channel: bool,
    mode: ReasoningMode,
    /// `<s>` was seen, so `</s>` is HTML.
    saw_strike: bool,
    /// What was held and given back, if somebody asked for it.
    pub(super) given_back: Option<Vec<GivenBack>>,
}

/// What became of a place where something may begin.
enum Found {
    /// More text is needed.
    Hold,
    /// It is text.
    Text,
    /// It was taken; go on behind it.
    Taken,
    /// A call or a held fence is open: how far may be read has changed.
    Opened,
}

impl Scanner {
    pub(super) fn new(tables: Arc<Tables>) -> Self {
        let mode = tables.config.reasoning;
        Scanner {
            emitter: Emitter::new(
                tables.config.reasoning_calls,
                mode == ReasoningMode::Open,
                tables.config.limits.calls,
            ),
            tables,
            call: None,
            at: 0,
            line_start: true,
            before: None,
            fence: None,
            fence_end: 0,
            objects: None,
            around: None,
            reasoning_channel: false,
            mode,
            saw_strike: false,
            given_back: None,
        }
    }

    pub(super) fn tables(&self) -> &Arc<Tables> {
        &self.tables
    }

    /// Where the text stands, if everything up to `at` was handed on and what comes
    /// is only more of the same until something begins or ends in it.
    pub(super) fn calm(&self, at: u64) -> Option<Calm> {
        if self.emitter.reported != at || self.emitter.is_pending() {
            return None;
        }
        if let Some(call) = &self.call {
            return call.calm(at, self.emitter.index(), self.reasoning_channel).map(Calm::Value);
        }
        let near_calls = self.around.is_some_and(|around| around.is_near);
        let is_calm = self.objects.is_none() && !near_calls && self.emitter.is_calm();
        is_calm.then_some(Calm::Text(CalmText {
            at,
            line_start: self.line_start,
            before: LastChar::new(self.before),
            region: self.emitter.region,
            reasoning_channel: self.reasoning_channel,
        }))
    }

    /// Goes on behind text that was handed on without the scanner, and `plain`,
    /// which comes next and was not handed on yet.
    pub(super) fn go_on(&mut self, calm: CalmText, plain: Plain) {
        self.emitter.reported = calm.at;
        self.at = calm.at + plain.length as u64;
        self.line_start = plain.line_start;
        self.before = calm.before.get();
    }

    /// Reads a chunk of JSON in the open call; see `JsonText::read_on`.
    pub(super) fn read_on_in_call(&mut self, at: u64, chunk: &str) -> Option<bool> {
        self.call.as_mut()?.read_on(at, chunk)
    }

    /// Goes on in a call whose text up to `at` was handed on without the scanner.
    pub(super) fn go_on_in_call(&mut self, at: u64) {
        self.emitter.reported = at;
        if let Some(call) = &mut self.call {
            call.go_on(at);
        }
    }

    /// Whether a call is open, or calls are held.
    pub(super) fn in_call(&self) -> bool {
        self.call.is_some() || self.emitter.is_pending()
    }

    pub(super) fn channel_changes(&self, reasoning: bool) -> bool {
        self.reasoning_channel != reasoning
    }

    /// Goes over to the other channel; everything before was decided about.
    pub(super) fn change_channel(&mut self, reasoning: bool) {
        self.reasoning_channel = reasoning;
        self.emitter.decide();
        self.emitter.region = if reasoning { Region::Reasoning } else { Region::Content };
        self.emitter.region_has_text = false;
        self.emitter.region_has_calls = false;
        self.line_start = true;
        self.before = None;
        if self.mode == ReasoningMode::Open {
            self.mode = ReasoningMode::Auto;
        }
    }

    /// Reads the window to its end; yields the first byte that is still needed.
    #[inline(always)] // With each chunk in a call.
    pub(super) fn run(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> u64 {
        let mut goes_on = true;
        while goes_on {
            goes_on = match &mut self.call {
                Some(call) if !self.emitter.is_pending() => {
                    let step = call.advance(&self.tables, window, &mut self.emitter, sink);
                    self.stepped(step, window, sink)
                }
                _ => self.read(window, sink),
            };
        }
        let keep_from = match &self.call {
            Some(call) if !self.emitter.is_pending() => call.keep_from(),
            _ => self.emitter.keep_from(),
        };
        if keep_from > window.base {
            self.before = window.before(keep_from);
        }
        keep_from
    }

    /// Reads text, or what is held, up to the next change of what may be read; `false` if
    /// more is needed.
    ///
    /// Held fences may hold as much as one call. That limit is a fixed offset,
    /// too: everything is read up to there first, however the text was cut, and
    /// if a byte follows while they are undecided, they are examples.
    #[inline(never)] // What is read in a call needs none of its registers.
    fn read(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> bool {
        let Some(held_from) = self.emitter.held_from() else { return self.text(window, sink) };
        let readable = window.until(held_from.saturating_add(self.tables.config.limits.call_bytes as u64));
        if readable.end() >= self.at {
            let goes_on = match &mut self.call {
                Some(call) => {
                    let step = call.advance(&self.tables, &readable, &mut self.emitter, sink);
                    self.stepped(step, &readable, sink)
                }
                None => self.text(&readable, sink),
            };
            if goes_on {
                return true;
            }
        }
        if readable.end() == window.end() {
            return false;
        }
        if self.emitter.is_pending() {
            if let Some(call) = &mut self.call {
                call.quoted = true;
            }
            self.emitter.settle(window, true, sink);
        }
        true
    }

    /// Goes on behind a step in the open call; `false` if more is needed.
    #[inline]
    fn stepped(&mut self, step: Step, window: &Window<'_>, sink: &mut Sink<'_>) -> bool {
        match step {
            Step::More => return false,
            Step::End(at) => self.end_call(Some(at), window, sink),
            Step::Text(at) => self.give_back(at, window),
        }
        true
    }

    /// What is open is no call after all: its bytes are text, and what follows
    /// `at` is read as ever.
    fn give_back(&mut self, at: u64, window: &Window<'_>) {
        let Some(call) = self.call.take() else { return };
        self.note(&call, at, call.no_call);
        let text = window.slice(call.start()..at);
        let line = memchr::memrchr(b'\n', text.as_bytes()).map(|end| &text[end + 1..]);
        self.line_start = line.is_some_and(|line| line.trim_start_matches([' ', '\t']).is_empty());
        self.at = at;
    }

    /// Keeps what is given back, if somebody asked for it.
    fn note(&mut self, call: &OpenCall, end: u64, reason: NoCall) {
        if let Some(list) = &mut self.given_back {
            list.push(GivenBack { dialect: call.dialect(), span: call.start()..end, reason });
        }
    }

    /// Ends what is open: nothing follows in this channel.
    pub(super) fn close(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) {
        if self.call.is_some() {
            self.end_call(None, window, sink);
            // A call that was complete without its closing tags leaves text behind it.
            self.run(window, sink);
            if self.call.is_some() {
                self.close(window, sink);
            }
        }
        self.emitter.text(window, window.end(), sink);
        self.emitter.settle(window, false, sink);
        self.fence = None;
        self.emitter.fence_is_clean = false;
        self.objects = None;
        self.around = None;
    }

    /// The stream is over and everything was closed.
    pub(super) fn finish(&mut self, normal: bool, sink: &mut Sink<'_>) {
        self.emitter.finish(normal, sink);
    }

    fn end_call(&mut self, end: Option<u64>, window: &Window<'_>, sink: &mut Sink<'_>) {
        if let Some(call) = self.call.take() {
            if self.given_back.is_some() && end.is_none() && call.is_text_if_cut(&self.tables) {
                self.note(&call, window.end(), NoCall::CutOff);
            }
            let ended_by_line = call.ended_by_line();
            self.behind_call(call.dialect());
            self.at = call.end(end, &self.tables, window, &mut self.emitter, sink);
            // Right behind a call in a fence, the closing line may begin.
            self.line_start = self.fence.is_some() || ended_by_line;
        }
    }

    /// Scans text; `true` if a call or a held fence was opened, `false` if more is needed.
    fn text(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> bool {
        loop {
            if let Some(objects) = self.objects {
                match self.between_objects(objects, window, sink) {
                    Found::Hold => return false,
                    Found::Opened => return true,
                    Found::Taken => continue,
                    Found::Text => self.objects = None,
                }
            }
            if self.around.is_some() {
                match self.around_calls(window, sink) {
                    Found::Hold => return self.hold(window, sink),
                    Found::Taken => continue,
                    Found::Text | Found::Opened => {}
                }
            }
            if self.line_start {
                match self.line(window, sink) {
                    Found::Hold => return self.hold(window, sink),
                    Found::Opened => return true,
                    Found::Taken => continue,
                    Found::Text => {}
                }
            }
            let rest = window.from(self.at);
            if rest.is_empty() {
                return self.hold(window, sink);
            }
            let plain = self.tables.signs.plain(rest.as_bytes(), false);
            self.at += plain.length as u64;
            self.line_start = plain.line_start;
            if plain.length == rest.len() {
                return self.hold(window, sink);
            }
            if self.line_start {
                continue;
            }
            match self.mark(window, sink) {
                Found::Hold => return self.hold(window, sink),
                Found::Opened => return true,
                Found::Taken => {}
                Found::Text => self.at += 1,
            }
        }
    }

    /// Hands on what is decided and waits for more.
    fn hold(&mut self, window: &Window<'_>, sink: &mut Sink<'_>) -> bool {
        self.emitter.text(window, self.at, sink);
        false
    }
}
