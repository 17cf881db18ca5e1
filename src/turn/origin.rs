//! Determines the provenance of a call: a call that occurs in a result, a file or what another server says about itself
//! is not the model's own, nor is one that writes the program's notes to the model, or that changes what a rejected call
//! tried to read.
//!
//! Such texts reach the model byte for byte, including the calls in them. A copied call does not run without
//! approval, because it is recognised: its bytes occur in such a text, or its tool and arguments do, in any syntax.
//! Both are compared as they are written and as they read ([`plain`]), long ones also by their letters alone, which may
//! be spread over several texts.
//!
//! The work is bounded: each text is read once in a turn, when the first call comes after it, and at most `MAX_BYTES`
//! of all texts, the newest first. If there are more, any call that may change something counts as a copy.

mod plain;
mod servers;

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use memchr::memmem;
use serde_json::Value;

use self::plain::{letters, plain, plain_value, squeezed, with_hidden};
use super::contents::Contents;
use super::setup::Setup;
use crate::conversation::{Conversation, HistoryEntry};
use crate::dialect::DialectSet;
use crate::event::{Assembled, Call, Provenance, Rejected};
use crate::message::{ReasoningCalls, ReasoningMode};
use crate::outcome::{Outcome, Status, cut, foreign_in_message, holds_frame, restore_tokens};
use crate::parse::{self, Limits, Parser, find_values};
use crate::tools::{BuiltIn, Catalog, Server};

/// Limit on the bytes of results and files in which calls are searched for.
pub(super) const MAX_BYTES: usize = 4 << 20;

/// Limit on the bytes of one result or file, of which its beginning and end are read: more than a model is shown at
/// once.
const MAX_TEXT: usize = 512 << 10;

/// Minimum number of bytes of letters by which a call is recognised; `BETWEEN` are the words that may be between its
/// tool and its arguments.
const MIN_LETTERS: usize = 24;
const BETWEEN: [&str; 6] = ["", "arguments", "parameters", "args", "params", "input"];

/// Limit on the calls that are searched for in one text; more than a message may contain, so that a text cannot hide
/// one after many others.
const MAX_CALLS: usize = 4_096;

/// Limit on the occurrences of a tool's name that are checked for the call's arguments next to them.
const MAX_PLACES: usize = 32;

/// Minimum number of bytes on either side of an occurrence of a tool's name that are checked, besides twice those of
/// the arguments; `MAX_REACH` is the maximum.
const MIN_REACH: usize = 256;
const MAX_REACH: usize = 16 << 10;

/// Limit on the closing brackets after a name at which a call in Python's syntax may end.
const MAX_CLOSERS: usize = 16;

/// Limit on the nesting of JSON in which strings are searched for.
const MAX_JSON_DEPTH: usize = 32;

/// Limit on the strings of a call's arguments that are searched for in rejected calls.
const MAX_TEXTS: usize = 1_024;

/// Minimum number of bytes of a line of the program by which it is recognised; `MAX_LINES` limits the lines that are
/// searched for, the newest first.
const MIN_LINE: usize = 24;
const MAX_LINES: usize = 64;

/// Minimum number of bytes of a string by which it is recognised in a rejected call.
const MIN_NAME: usize = 3;

/// A result that is not in the conversation, but in a client's history.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ForeignResult {
    /// Id of the call that gave the result; empty if it is not known.
    pub id: String,
    /// Text of the result.
    pub text: String,
    /// Call that gave the result, if it is known.
    pub call: Option<Call>,
    /// Name of the file that contains the text; `None` if the text is not a file or has no name.
    pub file: Option<String>,
}

impl ForeignResult {
    /// Creates an untrusted text from a file of the user.
    pub fn of_file(name: Option<String>, text: impl Into<String>) -> Self {
        ForeignResult { file: name, ..ForeignResult::new("", text) }
    }

