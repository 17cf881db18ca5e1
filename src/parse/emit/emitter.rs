//! Events out: what is handed on, and what is known about the calls so far. What waits for a
//! decision is in `held`, what is decided at the end in `end`.

mod end;
mod held;

use std::ops::Range;

use crate::event::{Call, Event, MarkerKind, Provenance, QuotedIn, Reason, Region, RejectedKind, Repair, Span};
use crate::json::window::{Match, No, Undecided, Window};
use crate::message::{FencedCalls, ReasoningCalls, ReasoningMode};
use crate::parse::config::Config;
use crate::parse::emit::damage::{Damage, Found, behind_damage};
use crate::parse::emit::pending::{Ended, Held, Pending};
use crate::parse::emit::prose::Prose;
use crate::parse::emit::verdict::{Verdict, draft, invented, quoted};
use crate::parse::marks::fence::think_close;
use crate::parse::marks::head::begins_token;
use crate::parse::marks::turn::Turn;
use crate::parse::tables::Tables;

/// Where events go. Dynamic, so that the parser is compiled once.
pub(crate) type Sink<'s> = dyn FnMut(Event<'_>) + 's;

/// Hands events on in order and remembers what later decisions need.
#[derive(Debug)]
pub(crate) struct Emitter {
    /// Everything before is in some event.
    pub(crate) reported: u64,
    pub(crate) region: Region,
    /// Whose turn the text stands in.
    pub(crate) turn: Turn,
    policy: ReasoningCalls,
    /// Calls in the fence that the message begins with are calls if nothing else is.
    takes_fenced: bool,
    /// The stream was taken to start in the reasoning, and nothing said yet that it
    /// does: it is read as an answer and told as reasoning.
    undecided: bool,
    /// A call came before any text.
    begins_with_call: bool,
    /// Most calls in a message.
    limit: usize,
    /// So many more beginnings of calls are looked at.
    openings: usize,
    index: u32,
    /// Calls over the limit that are not reported.
    unlisted: u64,
    /// A call over the limit was reported as such: no further one is.
    limit_said: bool,
    /// That was taken back once, when it turned out to be a draft.
    unsaid: bool,
    /// A call that is not reported stands outside the reasoning, and is no example.
    unlisted_outside: bool,
    log: Vec<Logged>,
    /// Calls up to here were turned into drafts.
    reclassified: usize,
    /// Runs of adjacent calls are numbered.
    run: u32,
    /// Other text came since the last call: the next one begins a new run.
    run_is_over: bool,
    /// The user has seen something.
    pub(crate) visible: bool,
    /// Where text other than white space came in this region.
    prose: Prose,
    /// A token announced the call that follows, and whether it begins its line.
    announced: Option<bool>,
    /// Calls that nothing announces, and behind which no prose came yet in their region.
    bare: Vec<(u32, Region)>,
    /// The fence that the message begins with, once it is known to be an example.
    first_fence: Option<Unfenced>,
    /// Text other than white space came in this region.
    pub(crate) region_has_text: bool,
    /// A call came in this region.
    pub(crate) region_has_calls: bool,
    /// A call came in the answer.
    pub(crate) answer_has_calls: bool,
    /// A fence is open in which nothing but calls and white space came.
    pub(crate) fence_is_clean: bool,
    /// The fence before holds a call that could not be read, and only white space came since:
    /// one of a series (`series/first_fence_unreadable`).
    pub(crate) behind_unread: bool,
    pending: Option<Pending>,
    /// Calls of the answer, and of the reasoning, that may be text of a damaged one.
    damage: [Damage; 2],
    /// The open call's `CallStart` was handed on.
    started: bool,
    /// The stream has ended by `stop`, and one of these strings may have done it.
    pub(crate) stop: Vec<String>,
    /// The stream has ended, and nothing cut it off.
    pub(crate) ended_normally: bool,
}

/// Calls of a fence, and the bytes around them, as [`Event::Unfenced`] tells them.
#[derive(Debug, Default)]
struct Unfenced {
    calls: Range<u32>,
    syntax: Vec<Span>,
}

/// What promotion needs to know about a call.
#[derive(Debug)]
struct Logged {
    index: u32,
    complete: bool,
    in_reasoning: bool,
    quoted: bool,
    /// It is none of the model's, or the output ended inside it.
    never: Option<Never>,
    run: u32,
    /// Why it must not run if it is no draft; kept while that is undecided.
    reason: Option<Box<Reason>>,
}

