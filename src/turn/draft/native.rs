//! Native calls in a message.

use serde::de::IgnoredAny;
use serde_json::Value;

use super::super::native::Read;
use super::{AgentEvent, Body, Reader};
use crate::call::{Call, Rejected, RejectedKind};
use crate::event::{Event, MarkerKind};

impl Body {
    /// Takes a native call, behind everything else. One that the text makes too
    /// is the same call: some endpoints leave in the text what they read from it.
    pub(super) fn take_native(&mut self, call: Read, reader: &Reader<'_>, emit: &mut impl FnMut(AgentEvent)) {
        let Read { native, mut result, raw } = call;
        let index = self.next;
        let plain = result.as_ref().ok().filter(|call| call.repairs.is_empty()).map(|call| call.raw_arguments.clone());
        if index as usize >= reader.config.limits.calls {
            let limit = reader.config.limits.calls;
            result = result.and_then(|call| Err(past_limit(call, &raw, limit)));
        }
        // Calls are alike once their arguments are as the schema wants them.
        let result = result.and_then(|call| reader.validator.check(call, &raw).map_err(|rejected| *rejected));
        if result.as_ref().is_ok_and(|call| self.take_written(call)) {
            return;
        }
        if !self.pieces.is_empty() {
            // Markers of some dialects count at the start of a line only.
            self.take(Event::Marker { kind: MarkerKind::Wrapper, text: "\n", span: 0..0 }, reader, emit);
        }
        let (server, tool) = match &result {
            Ok(call) => (call.server.clone(), Some(call.tool.clone())),
            Err(rejected) => (rejected.server.clone(), rejected.tool.clone()),
        };
        if let Some(tool) = &tool {
            let (server, span) = (server.as_deref(), 0..0);
            self.take(Event::CallStart { index, server, tool, span }, reader, emit);
        }
        if let Some(text) = &plain {
            self.take(Event::ArgsDelta { index, text, span: 0..0 }, reader, emit);
        }
        self.natives.insert(index, native);
        let restated = false;
        self.take(Event::CallEnd { index, result: Box::new(result), raw: &raw, restated, span: 0..0 }, reader, emit);
    }

    /// Whether the text makes the call too; each of its calls stands for one.
    fn take_written(&mut self, call: &Call) -> bool {
        let same =
            |(s, t, a): &(Option<String>, String, Value)| (s, t, a) == (&call.server, &call.tool, &call.arguments);
        self.written.iter().position(same).map(|at| self.written.swap_remove(at)).is_some()
    }
}

/// Of the last call before the output limit nobody knows whether it was complete,
/// unless its arguments are.
pub(super) fn cut_off(read: &mut Read) {
    if serde_json::from_str::<IgnoredAny>(&read.native.arguments).is_err()
        && let Ok(call) = &read.result
    {
        let message = "its arguments end too early".to_owned();
        read.result = Err(Rejected::of(call.clone(), RejectedKind::Truncated, read.raw.as_str(), message));
    }
}

fn past_limit(call: Call, raw: &str, limit: usize) -> Rejected {
    Rejected::of(call, RejectedKind::Limit, raw, format!("a message may hold at most {limit} calls"))
}
