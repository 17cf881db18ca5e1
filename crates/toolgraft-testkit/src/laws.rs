//! The parser's laws, checked for any input. The fixtures, the property tests and the fuzz target
//! share them.
//!
//! In every run: the spans tile the stream, and each event's text is the stream's text of its span;
//! every `CallStart` has its `CallEnd`, indexes are dense, and nothing is between the events of a
//! call; the joined deltas are a prefix of a JSON text and, unless restated, of the arguments; text
//! is not held back without cause; a settled call remains a call, and is settled once; the
//! assembled pieces tile the stream. Between runs: however the stream is cut, the same events were
//! emitted when all of it had arrived, and the assembled message is the same.

use std::cell::RefCell;
use std::sync::Arc;

use toolgraft::dialect::{Announcer, HeaderPiece, MarkedJson, REASONING_MARKS, Shape, Wrapper};
use toolgraft::event::{
    Assembled, Collector, Entry, MarkerKind, Piece, Provenance, Reason, Region, Rejected, RejectedKind, Span,
};
use toolgraft::message::{FinishReason, ReasoningMode};
use toolgraft::parse::{Config, HOLD_SLACK, MIN_HOLD, NotACall};
use toolgraft::{Call, Catalog, Dialect, Event, Parser};

use crate::{json_prefix, oracle};

/// A message of a model, and the settings for parsing it.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// Text of a separate reasoning field, parsed before the answer.
    pub reasoning_field: String,
    /// The text of the answer.
    pub text: String,
    /// The finish reason of the stream.
    pub reason: FinishReason,
    /// The parser's configuration.
    pub config: Config,
}

/// Description of a violated law of the parser, with its place.
pub type Broken = String;

/// A cached parser with its key: the serialized configuration, and the tools.
struct Made {
    of: String,
    catalog: Option<Arc<Catalog>>,
    parser: Parser,
}

thread_local! {
    /// Cache of parsers: without optimisation, creating a parser takes longer than parsing most messages.
    static PARSERS: RefCell<Vec<Made>> = const { RefCell::new(Vec::new()) };
}

/// Number of parsers that are cached per thread.
const PARSERS_KEPT: usize = 8;

/// Returns a parser with this configuration, at the start of a message.
pub fn parser(config: &Config) -> Parser {
    let written = serde_json::to_string(config).expect("a configuration can be written");
    let address = |catalog: &Option<Arc<Catalog>>| catalog.as_ref().map(Arc::as_ptr);
    PARSERS.with_borrow_mut(|parsers| {
        if let Some(made) =
            parsers.iter().find(|made| made.of == written && address(&made.catalog) == address(&config.catalog))
        {
            return made.parser.fork();
        }
        let parser = Parser::new(config.clone());
        parsers.truncate(PARSERS_KEPT - 1);
        parsers.insert(0, Made { of: written, catalog: config.catalog.clone(), parser: parser.fork() });
        parser
    })
}

/// Parses a whole text and returns the assembled message.
pub fn read(text: &str, config: &Config) -> Assembled {
    parser(config).parse(text)
}

/// Parses the input whole, one character at a time, and once for each set of cuts (byte offsets
/// into the text, ascending). All must be assembled to the same message.
///
/// # Errors
/// Returns the first violated law.
pub fn check(input: &Input, cuts: &[Vec<usize>]) -> Result<Assembled, Broken> {
    let mut parser = parser(&input.config);
    let whole = parse(&mut parser, input, &[]).map_err(|e| format!("whole: {e}"))?;
    parser.reset();
    let again = parse(&mut parser, input, &[]).map_err(|e| format!("after a reset: {e}"))?;
    same(&whole, &again).map_err(|e| format!("after a reset: {e}"))?;
    let longest = if input.reasoning_field.len() > input.text.len() { &input.reasoning_field } else { &input.text };
    let bytes: Vec<usize> = (0..longest.len()).collect();
    let single =
        oracle::record(|| parse(&mut parser.fork(), input, &bytes)).map_err(|e| format!("by character: {e}"))?;
    same(&whole, &single).map_err(|e| format!("by character: {e}"))?;
    for cuts in cuts {
        parser.reset();
        let cut = parse(&mut parser, input, cuts).map_err(|e| format!("cut at {cuts:?}: {e}"))?;
        same(&whole, &cut).map_err(|e| format!("cut at {cuts:?}: {e}"))?;
    }
    Ok(whole.message)
}

