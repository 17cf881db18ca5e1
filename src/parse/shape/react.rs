//! ReAct: a line with the name of a known tool, a line with its arguments.
//!
//! ```text
//! Lead ──fence──▶ Lead ──▶ Json ──▶ Tail ──fence's end, anything──▶ call, end
//!   │                        └──cannot be read, a further line of ReAct's──▶ text
//!   └──a word, where the tool takes one text──▶ Bare ──the line's end, then a line of ReAct's or
//!                                                 │    the end of the stream──▶ call, end
//!                                                 └──anything else──▶ text
//! ```
//!
//! Nothing marks such a call but words, so it is one only if its name is known
//! and its JSON is whole; else its bytes are text.

use crate::dialect::{self, CALL_TOKENS, Dialect};
use serde_json::{Map, Value};

use crate::event::{RejectedKind, Repair};
use crate::json::JsonStep;
use crate::json::window::{Answer, Match, No, Undecided, Window, begins, first_of, leading_space};
use crate::parse::call::json::{Around, CallJson, JsonLead};
use crate::parse::call::{CallOut, CallShape, CalledTool, CutCall, Markerless, Place, Stands, Step};
use crate::parse::config::{HOLD_SLACK, MIN_HOLD};
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::marks::fence::fence_chars;
use crate::parse::marks::head::{Head, longest_head, react_head, unit};
use crate::parse::marks::kinds::Kinds;
use crate::parse::marks::tokens::tokens_at;
use crate::parse::shape::tool_tag::Callee;
use crate::parse::tables::Tables;

/// Reader of a call in ReAct's words, which may yet be text.
#[derive(Debug)]
pub(crate) struct ReactCall {
    spec: &'static dialect::React,
    start: u64,
    cursor: u64,
    call: UnresolvedCall,
    json: CallJson,
    /// Name of the parameter whose value is a text without quotes, if the tool takes one text; else `None`.
    takes: Option<String>,
    /// `true` if brackets are around the arguments.
    is_bracketed: bool,
    state: ReactState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReactState {
    Lead,
    /// The reader is in a text without quotes that is the argument.
    Bare,
    Json,
    /// The reader is after the JSON, which ends at this offset.
    Tail(u64),
    /// The reader is after the call, which ends at this offset.
    Over(u64),
}

/// Recogniser of ReAct calls: a line that names a known tool, and the beginning of the arguments on the next.
pub(crate) struct ReactOpeners;

impl Markerless for ReactOpeners {
    fn add_leads(&self, tables: &mut Tables) {
        let Some((_, spec)) = tables.react else { return };
        for form in &spec.heads {
            let word = form.word().as_bytes();
            tables.lexicon.line.add(word, Kinds::BARE);
            for emphasis in *b"*_" {
                [word[0], b'*', b'_'].iter().for_each(|next| tables.lexicon.line.add(&[emphasis, *next], Kinds::BARE));
            }
            tables.hold = tables.hold.max(longest_head(&form.head, tables.longest_name(0)) + HOLD_SLACK);
        }
    }

    fn stands(&self) -> Stands {
        Stands::AnyLine
    }

    fn ahead(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        let (_, spec) = tables.react.ok_or(No)?;
        words(spec, text, tables, more).map(|_| ())
    }

    /// Checks for a ReAct call at the start of a fence's content; only one with JSON counts there.
    fn ahead_in_fence(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        let (_, spec) = tables.react.ok_or(No)?;
        words_and_json(spec, text, tables, more).map(|_| ())
    }