/// What makes a draft no candidate for promotion, whatever else came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Never {
    Invented,
    BehindDamage,
    CutOff,
}

impl Emitter {
    pub(crate) fn new(config: &Config) -> Self {
        let open = config.reasoning == ReasoningMode::Open;
        Emitter {
            reported: 0,
            region: if open { Region::Reasoning } else { Region::Content },
            turn: Turn::Own,
            policy: config.reasoning_calls,
            takes_fenced: config.fenced_calls == FencedCalls::LastResort,
            undecided: open,
            begins_with_call: false,
            limit: config.limits.calls,
            openings: config.limits.openings(),
            index: 0,
            unlisted: 0,
            limit_said: false,
            unsaid: false,
            unlisted_outside: false,
            log: Vec::new(),
            reclassified: 0,
            run: 0,
            run_is_over: false,
            visible: false,
            prose: Prose::None,
            announced: None,
            bare: Vec::new(),
            first_fence: None,
            region_has_text: false,
            region_has_calls: false,
            answer_has_calls: false,
            fence_is_clean: false,
            behind_unread: false,
            pending: None,
            damage: Default::default(),
            started: false,
            stop: Vec::new(),
            ended_normally: false,
        }
    }

    /// Index of the call that is open or comes next.
    pub(crate) fn index(&self) -> u32 {
        self.index + self.pending.as_ref().map_or(0, |p| p.counts.ended)
    }

    /// Whether the limit on calls was passed before the call that is open or comes
    /// next: it is only reported if it is the first that would have run.
    pub(crate) fn is_over_limit(&self) -> bool {
        self.index() as usize > self.limit
    }

    /// Whether the call that is open or comes next is counted and not reported, if it ends
    /// as it stands. While it is undecided whether this is an answer, it is counted as one.
    pub(crate) fn leaves_out(&self, quoted: bool) -> bool {
        self.is_over_limit() && (self.limit_said || self.only_drafts() || quoted || self.turn.invents())
    }

    /// Counts calls that are not reported.
    pub(crate) fn leave_out(&mut self, calls: u64, quoted: bool) {
        self.unlisted += calls;
        self.unlisted_outside |= calls > 0 && !quoted && !self.only_drafts();
        self.region_has_calls |= calls > 0;
    }

    /// A call may begin here, and is looked at; `false` where no further one is.
    pub(crate) fn takes_opening(&mut self) -> bool {
        let takes = self.openings > 0;
        self.openings -= usize::from(takes);
        takes
    }

    /// How many more beginnings of calls are looked at.
    pub(crate) fn openings(&self) -> usize {
        self.openings
    }

    /// Whether none is: no opener counts from here on, and no call of this message runs any more
    /// that did not come before.
    #[inline]
    pub(crate) fn is_spent(&self) -> bool {
        self.openings == 0
    }

    /// Whether text before said all that more text would say.
    pub(crate) fn is_settled(&self) -> bool {
        let seen = self.visible || !self.reads_answer();
        let is_told = matches!(self.turn, Turn::Own | Turn::Over | Turn::Spoken);
        seen && is_told && self.region_has_text && self.run_is_over && !self.fence_is_clean && !self.behind_unread
    }

    /// Whether calls that stand here are told as drafts.
    fn drafts(&self) -> bool {
        self.region == Region::Reasoning && self.policy != ReasoningCalls::Allow
    }

    /// Whether calls that stand here are drafts for certain, so that nothing else about
    /// them matters.
    pub(crate) fn only_drafts(&self) -> bool {
        self.drafts() && !self.undecided
    }

    /// Whether text is read as the answer's, however it is told.
    pub(crate) fn reads_answer(&self) -> bool {
        self.region == Region::Content || self.undecided
    }

    /// Something is handed on that the user sees where it stands.
    fn see(&mut self) {
        self.visible |= self.reads_answer() && self.turn != Turn::Hidden;
    }

    /// The reasoning ends or begins here, and nothing said so before.
    pub(crate) fn is_undecided(&self) -> bool {
        self.undecided
    }