/// Parses the input, cut at `cuts`, and checks every event.
///
/// # Errors
/// Returns the first violated law.
pub fn run(parser: &mut Parser, input: &Input, cuts: &[usize]) -> Result<Assembled, Broken> {
    parse(parser, input, cuts).map(|parsed| parsed.message)
}

/// Returns `true` if a text may contain a delimiter of reasoning.
pub fn may_tell_reasoning(text: &str) -> bool {
    let marks = REASONING_MARKS.iter().any(|mark| text.contains(mark.open.trim()));
    // Harmony's headers begin with one of two special tokens.
    marks || text.contains("<|channel|>") || text.contains("<|start|>") || text.to_ascii_lowercase().contains("think")
}

/// Checks that a text without a think tag is parsed to the same answer in the reasoning mode `open` as in `auto`,
/// except for the provenance.
///
/// # Errors
/// Returns the difference, or a violated law.
pub fn is_answer_in_open(input: &Input) -> Result<(), Broken> {
    let parsed = |reasoning| {
        let config = input.config.clone().with_reasoning(reasoning);
        run(&mut parser(&config), &Input { config, ..input.clone() }, &[])
    };
    let (mut auto, mut open) = (parsed(ReasoningMode::Auto)?, parsed(ReasoningMode::Open)?);
    // If reasoning may end, a possible `</think>` is held back longer: the preview of a call that
    // is cut off there ends earlier.
    for entry in auto.entries.iter_mut().chain(&mut open.entries).filter(|entry| entry.result.is_err()) {
        entry.deltas.clear();
    }
    expect(open.answer_in_reasoning != input.text.is_empty(), || "it is taken for reasoning".to_owned())?;
    open.answer_in_reasoning = false;
    // After no tag, it is unknown whether a call is intended.
    for entry in auto.entries.iter_mut().chain(&mut open.entries) {
        if let Ok(call) = &mut entry.result {
            call.provenance = Provenance::Plain;
        }
    }
    expect(auto == open, || format!("another answer than in auto\n auto: {auto:#?}\n open: {open:#?}"))
}

/// The result of parsing an input once.
#[derive(Debug, PartialEq)]
struct Parsed {
    /// State at the end of the text, before `finish`: the number of bytes in events, the message so far, and the
    /// settled calls.
    so_far: (usize, Assembled, Vec<u32>),
    message: Assembled,
    not_calls: Vec<NotACall>,
}

fn parse(parser: &mut Parser, input: &Input, cuts: &[usize]) -> Result<Parsed, Broken> {
    let stream = format!("{}{}", input.reasoning_field, input.text);
    let mut watch = Watch::new(&stream, &input.config);
    watch.field = input.reasoning_field.len();
    parser.keep_not_calls();
    for piece in pieces(&input.reasoning_field, cuts) {
        watch.pushed += piece.len();
        parser.push_reasoning(piece, &mut |event| watch.event(event));
        watch.held()?;
    }
    for piece in pieces(&input.text, cuts) {
        watch.pushed += piece.len();
        parser.push(piece, &mut |event| watch.event(event));
        watch.held()?;
    }
    let settled = watch.settled.iter().map(|(index, _)| *index).collect();
    let so_far = (watch.at, watch.collector.clone().finish(), settled);
    watch.finished = true;
    parser.finish(&input.reason, &mut |event| watch.event(event));
    if let Some(near) = parser.near_call(&watch.collector) {
        watch.event(near);
    }
    let not_calls = parser.not_calls().to_vec();
    watch.not_calls(&not_calls)?;
    Ok(Parsed { so_far, message: watch.end()?, not_calls })
}

