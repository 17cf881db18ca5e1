//! A name, white space, one JSON object: what GLM-4 writes for a call (a line break between), as the whole
//! message, on lines of its own or alone in a fence.
//!
//! ```text
//!   Json ──}──▶ after it ──the message's or the fence's end──▶ call
//!     └──cannot be read, does not fit: text   └──anything else: text
//! ```

use super::fit::{begins_with_parameter, takes};
use crate::dialect::Dialect;
use crate::event::RejectedKind;
use crate::json::JsonStep;
use crate::json::window::{Match, No, Undecided, Window, leading_space};
use crate::parse::call::json::{Around, CallJson};
use crate::parse::call::{CallOut, CallShape, CalledTool, Markerless, Place, Stands, Step};
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::emit::unresolved::UnresolvedCall;
use crate::parse::marks::fence::Fence;
use crate::parse::marks::kinds::Kinds;
use crate::parse::shape::message::{after_all, fence_closer, goes_on_below};
use crate::parse::tables::Tables;
use crate::tools::Tool;

/// Reader of a tool's name and the object after it, which may yet be text.
#[derive(Debug)]
pub(crate) struct NameLine {
    start: u64,
    called: CalledTool,
    json: CallJson,
    fence: Option<Fence>,
    /// The offset after the object, once it is closed, and the offset up to which the text after it was read.
    end: Option<(u64, u64)>,
}

/// Recogniser of calls that are a known tool's name, white space and an object.
pub(crate) struct NameLines;

impl Markerless for NameLines {
    fn add_leads(&self, tables: &mut Tables) {
        if tables.name_line.is_none() {
            return;
        }
        for [first, second] in tables.names.leads() {
            // A name of one letter ends there.
            let ends: &[u8] = if second == b'(' { b" \t\r\n" } else { &[] };
            for second in [&[second], ends].concat() {
                tables.lexicon.line.add(&[first, second], Kinds::BARE);
            }
        }
        tables.holds_names();
    }

    fn stands(&self) -> Stands {
        Stands::Alone
    }

    fn ahead(&self, text: &str, tables: &Tables, more: bool) -> Match<()> {
        tables.name_line.ok_or(No)?;
        tables.names.on_a_line(text, more).map(|_| ())
    }

    fn open(&self, text: &str, place: Place, tables: &Tables) -> Option<(Dialect, Box<dyn CallShape>)> {
        let dialect = tables.name_line?;
        let (name, inner) = tables.names.on_a_line(text, false).ok()?;
        let (server, tool) = tables.split_name(&text[..name]);
        let at = place.at + inner as u64;
        let mut json = CallJson::arguments(at, tables.config.limits.depth, Around::Nothing, "");
        json.begin(at);
        let Place { at: start, fence, .. } = place;
        Some((dialect, Box::new(NameLine { start, called: (server, Some(tool)), json, fence, end: None })))
    }
}

impl NameLine {
    /// Returns the called tool; `None` if it is not known.
    fn tool<'t>(&self, tables: &'t Tables) -> Option<&'t Tool> {
        let (server, tool) = &self.called;
        tables.tool(server.as_deref(), tool.as_deref()?)
    }

    fn json(&mut self, window: &Window<'_>, out: &CallOut<'_, '_>) -> Step {
        let closer = fence_closer(self.fence, out.think_ends);
        match self.json.next(window, &closer, out) {
            JsonStep::More => Step::More,
            JsonStep::Closed(at) | JsonStep::Passed(at) => Step::Text(at, NotACallReason::Unclosed),
            JsonStep::End(at) => self.over(at, window, out.tables),
            JsonStep::Fault(_) | JsonStep::Key(_) | JsonStep::ValueStart(_) | JsonStep::ValueEnd(_) => Step::Next,
        }
    }

    fn over(&mut self, end: u64, window: &Window<'_>, tables: &Tables) -> Step {
        let mut call = UnresolvedCall::of(self.called.clone());
        self.json.read(window, end, &mut call);
        if let Some(fault) = &call.fault {
            let is_limit = fault.kind == RejectedKind::Limit;
            return Step::Text(end, if is_limit { NotACallReason::Limit } else { NotACallReason::Damaged });
        }
        if !takes(self.tool(tables), &call.arguments) {
            return Step::Text(end, NotACallReason::ForeignKey);
        }
        self.end = Some((end, end));
        Step::Call(self.start..end, Box::new(call))
    }
}

impl CallShape for NameLine {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let Some((end, cursor)) = &mut self.end else { return self.json(window, out) };
        *cursor += leading_space(window.from(*cursor)) as u64;
        if *cursor == window.end() {
            return Step::More;
        }
        match after_all(*cursor, self.fence, out.think_ends, window) {
            Ok(()) => Step::End(*end),
            Err(Undecided) => Step::More,
            Err(No) if self.fence.is_none() && goes_on_below(*end, *cursor, window) => Step::End(*end),
            Err(No) => Step::Text(*cursor, NotACallReason::TextAfter),
        }
    }

    /// Returns the last step at the stream's end: an incomplete call is one if the object's first key is a parameter of
    /// the tool.
    fn ending(&mut self, window: &Window<'_>, tables: &Tables) -> Step {
        if let Some((end, _)) = self.end {
            return Step::End(end);
        }
        let is_certain =
            self.tool(tables).is_some_and(|tool| begins_with_parameter(tool, window.from(self.json.start)));
        if is_certain { Step::More } else { Step::Text(window.end(), NotACallReason::CutOff) }
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.called.clone()
    }
}