    /// Something said where the reasoning ends or begins: what came is reasoning.
    pub(crate) fn decide(&mut self) {
        if std::mem::take(&mut self.undecided) {
            self.visible = false;
            self.answer_has_calls = false;
            self.log.iter_mut().for_each(|call| call.reason = None);
            if self.policy != ReasoningCalls::Allow {
                self.unsay_limit();
            }
        }
    }

    /// Whether a stop string ended the stream that equals or begins `closer`, which was due.
    pub(crate) fn is_stopped_by(&self, closer: &str) -> bool {
        let took = |stop: &String| match begins_token(stop.trim_start(), closer, true) {
            Ok(length) => length == stop.trim_start().len(),
            Err(Undecided) => !stop.trim().is_empty(),
            Err(No) => false,
        };
        self.stop.iter().any(took)
    }

    /// Whether some fence is undecided.
    pub(crate) fn waits_for_fence(&self) -> bool {
        self.pending.as_ref().is_some_and(|p| p.waits_for_fence)
    }

    /// Where prose stands before what comes next in this region.
    pub(crate) fn prose(&self) -> Prose {
        self.prose
    }

    /// A token announces what follows: no prose stands before that. `begins_line`: none stands
    /// before the token on its line.
    pub(crate) fn announce(&mut self, begins_line: bool) {
        self.prose = Prose::None;
        self.announced = Some(begins_line);
    }

    /// Whether the token begins its line that announces what comes next, if one does.
    pub(crate) fn announced(&self) -> Option<bool> {
        self.announced.filter(|_| self.prose == Prose::None)
    }

    /// Prose follows: calls before it that nothing announces may be examples.
    fn precede_prose(&mut self, sink: &mut Sink<'_>) {
        let (region, span) = (self.region, self.reported..self.reported);
        self.bare.retain(|(index, of)| {
            let precedes = *of == region;
            if precedes {
                sink(Event::Placed { index: *index, provenance: Provenance::BeforeProse, span: span.clone() });
            }
            !precedes
        });
    }

    /// Text was handed on without the emitter; where prose stands behind it.
    pub(crate) fn skip_text(&mut self, to: u64, prose: Prose) {
        self.reported = to;
        self.prose = prose;
    }

    /// The first byte that is still needed.
    pub(crate) fn keep_from(&self) -> u64 {
        self.pending.as_ref().map_or(self.reported, |p| p.start)
    }

    /// Whether nothing but white space and syntax came in this region, nor to
    /// the user before it.
    pub(crate) fn begins_region(&self) -> bool {
        let seen = self.visible && self.reads_answer();
        !(seen || self.region_has_text || self.region_has_calls || self.waits_for_fence())
    }

    /// Hands on plain text up to `to`.
    #[inline]
    pub(crate) fn text(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        if to > self.reported {
            self.text_up_to(window, to, sink);
        }
    }

    fn text_up_to(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        let text = window.slice(self.reported..to);
        let blank = text.trim_ascii_start().is_empty();
        self.prose.read(text);
        if let Some(pending) = &mut self.pending {
            if blank {
                pending.held.push(Held::Space(self.reported..to, pending.in_fence));
                self.reported = to;
                return;
            }
            self.settle(window, true, sink);
        }
        if self.reads_brackets()
            && let Some((length, found)) = self.damage().read_brackets(text)
        {
            // The text up to the bracket, then what that says, then the rest.
            let at = self.reported + length as u64;
            self.text_piece(window, at, sink);
            self.found_closer(found, 0, sink);
            return self.text(window, to, sink);
        }
        self.text_piece(window, to, sink);
    }

    fn text_piece(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        if !window.slice(self.reported..to).trim_ascii_start().is_empty() {
            if !self.bare.is_empty() && self.turn == Turn::Own {
                self.precede_prose(sink);
            }
            self.run_is_over = true;
            self.fence_is_clean = false;
            self.behind_unread = false;
            self.region_has_text = true;
            let from = self.reported;
            self.damage().text_came(window, from, to);
            self.see();
            if matches!(self.turn, Turn::Ended { .. }) {
                self.turn = Turn::Over;
            }
        }
        self.plain(window, to, sink);
    }

    /// What is known of damage in this region.
    pub(crate) fn damage(&mut self) -> &mut Damage {
        &mut self.damage[self.region as usize]
    }

    /// The same, to be read.
    #[inline]
    pub(crate) fn known_damage(&self) -> &Damage {
        &self.damage[self.region as usize]
    }