/// Cuts the text at these offsets. Offsets that are out of order or inside of a character are
/// ignored.
fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<&'a str> {
    let mut pieces = Vec::with_capacity(cuts.len() + 1);
    let mut start = 0;
    for &cut in cuts {
        if cut > start && cut < text.len() && text.is_char_boundary(cut) {
            pieces.push(&text[start..cut]);
            start = cut;
        }
    }
    if start < text.len() {
        pieces.push(&text[start..]);
    }
    pieces
}

fn same(expected: &Parsed, got: &Parsed) -> Result<(), Broken> {
    if expected.message != got.message {
        let (whole, now) = (&expected.message, &got.message);
        return Err(format!("assembled otherwise than whole\n whole: {whole:#?}\n   now: {now:#?}"));
    }
    if expected.not_calls != got.not_calls {
        let (whole, now) = (&expected.not_calls, &got.not_calls);
        return Err(format!("other than whole was given back\n whole: {whole:#?}\n   now: {now:#?}"));
    }
    expect(expected.so_far == got.so_far, || {
        let (whole, now) = (&expected.so_far, &got.so_far);
        format!("other than whole was handed on before the end\n whole: {whole:#?}\n   now: {now:#?}")
    })
}

/// Checks the parser's events while one input is parsed.
struct Watch<'a> {
    stream: &'a str,
    /// Number of bytes that were pushed to the parser.
    pushed: usize,
    /// Number of bytes that events cover.
    at: usize,
    /// `true` once `finish` of the parser was called.
    finished: bool,
    /// Index, start and joined deltas of the open call.
    open: Option<(u32, usize, String)>,
    /// Index that the next call must have.
    next: u32,
    /// Indexes of rejected calls that contain a complete draft.
    drafts: Vec<u32>,
    /// Indexes of the calls so far, which an unmatched closing tag turns into drafts.
    found: Vec<u32>,
    /// Offset of the first text that may be the marker of a call in JSON.
    marked_at: usize,
    /// Number of bytes that the parser may hold back without a cause.
    hold: usize,
    tags: Vec<String>,
    /// Names of known tools, alone and with their servers, normalised by [`folded`].
    known: Vec<String>,
    call_bytes: usize,
    calls: usize,
    /// `true` if the last event was a marker, or syntax in the reasoning.
    marked_last: bool,
    /// `true` if the current line has text before this position and after a token that begins a line, such as a think
    /// tag.
    line_has_text: bool,
    /// Number of bytes of the separate reasoning field.
    field: usize,
    /// `true` if the open call began in a line that already had text.
    call_in_a_line: bool,
    /// Spans of all calls, including rejected ones.
    calls_at: Vec<Span>,
    collector: Collector,
    /// Calls that are settled, each with its index.
    settled: Vec<(u32, Call)>,
    /// Index ranges of calls that were withdrawn after they were reported.
    withdrawn: Vec<std::ops::Range<u32>>,
    broken: Option<Broken>,
}

impl<'a> Watch<'a> {
    fn new(stream: &'a str, config: &Config) -> Self {
        let mut tags = vec!["use_mcp_tool".to_owned(), "access_mcp_resource".to_owned()];
        let (mut known, mut longest) = (Vec::new(), 0);
        for tool in config.catalog.iter().flat_map(|c| c.tools()) {
            tags.push(tool.name.clone());
            known.push(folded(&tool.name));
            known.extend(tool.server.as_ref().map(|server| folded(&format!("{server}.{}", tool.name))));
            // An opening tag and the child element after it are one marker.
            let child = tool.parameters().map(|p| p.name.len() + "</>".len()).max().unwrap_or(0);
            let server = tool.server.as_ref().map_or(0, |server| server.len() + ".".len());
            longest = longest.max(server + tool.name.len() + "</>".len() + child);
        }
        // The opening tag of a foreign dialect contains the tool's name, and the child element
        // after it the parameter's.
        let names = config.catalog.iter().flat_map(|c| c.tools()).map(|tool| {
            let server = tool.server.as_ref().map_or(0, |server| server.len() + ".".len());
            (server + tool.name.len(), tool.parameters().map(|p| p.name.len()).max().unwrap_or(0))
        });
        let (tool, parameter) = names.fold((64, 32), |(a, b), (c, d)| (a.max(c), b.max(d)));
        longest = longest.max(FOREIGN_OPENER.len() + tool + parameter);
        Watch {
            stream,
            pushed: 0,
            at: 0,
            finished: false,
            open: None,
            next: 0,
            drafts: Vec::new(),
            found: Vec::new(),
            marked_at: marked_at(stream),
            hold: MIN_HOLD.max(longest + HOLD_SLACK),
            tags,
            known,
            call_bytes: config.limits.call_bytes,
            calls: config.limits.calls,
            field: 0,
            line_has_text: false,
            call_in_a_line: false,
            calls_at: Vec::new(),
            marked_last: false,
            collector: Collector::reading(config.reasoning, None),
            settled: Vec::new(),
            withdrawn: Vec::new(),
            broken: None,
        }
    }

