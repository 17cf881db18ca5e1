//! Writes calls in every supported syntax.
//!
//! First each dialect as written by [`write_call`], which includes new dialects automatically; then
//! the other spellings of models, in `spellings`.

use serde_json::{Map, Value};
use toolgraft::Dialect;
use toolgraft::dialect::{Announcer, MarkedJson, NamedArguments, Shape, write_call};

use super::bytes::Bytes;
use super::call::MeantCall;

/// A syntax of calls, with its restrictions.
pub(crate) struct Syntax {
    pub(crate) dialect: Dialect,
    /// Writes some calls; `None` if the syntax cannot express them.
    pub(crate) write: fn(&Syntax, &[MeantCall], &mut Bytes<'_>) -> Option<String>,
    /// Largest number of calls in one text.
    pub(crate) most: usize,
    /// `true` if it has to begin a line.
    pub(crate) line_start: bool,
    /// `true` if nothing may follow it on its line.
    pub(crate) line_end: bool,
    /// `true` if it has to be the whole message.
    pub(crate) alone: bool,
    /// `true` if values are in tags, so that only declared parameters can be written.
    pub(crate) tags: bool,
}

impl Syntax {
    /// Creates a syntax without restrictions.
    pub(crate) const fn new(
        dialect: Dialect,
        write: fn(&Syntax, &[MeantCall], &mut Bytes<'_>) -> Option<String>,
    ) -> Self {
        Syntax { dialect, write, most: 1, line_start: false, line_end: false, alone: false, tags: false }
    }

    /// Writes at most `most` calls in one text; `None` if the syntax cannot express them.
    pub(crate) fn some(&self, most: usize, bytes: &mut Bytes<'_>) -> Option<(String, Vec<MeantCall>)> {
        let calls: Vec<_> =
            (0..1 + bytes.below(most)).map(|_| MeantCall::choose(self.dialect, self.tags, bytes)).collect();
        if self.tags && !calls.iter().all(MeantCall::fits_tags) {
            return None;
        }
        (self.write)(self, &calls, bytes).map(|written| (written, calls))
    }

    /// Returns `true` if no marker announces a call.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(self.dialect, Dialect::Python | Dialect::Json | Dialect::React) || self.alone
    }
}

/// Returns the syntax of a dialect, as written by `write_call`.
pub(crate) fn own(dialect: Dialect) -> Syntax {
    let write = |syntax: &Syntax, calls: &[MeantCall], _: &mut Bytes<'_>| {
        let [call] = calls else { return None };
        Some(write_call(syntax.dialect, call.written_server(), call.tool, &call.arguments))
    };
    let shape = &dialect.spec().shape;
    let tags = match shape {
        Shape::ToolTag => true,
        Shape::Named(named) => matches!(named.calls[0].arguments, NamedArguments::Tags { .. }),
        _ => false,
    };
    let line_start =
        matches!(shape, Shape::React(_) | Shape::MarkedJson(MarkedJson { announcer: Announcer::Line { .. }, .. }));
    Syntax { tags, line_start, alone: matches!(shape, Shape::Json(_)), ..Syntax::new(dialect, write) }
}

/// Returns calls as objects with these keys for tool, arguments and server, in any order.
pub(crate) fn objects(calls: &[MeantCall], keys: [&str; 3], bytes: &mut Bytes<'_>) -> Vec<String> {
    calls.iter().map(|call| json(&members(call, keys, bytes), bytes)).collect()
}

pub(crate) fn members(call: &MeantCall, keys: [&str; 3], bytes: &mut Bytes<'_>) -> Map<String, Value> {
    let [tool, arguments, server] = keys;
    let mut members = vec![(tool, Value::from(call.tool)), (arguments, call.arguments.clone().into())];
    members.extend(call.written_server().map(|name| (server, name.into())));
    let first = bytes.below(members.len());
    members.rotate_left(first);
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Writes an object as JSON: compact, over several lines, or in ASCII.
pub(crate) fn json(members: &Map<String, Value>, bytes: &mut Bytes<'_>) -> String {
    let compact = Value::from(members.clone()).to_string();
    match bytes.below(4) {
        0 => serde_json::to_string_pretty(members).expect("a JSON value can be written"),
        1 => ascii(&compact),
        _ => compact,
    }
}

fn ascii(json: &str) -> String {
    let mut units = [0; 2];
    json.chars().fold(String::new(), |mut text, c| {
        if c.is_ascii() {
            text.push(c);
        } else {
            text.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
        text
    })
}