    /// Sets the call that gave the result.
    #[must_use]
    pub fn with_call(self, call: Option<Call>) -> Self {
        ForeignResult { call, ..self }
    }

    /// Creates the result of the call with this id.
    pub fn new(id: impl Into<String>, text: impl Into<String>) -> Self {
        ForeignResult { id: id.into(), text: text.into(), call: None, file: None }
    }
}

/// The untrusted texts in a conversation, and the calls in them.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// Results that are not in the conversation, the oldest first.
    pub(super) foreign: Vec<ForeignResult>,
    /// Rejected calls in the client's history since the last message of the user that the model was told about.
    pub(super) told: Vec<Rejected>,
    read: Mutex<ReadProgress>,
}

/// Progress of reading the untrusted texts, and the calls that were found in them.
#[derive(Debug, Default)]
struct ReadProgress {
    /// Number of entries of the conversation that were read.
    entries: usize,
    foreign: usize,
    bytes: usize,
    contents: Contents,
}

impl Contents {
    /// Reads the calls and letters of a text and, if it is JSON, of the strings in it.
    fn read(&mut self, text: &str, parser: &Parser, setup: &Setup) {
        self.take(text, false, parser, setup);
        within_json(text, MAX_JSON_DEPTH, &mut |inner| self.take(inner, true, parser, setup));
    }

    /// Reads the calls and the letters of a text; with `is_inner`, the letters of a text inside JSON are another
    /// reading.
    fn take(&mut self, text: &str, is_inner: bool, parser: &Parser, setup: &Setup) {
        let calls = calls_in(text, parser, setup);
        self.is_incomplete |= calls.len() >= MAX_CALLS;
        self.calls.extend(calls);
        let read = plain(text);
        // A disguised call is only visible in the text as it reads.
        if read != text {
            let found = calls_in(&read, parser, setup).into_iter();
            self.calls.extend(found.map(|(tool, arguments)| (plain(&tool), plain_value(&arguments))));
        }
        self.letters[usize::from(is_inner)] += &letters(&read, false);
        // Line numbers and times between the lines of a call would part its letters.
        if read.lines().any(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit())) {
            self.letters[1] += &letters(&read, true);
        }
        if let Some(read) = with_hidden(text) {
            self.letters[1] += &letters(&read, false);
        }
    }

    /// Returns `true` if the texts have the letters of the call as it was written, or of its tool with its arguments,
    /// each after its name or between its name twice, as in tags.
    fn has_letters(&self, call: &Call, raw: &str) -> bool {
        let (tool, raw) = (letters(&call.tool, false), letters(raw, false));
        // Fewer letters occur by chance; the tool has to be among them, since a marker alone names none.
        if raw.len() >= MIN_LETTERS && raw.contains(&tool) && self.letters.iter().any(|text| text.contains(&raw)) {
            return true;
        }
        let holds = |text: &str, arguments: &str| {
            let ends = |before: &str, word| before.strip_suffix(word).is_some_and(|before| before.ends_with(&tool));
            text.match_indices(arguments).any(|(at, _)| BETWEEN.iter().any(|word| ends(&text[..at], word)))
        };
        [NamePlace::Before, NamePlace::Around].into_iter().any(|names| {
            let mut arguments = String::new();
            spell(&call.arguments, names, &mut arguments);
            let is_long = !arguments.is_empty() && tool.len() + arguments.len() >= MIN_LETTERS;
            is_long && self.letters.iter().any(|text| holds(text, &arguments))
        })
    }
}

/// Place of the names of members: none, as of arguments by position; before the values; or on both sides, as in tags.
#[derive(Clone, Copy, PartialEq)]
enum NamePlace {
    None,
    Before,
    Around,
}