    /// Checks an event against the laws, and stores the first violation.
    fn event(&mut self, event: Event<'_>) {
        if self.broken.is_none()
            && let Err(law) = self.check_event(&event)
        {
            self.broken = Some(format!("{law}\n event: {event:?}"));
        }
        oracle::event(&event, self.pushed, &self.collector);
        self.collector.push(event);
        self.settle();
    }

    /// Records the calls that are settled by now.
    fn settle(&mut self) {
        while let Some(entry) = self.collector.next_settled() {
            self.settled.extend(entry.result.clone().map(|call| (entry.index, call)));
        }
    }

    fn check_event(&mut self, event: &Event<'_>) -> Result<(), Broken> {
        let span = event.span();
        let (start, end) = (span.start as usize, span.end as usize);
        if start != self.at || end < start || end > self.pushed {
            return Err(format!("spans do not tile: at {}, pushed {}, span {span:?}", self.at, self.pushed));
        }
        self.at = end;
        self.marked_last = matches!(event, Event::Marker { .. } | Event::Reasoning { syntax: Some(_), .. });
        let under = &self.stream[start..end];
        self.follow_line(event, under);
        // The answer begins a new line, whatever the end of the reasoning field, which may have
        // been held back.
        self.line_has_text &= end > self.field;
        match event {
            Event::Text { text, .. } | Event::Reasoning { text, .. } | Event::Marker { text, .. } => {
                if *text != under {
                    return Err(format!("the stream reads {under:?} there"));
                }
                self.between_calls()
            }
            Event::CallStart { index, .. } => {
                self.between_calls()?;
                self.open = Some((*index, start, String::new()));
                expect(*index == self.next, || format!("expected index {}", self.next))
            }
            Event::ArgsDelta { index, text, .. } => match &mut self.open {
                Some((open, _, deltas)) if open == index => {
                    deltas.push_str(text);
                    Ok(())
                }
                _ => Err("a delta of a call that is not open".to_owned()),
            },
            Event::CallEnd { index, result, raw, restated, .. } => self.call_end(*index, result, raw, *restated, start),
            Event::Revised { calls, result, .. } => {
                self.between_calls()?;
                expect(start == end, || "the span is not empty".to_owned())?;
                expect(!calls.is_empty() && calls.end <= self.next, || "other calls than those that came".to_owned())?;
                self.revised(calls, result)
            }
            Event::Moved { spans, to, .. } => {
                self.between_calls()?;
                expect(start == end, || "the span is not empty".to_owned())?;
                let came = |span: &Span| span.start < span.end && span.end <= start as u64;
                expect(spans.iter().all(came), || "bytes that did not come".to_owned())?;
                expect(to.region() != Some(Region::Reasoning) || !self.collector.is_settled(), || {
                    "what is settled cannot become reasoning".to_owned()
                })?;
                if to.region().is_some() {
                    self.drafts.append(&mut self.found);
                }
                Ok(())
            }
            other => Err(format!("no law is known for {other:?}")),
        }
    }

