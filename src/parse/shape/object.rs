//! The marked-JSON shape: one object that names a tool and holds its arguments.

use std::borrow::Cow;

use super::SURPLUS_BRACKET;
use super::call_object::{ArgumentsPlace, CallObject};
use super::run::ObjectRun;
use crate::event::Repair;
use crate::json::window::{Answer, Match, No, Undecided, Window, leading_space};
use crate::json::{Closer, JsonStep, read, string};
use crate::parse::call::json::CallJson;
use crate::parse::call::{CallOut, CallShape, CalledTool, CutCall, OpenValue, Step};
use crate::parse::emit::damage::CallCloser;
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::marks::fence::fence_end;
use crate::parse::tables::Tables;

/// Reader of a call that is a JSON object after a marker; the object's brace is its first byte.
#[derive(Debug)]
pub(crate) struct MarkedObject {
    /// The run of objects that the object belongs to.
    run: ObjectRun,
    json: CallJson,
    /// Maximum number of bytes after the object by which it is decided whether the run is closed.
    hold: usize,
    /// The role of the member that is being read.
    member: ObjectMember,
    /// Offset of the value of the member that is being read.
    value_start: u64,
    server: Option<String>,
    tool: Option<String>,
    /// Key whose value is the arguments.
    arguments_key: &'static str,
    end: Option<u64>,
    closed: bool,
    /// Repair for a missing or surplus closer of the run; `None` if it needs none.
    close_repair: Option<Repair>,
    /// `true` if only the object's own last bracket is missing.
    lacks_bracket: bool,
    /// `true` if a delimiter around the object was opened, and neither was closed nor does a further object follow.
    left_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObjectMember {
    Server,
    Tool,
    Arguments,
    Other,
}

impl MarkedObject {
    /// Creates a reader of the object of `run` whose brace is at `at`.
    pub(crate) fn new(run: ObjectRun, at: u64, max_depth: usize, hold: usize) -> Self {
        MarkedObject {
            run,
            json: CallJson::members(at, max_depth, run.marked.closer().unwrap_or_default()),
            hold,
            member: ObjectMember::Other,
            value_start: at,
            server: None,
            tool: None,
            arguments_key: "",
            end: None,
            closed: false,
            close_repair: None,
            lacks_bracket: false,
            left_open: false,
        }
    }

    fn has_arguments(&self) -> bool {
        self.json.shown.is_some()
    }

    fn preview(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) {
        if self.tool.is_some() {
            self.json.preview(window, out);
        }
    }

    /// Ends the object at `end`, once the text after it has been examined.
    fn after(&mut self, end: u64, window: &Window<'_>, out: &CallOut<'_, '_>) -> Step {
        let (text, more) = window.candidate(end, self.hold);
        let rest = &text[leading_space(text)..];
        if self.run.marked.must_close() {
            match self.run.next_is(rest, more) {
                Err(Undecided) => return Step::More,
                Ok(false) => return Step::End(end),
                Ok(true) => self.close_repair = Some(Repair::Other(SURPLUS_BRACKET.to_owned())),
                // A stop string may have taken the one closer that is due.
                Err(No) if !more && rest.is_empty() && self.is_stopped(out) => {
                    self.close_repair = Some(Repair::StopSequence);
                }
                Err(No) => {
                    self.close_repair = Some(Repair::MissingClose);
                    self.left_open = true;
                }
            }
        } else if self.run.array && rest.starts_with(']') {
            return Step::End(end);
        // Where the array neither ends nor goes on, arguments may have been cut off
        // (`tool_calls/no_arguments_in_an_open_array`).
        } else if self.run.array && !self.has_arguments() {
            match self.run.following(rest, more) {
                Err(Undecided) => return Step::More,
                Err(No) if more && rest.is_empty() => return Step::More,
                found => self.left_open = found == Err(No),
            }
        }
        // The array's own bracket is none too many.
        let array = if self.run.array { rest.strip_prefix(']') } else { None };
        if self.json.peek_trailing(end, array.unwrap_or(text), more) { Step::End(end) } else { Step::More }
    }

