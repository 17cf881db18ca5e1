//! Calls in Python's syntax: a line `f(a=1)`, a list `[f(a=1), g(b='x')]`, a
//! list of calls in quotes `["f(a=1)"]`.
//!
//! ```text
//!   Name ──(──▶ Arguments ──)──▶ Between ──,──▶ Name         (list)
//!    │                             └──]──▶ Behind ──▶ end
//!   Name ──(──▶ Arguments ──)──▶ Rest of the line is blank ──▶ end   (line)
//!   Quote ──▶ Text ──quote──▶ Between ──,──▶ Quote           (list of quoted calls)
//!   anything else: text
//! ```

mod literal;
mod quoted;
mod reader;

use serde_json::{Map, Value};

use super::given_back::NoCall;
use super::names::Names;
use super::tables::Tables;
use super::tentative::{Cut, Go, HeldCall, HeldCalls, Tentative, cut_behind, ends_message};
use super::verdict::Parts;
use super::window::{Match, Window, begins, leading_space};
use crate::call::Repair;
use crate::tool::Tool;
use quoted::{Quoted, TextEnd};
use reader::{Arguments, Read, Reader};

/// Longest name of a tool that is looked for behind the first call of a list.
const MAX_NAME: usize = 256;

/// How the calls stand in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// One call, alone on its lines.
    Line,
    /// Calls in square brackets.
    List,
    /// Calls in quotes in square brackets.
    QuotedList,
}

#[derive(Debug)]
enum State {
    /// Before a name; behind a comma the list may end.
    Name { may_end: bool },
    /// In the parentheses of a call, which begins at the first place.
    Arguments(u64, Box<Reader>),
    /// Before an opening quote.
    Quote { may_end: bool },
    /// In a call in quotes, which begins at the first place.
    Text(u64, Quoted),
    /// Behind a call of a list.
    Between,
    /// Behind a line's call, which ends here.
    Rest(u64),
    /// Behind a list.
    Behind,
}

/// Calls in Python's syntax that may yet be text; see the module.
#[derive(Debug)]
pub(super) struct Python {
    form: Form,
    state: State,
    cursor: u64,
    /// Name of the open call.
    name: String,
    calls: HeldCalls,
    max_depth: usize,
    think_ends: bool,
}

impl Python {
    /// The calls whose first byte stands at `at`; [`list_ahead`] or
    /// [`Names::called`] found them.
    pub(super) fn new(form: Form, at: u64, max_depth: usize, think_ends: bool) -> Self {
        let (state, cursor) = match form {
            Form::Line => (State::Name { may_end: false }, at),
            Form::List => (State::Name { may_end: false }, at + 1),
            Form::QuotedList => (State::Quote { may_end: false }, at + 1),
        };
        Python { form, state, cursor, name: String::new(), calls: HeldCalls::default(), max_depth, think_ends }
    }

    /// Outside calls, at something that is not white space.
    fn next_token(&mut self, rest: &str, tables: &Tables, window: &Window<'_>) -> Go {
        let Some(byte) = rest.bytes().next() else { return Go::Wait };
        match (&self.state, byte) {
            (State::Name { may_end: true } | State::Quote { may_end: true } | State::Between, b']') => {
                self.cursor += 1;
                self.state = State::Behind;
            }
            (State::Between, b',') => {
                self.cursor += 1;
                self.state = match self.form {
                    Form::QuotedList => State::Quote { may_end: true },
                    _ => State::Name { may_end: true },
                };
            }
            (State::Name { .. }, _) => return self.call_name(tables, window),
            (State::Quote { .. }, b'"' | b'\'') => match Quoted::open(rest, self.cursor, false, window.more) {
                Some(quoted) => {
                    self.state = State::Text(self.cursor, quoted);
                    self.cursor = quoted.start;
                }
                None => return Go::Wait,
            },
            _ => return Go::Text(self.cursor, NoCall::NoFurtherCall),
        }
        Go::On
    }

