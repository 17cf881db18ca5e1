//! JSON without a marker: call objects as the whole message, or alone in a fence.
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

use super::body::{JsonCloser, JsonStep, JsonText, think_close};
use super::config::MIN_HOLD;
use super::envelope::take;
use super::given_back::NoCall;
use super::head::unit;
use super::line::{Fence, fence_end};
use super::names::Names;
use super::tables::Tables;
use super::tentative::{Cut, Go, HeldCall, HeldCalls, Tentative, cut_behind, ends_message};
use super::verdict::Parts;
use super::window::{Match, Window, leading_space};
use crate::call::RejectedKind;
use crate::dialect::ObjectKeys;

/// Call objects that may yet be text; see the module.
#[derive(Debug)]
pub(super) struct BareJson {
    keys: &'static ObjectKeys,
    state: State,
    cursor: u64,
    /// Brackets around the objects that are still open, the innermost last.
    closers: &'static str,
    /// The fence that they stand in.
    fence: Option<Fence>,
    /// `</think>` ends it.
    think_ends: bool,
    calls: HeldCalls,
    /// Behind the last object, or the last bracket around it.
    end: u64,
    max_depth: usize,
}

#[derive(Debug)]
enum State {
    /// Before the first object.
    Start,
    /// Before a further object; behind a comma the array may end.
    Next,
    Object(Box<Object>),
    /// Behind an object.
    Between,
}

/// An open object.
#[derive(Debug)]
struct Object {
    json: JsonText,
    member: Member,
    value_start: u64,
    /// The tool's name, once it is known to be a tool's.
    tool: Option<String>,
    /// Its arguments' key came.
    has_arguments: bool,
    /// Where the arguments stand.
    arguments: Option<Range<u64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Tool,
    Arguments,
    /// The tool's name, or an object with name and arguments.
    Function,
    /// A list of further objects.
    List,
    Other,
}

impl BareJson {
    /// The objects whose first byte, a brace or a bracket, stands at `at`.
    pub(super) fn new(
        keys: &'static ObjectKeys,
        at: u64,
        fence: Option<Fence>,
        think_ends: bool,
        max_depth: usize,
    ) -> Self {
        BareJson {
            keys,
            state: State::Start,
            cursor: at,
            closers: "",
            fence,
            think_ends,
            calls: HeldCalls::default(),
            end: at,
            max_depth,
        }
    }

    /// Whether `text` begins an object whose first key is one of a call's, or a
    /// list of such.
    pub(super) fn ahead(keys: &ObjectKeys, text: &str, more: bool) -> Match<()> {
        let bare = text.strip_prefix('[').map_or(text, |inner| &inner[leading_space(inner)..]);
        let undecided = || if more { Match::Undecided } else { Match::No };
        let Some(inner) = bare.strip_prefix('{') else {
            return if bare.is_empty() { undecided() } else { Match::No };
        };
        let inner = &inner[leading_space(inner)..];
        let Some(key) = inner.strip_prefix('"') else {
            return if inner.is_empty() { undecided() } else { Match::No };
        };
        match key.split_once('"') {
            Some((key, _)) if Member::of(keys, key).is_some() => Match::Yes(()),
            None if more && keys.all().any(|known| known.starts_with(key)) => Match::Undecided,
            _ => Match::No,
        }
    }

    /// Behind the last bracket: what ends the objects.
    fn behind(&self, window: &Window<'_>) -> Go {
        // Bounded, or a run of fence characters would be read anew with every chunk.
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        let ends = match self.fence {
            Some(fence) => unit(fence_end(rest, fence, self.think_ends, more)),
            None => ends_message(rest, self.think_ends, more),
        };
        match ends {
            Match::Yes(()) => Go::End(self.end),
            Match::Undecided => Go::Wait,
            Match::No => Go::Text(self.cursor, NoCall::TextBehind),
        }
    }

    fn begin_object(&mut self) {
        self.state = State::Object(Box::new(Object {
            // The object around the arguments does not count as their depth.
            json: JsonText::of_members(self.cursor, self.max_depth + 1),
            member: Member::Other,
            value_start: self.cursor,
            tool: None,
            has_arguments: false,
            arguments: None,
        }));
    }