/// Appends the letters and digits of a JSON value, with the names of its members at this place.
fn spell(value: &Value, names: NamePlace, spelled: &mut String) {
    match value {
        Value::Null => {}
        Value::String(text) => *spelled += &letters(text, false),
        Value::Array(items) => items.iter().for_each(|item| spell(item, names, spelled)),
        Value::Object(members) => members.iter().for_each(|(name, member)| {
            let name = letters(name, false);
            *spelled += if names == NamePlace::None { "" } else { &name };
            spell(member, names, spelled);
            *spelled += if names == NamePlace::Around { &name } else { "" };
        }),
        scalar => *spelled += &letters(&scalar.to_string(), false),
    }
}

impl Origins {
    /// Creates the origins with these results that are not in the conversation, the oldest first, and the rejected
    /// calls in the client's history.
    pub(super) fn of(foreign: Vec<ForeignResult>, told: Vec<Rejected>) -> Self {
        Origins { foreign, told, read: Mutex::default() }
    }

    /// Sets the provenance of a call that occurs in an untrusted text; a call that needs approval anyway stays as it
    /// is.
    pub(super) fn marked(&self, call: Call, raw: &str, setup: &Setup, conversation: &Conversation) -> Call {
        if !call.provenance.is_plain() {
            return call;
        }
        let may_change = !is_harmless(call.server.as_deref(), &call.tool, &setup.catalog);
        // A harmless call may repeat the program's own lines.
        let provenance = if self.holds(&call, raw, may_change, setup, conversation)
            || may_change && self.writes_our_words(&call.arguments, setup, conversation)
        {
            Provenance::Echoed
        } else if may_change && is_instead_of_read(&call.arguments, setup, conversation) {
            Provenance::InsteadOfRead
        } else {
            Provenance::Plain
        };
        Call { provenance, ..call }
    }

    fn holds(&self, call: &Call, raw: &str, may_change: bool, setup: &Setup, conversation: &Conversation) -> bool {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        self.read_on(&mut read, setup, conversation);
        let written = WrittenCall::new(call, raw, may_change);
        written.is_in(&read.contents, setup, || self.texts(setup, conversation)) || others_say(&written, setup)
    }

    /// Returns `true` if a text in the arguments contains a frame of the program, or a line about calls that the model
    /// was told in this conversation, and no untrusted text contains it: a file may be copied. Small models write such
    /// lines into files.
    fn writes_our_words(&self, arguments: &Value, setup: &Setup, conversation: &Conversation) -> bool {
        let foreign = |holds: &dyn Fn(&str) -> bool| self.texts(setup, conversation).any(|text| holds(&text));
        // What an untrusted text contains too is looked for once, however many texts the arguments have.
        let (mut told, mut may_frame) = (told_lines(conversation), true);
        let mut found = false;
        texts_within(arguments, MAX_JSON_DEPTH, &mut |text| {
            may_frame = may_frame && !(holds_frame(text) && foreign(&holds_frame));
            told.retain(|line| !(text.contains(line) && foreign(&|text| text.contains(line))));
            // What is left of `may_frame` and `told` is in no untrusted text.
            found = found || may_frame && holds_frame(text) || told.iter().any(|line| text.contains(line));
        });
        found
    }

    /// Reads the untrusted texts that have not been read yet.
    fn read_on(&self, read: &mut ReadProgress, setup: &Setup, conversation: &Conversation) {
        let new = self.foreign[read.foreign..].iter().flat_map(texts_of_result);
        let since = (read.entries..conversation.entries().len()).flat_map(|at| texts_of(conversation, at, setup));
        let texts: Vec<Cow<'_, str>> = new.chain(since).collect();
        read.foreign = self.foreign.len();
        read.entries = conversation.entries().len();
        let fits = texts.iter().rev().take_while(|text| {
            let fits = read.bytes < MAX_BYTES;
            read.bytes += if fits { text.len() } else { 0 };
            fits
        });
        let unread = texts.len() - fits.count();
        read.contents.is_incomplete |= unread > 0;
        let parser = (unread < texts.len()).then(|| reader(setup));
        for (text, parser) in texts[unread..].iter().flat_map(|text| parser.as_ref().map(|parser| (text, parser))) {
            read.contents.read(text, parser, setup);
        }
    }