    /// Whether brackets in the text say whether calls may be text of a damaged one.
    pub(crate) fn reads_brackets(&self) -> bool {
        self.known_damage().watches_brackets()
    }

    /// Whether each bracket and line matters, since only a bracket closes a damaged call.
    pub(crate) fn reads_every_bracket(&self) -> bool {
        let damage = self.known_damage();
        damage.is_open() && damage.watches_brackets()
    }

    /// Whether `text`, between calls, begins with what closes a damaged call or one before.
    pub(crate) fn closer(&self, text: &str, tables: &Tables, more: bool) -> Match<(Found, usize)> {
        self.known_damage().closer(text, tables, more)
    }

    /// Such a closer, of so many bytes, stands where all up to it was handed on.
    pub(crate) fn found_closer(&mut self, found: Found, length: usize, sink: &mut Sink<'_>) {
        match found {
            Found::Own => self.damage().closes(),
            Found::Last => {
                let end = self.reported + length as u64;
                self.damage().last_closes(end);
            }
            Found::Stray(first) => self.withdraw(first, sink),
        }
    }

    /// The calls from `first` on may be text of one that was damaged.
    fn withdraw(&mut self, first: u32, sink: &mut Sink<'_>) {
        self.damage().withdrawn();
        for call in self.log.iter_mut().filter(|call| call.index >= first) {
            call.never = call.never.or(Some(Never::BehindDamage));
            if self.undecided {
                call.reason.get_or_insert_with(|| Box::new(Reason::withdrawn()));
            }
        }
        let span = self.reported..self.reported;
        if first < self.index {
            sink(Event::Withdrawn { calls: first..self.index, span });
        }
    }

    /// Says that what follows is another's; an empty marker.
    pub(crate) fn begin_turn(&mut self, sink: &mut Sink<'_>) {
        let span = self.reported..self.reported;
        sink(Event::Marker { kind: MarkerKind::Turn, text: "", span });
    }

    /// Hands on a fence line as text: calls on both sides of it stay adjacent.
    pub(crate) fn fence_text(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        if self.pending.is_some() {
            self.settle(window, true, sink);
        }
        if self.prose != Prose::Above {
            self.prose.read(window.slice(self.reported..to));
        }
        if !self.bare.is_empty() && self.turn == Turn::Own {
            self.precede_prose(sink);
        }
        self.region_has_text = true;
        self.see();
        if matches!(self.turn, Turn::Ended { .. }) {
            self.turn = Turn::Over;
        }
        self.plain(window, to, sink);
    }

    /// Hands on syntax up to `to`. Around drafts and examples it is text.
    pub(crate) fn marker(&mut self, kind: MarkerKind, quoted: bool, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        if to <= self.reported {
            return;
        }
        if let Some(pending) = &mut self.pending {
            pending.marker(kind, self.reported..to);
            self.reported = to;
            return;
        }
        let is_syntax = kind.is_call_syntax();
        if quoted && is_syntax && !self.only_drafts() {
            self.see();
            return self.plain(window, to, sink);
        }
        // After it everything is the answer.
        self.region_has_text |= kind == MarkerKind::AnswerLine;
        let span = self.reported..to;
        self.reported = to;
        let text = window.slice(span.clone());
        match self.drafts() && is_syntax {
            true => sink(Event::Reasoning { text, syntax: Some(kind), span }),
            false => sink(Event::Marker { kind, text, span }),
        }
    }

    /// Hands on a think tag and goes over to `region`.
    pub(crate) fn think(
        &mut self,
        kind: MarkerKind,
        region: Region,
        window: &Window<'_>,
        to: u64,
        sink: &mut Sink<'_>,
    ) {
        self.settle(window, self.region == Region::Content, sink);
        let span = self.reported..to;
        self.reported = to;
        sink(Event::Marker { kind, text: window.slice(span.clone()), span });
        self.run_is_over = true;
        self.decide();
        self.go_to(region);
    }

    /// Goes over to a region. What is damaged in the answer stays so behind a block of reasoning,
    /// which may stand in the damaged text.
    pub(crate) fn go_to(&mut self, region: Region) {
        if region != self.region {
            self.damage[Region::Reasoning as usize] = Damage::default();
        }
        self.region = region;
        self.begin_region();
    }