    /// Returns `true` if name and arguments are complete and only white space follows them up to `at`: no value can be
    /// cut off.
    fn is_all_but_closed(&self, at: u64, window: &Window<'_>) -> bool {
        let end = self.json.shown.and_then(|(start, end)| end.filter(|end| window.slice(start..*end).ends_with('}')));
        self.tool.is_some() && end.is_some_and(|end| end <= at && window.slice(end..at).trim().is_empty())
    }

    fn is_stopped(&self, out: &CallOut<'_, '_>) -> bool {
        // Inside an array or a fence the closer is not all that is missing.
        let closer = self.run.marked.closer().filter(|_| !self.run.array && self.run.fence.is_none());
        closer.is_some_and(|closer| out.emitter.is_stopped_by(closer))
    }

    fn member_of(&mut self, key: &str) -> ObjectMember {
        let keys = &self.run.marked.spec.keys;
        if keys.tool.iter().any(|known| known == key) {
            return ObjectMember::Tool;
        }
        if keys.server.iter().any(|known| known == key) {
            return ObjectMember::Server;
        }
        match keys.arguments.iter().find(|known| **known == key) {
            Some(known) if !self.has_arguments() => {
                self.arguments_key = known;
                ObjectMember::Arguments
            }
            _ => ObjectMember::Other,
        }
    }

    fn value_ended(&mut self, window: &Window<'_>, at: u64, out: &mut CallOut<'_, '_>) {
        let text = || string(window.slice(self.value_start..at)).map(Cow::into_owned);
        match self.member {
            ObjectMember::Server => self.server = text(),
            // The name that was reported stays it; a second one is judged in the end.
            ObjectMember::Tool if self.tool.is_none() => {
                self.tool = text();
                if let Some(tool) = &self.tool {
                    out.start(self.json.cursor, self.server.as_deref(), tool);
                }
            }
            ObjectMember::Arguments => self.json.shown = Some((self.value_start, Some(at))),
            ObjectMember::Tool | ObjectMember::Other => {}
        }
        self.preview(window, out);
    }

    fn read_without_bracket(&self, window: &Window<'_>, end: u64, call: &mut UnresolvedCall) {
        let text = window.slice(self.json.start..end).trim_end();
        match read(&format!("{text}}}")) {
            Ok(found) => {
                (call.arguments, call.repairs) = (found.value, found.repairs);
                call.note(Repair::MissingClose);
            }
            Err(_) => self.json.read(window, end, call),
        }
    }

    /// Reads tool and arguments of the parsed object into `call`; returns `false` if it has no arguments.
    fn pick(&self, window: &Window<'_>, tables: &Tables, call: &mut UnresolvedCall) -> bool {
        let keys = &self.run.marked.spec.keys;
        call.raw_arguments.clear();
        let held = match (CallObject { keys, tables, strict: None }).take(call) {
            Ok(held) => held,
            Err(why) => {
                call.fault.get_or_insert_with(|| Fault::malformed(why.message));
                return true;
            }
        };
        call.restated |=
            self.has_arguments() && held != ArgumentsPlace::Keyed && held != ArgumentsPlace::Under(self.arguments_key);
        // What was shown as the name while it came must stay the name.
        let is_other = self.tool.as_ref().is_some_and(|seen| Some(seen.trim()) != call.tool.as_deref());
        if held != ArgumentsPlace::Keyed && self.json.fault.is_some() && is_other {
            call.fault.get_or_insert_with(|| Fault::malformed(format!("`{}` is damaged", keys.tool[0])));
        }
        let shown = self.json.shown.filter(|_| !call.restated && held != ArgumentsPlace::Keyed);
        let shown = shown.and_then(|(start, end)| Some(window.slice(start..end?)));
        held.write(call, shown);
        held != ArgumentsPlace::Absent
    }
}

impl CallShape for MarkedObject {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        if let Some(end) = self.end {
            return self.after(end, window, out);
        }
        let closer = RunCloser(self.run);
        loop {
            match self.json.next(window, &closer, out) {
                JsonStep::More => {
                    self.preview(window, out);
                    return Step::More;
                }
                JsonStep::Key(_) | JsonStep::ValueStart(_) | JsonStep::ValueEnd(_) if out.is_over_limit() => {}
                JsonStep::Key(range) => {
                    self.member = self.member_of(&string(window.slice(range)).unwrap_or_default());
                }
                JsonStep::ValueStart(at) => {
                    self.value_start = at;
                    if self.member == ObjectMember::Arguments {
                        self.json.shown = Some((at, None));
                    }
                }
                JsonStep::ValueEnd(at) => self.value_ended(window, at, out),
                JsonStep::Fault(_) => self.preview(window, out),
                JsonStep::End(at) => {
                    self.end = Some(at);
                    return self.after(at, window, out);
                }
                JsonStep::Closed(at) | JsonStep::Passed(at) => {
                    self.preview(window, out);
                    self.closed = true;
                    let is_closed = self.run.marked.close(window.from(at), false).is_ok();
                    // Past the limit the arguments are at hand no longer.
                    self.lacks_bracket = is_closed && self.is_all_but_closed(at, out.head.unwrap_or(window));
                    self.end = Some(at);
                    return Step::End(at);
                }
            }
        }
    }

