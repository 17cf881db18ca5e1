//! A name, then arguments in braces as Ruby or a command line has them.
//!
//! ```text
//! [TOOL_CALL]{tool => "f", args => {--path "a", limit => 3}}[/TOOL_CALL]
//!             ╰────── head ───────╯╰──────── Body ────────╯╰─ Tail ─╯
//! ```
//!
//! Nothing is handed on before the end. Braces are counted outside of strings in double quotes.

use serde_json::{Map, Value};

use crate::dialect::NamedCall;
use crate::event::Repair;
use crate::json::window::{No, Undecided, Window, leading_space};
use crate::json::{outside, read};
use crate::parse::call::{CallOut, CallShape, CalledTool, Ending, Missing, Step, kept_end};
use crate::parse::config::MIN_HOLD;
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::marks::head::{closes, unit};
use crate::parse::tables::Tables;

/// An open call of arrows or flags.
#[derive(Debug)]
pub(crate) struct Arrows {
    form: &'static NamedCall,
    call: UnresolvedCall,
    started: bool,
    /// Where the arguments' brace stands.
    start: u64,
    cursor: u64,
    state: State,
    depth: usize,
    in_string: bool,
    /// The byte before was a backslash in a string.
    escaped: bool,
    /// Behind the arguments' last brace.
    end: Option<u64>,
    /// The call is over the limit; see [`CallOut::is_over_limit`].
    over_limit: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before and in the arguments' braces.
    Body,
    /// Behind them: the brace around all.
    Brace,
    /// Behind that: the closer.
    Close,
    /// After a fault: up to the closer.
    Junk,
}

impl Arrows {
    /// A call whose head ends at `at`.
    pub(crate) fn new(form: &'static NamedCall, called: CalledTool, at: u64) -> Self {
        Arrows {
            form,
            call: UnresolvedCall::of(called),
            started: false,
            start: at,
            cursor: at,
            state: State::Body,
            depth: 0,
            in_string: false,
            escaped: false,
            end: None,
            over_limit: false,
        }
    }

    fn body(&mut self, window: &Window<'_>, max_depth: usize) -> Step {
        for (i, byte) in window.from(self.cursor).bytes().enumerate() {
            match byte {
                _ if std::mem::take(&mut self.escaped) => {}
                b'\\' => self.escaped = self.in_string,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
            if self.depth > max_depth {
                self.call.fault.get_or_insert(Fault::too_deep(max_depth));
            }
            if self.depth == 0 && matches!(byte, b'}' | b']') && !self.in_string {
                self.cursor += i as u64 + 1;
                self.end = Some(self.cursor);
                self.state = State::Brace;
                return Step::Next;
            }
        }
        self.cursor = window.end();
        Step::More
    }

    /// Where the call ended if nothing more belongs to it.
    fn completed(&self) -> Option<u64> {
        let end = self.end.filter(|_| self.state == State::Close)?;
        Some(kept_end(end, self.cursor, self.over_limit))
    }

    /// Behind the arguments: the brace around all, then the closer, which may be missing.
    fn tail(&mut self, window: &Window<'_>) -> Step {
        self.cursor += leading_space(window.from(self.cursor)) as u64;
        let (rest, more) = window.candidate(self.cursor, MIN_HOLD);
        if rest.is_empty() {
            return Step::More;
        }
        if self.state == State::Brace {
            if !rest.starts_with('}') {
                self.call.fault.get_or_insert(Fault::malformed("`}` is missing behind the arguments"));
                self.state = State::Junk;
                return Step::Next;
            }
            self.cursor += 1;
            self.end = self.end.map(|_| self.cursor);
            self.state = State::Close;
            return Step::Next;
        }
        match closes(self.form, rest, more) {
            Ok(length) => Step::End(self.cursor + length as u64),
            Err(Undecided) => Step::More,
            Err(No) => {
                self.call.note(Repair::MissingClose);
                Step::End(self.completed().unwrap_or(self.cursor))
            }
        }
    }

    fn junk(&mut self, window: &Window<'_>) -> Step {
        let rest = window.from(self.cursor);
        let Some(at) = memchr::memchr(b'[', rest.as_bytes()) else {
            self.cursor = window.end();
            return Step::More;
        };
        self.cursor += at as u64;
        match closes(self.form, &rest[at..], window.more) {
            Ok(length) => Step::End(self.cursor + length as u64),
            Err(Undecided) => Step::More,
            Err(No) => {
                self.cursor += 1;
                Step::Next
            }
        }
    }
}

impl CallShape for Arrows {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        self.over_limit = out.is_over_limit();
        out.start_once(&mut self.started, self.cursor, &self.call);
        match self.state {
            State::Body => self.body(window, out.max_depth()),
            State::Brace | State::Close => self.tail(window),
            State::Junk => self.junk(window),
        }
    }

    fn due(&self, window: &Window<'_>, _: &Tables) -> Option<String> {
        let is_over = self.state == State::Close && window.from(self.cursor).trim().is_empty();
        is_over.then(|| self.form.close.to_owned())
    }

    fn take_closer(&mut self, _: &Window<'_>, _: &Tables) {
        self.call.note(Repair::StopSequence);
    }