    /// Nothing came yet in the region.
    fn begin_region(&mut self) {
        self.region_has_text = false;
        self.region_has_calls = false;
        self.behind_unread = false;
        self.prose = Prose::None;
        self.announced = None;
    }

    /// Everything so far was reasoning.
    pub(crate) fn all_was_reasoning(&mut self, sink: &mut Sink<'_>) {
        let drafts = self.policy != ReasoningCalls::Allow;
        for call in &mut self.log[self.reclassified..] {
            call.in_reasoning = drafts;
        }
        self.reclassified = self.log.len();
        if drafts {
            self.unsay_limit();
        }
        self.visible = false;
        self.answer_has_calls = false;
        // A draft that broke off there says nothing of what follows.
        self.damage().closes();
        sink(Event::Reclassified { to: Region::Reasoning, drafts, span: self.reported..self.reported });
    }

    /// The call that was reported as over the limit is a draft, and so are those behind it.
    fn unsay_limit(&mut self) {
        if !std::mem::replace(&mut self.unsaid, true) {
            self.limit_said = false;
        }
        self.unlisted_outside = false;
    }

    /// The open call's name is known at `at`.
    pub(crate) fn call_start(&mut self, at: u64, server: Option<&str>, tool: &str, sink: &mut Sink<'_>) {
        if self.is_over_limit() {
            return;
        }
        if let Some(call) = self.held_call() {
            call.start = Some((at, server.map(str::to_owned), tool.to_owned()));
            return;
        }
        let span = self.reported..at;
        self.reported = at;
        self.started = true;
        sink(Event::CallStart { index: self.index, server, tool, span });
    }

    /// More of the open call's arguments, up to `at`.
    pub(crate) fn delta(&mut self, at: u64, text: &str, sink: &mut Sink<'_>) {
        if self.is_over_limit() {
            return;
        }
        if let Some(call) = self.held_call() {
            call.deltas.push_str(text);
            call.deltas_end = call.deltas_end.max(at);
            return;
        }
        let span = self.reported..at.max(self.reported);
        self.reported = span.end;
        sink(Event::ArgsDelta { index: self.index, text, span });
    }

    /// The open call is over; what quotes it, if anything does.
    pub(crate) fn call_end(
        &mut self,
        mut ended: Ended,
        quoted_in: Option<QuotedIn>,
        window: &Window<'_>,
        sink: &mut Sink<'_>,
    ) {
        if self.damage().is_open() {
            ended.verdict = behind_damage(ended.verdict);
        }
        if self.turn.invents() {
            ended.verdict = invented(ended.verdict, self.turn == Turn::Spoken);
        }
        let is_quoted = quoted_in.is_some();
        if let Some(quoted_in) = quoted_in {
            ended.verdict = quoted(ended.verdict, quoted_in);
        }
        let end = ended.span.end;
        if self.only_counts() {
            return self.count_call(end);
        }
        let is_over_limit = self.is_over_limit();
        if let Some(call) = self.held_call() {
            call.ended = Some(ended);
            self.reported = end;
            if let Some(pending) = &mut self.pending {
                pending.counts.ended += 1;
                pending.counts.is_over_limit |= is_over_limit;
            }
            return;
        }
        if is_quoted {
            self.see();
        }
        self.report_end(ended, quoted_in, window, sink);
    }

    /// Whether a call that ends now is counted and not reported, whatever it says.
    pub(crate) fn counts_end(&self, quoted: bool) -> bool {
        if self.pending.is_some() { self.only_counts() } else { self.leaves_out(quoted) }
    }

    /// Such a call is over at `end`.
    pub(crate) fn count_end(&mut self, quoted: bool, window: &Window<'_>, end: u64, sink: &mut Sink<'_>) {
        if self.pending.is_some() {
            return self.count_call(end);
        }
        if quoted {
            self.see();
        }
        self.region_has_calls = true;
        self.leave_out(1, quoted);
        self.marker(MarkerKind::Wrapper, quoted, window, end, sink);
    }

    /// Whether the call that is held next is counted and not reported, whatever it is.
    pub(crate) fn only_counts(&self) -> bool {
        self.is_over_limit()
            && self.pending.as_ref().is_some_and(|pending| self.limit_said || pending.counts.is_over_limit)
    }