    /// Returns all untrusted texts, the newest first, up to the limit on bytes.
    fn texts<'t>(&'t self, setup: &'t Setup, conversation: &'t Conversation) -> impl Iterator<Item = Cow<'t, str>> {
        let mut left = MAX_BYTES;
        let own = (0..conversation.entries().len()).rev().flat_map(|at| texts_of(conversation, at, setup));
        own.chain(self.foreign.iter().rev().flat_map(texts_of_result)).take_while(move |text| {
            let fits = left > 0;
            left = left.saturating_sub(text.len());
            fits
        })
    }
}

/// A call that may be a copy, as it is written and as it is displayed.
struct WrittenCall<'c> {
    call: &'c Call,
    plain: Call,
    raw: Cow<'c, str>,
    plain_raw: String,
    may_change: bool,
}

impl<'c> WrittenCall<'c> {
    fn new(call: &'c Call, raw: &'c str, may_change: bool) -> Self {
        let plain_call = Call { tool: plain(&call.tool), arguments: plain_value(&call.arguments), ..call.clone() };
        let raw = restore_tokens(raw.trim());
        let plain_raw = plain(&raw);
        WrittenCall { call, plain: plain_call, raw, plain_raw, may_change }
    }

    /// Returns `true` if one of these texts has the call; `read` has their contents.
    fn is_in<'t, T: Iterator<Item = Cow<'t, str>>>(
        &self,
        read: &Contents,
        setup: &Setup,
        texts: impl FnOnce() -> T,
    ) -> bool {
        let is_read =
            |call: &Call| read.calls.iter().any(|(tool, arguments)| *tool == call.tool && *arguments == call.arguments);
        // In texts that were not read completely, a call that changes something is assumed to be there.
        if is_read(self.call)
            || is_read(&self.plain)
            || self.may_change && read.is_incomplete
            || read.has_letters(&self.plain, &self.plain_raw)
        {
            return true;
        }
        let tool = letters(&self.plain.tool, false);
        // Without the tool's name in any of them no text has to be searched.
        if !read.letters.iter().any(|text| text.contains(&tool)) {
            return false;
        }
        let finder = memmem::Finder::new(self.raw.as_bytes());
        let plain_raw = squeezed(&self.plain_raw);
        let mut left = MAX_PLACES;
        let mut stands_in = |text: &str| {
            let is_verbatim = !self.raw.is_empty() && finder.find(text.as_bytes()).is_some();
            if is_verbatim || spoken_of(self.call, text, &mut left, setup) {
                return true;
            }
            let read = plain(text);
            // If neither reads differently, the comparison was made above.
            let differs = read != text || plain_raw.len() != self.raw.len();
            let is_copy = || !plain_raw.is_empty() && squeezed(&read).contains(&plain_raw);
            differs && (is_copy() || spoken_of(&self.plain, &read, &mut left, setup))
        };
        let may_be_hidden = read.letters[1].contains(&tool);
        texts().any(|text| {
            let hidden = || with_hidden(&text).filter(|_| may_be_hidden);
            let mut found = stands_in(&text) || hidden().is_some_and(|read| stands_in(&read));
            // Inside JSON only a text with escapes reads differently.
            let is_named = || text.contains(&self.call.tool) || plain(&text).contains(&self.plain.tool);
            if !found && text.contains('\\') && is_named() {
                within_json(&text, MAX_JSON_DEPTH, &mut |inner| found = found || stands_in(inner));
            }
            found
        })
    }
}

/// Returns `true` if a call of the tool only reads, or is shown and not run.
fn is_harmless(server: Option<&str>, tool: &str, catalog: &Catalog) -> bool {
    catalog.is_read_only(server, tool) || catalog.find(server, tool).is_ok_and(|found| found.tool.display_only)
}

