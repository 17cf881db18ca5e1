//! Reads arguments alone as a call, if the message must call one tool: the model has only left out the tool's name.

use serde_json::{Map, Value};

use super::{Body, ReadContext};
use crate::dialect::Dialect;
use crate::event::{Call, Entry, Event, RejectedKind};
use crate::tools::{Tool, ToolChoice};
use crate::turn::event::AgentEvent;

/// Limit on the white space, in bytes, at the start of a message whose text may still be arguments alone.
const INDENT: usize = 64;

impl ReadContext<'_> {
    /// Returns the tool that the message must call, if there is only one possibility.
    fn due(&self) -> Option<&Tool> {
        let mut offered = self.displays.setup.catalog.offered();
        match self.displays.choice {
            choice @ ToolChoice::Named(_) => offered.find(|tool| choice.admits(tool.server.as_deref(), &tool.name)),
            ToolChoice::Required => offered.next().filter(|_| offered.next().is_none()),
            ToolChoice::Auto | ToolChoice::None => None,
        }
    }
}

impl Body {
    /// Reports an event, but holds back text that may be arguments alone.
    pub(super) fn tell(&mut self, event: AgentEvent, reader: &ReadContext<'_>, emit: &mut dyn FnMut(AgentEvent)) {
        let AgentEvent::Text { text } = &event else {
            self.release(emit);
            return emit(event);
        };
        self.held.push_str(text);
        let start = self.held.trim_start();
        // An object begins here, or a code fence around one.
        let is_start = (start.is_empty() && self.held.len() < INDENT) || start.starts_with(['{', '`']);
        if !(is_start && self.calls_nothing() && reader.due().is_some()) {
            self.release(emit);
        }
    }

    pub(super) fn release(&mut self, emit: &mut dyn FnMut(AgentEvent)) {
        let text = std::mem::take(&mut self.held);
        if !text.is_empty() {
            emit(AgentEvent::Text { text });
        }
    }

    /// Returns `true` if no call was written so far, except drafts in the reasoning.
    fn calls_nothing(&self) -> bool {
        let is_draft = |entry: &Entry| entry.result.as_ref().is_err_and(|r| r.kind == RejectedKind::InReasoning);
        self.collector.entries().iter().all(is_draft)
    }

    /// Reads a message that is a single object as a call, if the only tool to call accepts it: the model has only left
    /// out the tool's name.
    pub(super) fn take_arguments(&mut self, reader: &ReadContext<'_>, emit: &mut dyn FnMut(AgentEvent)) {
        let Some(tool) = reader.due().filter(|_| self.calls_nothing()) else { return };
        let Some(arguments) = object_alone(&self.collector.beside_calls()) else { return };
        // An object with only unknown keys is no call, even if the schema accepts any.
        let is_known = arguments.is_empty() || arguments.keys().any(|key| tool.has_parameter(key));
        let call = Call { server: tool.server.clone(), ..Call::new(Dialect::Json, &*tool.name, arguments.into()) };
        let Ok(call) = reader.validator.check(call, "") else { return };
        if !is_known && tool.parameters().next().is_some() {
            return;
        }
        // The text is the call: neither the caller nor the history gets it a second time.
        self.held.clear();
        self.collector.take_content();
        let (index, raw, text) = (self.next, reader.displays.setup.natives.taught(&call), call.raw_arguments.clone());
        let start = Event::CallStart { index, server: call.server.as_deref(), tool: &call.tool, span: 0..0 };
        self.take(start, reader, emit);
        self.take(Event::ArgsDelta { index, text: &text, span: 0..0 }, reader, emit);
        let result = Box::new(Ok(call));
        self.take(Event::CallEnd { index, result, raw: &raw, restated: false, span: 0..0 }, reader, emit);
    }
}

/// Returns the object that a text consists of, in a code fence or not.
fn object_alone(text: &str) -> Option<Map<String, Value>> {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    // The language of the fence: `json`.
    let inner = fenced.map_or(text, |text| text.trim_start_matches(char::is_alphanumeric));
    serde_json::from_str(inner.trim()).ok()
}
