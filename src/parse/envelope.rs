//! The marked-JSON shape: one object that names a tool and holds its arguments.

use serde_json::{Map, Value};

use super::body::{CallOut, JsonCloser, JsonStep, JsonText, Step, think_close};
use super::calm::CalmKind;
use super::line::fence_end;
use super::objects::Objects;
use super::verdict::{Fault, Parts};
use super::window::{Match, Window, leading_space};
use crate::call::Repair;

/// Repair: brackets that nothing opened stood before what closes the run.
const SURPLUS_BRACKET: &str = "surplus_bracket";

/// Repair: a key that says nothing stood beside the others.
const IGNORED_KEY: &str = "ignored_key:";

/// The key that a repair says was ignored.
pub(super) fn ignored(repair: &Repair) -> Option<&str> {
    match repair {
        Repair::Other(repair) => repair.strip_prefix(IGNORED_KEY),
        _ => None,
    }
}

/// An open object; its brace is the first byte.
#[derive(Debug)]
pub(super) struct Envelope {
    /// The run that it belongs to.
    objects: Objects,
    json: JsonText,
    /// Most bytes behind it that say whether the run is closed.
    hold: usize,
    /// What the value of the member that is being read is.
    member: Member,
    /// Where that value starts.
    value_start: u64,
    server: Option<String>,
    tool: Option<String>,
    /// Text of the arguments: its start, and its end once it is known.
    arguments: Option<(u64, Option<u64>)>,
    /// The key that they stand under.
    arguments_key: String,
    started: bool,
    /// Arguments' text up to here was handed on.
    previewed: u64,
    end: Option<u64>,
    closed: bool,
    /// What is wrong with what closes the run.
    close_repair: Option<Repair>,
    /// Something around it was opened, and neither closed nor went on with a further object.
    left_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Server,
    Tool,
    Arguments,
    Other,
}

impl Envelope {
    /// The object of `objects` whose brace stands at `at`.
    pub(super) fn new(objects: Objects, at: u64, max_depth: usize, hold: usize) -> Self {
        Envelope {
            objects,
            // The object around the arguments does not count as their depth.
            json: JsonText::of_members(at, max_depth + 1),
            hold,
            member: Member::Other,
            value_start: at,
            server: None,
            tool: None,
            arguments: None,
            arguments_key: String::new(),
            started: false,
            previewed: 0,
            end: None,
            closed: false,
            close_repair: None,
            left_open: false,
        }
    }

    pub(super) fn cursor(&self) -> u64 {
        self.json.cursor
    }

    pub(super) fn advance(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        if let Some(end) = self.end {
            return self.behind(end, window);
        }
        let closer = AroundCloser { objects: self.objects, think: out.think_ends };
        loop {
            match self.json.next(window, out.is_past(), &closer) {
                JsonStep::More => {
                    self.preview(window, out);
                    return Step::More;
                }
                JsonStep::Key(_) | JsonStep::ValueStart(_) | JsonStep::ValueEnd(_) if out.is_past() => {}
                JsonStep::Key(range) => {
                    let key: Option<String> = serde_json::from_str(window.slice(range)).ok();
                    let key = key.unwrap_or_default();
                    self.member = self.member_of(&key);
                    if self.member == Member::Arguments {
                        self.arguments_key = key;
                    }
                }
                JsonStep::ValueStart(at) => {
                    self.value_start = at;
                    if self.member == Member::Arguments {
                        self.arguments = Some((at, None));
                    }
                }
                JsonStep::ValueEnd(at) => self.value_ended(window, at, out),
                JsonStep::Fault => self.preview(window, out),
                JsonStep::End(at) => {
                    self.end = Some(at);
                    return self.behind(at, window);
                }
                JsonStep::Closed(at) | JsonStep::Passed(at) => {
                    self.preview(window, out);
                    self.closed = true;
                    self.end = Some(at);
                    return Step::End(at);
                }
            }
        }
    }

    /// The object is over; what follows it is waited for.
    fn behind(&mut self, end: u64, window: &Window<'_>) -> Step {
        let (text, more) = window.candidate(end, self.hold);
        let rest = &text[leading_space(text)..];
        if self.objects.marked.must_close() {
            match self.objects.goes_on(rest, more) {
                Match::Undecided => return Step::More,
                Match::Yes(false) => return Step::End(end),
                Match::Yes(true) => self.close_repair = Some(Repair::Other(SURPLUS_BRACKET.to_owned())),
                Match::No => {
                    self.close_repair = Some(Repair::MissingClose);
                    self.left_open = true;
                }
            }
        } else if self.objects.array && rest.starts_with(']') {
            return Step::End(end);
        } else if self.objects.array && self.arguments.is_none() {
            match self.objects.following(rest, more) {
                Match::Undecided => return Step::More,
                Match::No if more && rest.is_empty() => return Step::More,
                found => self.left_open = found == Match::No,
            }
        }
        // The array's own bracket is none too many.
        let array = if self.objects.array { rest.strip_prefix(']') } else { None };
        if self.json.look_behind(end, array.unwrap_or(text), more) { Step::End(end) } else { Step::More }
    }