/// Returns `true` if the outcome has a text of the tool, which may be a failure.
fn gave_result(outcome: &Outcome) -> bool {
    matches!(outcome.status, Status::Result | Status::ToolError)
}

/// Returns the program's lines to the model about its calls: notes, outcomes without a result, and reasons of
/// rejections.
fn told_lines(conversation: &Conversation) -> Vec<&str> {
    let lines = conversation.entries().iter().rev().flat_map(|entry| match entry {
        HistoryEntry::Note { text } => text.lines().collect(),
        // The lines after the first one may come from a tool.
        HistoryEntry::Outcome { outcome, .. } if !gave_result(outcome) => outcome.text.lines().take(1).collect(),
        HistoryEntry::Assistant(message) => message.feedback().flat_map(|rejected| rejected.message.lines()).collect(),
        _ => Vec::new(),
    });
    lines.map(str::trim).filter(|line| line.len() >= MIN_LINE).take(MAX_LINES).collect()
}

/// Returns `true` if a text of the arguments is in a rejected call of a read-only tool, in the previous message or in
/// earlier ones that were rejected as a whole: the correction of a read has become a call that may change what it tried
/// to read.
fn is_instead_of_read(arguments: &Value, setup: &Setup, conversation: &Conversation) -> bool {
    let since = conversation.entries().iter().rev().take_while(|entry| !matches!(entry, HistoryEntry::User(_)));
    let messages =
        since.filter_map(|entry| if let HistoryEntry::Assistant(message) = entry { Some(message) } else { None });
    for message in messages {
        let reads = |rejected: &&Rejected| {
            let tool =
                rejected.tool.as_deref().and_then(|tool| setup.catalog.resolve(rejected.server.as_deref(), tool).ok());
            tool.is_some_and(|found| found.tool.is_read_only())
        };
        for rejected in message.feedback().filter(reads) {
            let (mut is_same, mut left) = (false, MAX_TEXTS);
            texts_within(arguments, MAX_JSON_DEPTH, &mut |text| {
                // With more texts than the limit the call is assumed to be one.
                is_same |= left == 0;
                if is_same {
                    return;
                }
                left -= 1;
                // Compared verbatim and as a text in JSON.
                let escaped = Value::from(text).to_string();
                let names = |text: &str| rejected.raw.contains(text);
                // A shorter text, such as `a`, is in every call.
                is_same |= text.len() >= MIN_NAME && (names(text) || names(escaped.trim_matches('"')));
            });
            if is_same {
                return true;
            }
        }
        // After a message with a valid call the correction is over.
        if message.calls().next().is_some() {
            return false;
        }
    }
    false
}

/// Returns the untrusted texts of an entry: a result, or the files in a message of the user.
fn texts_of<'c>(conversation: &'c Conversation, at: usize, setup: &Setup) -> Vec<Cow<'c, str>> {
    match &conversation.entries()[at] {
        HistoryEntry::User(said) => {
            let named = |(name, text): (Option<String>, &'c str)| [name.map(Cow::Owned), Some(shown(text.into()))];
            foreign_in_message(&said.text).flat_map(named).flatten().collect()
        }
        // The text of a call without a result comes from the program or the user.
        HistoryEntry::Outcome { outcome, .. } if !gave_result(outcome) => Vec::new(),
        HistoryEntry::Outcome { id, outcome } => {
            let before = conversation.entries()[..at].iter().rev();
            let message = before.filter_map(|entry| match entry {
                HistoryEntry::Assistant(message) => Some(message),
                _ => None,
            });
            let call = message.take(1).flat_map(|message| message.calls()).find(|call| call.id == *id);
            // The text of a built-in tool comes from the program, except when it reads from a result.
            let is_ours = call.and_then(|call| setup.catalog.as_built_in(call.call.server.as_deref(), &call.call.tool));
            if is_ours.is_some_and(|own| own != BuiltIn::Read) { Vec::new() } else { vec![shown(outcome.said())] }
        }
        HistoryEntry::Assistant(_) | HistoryEntry::Note { .. } => Vec::new(),
    }
}