    fn missing(&self, window: &Window<'_>, _: &Tables) -> CutCall {
        let array = if self.run.array { "]" } else { "" };
        CutCall { inner: self.json.missing(window) + array, is_due: false, too_deep: self.json.too_deep }
    }

    fn called(&self, _: &Tables) -> CalledTool {
        (self.server.clone(), self.tool.clone())
    }

    fn resolve(self: Box<Self>, window: &Window<'_>, end: u64, tables: &Tables) -> UnresolvedCall {
        let mut call = UnresolvedCall::default();
        match self.lacks_bracket {
            true => self.read_without_bracket(window, end, &mut call),
            false => self.json.read(window, end, &mut call),
        }
        if call.fault.is_none() {
            let absent = !self.pick(window, tables, &mut call);
            if self.left_open && absent && call.fault.is_none() {
                // Nobody knows whether they would have come (`hermes/no_arguments_and_no_close`).
                call.fault = Some(Fault::truncated("the call has no arguments, and what closes it is missing"));
            }
            call.repairs.extend(self.close_repair.clone());
            // The key may belong to the arguments (`members_after/hermes_key_and_a_bracket_too_many`).
            if self.json.trailing.surplus && call.fault.is_none() && !call.ignored_keys.is_empty() {
                let message = "a bracket too many follows: which of the keys belong to the arguments is not certain";
                call.fault = Some(Fault::malformed(message));
            }
        }
        call.server = call.server.take().or(self.server);
        call.tool = call.tool.take().or(self.tool);
        call
    }

    fn needed_from(&self) -> u64 {
        self.json.cursor
    }

    fn open_value(&mut self) -> Option<OpenValue<'_>> {
        Some(OpenValue::Json(&mut self.json))
    }

    fn closer(&self, _: &Tables) -> CallCloser {
        CallCloser { close: self.json.closer.clone(), brackets: true }
    }

    fn is_damaged(&self) -> bool {
        !self.json.is_whole(self.run.marked.closer().is_none())
    }

    fn ended_by_line(&self) -> bool {
        self.closed && self.json.at_line_start()
    }
}

/// Matcher of the text that ends a damaged object: the closer of its run, its fence, or the next marker line.
struct RunCloser(ObjectRun);

impl Closer for RunCloser {
    fn closes(&self, text: &str, line_start: bool, more: bool) -> Match<()> {
        let ObjectRun { marked, fence, think_tags, .. } = self.0;
        let close = marked.close(text, more);
        if !line_start {
            return close.map(|_| ());
        }
        let fence = fence.map_or(Err(No), |fence| fence_end(text, fence, think_tags, more));
        close.either(fence).either(marked.call_line(text, more)).either(marked.answer_line(text, more)).map(|_| ())
    }

    fn last_passed(&self, line: &str) -> Option<usize> {
        line.rfind(self.0.marked.closer()?)
    }
}