    /// What the call says. `truncated`: its end was not seen.
    pub(super) fn into_parts(self, window: &Window<'_>, truncated: Option<&str>, max_depth: usize) -> Parts {
        let mut parts = Parts::default();
        if let Some(what) = truncated {
            parts.fault = self.json.limit_fault(max_depth).or_else(|| Some(Fault::truncated(what)));
        } else if let Some(end) = self.end {
            self.json.read(window, end, max_depth, &mut parts);
        }
        if parts.fault.is_none() {
            let keys = self.objects.marked.spec.argument_keys;
            let absent = keys.iter().all(|key| parts.arguments.get(*key).is_none());
            self.pick(window, &mut parts);
            if self.left_open && absent && parts.fault.is_none() {
                // Nobody knows whether they would have come.
                parts.fault = Some(Fault::truncated("the call has no arguments, and what closes it is missing"));
            }
            parts.repairs.extend(self.close_repair.clone());
            if self.json.is_closed_twice()
                && parts.fault.is_none()
                && parts.repairs.iter().any(|r| ignored(r).is_some())
            {
                let message = "a bracket too many follows: which of the keys belong to the arguments is not certain";
                parts.fault = Some(Fault::malformed(message));
            }
        }
        parts.server = parts.server.take().or(self.server);
        parts.tool = parts.tool.take().or(self.tool);
        parts
    }

    /// Whether a line of another kind ended the object.
    pub(super) fn ended_by_line(&self) -> bool {
        self.closed && self.json.at_line_start()
    }

    /// Server and tool, as far as they are known.
    pub(super) fn names(&self) -> (Option<String>, Option<String>) {
        (self.server.clone(), self.tool.clone())
    }

    fn member_of(&self, key: &str) -> Member {
        let spec = self.objects.marked.spec;
        if spec.tool_keys.contains(&key) {
            Member::Tool
        } else if spec.server_keys.contains(&key) {
            Member::Server
        } else if spec.argument_keys.contains(&key) && self.arguments.is_none() {
            Member::Arguments
        } else {
            Member::Other
        }
    }

    fn value_ended(&mut self, window: &Window<'_>, at: u64, out: &mut CallOut<'_, '_>) {
        let text = || serde_json::from_str::<String>(window.slice(self.value_start..at)).ok();
        match self.member {
            Member::Server => self.server = text(),
            Member::Tool if self.tool.is_none() => {
                self.tool = text();
                if let Some(tool) = &self.tool {
                    self.started = true;
                    out.start(self.json.cursor, self.server.as_deref(), tool);
                }
            }
            Member::Arguments => self.arguments = Some((self.value_start, Some(at))),
            Member::Tool | Member::Other => {}
        }
        self.preview(window, out);
    }

    /// See `Body::calm`.
    pub(super) fn calm(&self, at: u64) -> Option<CalmKind> {
        let in_arguments = self.previewed == at && matches!(self.arguments, Some((_, None)));
        let is_calm = in_arguments && self.json.is_calm_at(at);
        is_calm.then(|| CalmKind::json(self.objects.marked.closer(), self.json.in_string()))
    }

    /// See `Body::read_on`.
    pub(super) fn read_on(&mut self, at: u64, chunk: &str) -> Option<bool> {
        self.json.read_on(at, chunk.as_bytes())
    }

    /// See `Body::go_on`.
    pub(super) fn go_on(&mut self, at: u64) {
        self.previewed = at;
        self.json.go_on(at);
    }

    fn preview(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) {
        let Some((start, end)) = self.arguments else { return };
        let from = self.previewed.max(start);
        let safe = end.unwrap_or_else(|| self.json.safe());
        if self.started && safe > from && !out.is_past() {
            out.delta(safe, window.slice(from..safe));
            self.previewed = safe;
        }
    }