/// Returns the untrusted texts of a result of the client's history: its text and the name of its file.
fn texts_of_result(result: &ForeignResult) -> impl Iterator<Item = Cow<'_, str>> {
    result.file.as_deref().map(Cow::Borrowed).into_iter().chain([shown(result.text.as_str().into())])
}

/// Returns `true` if what another server says about itself, in instructions, descriptions and schemas, has the call. A
/// server's examples of calls of its own tools are not counted: whatever such a call does, its server could do without
/// it.
fn others_say(written: &WrittenCall<'_>, setup: &Setup) -> bool {
    let servers = setup.catalog.servers();
    let call = written.call;
    let found = setup.catalog.find(call.server.as_deref(), &call.tool);
    let own = found.as_ref().map_or(&call.server, |found| &found.tool.server);
    // No other server says anything.
    if servers.iter().all(|server| server.name == *own) {
        return false;
    }
    let contents = setup.server_texts.get_or_init(|| {
        let parser = reader(setup);
        servers.iter().map(|server| read_server(server, &parser, setup)).collect()
    });
    let mut others = servers.iter().zip(contents).filter(|(server, _)| server.name != *own);
    others.any(|(server, contents)| written.is_in(contents, setup, || texts_of_server(server)))
}

/// Reads the calls in the texts of a server, up to the limit on bytes.
fn read_server(server: &Server, parser: &Parser, setup: &Setup) -> Contents {
    let (mut contents, mut left) = (Contents::default(), MAX_BYTES);
    for text in texts_of_server(server) {
        contents.is_incomplete |= left == 0;
        if left > 0 {
            contents.read(&text, parser, setup);
        }
        left = left.saturating_sub(text.len());
    }
    contents
}

/// Returns the texts of a server that the model may be shown; long ones without their middle.
fn texts_of_server(server: &Server) -> impl Iterator<Item = Cow<'_, str>> {
    servers::texts_of(server).map(shown)
}

/// Returns a text without its middle if it is longer than [`MAX_TEXT`].
fn shown(text: Cow<'_, str>) -> Cow<'_, str> {
    let ends = cut(&text, MAX_TEXT).map(|cut| format!("{}\n{}", cut.head, cut.tail));
    ends.map_or(text, Cow::Owned)
}

/// Calls `take` with the strings inside a text that is JSON, or has lines of JSON, and with the strings in their JSON.
fn within_json(text: &str, depth: usize, take: &mut dyn FnMut(&str)) {
    let may_be = |text: &&str| text.trim_start().starts_with(['{', '[', '"']);
    let json = |text: &str| serde_json::from_str::<Value>(text).ok();
    let whole = Some(text).filter(may_be).and_then(json);
    let lines = text.lines().filter(|_| whole.is_none()).filter(may_be).filter_map(json);
    for value in whole.iter().cloned().chain(lines) {
        texts_within(&value, depth, &mut |inner| {
            take(inner);
            if depth > 0 {
                within_json(inner, depth - 1, take);
            }
        });
    }
}

/// Calls `take` with the strings in a JSON value, which a model reads without their escapes.
fn texts_within(value: &Value, depth: usize, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Array(items) if depth > 0 => items.iter().for_each(|item| texts_within(item, depth - 1, take)),
        Value::Object(members) if depth > 0 => {
            members.values().for_each(|member| texts_within(member, depth - 1, take));
        }
        _ => {}
    }
}

/// Creates a parser that finds calls of every dialect, anywhere in a text.
fn reader(setup: &Setup) -> Parser {
    Parser::new(parse::Config {
        dialects: DialectSet::AUTO,
        catalog: Some(setup.catalog.clone()),
        reasoning: ReasoningMode::Off,
        reasoning_calls: ReasoningCalls::Allow,
        limits: Limits { calls: MAX_CALLS, ..setup.config.limits },
        ..parse::Config::default()
    })
}