    /// Checks that a revision of calls is one that later text may cause.
    fn revised(&mut self, calls: &std::ops::Range<u32>, result: &Result<Provenance, Reason>) -> Result<(), Broken> {
        let entries = || self.collector.entries().iter().filter(|entry| calls.contains(&entry.index));
        match result {
            Err(reason) if reason.kind == RejectedKind::InReasoning => Ok(()),
            Err(reason) if reason.kind == RejectedKind::AfterDamage && !self.finished => {
                self.withdrawn.push(calls.clone());
                expect(entries().all(|entry| entry.result.is_ok()), || "what is rejected was withdrawn".to_owned())
            }
            Ok(provenance @ (Provenance::BeforeProse | Provenance::Hedged)) if !self.finished => {
                // The line after a call may put it in doubt that is settled.
                let is_final = *provenance == Provenance::BeforeProse;
                let settled = is_final && self.settled.iter().any(|(settled, _)| calls.contains(settled));
                expect(!settled, || "the call was settled".to_owned())?;
                let is_plain = |entry: &Entry| entry.result.as_ref().is_ok_and(|call| call.provenance.is_plain());
                expect(entries().all(is_plain), || "a call that was not plain".to_owned())
            }
            _ => {
                if result.as_ref().is_err_and(|reason| reason.kind == RejectedKind::AfterDamage) {
                    self.withdrawn.push(calls.clone());
                }
                expect(self.finished, || "a draft or an example is a call before the end".to_owned())?;
                let is_whole = |entry: &Entry| result.is_err() || entry.call().is_some();
                expect(entries().all(is_whole), || "no complete draft or example has this index".to_owned())
            }
        }
    }

    /// Updates, after an event with this text of the stream, whether the current line has text.
    fn follow_line(&mut self, event: &Event<'_>, under: &str) {
        let last = under.rsplit('\n').next().unwrap_or_default();
        let breaks = last.len() < under.len();
        match event {
            Event::Text { .. } | Event::Reasoning { syntax: None, .. } => {
                self.line_has_text = (self.line_has_text && !breaks) || !last.chars().all(is_invisible);
            }
            Event::Reasoning { .. } | Event::Marker { .. } if breaks => self.line_has_text = false,
            Event::Marker { kind, .. } if !kind.is_call_syntax() || *kind == MarkerKind::AnswerLine => {
                self.line_has_text = false;
            }
            Event::CallStart { .. } => self.call_in_a_line = self.line_has_text && !under.starts_with("<|start|>"),
            _ => {}
        }
    }

    fn between_calls(&self) -> Result<(), Broken> {
        expect(self.open.is_none(), || "between a call's events".to_owned())
    }

    fn call_end(
        &mut self,
        index: u32,
        result: &Result<Call, Rejected>,
        raw: &str,
        restated: bool,
        start: usize,
    ) -> Result<(), Broken> {
        expect(index == self.next, || format!("expected index {}", self.next))?;
        let (start, deltas) = match self.open.take() {
            Some((open, from, deltas)) if open == index => (from, deltas),
            Some((open, ..)) => return Err(format!("call {open} is open")),
            None => {
                expect(result.is_err(), || "a call without a start".to_owned())?;
                (start, String::new())
            }
        };
        self.next += 1;
        self.calls_at.push(start as u64..self.at as u64);
        let whole = &self.stream[start..self.at];
        let kept = head(whole, self.call_bytes);
        expect(raw == kept, || format!("raw is not the call's text {kept:?}"))?;
        let prefix = json_prefix::read(&deltas).map_err(|e| format!("deltas {deltas:?} begin no JSON text: {e}"))?;
        match result {
            Ok(call) => {
                expect(index < u32::try_from(self.calls).unwrap_or(u32::MAX), || "past the limit of calls".to_owned())?;
                expect(whole.len() <= self.call_bytes, || "past the limit of bytes".to_owned())?;
                self.found.push(index);
                expect(!self.call_in_a_line || call.provenance != Provenance::Plain, || {
                    "a call in a line is told as if it began it".to_owned()
                })?;
                expect(restated || prefix.is_none_or(|p| p.begins(&call.arguments)), || {
                    format!("the arguments do not continue the deltas {deltas:?}")
                })
            }
            Err(rejected) => {
                // The text of a near call remains in the content.
                let is_near = rejected.kind == RejectedKind::NearCall && raw.is_empty();
                let is_own = if is_near { !rejected.raw.is_empty() } else { rejected.raw == raw };
                expect(is_own, || "the rejection has another raw text".to_owned())?;
                expect(!rejected.message.is_empty(), || "a rejection without a message".to_owned())?;
                match rejected.kind {
                    RejectedKind::InReasoning if rejected.call.is_some() => self.drafts.push(index),
                    // An example that is later found to be in the reasoning is a draft.
                    RejectedKind::Quoted if rejected.call.is_some() => self.found.push(index),
                    _ => {}
                }
                Ok(())
            }
        }
    }