    fn object(&mut self, tables: &Tables, window: &Window<'_>) -> Go {
        let State::Object(object) = &mut self.state else { return Go::On };
        let closer = FenceCloser { fence: self.fence, think: self.think_ends };
        let step = object.json.next(window, false, &closer);
        self.cursor = object.json.cursor;
        match step {
            JsonStep::More => return Go::Wait,
            JsonStep::Key(range) => {
                let key = window.slice(range.clone()).trim_matches('"');
                match Member::of(self.keys, key) {
                    // Only the first object may hold a list of the others, and nothing else.
                    Some(Member::List) if !(self.calls.is_empty() && object.is_empty()) => {
                        return Go::Text(range.start, NoCall::ForeignKey);
                    }
                    Some(member) => object.member = member,
                    None => return Go::Text(range.start, NoCall::ForeignKey),
                }
                object.has_arguments |= object.member == Member::Arguments;
            }
            JsonStep::ValueStart(at) => {
                object.value_start = at;
                if object.member == Member::List {
                    return self.list(at, window);
                }
            }
            JsonStep::ValueEnd(at) => {
                if object.member == Member::Arguments {
                    object.arguments = Some(object.value_start..at);
                }
                let text = window.slice(object.value_start..at);
                if !object.value_read(text, self.keys, &tables.names) {
                    return Go::Text(at, NoCall::UnknownTool);
                }
            }
            // Before a tool was named, damaged JSON is text.
            JsonStep::Fault if object.tool.is_none() => return Go::Text(self.cursor, NoCall::Damaged),
            JsonStep::Fault => {}
            JsonStep::Closed(at) | JsonStep::Passed(at) => return Go::Text(at, NoCall::Unclosed),
            JsonStep::End(at) => return self.object_ended(at, tables.config.limits.calls, window),
        }
        Go::On
    }

    /// At the value of the key that holds a list of objects.
    fn list(&mut self, at: u64, window: &Window<'_>) -> Go {
        if !window.from(at).starts_with('[') {
            return Go::Text(at, NoCall::ForeignKey);
        }
        self.closers = "}]";
        self.cursor = at + 1;
        self.state = State::Next;
        Go::On
    }

    fn object_ended(&mut self, end: u64, limit: usize, window: &Window<'_>) -> Go {
        let State::Object(object) = std::mem::replace(&mut self.state, State::Between) else { return Go::On };
        let start = object.json.start;
        let mut parts = Parts::default();
        object.json.read(window, end, self.max_depth, &mut parts);
        let mut parts = match pick(self.keys, parts) {
            Ok(parts) => parts,
            Err(why) => return Go::Text(end, why),
        };
        if let Some(range) = object.arguments {
            window.slice(range).clone_into(&mut parts.raw_arguments);
        }
        self.calls.push(HeldCall { span: start..end, parts }, limit);
        self.end = end;
        Go::On
    }
}

impl Tentative for BareJson {
    fn step(&mut self, tables: &Tables, window: &Window<'_>) -> Go {
        if let State::Object(_) = self.state {
            return self.object(tables, window);
        }
        let rest = window.from(self.cursor);
        let space = leading_space(rest);
        self.cursor += space as u64;
        let rest = &rest[space..];
        let Some(byte) = rest.bytes().next() else { return Go::Wait };
        // Behind a list in an object only the object's end may stand.
        let may_go_on = !self.closers.ends_with('}');
        match (&self.state, byte) {
            (State::Start, b'[') => {
                self.closers = "]";
                self.cursor += 1;
                self.state = State::Next;
            }
            (_, b'{') if may_go_on => self.begin_object(),
            (State::Between, b',' | b';') if may_go_on => {
                self.cursor += 1;
                self.state = State::Next;
            }
            (State::Between | State::Next, b']' | b'}') if self.closers.ends_with(char::from(byte)) => {
                self.closers = &self.closers[..self.closers.len() - 1];
                self.cursor += 1;
                self.end = self.cursor;
                self.state = State::Between;
            }
            (State::Between, _) if self.closers.is_empty() => return self.behind(window),
            _ => return Go::Text(self.cursor, NoCall::NoFurtherCall),
        }
        Go::On
    }

    fn cut(&self, _tables: &Tables) -> Cut {
        if let (State::Between, "") = (&self.state, self.closers) {
            return Cut::Over(self.end);
        }
        if let Some(cut) = cut_behind(&self.calls) {
            return cut;
        }
        match &self.state {
            State::Object(object) if object.has_arguments => {
                object.tool.clone().map_or(Cut::Text, |tool| Cut::Truncated(None, tool))
            }
            _ => Cut::Text,
        }
    }