/// Returns `true` if a text has the tool's name with the arguments next to it in a form that is no call in any syntax:
/// an object of JSON in prose, or `name(…)` in a line.
fn spoken_of(call: &Call, text: &str, left: &mut usize, setup: &Setup) -> bool {
    if call.arguments.as_object().is_none_or(|arguments| arguments.is_empty()) {
        return !is_harmless(call.server.as_deref(), &call.tool, &setup.catalog) && is_spelled_out(&call.tool, text);
    }
    let reach = (2 * call.raw_arguments.len() + MIN_REACH).min(MAX_REACH);
    let mut parser = None;
    let mut by_position = String::new();
    spell(&call.arguments, NamePlace::None, &mut by_position);
    let places = memmem::find_iter(text.as_bytes(), call.tool.as_bytes());
    for place in places {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        let end = place + call.tool.len();
        let around =
            &text[text.floor_char_boundary(place.saturating_sub(reach))..text.floor_char_boundary(end + reach)];
        if find_values(around).values.iter().any(|found| holds_value(&found.value, &call.arguments, MAX_JSON_DEPTH)) {
            return true;
        }
        let after = &text[end..text.floor_char_boundary(end + reach)];
        if after.starts_with('(') {
            let parser = parser.get_or_insert_with(|| reader(setup));
            let mut ends = after.match_indices(')').take(MAX_CLOSERS);
            // `write("b.txt", "Hi.")` has the values without their names.
            if !by_position.is_empty() && ends.clone().any(|(at, _)| letters(&after[..at], false) == by_position) {
                return true;
            }
            let spoken = ends.by_ref().map(|(at, _)| format!("[{}{}]", call.tool, &after[..=at]));
            if spoken.flat_map(|spoken| calls_in(&spoken, parser, setup)).any(|(_, found)| found == call.arguments) {
                return true;
            }
        }
    }
    false
}

/// Returns `true` if a text has a tool's name in a way that may mean a call without arguments: with brackets or in
/// quotation marks, or by a name that is not an ordinary word.
fn is_spelled_out(tool: &str, text: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    // `wipe_all` is spelled out wherever it is; `send` is also a word.
    let is_name = tool.contains(|c: char| !c.is_alphabetic());
    text.match_indices(tool).take(MAX_PLACES).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + tool.len()..].chars().next());
        let is_set_off = |c: Option<char>| c.is_some_and(|c| "\"'`“”‘’«»「」<>".contains(c));
        // `send()`, "`send`" and any `wipe_all` may mean a call; `resend` has only the letters.
        !is_word(before)
            && !is_word(after)
            && (is_name || after == Some('(') || is_set_off(before) && is_set_off(after))
    })
}

/// Returns `true` if a JSON value equals `wanted` or contains it.
fn holds_value(value: &Value, wanted: &Value, depth: usize) -> bool {
    let within = |inner: &Value| depth > 0 && holds_value(inner, wanted, depth - 1);
    value == wanted
        || match value {
            Value::Array(items) => items.iter().any(within),
            Value::Object(members) => members.values().any(within),
            _ => false,
        }
}

/// Returns the tools and arguments of the calls in a text, including quoted calls.
fn calls_in(text: &str, parser: &Parser, setup: &Setup) -> Vec<(String, Value)> {
    let Assembled { entries, .. } = parser.parse(text);
    let calls = entries.into_iter().filter_map(|entry| match entry.result {
        Ok(call) => Some(call),
        // A call in a quotation or with wrong arguments is rejected, but a model can copy it.
        Err(rejected) => rejected.call.map(|call| *call),
    });
    let settled = |call: Call| match setup.validator.check(call.clone(), "") {
        Ok(call) => call,
        Err(_) => call,
    };
    calls.map(settled).map(|call| (call.tool, call.arguments)).collect()
}