    fn missing(&self, window: &Window<'_>, _: &Tables) -> Missing {
        let inner = match self.state {
            State::Body if self.in_string => "\"}}",
            State::Body if window.end() > self.start => "}}",
            State::Body | State::Brace => "}",
            State::Close | State::Junk => "",
        };
        Missing { inner: inner.to_owned(), close: self.form.close.to_owned() }
    }

    fn ending(&mut self, window: &Window<'_>, _: &Tables) -> Ending {
        let Some(end) = self.completed() else { return Ending::Cut };
        self.call.note(Repair::MissingClose);
        // A closer that was cut off belongs to the call.
        let cut = window.from(self.cursor);
        let is_cut = cut.len() > 1 && unit(closes(self.form, cut, true)) == Err(Undecided);
        Ending::Complete(if is_cut { window.end() } else { end })
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.call.called()
    }

    fn resolve(mut self: Box<Self>, window: &Window<'_>, _: u64, _: &Tables) -> UnresolvedCall {
        let Some(end) = self.end.filter(|_| self.call.fault.is_none()) else { return self.call };
        let text = window.slice(self.start..end).trim();
        // The brace around all stands behind the arguments' own.
        let text = if self.state == State::Close { text.strip_suffix('}').unwrap_or(text).trim_end() } else { text };
        text.clone_into(&mut self.call.raw_arguments);
        match members(text) {
            Ok((arguments, repairs)) => {
                self.call.arguments = Value::Object(arguments);
                self.call.repairs.splice(0..0, repairs);
            }
            Err(message) => self.call.fault = Some(Fault::malformed(message)),
        }
        self.call
    }

    fn needed_from(&self) -> u64 {
        self.completed().unwrap_or(self.cursor)
    }
}

/// The members of an object in braces: `--key value`, `key => value` or `"key": value`, parted by
/// white space or commas.
fn members(text: &str) -> Result<(Map<String, Value>, Vec<Repair>), String> {
    let inner = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let mut rest = inner.ok_or("the arguments stand in no braces")?;
    let (mut arguments, mut repairs) = (Map::new(), Vec::new());
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.is_empty() {
            return Ok((arguments, repairs));
        }
        let (key, behind) = key(rest)?;
        let end = value_end(behind).ok_or_else(|| format!("the value of `{key}` cannot be read"))?;
        let written = &behind[..end];
        let value = if written.starts_with(['"', '{', '[']) {
            let found = read(written).map_err(|error| format!("the value of `{key}`: {error}"))?;
            repairs.extend(found.repairs);
            found.value
        } else {
            serde_json::from_str(written).map_err(|_| format!("the value of `{key}` has no quotes"))?
        };
        if arguments.insert(key.to_owned(), value).is_some() {
            return Err(format!("the parameter `{key}` is given twice"));
        }
        rest = &behind[end..];
        if !rest.is_empty() && !rest.starts_with(|c: char| c.is_whitespace() || c == ',') {
            return Err(format!("something stands right behind the value of `{key}`"));
        }
    }
}

/// A key at the start of `text`, and what stands behind it and its sign.
fn key(text: &str) -> Result<(&str, &str), String> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let (quote, flag) = (text.starts_with('"'), text.strip_prefix("--"));
    let name = flag.or_else(|| text.strip_prefix('"')).unwrap_or(text);
    let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
    let (name, behind) = name.split_at(end);
    let behind = if quote { behind.strip_prefix('"').unwrap_or("") } else { behind }.trim_start();
    let sign = ["=>", ":", "="].iter().find_map(|sign| behind.strip_prefix(sign));
    match sign.or_else(|| flag.map(|_| behind)) {
        Some(behind) if !name.is_empty() => Ok((name, behind.trim_start())),
        _ => Err(format!("expected a parameter, found {:?}", text.chars().take(20).collect::<String>())),
    }
}

/// Where a value ends that `text` begins with: a string, an object, a list, or a word.
fn value_end(text: &str) -> Option<usize> {
    let (mut depth, mut bytes) = (0_usize, outside(text));
    for (i, byte) in bytes.by_ref() {
        match byte {
            b'"' => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => return Some(i).filter(|end| *end > 0),
            byte if depth == 0 && byte.is_ascii_whitespace() => return Some(i).filter(|end| *end > 0),
            _ => continue,
        }
        if depth == 0 && matches!(byte, b'}' | b']' | b'"') {
            return Some(i + 1);
        }
    }
    (depth == 0 && !bytes.is_in_string() && !text.is_empty()).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::members;

    #[test]
    fn flags_arrows_and_json_are_members() {
        for (text, expected) in [
            ("{}", json!({})),
            (r#"{ --path "a b" --all true }"#, json!({"path": "a b", "all": true})),
            (r#"{--pattern: "**/*.ts", --n: 3}"#, json!({"pattern": "**/*.ts", "n": 3})),
            (r#"{query => "t\"}", k => [1, {"a": "]"}]}"#, json!({"query": "t\"}", "k": [1, {"a": "]"}]})),
            (r#"{"query": "t", "k": null}"#, json!({"query": "t", "k": null})),
        ] {
            assert_eq!(members(text).map(|(members, _)| json!(members)), Ok(expected), "{text}");
        }
        for text in
            [r"{--all}", r#"{--a "x" y}"#, r#"{"a" "b"}"#, r#"{--a "x"--b "y"}"#, "{--a x}", "{--a 1 --a 2}", "a"]
        {
            assert!(members(text).is_err(), "{text}");
        }
    }
}
