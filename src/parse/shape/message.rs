//! JSON without a marker: call objects as the whole message, on lines of their own, or alone in a fence.
//!
//! ```text
//!   Start ──[──▶ Next ──{──▶ Object ──}──▶ Between ──, or ;──▶ Next
//!     └──────{──────────────▶ │  ▲            │
//!                             │  └─────{──────┤
//!      a key that no call has,│               ├──the message's or the fence's end──▶ calls
//!      an unknown tool: text ◀┘               └──anything else: text
//! ```

use std::ops::Range;

use serde_json::Value;

use super::SURPLUS_BRACKET;
use super::call_object::{ArgumentsPlace, CallObject, Further};
use super::fit::{begins_with_parameter, takes};
use crate::dialect::{ACTION, CallKeys, Dialect, FUNCTION, IDLE, LIST};
use crate::event::RejectedKind;
use crate::json::window::{Match, No, Undecided, Window, leading_space};
use crate::json::{Closer, JsonStep};
use crate::parse::call::json::CallJson;
use crate::parse::call::{CallOut, CallShape, CalledTool, Markerless, Place, Stands, Step};
use crate::parse::config::MIN_HOLD;
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::marks::fence::{Fence, ends_message, fence_end};
use crate::parse::marks::head::unit;
use crate::parse::marks::kinds::Kinds;
use crate::parse::marks::names::KnownNames;
use crate::parse::tables::Tables;

/// Labels that models put before a call on its line, as their clients display calls.
pub(crate) const LABELS: &[&str] = &[
    "Calling tool:", "Tool call:", "Tool Call:", "tool_call:", "Function call:", "Function Call:", "function_call:",
    "Call:", "Action:", "**Tool call:", "**Tool Call:", "工具调用：", "工具调用:", "调用：", "调用:",
];

/// Reader of call objects without a marker, which may yet be text.
#[derive(Debug)]
pub(crate) struct WholeMessage {
    keys: &'static CallKeys,
    /// Position of the first byte, a brace or a bracket. After prose the objects are calls only if the tools take their
    /// arguments.
    place: Place,
    state: MessageState,
    cursor: u64,
    /// Closing brackets of those that are open around the objects, the innermost last.
    closers: &'static str,
    /// Server and tool of the first call.
    first: Option<CalledTool>,
    /// `true` if the tools accept the arguments of all calls so far: then prose may follow.
    fits: bool,
    /// Reason why one of several objects cannot be read: then none is a call.
    failed: Option<NotACallReason>,
    /// The offset after the last object, or after the last bracket around it.
    end: u64,
    /// `true` once an object has begun.
    begun: bool,
    /// `true` if the name of the first call is the key of its object.
    keyed: bool,
    /// `true` if a closing bracket without an opening one came: only the end may follow.
    surplus: bool,
    /// `true` if a second pair of braces is around the object.
    doubled: bool,
}

#[derive(Debug)]
enum MessageState {
    /// The reader is before the first object.
    Start,
    /// The reader is before a further object; after a comma the array may end.
    Next,
    Object(Box<Object>),
    /// The reader is after an object.
    Between,
}

/// A JSON object that is being read, and may be a call.
#[derive(Debug, Default)]
struct Object {
    json: CallJson,
    member: Member,
    value_start: u64,
    /// Name of the called tool, once it was read and found to be a tool's.
    tool: Option<String>,
    /// `true` if the key of the arguments came.
    has_arguments: bool,
    /// Byte range of the arguments.
    arguments: Option<Range<u64>>,
    /// `true` if the arguments are beside the tool's name.
    flat: bool,
    /// `true` once the object's first key came.
    begun: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Member {
    Tool,
    Arguments,
    /// The arguments, whose key is the tool's name.
    Keyed,
    /// The tool's name, or an object with name and arguments.
    Function,
    /// A list of further call objects.
    List,
    #[default]
    Other,
}

/// Recogniser of call objects without a marker.
pub(crate) struct WholeMessages;

impl Markerless for WholeMessages {
    fn add_leads(&self, tables: &mut Tables) {
        if tables.json.is_some() {
            for lead in *b"\"'{ \t\r\n" {
                tables.lexicon.line.add(&[b'{', lead], Kinds::BARE);
                tables.lexicon.line.add(&[b'[', lead], Kinds::BARE);
            }
            LABELS.iter().for_each(|label| tables.lexicon.line.add(label.as_bytes(), Kinds::BARE));
            tables.holds_names();
        }
    }

    fn stands(&self) -> Stands {
        Stands::Alone
    }