    /// Checks that the parser holds text back only for a cause; returns a violation that was found before.
    fn held(&mut self) -> Result<(), Broken> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let held = &self.stream[self.at..self.pushed];
        // An object after a tag that was emitted as a marker may name its tool at its end.
        let is_marked = self.marked_last && held.starts_with(['{', '[']);
        if self.open.is_some() || is_marked || held.len() <= self.hold || self.may_be_call(held) {
            return Ok(());
        }
        Err(format!("{} bytes held back without cause at {}: {:?}", held.len(), self.at, head(held, 80)))
    }

    /// Returns `true` if the held text may begin a call, or a fence with a call in it.
    fn may_be_call(&self, held: &str) -> bool {
        let marked = self.marked_at < self.at;
        after_fence(held.trim_start()).into_iter().any(|rest| {
            let bare = rest.trim_start_matches(['*', '_']);
            if !bare.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("type")) {
                return self.begins_call(rest, marked);
            }
            let (line, after) = bare.split_once('\n').unwrap_or((bare, ""));
            // The object may be on the marker's own line.
            if head(line, LONGEST_LINE).contains(['{', '[']) {
                return true;
            }
            after_fence(after.trim_start()).into_iter().any(|rest| self.begins_call(rest, true))
        })
    }

    /// Returns `true` if the text may begin a call. With `marked`, it follows the marker of a call's JSON, and may be
    /// a further object.
    fn begins_call(&self, rest: &str, marked: bool) -> bool {
        if self.begins_bare_call(rest) || begins_react(rest) {
            return true;
        }
        if marked && rest.starts_with(['{', '[', ',']) {
            return true;
        }
        if wrappers().any(|w| rest.strip_prefix(w.open.as_str()).is_some_and(|json| !json.trim_start().is_empty())) {
            return true;
        }
        let Some(tag) = rest.strip_prefix('<') else { return false };
        if FOREIGN.iter().any(|opener| tag.starts_with(opener)) {
            return true;
        }
        self.tags.iter().any(|name| {
            let after = tag.strip_prefix(name.as_str()).and_then(|r| r.split_once('>'));
            // An undecided gate is no reason to hold more back.
            after.is_some_and(|(_, body)| !body.trim_start().is_empty())
        })
    }

    /// Returns `true` if the text may begin a call of a known tool without a marker.
    fn begins_bare_call(&self, rest: &str) -> bool {
        // Markdown escapes brackets, and underscores in names.
        let unescaped = head(rest, LONGEST_LINE).replace("\\[", "[").replace("\\_", "_");
        let rest = unescaped.as_str();
        let list = rest.strip_prefix('[').map(|inner| inner.trim_start());
        let object = list.unwrap_or(rest).strip_prefix('{').map(str::trim_start);
        // There may be a second pair of braces around it.
        let object = object.map(|inner| inner.strip_prefix('{').map_or(inner, str::trim_start));
        // With Python's quotes too.
        let key = |quote| object.and_then(|inner| inner.strip_prefix(quote)).and_then(|key| key.split_once(quote));
        // The key may be the tool's name.
        let is_key = |(key, _): (&str, &str)| CALL_KEYS.contains(&key) || self.known.contains(&folded(key));
        if key('"').or(key('\'')).is_some_and(is_key) {
            return !self.known.is_empty();
        }
        // A list may contain a list.
        let list = list.map(|inner| inner.strip_prefix('[').map_or(inner, str::trim_start));
        let call = list.map_or(rest, |inner| inner.strip_prefix(['"', '\'']).unwrap_or(inner));
        self.known.iter().any(|name| {
            let tail = call.get(..name.len()).filter(|found| folded(found) == *name).map(|_| &call[name.len()..]);
            // `search.call(` calls `search`. GLM-4 writes the arguments on the line after the name.
            let after_line = |rest: &str| rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
            tail.is_some_and(|rest| {
                rest.starts_with('(')
                    || rest.starts_with(".call(")
                    || (after_line(rest) && rest.trim_start().starts_with('{'))
            })
        })
    }

    /// Checks that the reported texts that are no calls are in order, and outside of calls.
    fn not_calls(&self, list: &[NotACall]) -> Result<(), Broken> {
        let mut from = 0;
        for given in list {
            let span = &given.span;
            expect(from <= span.start && span.start < span.end && span.end <= self.stream.len() as u64, || {
                format!("{given:?} is out of order")
            })?;
            let in_call = self.calls_at.iter().any(|call| call.start < span.end && span.start < call.end);
            expect(!in_call, || format!("{given:?} stands in a call"))?;
            from = span.end;
        }
        Ok(())
    }

    fn end(mut self) -> Result<Assembled, Broken> {
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        self.between_calls().map_err(|_| "the stream ended with a call open".to_owned())?;
        expect(self.at == self.stream.len(), || format!("bytes {}..{} are in no event", self.at, self.stream.len()))?;
        self.collector.end();
        self.settle();
        self.pieces()?;
        oracle::end(&self.collector);
        let message = self.collector.finish();
        let calls = message.entries.iter().filter_map(|e| Some((e.index, e.result.clone().ok()?)));
        // A settled call is not in the reasoning; it may still turn out to be text of another call.
        let withdrawn = |index: u32| self.withdrawn.iter().any(|calls| calls.contains(&index));
        let settled = self.settled.iter().filter(|(index, _)| !withdrawn(*index));
        let without_doubt = |(index, mut call): (u32, Call)| {
            if call.provenance == Provenance::Hedged {
                call.provenance = Provenance::Plain;
            }
            (index, call)
        };
        expect(calls.map(without_doubt).eq(settled.cloned().map(without_doubt)), || {
            format!("settled were {:?}, and the message has {:?}", self.settled, message.entries)
        })?;
        Ok(message)
    }

    /// Checks that the assembled pieces tile the stream.
    fn pieces(&self) -> Result<(), Broken> {
        let mut at = 0;
        for piece in self.collector.clone().into_pieces().0 {
            let (span, text) = match &piece {
                Piece::Text { text, span, .. }
                | Piece::Marker { text, span, .. }
                | Piece::Syntax { text, span, .. } => (span, Some(text)),
                Piece::Call { span, .. } => (span, None),
            };
            let under = self.stream.get(span.start as usize..span.end as usize);
            let fits = span.start == at && under.is_some() && text.is_none_or(|text| under == Some(text));
            expect(fits, || format!("at {at} stands {piece:?}, the stream reads {under:?} there"))?;
            at = span.end;
        }
        expect(at == self.stream.len() as u64, || format!("the pieces end at {at}"))
    }
}