    fn failed(&self, text: &str, tables: &Tables) -> Option<(Dialect, usize, NotACallReason)> {
        let (dialect, spec) = tables.react?;
        let (head, _) = react_head(spec, text, false).ok()?;
        let reason = if tables.names.knows(head.name) { NotACallReason::NoJson } else { NotACallReason::UnknownTool };
        Some((dialect, head.length, reason))
    }

    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)> {
        let (dialect, spec) = tables.react?;
        let Head { name, length, .. } = words(spec, text, tables, false).ok()?;
        let (_, is_bracketed) = react_head(spec, text, false).ok()?;
        let takes = one_text(tables, name, &text[length..]).map(str::to_owned);
        let state = if takes.is_some() { ReactState::Bare } else { ReactState::Lead };
        let (server, tool) = tables.split_name(name);
        let call = UnresolvedCall::of((server, Some(tool)));
        let (start, cursor) = (place.at, place.at + length as u64);
        let json = CallJson::arguments(cursor, tables.config.limits.depth, Around::Fence { expected: false }, "");
        Some((dialect, Box::new(ReactCall { spec, start, cursor, call, json, takes, is_bracketed, state })))
    }
}

/// Matches the words of a ReAct call at the start of `text`, with JSON after them, or with a bare text if the tool
/// takes one.
fn words<'t>(spec: &dialect::React, text: &'t str, tables: &Tables, more: bool) -> Match<Head<'t>> {
    words_and_json(spec, text, tables, more).else_try(|| {
        let (found, is_bracketed) = react_head(spec, text, false)?;
        // Brackets contain JSON alone.
        if is_bracketed || !tables.names.knows(found.name) {
            return Err(No);
        }
        let text = &text[found.length..];
        match one_text(tables, found.name, text) {
            // A sign that makes it a parameter's name may follow.
            Some(_) if more && word_length(text) == text.trim_end_matches(' ').len() => Err(Undecided),
            Some(_) => Ok(found),
            None => Err(No),
        }
    })
}

/// Matches the words of a ReAct call at the start of `text`, with JSON after them or a fence, which contains it.
fn words_and_json<'t>(spec: &dialect::React, text: &'t str, tables: &Tables, more: bool) -> Match<Head<'t>> {
    let (found, _) = react_head(spec, text, more)?;
    if !tables.names.knows(found.name) {
        return Err(No);
    }
    let inner = &text[found.length..];
    let inner = &inner[leading_space(inner)..];
    begins(inner, "{", more).else_try(|| unit(fence_chars(inner, more))).map(|()| found)
}

/// Returns `true` if `text`, after the words of a ReAct call, begins with a text on the same line, and with neither
/// JSON nor a marker (`react/marker_for_a_text`).
fn begins_text(text: &str) -> bool {
    text.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '{' | '[' | '<' | '`' | '~'))
}

/// Returns the parameter whose value is `text`, after the words of a ReAct call, if the tool takes one text: its only
/// parameter, or the only required one. `None` also if the text names a parameter, as arguments in another syntax do
/// (`city: Oslo`).
fn one_text<'t>(tables: &'t Tables, tool: &str, text: &str) -> Option<&'t str> {
    let tool = tables.named_tool(tool)?;
    let word = word_length(text);
    let names_parameter =
        text[word..].trim_start_matches(' ').starts_with([':', '=']) && tool.has_parameter(&text[..word]);
    if !begins_text(text) || names_parameter {
        return None;
    }
    let needed = tool.parameters().filter(|parameter| parameter.required).count();
    let mut parameters = tool.parameters();
    let (first, count) = (parameters.next()?, tool.parameters().count());
    let one = if count == 1 { first } else { tool.parameters().find(|parameter| parameter.required && needed == 1)? };
    let known = Callee::named(tables, tool.server.as_deref(), &tool.name).tool(tables);
    known.parameters.iter().any(|parameter| parameter.name == one.name && parameter.is_text).then_some(one.name)
}