    fn ahead(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        let (_, keys) = tables.json.ok_or(No)?;
        WholeMessage::ahead(keys, &tables.names, text, more)
    }

    fn open(&self, _: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)> {
        let (dialect, keys) = tables.json?;
        let message = WholeMessage {
            keys,
            place,
            state: MessageState::Start,
            cursor: place.at,
            closers: "",
            first: None,
            fits: true,
            failed: None,
            end: place.at,
            begun: false,
            keyed: false,
            surplus: false,
            doubled: false,
        };
        Some((dialect, Box::new(message)))
    }
}

impl WholeMessage {
    /// Returns `true` if calls precede the one that is being read, so that it makes a series with them.
    fn is_further(&self) -> bool {
        self.first.is_some() || self.place.after_calls
    }

    /// Checks whether `text` begins an object whose first key is a call's or a known tool's name, or a list of such
    /// objects.
    fn ahead(keys: &CallKeys, names: &KnownNames, text: &str, more: bool) -> Match<()> {
        let bare = text.strip_prefix('[').map_or(text, |inner| &inner[leading_space(inner)..]);
        let undecided = || if more { Err(Undecided) } else { Err(No) };
        let Some(inner) = bare.strip_prefix('{') else {
            return if bare.is_empty() { undecided() } else { Err(No) };
        };
        let inner = &inner[leading_space(inner)..];
        // A second pair of braces around it.
        let inner = inner.strip_prefix('{').map_or(inner, |inner| &inner[leading_space(inner)..]);
        let Some(quote) = inner.chars().next() else { return undecided() };
        let Some(key) = inner.strip_prefix(['"', '\'']) else { return Err(No) };
        match key.split_once(quote) {
            Some((key, _)) if Member::of(keys, key).is_some() || names.knows(key) => Ok(()),
            None if more && may_begin_call(keys, names, key) => Err(Undecided),
            _ => Err(No),
        }
    }

    /// Decides about the objects by the text after their last bracket.
    fn after(&self, window: &Window<'_>, think_ends: bool) -> Step {
        match after_all(self.cursor, self.place.fence, think_ends, window) {
            Ok(()) => self.failed.map_or(Step::End(self.end), |why| Step::Broken(self.end, why)),
            Err(Undecided) => Step::More,
            Err(No) if self.precedes_prose(window) => Step::End(self.end),
            Err(No) => Step::Text(self.cursor, NotACallReason::TextAfter),
        }
    }

    /// Returns `true` if the objects stay calls with other text below them: not between prose, where examples are.
    fn precedes_prose(&self, window: &Window<'_>) -> bool {
        let is_whole = self.failed.is_none() && self.fits && self.place.fence.is_none() && !self.place.follows_prose;
        is_whole && goes_on_below(self.end, self.cursor, window)
    }

    fn object(&mut self, window: &Window<'_>, out: &CallOut<'_, '_>) -> Step {
        let is_further = self.is_further();
        let MessageState::Object(object) = &mut self.state else { return Step::Next };
        // Python's quotes are a fault to the lexer, which says nothing of keys from there on.
        if object.tool.is_none()
            && object.python_key(window).is_some()
            && !object.may_be_call(self.keys, out.tables, window)
        {
            return Step::Text(object.json.start + 1, NotACallReason::ForeignKey);
        }
        let closer = fence_closer(self.place.fence, out.think_ends);
        let step = object.json.next(window, &closer, out);
        self.cursor = object.json.cursor;
        match step {
            JsonStep::More => return Step::More,
            JsonStep::Key(range) => {
                let key = window.slice(range.clone()).trim_matches('"');
                let is_first = !std::mem::replace(&mut object.begun, true);
                match Member::of(self.keys, key) {
                    // Where the name is the key it is the only one.
                    _ if object.member == Member::Keyed => return Step::Text(range.start, NotACallReason::ForeignKey),
                    // After such a call an unknown name is a mistake.
                    None if is_first && (self.keyed || out.tables.names.knows(key)) => {
                        object.tool = Some(key.to_owned());
                        object.member = Member::Keyed;
                    }
                    // Only the first object may hold a list of the others, and nothing else.
                    Some(Member::List) if !(self.first.is_none() && object.is_empty()) => {
                        return Step::Text(range.start, NotACallReason::ForeignKey);
                    }
                    // A parameter of the tool that was named.
                    _ if object.is_parameter(key, self.keys, out.tables) => {
                        object.member = Member::Other;
                        object.flat = true;
                    }
                    Some(member) => object.member = member,
                    None => return Step::Text(range.start, NotACallReason::ForeignKey),
                }
                object.has_arguments |= object.member == Member::Arguments;
            }
            JsonStep::ValueStart(at) => {
                object.value_start = at;
                match object.member {
                    Member::List => return self.list(at, window),
                    Member::Keyed if !window.from(at).starts_with(['{', '"', '\'']) => {
                        return Step::Text(at, NotACallReason::ForeignKey);
                    }
                    _ => {}
                }
            }
            JsonStep::ValueEnd(at) => {
                if matches!(object.member, Member::Arguments | Member::Keyed) {
                    object.arguments = Some(object.value_start..at);
                }
                let text = window.slice(object.value_start..at);
                // After a call an unknown name is a mistake.
                let names = Some(&out.tables.names).filter(|_| self.first.is_none());
                if !object.value_read(text, self.keys, names) {
                    return Step::Text(at, NotACallReason::UnknownTool);
                }
            }
            // Before a tool was named, damaged JSON is text, but for what Python writes.
            JsonStep::Fault(_) if object.tool.is_none() && !is_further && object.python_key(window).is_none() => {
                return Step::Text(self.cursor, NotACallReason::Damaged);
            }
            JsonStep::Fault(_) => {}
            JsonStep::Closed(at) | JsonStep::Passed(at) => {
                // A further object in which a call has begun fails the whole series; a first one is text.
                let is_call = is_further && !object.is_empty();
                return if is_call {
                    Step::Broken(at, NotACallReason::Unclosed)
                } else {
                    Step::Text(at, NotACallReason::Unclosed)
                };
            }
            JsonStep::End(at) => return self.object_ended(at, window, out.tables),
        }
        Step::Next
    }