    /// Counts a call that is held and ends at `end`.
    pub(crate) fn count_call(&mut self, end: u64) {
        let Some(pending) = &mut self.pending else { return };
        pending.counts.unlisted += 1;
        if end > self.reported {
            pending.marker(MarkerKind::Wrapper, self.reported..end);
            self.reported = end;
        }
    }

    fn report_end(&mut self, ended: Ended, quoted_in: Option<QuotedIn>, window: &Window<'_>, sink: &mut Sink<'_>) {
        let Ended { mut verdict, restated, span, is_bare, is_whole, closer, head } = ended;
        let is_quoted = quoted_in.is_some();
        if self.leaves_out(is_quoted) {
            return self.count_end(is_quoted, window, span.end, sink);
        }
        self.region_has_calls = true;
        self.begins_with_call |= self.log.is_empty() && !self.region_has_text && !is_quoted;
        let in_reasoning = self.drafts();
        let is_certain = !self.only_drafts() && !is_quoted && !self.turn.invents();
        self.limit_said |= self.index() as usize >= self.limit && is_certain;
        self.answer_has_calls |= self.reads_answer() && !is_quoted;
        let never = match verdict.as_ref().err().map(|rejected| rejected.kind) {
            Some(RejectedKind::Invented) => Some(Never::Invented),
            Some(RejectedKind::BehindDamage) => Some(Never::BehindDamage),
            Some(RejectedKind::Truncated) => Some(Never::CutOff),
            // The end of the reasoning ended it.
            Some(_) if !is_whole && think_close(window.from(span.end), false) != Err(No) => Some(Never::CutOff),
            _ => None,
        };
        // A draft in a fence may be meant, one that is only mentioned is not.
        let is_mention = quoted_in.is_some_and(|quoted_in| quoted_in != QuotedIn::Fence);
        let complete = verdict_call(&verdict).is_some() && !is_mention;
        let is_due = verdict_call(&verdict).is_some_and(|call| call.repairs.contains(&Repair::MissingClose));
        let reason = verdict.as_ref().err().filter(|_| self.undecided).map(|rejected| Box::new(rejected.reason()));
        if in_reasoning {
            verdict = draft(verdict);
        }
        self.run += u32::from(std::mem::take(&mut self.run_is_over));
        self.log.push(Logged {
            index: self.index,
            complete,
            in_reasoning,
            quoted: is_quoted,
            never,
            run: self.run,
            reason,
        });
        if !std::mem::take(&mut self.started) {
            // The name was only found in the whole text.
            let (server, tool) = match &verdict {
                Ok(call) => (&call.server, Some(&call.tool)),
                Err(rejected) => (&rejected.server, rejected.tool.as_ref()),
            };
            if let Some(tool) = tool {
                let span = self.reported..self.reported;
                sink(Event::CallStart { index: self.index, server: server.as_deref(), tool, span });
            }
        }
        if is_bare && !is_quoted && verdict_call(&verdict).is_some_and(|call| call.provenance.is_plain()) {
            self.bare.push((self.index, self.region));
        }
        let raw = head.as_deref().unwrap_or_else(|| window.slice(span.clone()));
        if let Err(rejected) = &mut verdict
            && rejected.raw.is_empty()
        {
            raw.clone_into(&mut rejected.raw);
        }
        let event_span = self.reported..span.end;
        self.reported = span.end;
        sink(Event::CallEnd { index: self.index, result: Box::new(verdict), raw, restated, span: event_span });
        let index = self.index;
        if !is_quoted && !self.turn.invents() {
            self.damage().call_came(closer, index, is_due);
        }
        self.index += 1;
    }

    fn plain(&mut self, window: &Window<'_>, to: u64, sink: &mut Sink<'_>) {
        let span = self.reported..to;
        self.reported = to;
        let text = window.slice(span.clone());
        if self.turn == Turn::Hidden {
            return sink(Event::Marker { kind: MarkerKind::Turn, text, span });
        }
        match self.region {
            Region::Content => sink(Event::Text { text, span }),
            Region::Reasoning => sink(Event::Reasoning { text, syntax: None, span }),
        }
    }
}

fn verdict_call(verdict: &Verdict) -> Option<&Call> {
    match verdict {
        Ok(call) => Some(call),
        Err(rejected) => rejected.call.as_deref(),
    }
}