/// Returns the length in bytes of the word that `text` begins with.
fn word_length(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

impl ReactCall {
    /// Reads a bare text as the argument: it is the rest of its line, if a line of ReAct's or the end of the stream
    /// follows. Further lines may be more of it, or prose, and a fence may contain the arguments themselves
    /// (`react/text_before_a_fence`).
    fn bare(&mut self, window: &Window<'_>, out: &CallOut<'_, '_>) -> Step {
        let rest = window.from(self.cursor);
        let (line, after) = match rest.split_once('\n') {
            Some((line, after)) => (line, after),
            // Nothing but the end of the stream ends it.
            None if window.more || !out.emitter.ended_normally => return Step::More,
            None => (rest, ""),
        };
        let after = &after[leading_space(after)..];
        let follows = match after.is_empty() {
            true if window.more => Err(Undecided),
            true => Ok(()),
            false => first_of(self.spec.lines.iter().map(|line| begins(after, line, window.more))),
        };
        let token = token_in(line);
        let length = token.unwrap_or(line.len());
        // Text in front of another call on its line is rather prose (`react/text_before_a_call_token`).
        let before_call = CALL_TOKENS.iter().any(|token| line[length..].starts_with(token));
        match follows {
            _ if before_call => return Step::Text(self.cursor + length as u64, NotACallReason::TextAfter),
            _ if token.is_some() => {}
            Err(Undecided) => return Step::More,
            Err(No) => return Step::Text(self.cursor + line.len() as u64, NotACallReason::TextAfter),
            Ok(()) => {}
        }
        // What closes a call before says that this is text of that one (`mixed/closer_in_a_bare_text`).
        if out.emitter.region.known_damage().stray_in(&line[..length]).is_some() {
            return Step::Text(self.cursor, NotACallReason::NoJson);
        }
        // Its name in quotation marks is a key of damaged JSON.
        let takes = self.takes.take().filter(|parameter| !line.contains(&format!("{parameter}\"")));
        let Some((parameter, text)) = takes.zip(unquoted(line[..length].trim())) else {
            return Step::Text(self.cursor + line.len() as u64, NotACallReason::NoJson);
        };
        let end = self.cursor + line[..length].trim_end().len() as u64;
        line[..length].trim().clone_into(&mut self.call.raw_arguments);
        self.call.arguments = match serde_json::from_str(&text) {
            // All arguments as a string.
            Ok(object @ Value::Object(_)) if line.starts_with('"') => {
                self.call.repairs.push(Repair::UnwrappedString(String::new()));
                object
            }
            _ => {
                self.call.repairs.push(Repair::Other(format!("positional:{parameter}")));
                Value::Object(Map::from_iter([(parameter, Value::from(text))]))
            }
        };
        self.state = ReactState::Over(end);
        Step::Call(self.start..end, Box::new(std::mem::take(&mut self.call)))
    }

    /// Reads a fence before the JSON, or the JSON's beginning.
    fn lead(&mut self, rest: &str, more: bool) -> Step {
        match self.json.lead(rest, more, Err(No), &mut self.call) {
            Err(Undecided) => return Step::More,
            Ok(JsonLead::Around(length) | JsonLead::Closer(length)) => self.cursor += length as u64,
            Err(No) => {
                self.json.begin(self.cursor);
                self.state = ReactState::Json;
            }
        }
        Step::Next
    }

    fn json(&mut self, window: &Window<'_>, out: &CallOut<'_, '_>) -> Step {
        // A further line of ReAct's ends damaged JSON.
        let lines = |text: &str, line_start: bool, more: bool| {
            first_of(self.spec.lines.iter().filter(|_| line_start).map(|line| begins(text, line, more)))
        };
        let step = self.json.next(window, &lines, out);
        self.cursor = self.json.cursor;
        match step {
            JsonStep::More => return Step::More,
            JsonStep::End(at) => self.state = ReactState::Tail(at),
            JsonStep::Closed(at) | JsonStep::Passed(at) => return Step::Text(at, NotACallReason::Unclosed),
            JsonStep::Fault(_) | JsonStep::Key(_) | JsonStep::ValueStart(_) | JsonStep::ValueEnd(_) => {}
        }
        Step::Next
    }

    /// Reads the text after the JSON: a closing bracket, or the end of the fence.
    fn tail(&mut self, json_end: u64, rest: &str, more: bool, window: &Window<'_>) -> Step {
        if self.is_bracketed {
            return match rest.bytes().next() {
                Some(b')' | b']') => self.over(self.cursor + 1, window),
                None if more => Step::More,
                _ => Step::Text(json_end, NotACallReason::Unclosed),
            };
        }
        match self.json.unwrap(rest, more) {
            Err(Undecided) => Step::More,
            Ok(length) => self.over(self.cursor + length as u64, window),
            Err(No) if !self.json.peek_trailing(self.cursor, rest, more) => Step::More,
            // Which of two objects is meant nobody knows (`react/two_objects`).
            Err(No) if self.json.trailing.object => Step::Text(json_end, NotACallReason::Damaged),
            Err(No) => {
                self.call.prose_follows = goes_on(json_end, self.cursor, rest, window);
                self.over(json_end, window)
            }
        }
    }

    fn over(&mut self, end: u64, window: &Window<'_>) -> Step {
        self.json.resolve(window, &mut self.call);
        // A call past a limit is rejected as such, and no text (`react/too_deep`).
        if self.call.fault.as_ref().is_some_and(|fault| fault.kind != RejectedKind::Limit) {
            return Step::Text(end, NotACallReason::Damaged);
        }
        self.state = ReactState::Over(end);
        Step::Call(self.start..end, Box::new(std::mem::take(&mut self.call)))
    }
}

impl CallShape for ReactCall {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        match self.state {
            ReactState::Json => return self.json(window, out),
            ReactState::Bare => return self.bare(window, out),
            ReactState::Over(end) => return Step::End(end),
            ReactState::Lead | ReactState::Tail(_) => {}
        }
        self.cursor += leading_space(window.from(self.cursor)) as u64;
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        match self.state {
            ReactState::Tail(end) => self.tail(end, rest, more, window),
            _ if rest.is_empty() => Step::More,
            _ => self.lead(rest, more),
        }
    }

    fn ending(&mut self, window: &Window<'_>, _: &Tables) -> Step {
        if self.state == ReactState::Lead { Step::Text(window.end(), NotACallReason::CutOff) } else { Step::More }
    }

    fn missing(&self, window: &Window<'_>, _: &Tables) -> CutCall {
        CutCall { inner: self.json.missing(window), ..CutCall::default() }
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.call.called()
    }

    fn ends_with_reasoning(&self) -> bool {
        false
    }
}