    /// Starts to read a list of objects at offset `at`, in brackets that `closers` close.
    fn open_list(&mut self, closers: &'static str, at: u64) {
        (self.closers, self.cursor, self.state) = (closers, at, MessageState::Next);
    }

    /// Starts to read a list of objects that is a member's value, at offset `at`.
    fn list(&mut self, at: u64, window: &Window<'_>) -> Step {
        if !window.from(at).starts_with('[') {
            return Step::Text(at, NotACallReason::ForeignKey);
        }
        self.open_list("}]", at + 1);
        Step::Next
    }

    fn object_ended(&mut self, end: u64, window: &Window<'_>, tables: &Tables) -> Step {
        let MessageState::Object(object) = std::mem::replace(&mut self.state, MessageState::Between) else {
            return Step::Next;
        };
        let start = object.json.start;
        let mut call = UnresolvedCall::default();
        object.json.read(window, end, &mut call);
        let alone = !self.is_further() && self.closers != "]";
        let further = Further { any: self.first.is_some(), keyed: self.keyed, alone };
        let reader = CallObject { keys: self.keys, tables, strict: Some(further) };
        let held = match &call.fault {
            Some(fault) if fault.kind == RejectedKind::Limit => Err(NotACallReason::Limit),
            Some(_) => Err(NotACallReason::Damaged),
            None => reader.take(&mut call).map_err(|why| why.reason),
        };
        match held {
            Ok(held) => {
                self.keyed |= held == ArgumentsPlace::Keyed && self.first.is_none();
                held.write(&mut call, object.arguments.map(|range| window.slice(range)));
            }
            Err(why @ (NotACallReason::Damaged | NotACallReason::Limit)) if self.is_further() => {
                self.failed.get_or_insert(why);
                self.end = end;
                return Step::Next;
            }
            Err(why) => return Step::Text(end, why),
        }
        self.fits &= takes(call.tool.as_deref().and_then(|name| tables.named_tool(name)), &call.arguments);
        if self.place.follows_prose && !self.fits {
            return Step::Text(end, NotACallReason::ForeignKey);
        }
        self.first.get_or_insert_with(|| call.called());
        self.end = end;
        Step::Call(start..end, Box::new(call))
    }
}

impl CallShape for WholeMessage {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        if let MessageState::Object(_) = self.state {
            return self.object(window, out);
        }
        let rest = window.past_space(&mut self.cursor);
        let Some(byte) = rest.bytes().next() else { return Step::More };
        // After a list in an object only the end of the object may follow.
        let may_go_on = !self.closers.ends_with('}') && !self.surplus;
        match (&self.state, byte) {
            (MessageState::Start, b'[') => self.open_list("]", self.cursor + 1),
            // A further list may follow the first, and so may a token that begins with a bracket
            // (`json/lists`, `json/token_with_brackets_after_a_list`).
            (MessageState::Between | MessageState::Next, b'[') if may_go_on && self.closers.is_empty() => {
                let (text, more) = window.candidate(self.cursor, MIN_HOLD);
                let inner = text[1..].trim_start();
                match (inner.starts_with('{'), &self.state) {
                    (true, _) => self.open_list("]", self.cursor + 1),
                    _ if inner.is_empty() && more => return Step::More,
                    (_, MessageState::Between) => return self.after(window, out.think_ends),
                    _ => return Step::Text(self.cursor, NotACallReason::NoFurtherCall),
                }
            }
            // The first is the one that the message was opened for.
            (_, b'{') if may_go_on && self.begun && !out.emitter.budget.takes_opening() => {
                return Step::Broken(self.cursor, NotACallReason::Limit);
            }
            (_, b'{') if may_go_on => {
                let inner = rest[1..].trim_start();
                if inner.is_empty() && window.more {
                    return Step::More;
                }
                if inner.starts_with('{') && self.closers.is_empty() {
                    // As a template shows it that doubles its braces (`json/doubled_braces`).
                    self.closers = "}";
                    self.doubled = true;
                    self.cursor += (rest.len() - inner.len()) as u64;
                }
                self.begun = true;
                let json = CallJson::members(self.cursor, out.max_depth(), "");
                self.state =
                    MessageState::Object(Box::new(Object { json, value_start: self.cursor, ..Object::default() }));
            }
            // After a semicolon nothing need follow, as after a call in Python's syntax.
            (MessageState::Between, b';') if may_go_on && self.closers.is_empty() => {
                self.cursor += 1;
                self.end = self.cursor;
            }
            (MessageState::Between, b',' | b';') if may_go_on => {
                self.cursor += 1;
                self.state = MessageState::Next;
            }
            (MessageState::Between | MessageState::Next, b']' | b'}') if self.closers.ends_with(char::from(byte)) => {
                if std::mem::take(&mut self.doubled) {
                    out.note_last(SURPLUS_BRACKET);
                }
                self.closers = &self.closers[..self.closers.len() - 1];
                self.cursor += 1;
                self.end = self.cursor;
                self.state = MessageState::Between;
            }
            // Nothing is missing in the calls before it (`json/surplus_bracket`).
            (MessageState::Between, b']' | b'}') if may_go_on || self.surplus => {
                self.cursor += 1;
                self.end = self.cursor;
                if !std::mem::replace(&mut self.surplus, true) {
                    out.note_last(SURPLUS_BRACKET);
                }
            }
            (MessageState::Between, _) if self.closers.is_empty() => return self.after(window, out.think_ends),
            _ => return Step::Text(self.cursor, NotACallReason::NoFurtherCall),
        }
        Step::Next
    }