    fn call_name(&mut self, tables: &Tables, window: &Window<'_>) -> Go {
        let (rest, more) = window.candidate(self.cursor, tables.hold.max(MAX_NAME));
        let length = match tables.names.called(rest, more) {
            Match::Yes(length) => length,
            // The first is known: a further one that is not is a mistake, no text.
            Match::No if !self.calls.is_empty() => match unknown_name(rest, more) {
                Match::Yes(length) => length,
                Match::Undecided => return Go::Wait,
                Match::No => return Go::Text(self.cursor, NoCall::NoFurtherCall),
            },
            Match::No => return Go::Text(self.cursor, NoCall::UnknownTool),
            Match::Undecided => return Go::Wait,
        };
        rest[..length].clone_into(&mut self.name);
        let start = self.cursor;
        self.cursor += length as u64 + 1;
        self.state = State::Arguments(start, Box::new(Reader::new(self.cursor, self.max_depth, self.think_ends)));
        Go::On
    }

    fn call_ended(&mut self, start: u64, end: u64, tables: &Tables, window: &Window<'_>) -> Go {
        let State::Arguments(_, reader) = std::mem::replace(&mut self.state, State::Between) else {
            return Go::On;
        };
        self.cursor = end;
        let raw = window.slice(start + self.name.len() as u64 + 1..end - 1);
        let Some(parts) = parts(&self.name, reader.into_arguments(), raw, tables) else {
            return Go::Text(end, NoCall::NoKeyword);
        };
        self.calls.push(HeldCall { span: start..end, parts }, tables.config.limits.calls);
        if self.form == Form::Line {
            self.state = State::Rest(end);
        }
        Go::On
    }

    fn quoted_call(&mut self, start: u64, quoted: Quoted, tables: &Tables, window: &Window<'_>) -> Go {
        let end = match quoted.end(&mut self.cursor, self.think_ends, window) {
            TextEnd::Wait => return Go::Wait,
            TextEnd::Fault => return Go::Text(self.cursor, NoCall::NoLiteral),
            TextEnd::At(end) => end,
        };
        let call = literal::string(window.slice(quoted.start..end), false);
        let known_first = !self.calls.is_empty();
        let parts = call.ok_or(NoCall::NoLiteral);
        let parts = match parts.and_then(|call| whole_call(call.trim(), known_first, self.max_depth, tables)) {
            Ok(parts) => parts,
            Err(why) => return Go::Text(self.cursor, why),
        };
        self.calls.push(HeldCall { span: start..self.cursor, parts }, tables.config.limits.calls);
        self.state = State::Between;
        Go::On
    }

    /// Behind a line's call, which is one only if nothing else stands there.
    fn rest_of_line(&mut self, end: u64, rest: &str, more: bool) -> Go {
        let space = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        self.cursor += space as u64;
        let rest = &rest[space..];
        match rest.bytes().next() {
            None => Go::Wait,
            Some(b'\n') => Go::End(end),
            Some(b'<') => match ends_message(rest, true, more) {
                Match::Yes(()) => Go::End(end),
                Match::Undecided => Go::Wait,
                Match::No => Go::Text(self.cursor, NoCall::TextBehind),
            },
            Some(_) => Go::Text(self.cursor, NoCall::TextBehind),
        }
    }
}

impl Tentative for Python {
    fn step(&mut self, tables: &Tables, window: &Window<'_>) -> Go {
        if let State::Arguments(start, reader) = &mut self.state {
            let start = *start;
            return match reader.next(window) {
                Read::More => Go::Wait,
                Read::Fault(at) if reader.is_full() => Go::Text(at, NoCall::Limit),
                Read::Fault(at) => Go::Text(at, NoCall::NoLiteral),
                Read::End(end) => self.call_ended(start, end, tables, window),
            };
        }
        if let State::Text(start, quoted) = self.state {
            return self.quoted_call(start, quoted, tables, window);
        }
        let rest = window.from(self.cursor);
        if let State::Rest(end) = self.state {
            return self.rest_of_line(end, rest, window.more);
        }
        if let State::Behind = self.state {
            return match begins(rest, "(", window.more) {
                // `[f(a=1)](…)` is a link.
                Match::Yes(()) => Go::Text(self.cursor, NoCall::Link),
                Match::Undecided => Go::Wait,
                Match::No => Go::End(self.cursor),
            };
        }
        let space = leading_space(rest);
        self.cursor += space as u64;
        self.next_token(&rest[space..], tables, window)
    }