/// Returns the delimiters of all dialects that mark a call in JSON by a literal text.
fn wrappers() -> impl Iterator<Item = &'static Wrapper> {
    Dialect::ALL.iter().flat_map(|dialect| match &dialect.spec().shape {
        Shape::MarkedJson(MarkedJson { announcer: Announcer::Marker(wrappers), .. }) => wrappers.as_slice(),
        _ => &[],
    })
}

/// Returns the offset of the first text that may mark a call in JSON; `usize::MAX` if there is none.
fn marked_at(stream: &str) -> usize {
    let line = stream.to_ascii_lowercase().find("type");
    wrappers().filter_map(|w| stream.find(w.open.as_str())).chain(line).min().unwrap_or(usize::MAX)
}
/// Returns `true` if the text is the beginning of a ReAct call: its lines up to an object, to the
/// fence around one, or to a plain text, which extends to the end of its line and the white space
/// after it.
fn begins_react(text: &str) -> bool {
    let Shape::React(react) = &Dialect::React.spec().shape else { return false };
    // After a plain text, another line of ReAct may begin.
    let may_follow = |rest: &str| react.lines.iter().any(|line| line.starts_with(rest.trim()));
    let is_bare =
        |input: &str| input.split_once(['\n']).is_none_or(|(line, rest)| !line.is_empty() && may_follow(rest));
    react.heads.iter().any(|form| {
        let mut texts = form.head.iter().filter_map(|piece| match piece {
            HeaderPiece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let last = texts.next_back().unwrap_or_default();
        let Some((lead, input)) = text.split_once(last).filter(|(lead, _)| lead.len() < LONGEST_LINE) else {
            return false;
        };
        lead.trim_start_matches(['*', '_']).starts_with(form.word())
            && (head(input, LONGEST_LINE).contains(['{', '`', '~', '\'']) || is_bare(input))
    })
}

/// Text after `<` at the beginning of opening tags of foreign dialects.
const FOREIGN: &[&str] = &[
    "function", "invoke", "antml:", "steptml:", "seed:", "start_function_call>", "minimax:", "tool_call>",
    "tool_call ", "longcat_tool_call>", "｜tool", "|tool", "｜DSML", "｜｜DSML", "||DSML", "|DSML", "|open|>call",
    "|channel|>", "|start|>",
];

/// The longest opening tag of a foreign dialect, with the text that must follow before it is known to be a call, but
/// without the names of tool and parameter.
const FOREIGN_OPENER: &str = "<tool_call:opensource> <tool_sep:opensource><arg_key:opensource>  \
                              </arg_key:opensource> <arg_value:opensource>";

/// First keys of an object that may be a call without a marker.
const CALL_KEYS: &[&str] = &[
    "name", "tool_name", "tool", "function_name", "thought", "arguments", "parameters", "args", "params", "input",
    "tool_input", "server_name", "server", "id", "type", "index", "call_id", "function", "tool_calls",
];

/// Number of bytes of a line that are searched for the beginning of a call.
const LONGEST_LINE: usize = 1024;

/// Returns the positions after a fence at which a call may begin: on its line, or after it. Without
/// a fence, the text itself.
fn after_fence(text: &str) -> Vec<&str> {
    // In a numbered list, the fence is after the number.
    let step = text.trim_start_matches(|c: char| c.is_ascii_digit()).strip_prefix(['.', ')']).map(str::trim_start);
    let text = step.filter(|step| step.starts_with(['`', '~', '\''])).unwrap_or(text);
    if !["```", "~~~", "'''", "<pre", "<code"].iter().any(|fence| text.starts_with(fence)) {
        return vec![text];
    }
    let (line, after) = text.split_once('\n').unwrap_or((text, ""));
    let on_the_line = head(line, LONGEST_LINE).match_indices(['{', '[', '<']).map(|(at, _)| &text[at..]);
    // In Python's syntax the name is after the delimiter of the fence, or after its language.
    let name = text.trim_start_matches(['`', '~', '\'']);
    let after_language = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim_start_matches([' ', '\t']);
    on_the_line.chain([name, after_language, after.trim_start()]).collect()
}

/// Normalises the name of a tool for a comparison: points and hyphens become underscores.
fn folded(name: &str) -> String {
    name.replace(['.', '-'], "_")
}

/// Returns `true` for white space, byte order marks and spaces without width.
fn is_invisible(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}')
}

fn expect(holds: bool, law: impl FnOnce() -> String) -> Result<(), Broken> {
    if holds { Ok(()) } else { Err(law()) }
}

/// Returns at most `most` bytes of the beginning of a text, without cutting a character.
fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}