    fn ending(&mut self, window: &Window<'_>, tables: &Tables) -> Step {
        match &self.state {
            MessageState::Between if self.closers.is_empty() => {
                self.failed.map_or(Step::End(self.end), |why| Step::Broken(self.end, why))
            }
            _ if self.first.is_some() => Step::More,
            MessageState::Object(object) if object.is_certain(window, tables) => Step::More,
            _ => Step::Text(window.end(), NotACallReason::CutOff),
        }
    }

    /// Returns server and tool of the first call or, without one, the tool of the open object.
    fn called(&self, _: &Tables) -> CalledTool {
        match (&self.first, &self.state) {
            (Some(first), _) => first.clone(),
            (None, MessageState::Object(object)) => (None, object.tool.clone()),
            (None, _) => (None, None),
        }
    }
}

impl Member {
    /// Returns the role of the member with this key; `None` if no call may have such a key.
    fn of(keys: &CallKeys, key: &str) -> Option<Member> {
        let named = |list: &[String]| list.iter().any(|known| known == key);
        Some(match key {
            _ if named(&keys.tool) || key == ACTION => Member::Tool,
            _ if named(&keys.arguments) => Member::Arguments,
            _ if FUNCTION.contains(&key) => Member::Function,
            _ if key == LIST => Member::List,
            _ if named(&keys.server) || IDLE.contains(&key) => Member::Other,
            _ => return None,
        })
    }
}

impl Object {
    /// Returns `true` if the object is certainly a call: a known tool's name came, and a key for arguments or one of
    /// the tool's parameters.
    fn is_certain(&self, window: &Window<'_>, tables: &Tables) -> bool {
        let Some(name) = self.tool.as_deref() else { return false };
        if self.member != Member::Keyed {
            return self.has_arguments || self.flat;
        }
        tables.named_tool(name).is_some_and(|tool| begins_with_parameter(tool, window.from(self.value_start)))
    }