    fn cut(&self, tables: &Tables) -> Cut {
        if let State::Rest(end) = self.state {
            return Cut::Over(end);
        }
        if let State::Behind = self.state {
            return Cut::Over(self.cursor);
        }
        let named = match &self.state {
            State::Arguments(_, reader) => reader.first_keyword(),
            _ => None,
        };
        if let Some(cut) = cut_behind(&self.calls) {
            return cut;
        }
        let (server, name) = tables.split_name(tables.names.method(&self.name).unwrap_or(&self.name));
        match (named, tool(server.as_deref(), &name, tables)) {
            (Some(keyword), Some(tool)) if takes(tool, keyword) => Cut::Truncated(server, name),
            _ => Cut::Text,
        }
    }

    fn calls(&mut self) -> &mut HeldCalls {
        &mut self.calls
    }
}

/// Whether `text`, which begins with `[`, begins a list of calls of known tools.
pub(super) fn list_ahead(names: &Names, text: &str, more: bool) -> Match<Form> {
    let inner = &text[1..];
    let inner = &inner[leading_space(inner)..];
    let (form, name) = match inner.strip_prefix(['"', '\'']) {
        Some(name) => (Form::QuotedList, name),
        None => (Form::List, inner),
    };
    names.called(name, more).map(|_| form)
}

/// Whether `text` begins with what may be a tool's name and an opening
/// parenthesis; yields the name's length.
fn unknown_name(text: &str, more: bool) -> Match<usize> {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = text.find(|c| !in_name(c)).unwrap_or(text.len());
    let begins_well = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    match text[length..].bytes().next() {
        _ if !begins_well || length > MAX_NAME => Match::No,
        Some(b'(') => Match::Yes(length),
        None if more => Match::Undecided,
        _ => Match::No,
    }
}

/// What a whole text says that is one call. `any`: of any tool, else of a known one.
fn whole_call(text: &str, any: bool, max_depth: usize, tables: &Tables) -> Result<Parts, NoCall> {
    let length = match tables.names.called(text, false) {
        Match::Yes(length) => length,
        _ => match unknown_name(text, false) {
            Match::Yes(length) if any => length,
            _ => return Err(NoCall::UnknownTool),
        },
    };
    let start = length as u64 + 1;
    let mut reader = Reader::new(start, max_depth, false);
    match reader.next(&Window { text, base: 0, more: false }) {
        Read::End(end) if end == text.len() as u64 => {
            let raw = &text[length + 1..text.len() - 1];
            parts(&text[..length], reader.into_arguments(), raw, tables).ok_or(NoCall::NoKeyword)
        }
        _ => Err(NoCall::NoLiteral),
    }
}

/// What a call says. A value without a keyword is the tool's only parameter;
/// where it has others, nobody can say which is meant.
fn parts(name: &str, arguments: Arguments, raw: &str, tables: &Tables) -> Option<Parts> {
    let Arguments { mut named, positional, mut repairs } = arguments;
    let method = tables.names.method(name);
    repairs.extend(method.map(|_| Repair::NameMatched(name.to_owned())));
    let (server, name) = tables.split_name(method.unwrap_or(name));
    if !positional.is_empty() {
        let [value] = <[Value; 1]>::try_from(positional).ok()?;
        let mut parameters = tool(server.as_deref(), &name, tables)?.parameters();
        let (only, None) = (parameters.next()?, parameters.next()) else { return None };
        if !named.is_empty() {
            return None;
        }
        named = Map::from_iter([(only.name.to_owned(), value)]);
        repairs.push(Repair::Other(format!("positional:{}", only.name)));
    }
    Some(Parts {
        server,
        tool: Some(name),
        arguments: Value::Object(named),
        raw_arguments: raw.to_owned(),
        repairs,
        ..Parts::default()
    })
}

fn tool<'t>(server: Option<&str>, name: &str, tables: &'t Tables) -> Option<&'t Tool> {
    tables.catalog()?.resolve(server, name).ok().map(|found| found.tool)
}

/// Whether the tool may have a parameter of this name.
fn takes(tool: &Tool, keyword: &str) -> bool {
    let mut parameters = tool.parameters().peekable();
    parameters.peek().is_none() || parameters.any(|parameter| parameter.name == keyword)
}