    /// Takes the call out of the object that was read.
    fn pick(&self, window: &Window<'_>, parts: &mut Parts) {
        let Value::Object(mut object) = std::mem::take(&mut parts.arguments) else {
            parts.fault = Some(Fault::malformed("a call is a JSON object"));
            return;
        };
        let spec = self.objects.marked.spec;
        let key = spec.argument_keys.iter().find(|key| object.contains_key(**key));
        parts.restated |= self.arguments.is_some() && key != Some(&self.arguments_key.as_str());
        let tool = take(&mut object, spec.tool_keys, &mut parts.repairs);
        let server = take(&mut object, spec.server_keys, &mut parts.repairs);
        let arguments = take(&mut object, spec.argument_keys, &mut parts.repairs);
        match tool {
            Some(Value::String(name)) if !name.trim().is_empty() => parts.tool = Some(name.trim().to_owned()),
            Some(_) => return parts.fault = Some(Fault::malformed(format!("`{}` is not a text", spec.tool_keys[0]))),
            None => return parts.fault = Some(Fault::malformed(format!("`{}` is missing", spec.tool_keys[0]))),
        }
        if self.json.is_damaged() && self.tool.as_ref().is_some_and(|seen| Some(seen.trim()) != parts.tool.as_deref()) {
            return parts.fault = Some(Fault::malformed(format!("`{}` is damaged", spec.tool_keys[0])));
        }
        // A text without quotes may be an argument, but it names no tool.
        if parts.repairs.contains(&Repair::UnquotedValues) && !is_quoted(parts.tool.as_deref(), &parts.raw_arguments) {
            return parts.fault = Some(Fault::malformed(format!("`{}` has no quotes", spec.tool_keys[0])));
        }
        parts.server = match server {
            Some(Value::String(name)) => Some(name.trim().to_owned()).filter(|n| !n.is_empty()),
            _ => None,
        };
        object.retain(|key, _| !spec.idle_keys.contains(&key.as_str()));
        if arguments.is_none() && !object.is_empty() {
            let keys: Vec<_> = object.keys().map(|k| format!("`{k}`")).collect();
            let message = format!(
                "{} found beside the tool's name: arguments stand in `{}`",
                keys.join(", "),
                spec.argument_keys[0]
            );
            return parts.fault = Some(Fault::malformed(message));
        }
        parts.repairs.extend(object.keys().map(|key| Repair::Other(format!("{IGNORED_KEY}{key}"))));
        if let Some((start, Some(end))) = self.arguments.filter(|_| !parts.restated) {
            window.slice(start..end).clone_into(&mut parts.raw_arguments);
        } else {
            parts.raw_arguments = arguments.as_ref().map(Value::to_string).unwrap_or_default();
        }
        parts.arguments = arguments.unwrap_or_else(|| Value::Object(Map::new()));
    }
}

/// Takes the first of `keys` that is there; any but the first is a named repair.
pub(super) fn take(object: &mut Map<String, Value>, keys: &[&str], repairs: &mut Vec<Repair>) -> Option<Value> {
    let key = keys.iter().find(|key| object.contains_key(**key))?;
    if key != &keys[0] {
        repairs.push(Repair::KeyAlias((*key).to_owned()));
    }
    object.shift_remove(*key)
}

/// What ends a damaged object from outside: what closes its run, its fence, or
/// the next marker line.
struct AroundCloser {
    objects: Objects,
    think: bool,
}

impl JsonCloser for AroundCloser {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        let Objects { marked, fence, think_tags, .. } = self.objects;
        let think = if self.think { think_close(text, more) } else { Match::No };
        let close = think.or(marked.close(text, more));
        if !line_start {
            return close.map(|_| ());
        }
        let fence = fence.map_or(Match::No, |fence| fence_end(text, fence, think_tags, more));
        close.or(fence).or(marked.call_line(text, more)).or(marked.answer_line(text, more)).map(|_| ())
    }

    fn inner_first(&self) -> Option<u8> {
        self.objects.marked.closer().map(|close| close.as_bytes()[0])
    }

    fn inner(&self, text: &str, more: bool) -> Match<()> {
        self.objects.marked.close(text, more).map(|_| ())
    }

    fn last_passed(&self, line: &str) -> Option<usize> {
        line.rfind(self.objects.marked.closer()?)
    }
}

/// Whether a name stands behind a quotation mark in the text that it was read from.
fn is_quoted(name: Option<&str>, text: &str) -> bool {
    let quoted = |at: usize| text[..at].ends_with(['"', '\'', '“', '”', '‘', '’']);
    name.is_some_and(|name| text.match_indices(name).any(|(at, _)| quoted(at)))
}