    /// Returns `true` if neither a tool's name nor a key for arguments came.
    fn is_empty(&self) -> bool {
        self.tool.is_none() && !self.has_arguments
    }

    /// Handles the value of the member that is being read; returns `false` if no call has such a value. `names`: the
    /// known tools; `None` admits any.
    fn value_read(&mut self, text: &str, keys: &CallKeys, names: Option<&KnownNames>) -> bool {
        match self.member {
            // What a second name says shows in the end.
            Member::Tool | Member::Function if self.tool.is_some() => true,
            Member::Tool | Member::Function if text.starts_with('"') => self.name(name_in(text), names),
            Member::Tool | Member::Function => {
                let Ok(Value::Object(inner)) = serde_json::from_str::<Value>(text) else { return false };
                self.has_arguments |= keys.arguments.iter().any(|key| inner.contains_key(key));
                let name = keys.tool.iter().find_map(|key| inner.get(key)).and_then(Value::as_str);
                // As it is written, so that what neutralises names finds the same.
                self.name(name.filter(|name| text.contains(&format!("\"{name}\""))), names)
            }
            Member::Arguments | Member::Keyed | Member::List | Member::Other => true,
        }
    }

    /// Returns `true` if `key` is a parameter of the tool that was named, and not known to be anything else.
    fn is_parameter(&self, key: &str, keys: &CallKeys, tables: &Tables) -> bool {
        let Some(name) = self.tool.as_deref().filter(|_| !self.has_arguments) else { return false };
        let is_own = key != ACTION
            && matches!(Member::of(keys, key), Some(Member::Tool | Member::Function | Member::List))
            // `arguments` and `parameters` always mean the arguments; `input` and its like may be parameters.
            || keys.arguments[..2].iter().any(|known| known == key);
        !is_own && tables.named_tool(name).is_some_and(|tool| tool.has_parameter(key))
    }

    /// Returns `true` if the object's first key, in single quotes, is a call's or a known tool's name, or may still
    /// become one.
    fn may_be_call(&self, keys: &CallKeys, tables: &Tables, window: &Window<'_>) -> bool {
        let key = self.python_key(window).unwrap_or_default();
        match key.split_once('\'') {
            Some((key, _)) => keys.all().any(|known| known == key) || tables.names.knows(key),
            None => may_begin_call(keys, &tables.names, key),
        }
    }

    /// Returns the text from the object's first key on, if that is in single quotes; else `None`.
    fn python_key<'w>(&self, window: &Window<'w>) -> Option<&'w str> {
        window.from(self.json.start).strip_prefix('{')?.trim_start().strip_prefix('\'')
    }

    fn name(&mut self, name: Option<&str>, names: Option<&KnownNames>) -> bool {
        let known = name.filter(|name| names.is_none_or(|names| names.knows(name)));
        self.tool = self.tool.take().or(known.map(str::to_owned));
        known.is_some()
    }
}

/// Returns `true` if `text` is the beginning of a call's key, or of a known tool's name.
fn may_begin_call(keys: &CallKeys, names: &KnownNames, text: &str) -> bool {
    keys.all().any(|known| known.starts_with(text)) || names.may_become(text)
}

/// Returns the text of a JSON string; `None` if it has an escape.
fn name_in(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"').filter(|name| !name.contains('\\'))
}

/// Checks whether the code fence or, without one, the message ends at offset `at`, after all calls.
pub(crate) fn after_all(at: u64, fence: Option<Fence>, think_ends: bool, window: &Window<'_>) -> Match<()> {
    // Bounded, or a run of fence characters would be read anew with every chunk.
    let (rest, more) = window.candidate(at, MIN_HOLD);
    match fence {
        Some(fence) => unit(fence_end(rest, fence, think_ends, more)),
        None => ends_message(rest, think_ends, more),
    }
}

/// Returns `true` if the text at `at`, after calls that end at `end`, is on a later line, and begins neither a token, a
/// fence nor a call: it is prose below the calls.
pub(crate) fn goes_on_below(end: u64, at: u64, window: &Window<'_>) -> bool {
    // With one of these a token, a fence or a further call may begin.
    window.slice(end..at).contains('\n') && !window.from(at).starts_with(['<', '[', '{', '`', '~'])
}

/// Returns the matcher of the text that ends a damaged object: the closing line of its code fence.
pub(crate) fn fence_closer(fence: Option<Fence>, think_ends: bool) -> impl Closer {
    move |text: &str, line_start: bool, more: bool| {
        let fence = fence.filter(|_| line_start).ok_or(No)?;
        unit(fence_end(text, fence, think_ends, more))
    }
}