/// Returns `true` if a sentence, and no bracket, token or tag, follows at `at` on the line where the call ended, `end`.
fn goes_on(end: u64, at: u64, rest: &str, window: &Window<'_>) -> bool {
    let is_text = !rest.is_empty() && !rest.starts_with(['}', ']', ')', '<', '[', '`']);
    is_text && !window.slice(end..at).contains('\n')
}

/// Returns the offset of the first chat template's token in a line; `None` without one.
fn token_in(line: &str) -> Option<usize> {
    memchr::memchr2_iter(b'<', b'[', line.as_bytes())
        .find(|at| tokens_at(&line[*at..]).iter().any(|token| line[*at..].starts_with(token.text)))
}

/// Returns a text without the quotation marks around it; `None` if it is empty, or if its marks may be part of more.
fn unquoted(text: &str) -> Option<String> {
    let inner = |mark: char| text.strip_prefix(mark).and_then(|text| text.strip_suffix(mark));
    if let Some(inner) = inner('"') {
        return serde_json::from_str(text).ok().or_else(|| (!inner.contains('"')).then(|| inner.to_owned()));
    }
    if let Some(inner) = inner('\'') {
        return (!inner.contains('\'')).then(|| inner.to_owned());
    }
    (!text.is_empty() && !text.starts_with(['`', '[', '"', '\''])).then(|| text.to_owned())
}