    fn calls(&mut self) -> &mut HeldCalls {
        &mut self.calls
    }
}

impl Member {
    /// What stands under a key, if a call may have it.
    fn of(keys: &ObjectKeys, key: &str) -> Option<Member> {
        let named = |list: &[&str]| list.contains(&key);
        Some(match key {
            _ if named(keys.tool) => Member::Tool,
            _ if named(keys.arguments) => Member::Arguments,
            _ if key == keys.function => Member::Function,
            _ if key == keys.list => Member::List,
            _ if named(keys.server) || named(keys.idle) => Member::Other,
            _ => return None,
        })
    }
}

impl Object {
    /// Whether nothing that a call needs came.
    fn is_empty(&self) -> bool {
        self.tool.is_none() && !self.has_arguments
    }

    /// Takes a value that was read; `false` if no call has it.
    fn value_read(&mut self, text: &str, keys: &ObjectKeys, names: &Names) -> bool {
        match self.member {
            Member::Tool => self.name(name_in(text), names),
            Member::Function if text.starts_with('"') => self.name(name_in(text), names),
            Member::Function => {
                let Ok(Value::Object(inner)) = serde_json::from_str::<Value>(text) else { return false };
                self.has_arguments |= keys.arguments.iter().any(|key| inner.contains_key(*key));
                let name = keys.tool.iter().find_map(|key| inner.get(*key)).and_then(Value::as_str);
                // As it is written, so that what neutralises names finds the same.
                self.name(name.filter(|name| text.contains(&format!("\"{name}\""))), names)
            }
            Member::Arguments | Member::List | Member::Other => true,
        }
    }

    fn name(&mut self, name: Option<&str>, names: &Names) -> bool {
        let known = name.filter(|name| names.knows(name));
        self.tool = self.tool.take().or(known.map(str::to_owned));
        known.is_some()
    }
}

/// The text of a JSON string without escapes.
fn name_in(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"').filter(|name| !name.contains('\\'))
}

/// Takes the call out of an object that was read. It needs a name and arguments,
/// and a tool's definition has both, too.
fn pick(keys: &ObjectKeys, mut parts: Parts) -> Result<Parts, NoCall> {
    if let Some(fault) = &parts.fault {
        return Err(if fault.kind == RejectedKind::Limit { NoCall::Limit } else { NoCall::Damaged });
    }
    let Value::Object(mut object) = parts.arguments.take() else { return Err(NoCall::Damaged) };
    if let Some(Value::Object(inner)) = object.get(keys.function).cloned() {
        object.shift_remove(keys.function);
        object.extend(inner);
    } else if let Some(name) = object.shift_remove(keys.function) {
        object.insert(keys.tool[0].to_owned(), name);
    }
    let tool = take(&mut object, keys.tool, &mut parts.repairs).ok_or(NoCall::Incomplete)?;
    let arguments = take(&mut object, keys.arguments, &mut parts.repairs).ok_or(NoCall::Incomplete)?;
    let server = take(&mut object, keys.server, &mut parts.repairs);
    object.retain(|key, _| !keys.idle.contains(&key.as_str()));
    if !object.is_empty() {
        return Err(NoCall::ForeignKey);
    }
    if is_schema(&arguments) {
        return Err(NoCall::Definition);
    }
    parts.tool = Some(tool.as_str().ok_or(NoCall::UnknownTool)?.to_owned());
    parts.server = server.and_then(|server| server.as_str().map(str::to_owned)).filter(|server| !server.is_empty());
    parts.raw_arguments = arguments.to_string();
    parts.arguments = arguments;
    Ok(parts)
}

/// Whether the value is a JSON Schema of parameters.
fn is_schema(value: &Value) -> bool {
    value.get("type").is_some_and(|kind| kind == "object") && value.get("properties").is_some_and(Value::is_object)
}

/// What ends a damaged object from outside: its fence, or the reasoning's end.
struct FenceCloser {
    fence: Option<Fence>,
    think: bool,
}

impl JsonCloser for FenceCloser {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        let think = if self.think { unit(think_close(text, more)) } else { Match::No };
        let fence = self.fence.filter(|_| line_start);
        think.or(fence.map_or(Match::No, |fence| unit(fence_end(text, fence, self.think, more))))
    }
}
