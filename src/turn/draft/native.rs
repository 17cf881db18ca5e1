//! Native calls in a message.

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
        if index as usize >= reader.config.limits.calls {
            let limit = reader.config.limits.calls;
            result = result.and_then(|call| Err(past_limit(call, &raw, limit)));
        }
        let twice =
            |call: &Call| self.written.iter().any(|(s, t, a)| (s, t, a) == (&call.server, &call.tool, &call.arguments));
        if result.as_ref().is_ok_and(twice) {
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
        if let Ok(call) = &result
            && call.repairs.is_empty()
        {
            self.take(Event::ArgsDelta { index, text: &call.raw_arguments, span: 0..0 }, reader, emit);
        }
        self.natives.insert(index, native);
        let restated = false;
        self.take(Event::CallEnd { index, result: Box::new(result), raw: &raw, restated, span: 0..0 }, reader, emit);
    }
}

fn past_limit(call: Call, raw: &str, limit: usize) -> Rejected {
    Rejected {
        kind: RejectedKind::Limit,
        raw: raw.to_owned(),
        message: format!("a message may hold at most {limit} calls"),
        server: call.server.clone(),
        tool: Some(call.tool.clone()),
        nearest: Vec::new(),
        dialect: call.dialect,
        call: Some(Box::new(call)),
    }
}
