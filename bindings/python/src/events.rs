//! The parser's events as Python classes.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use toolgraft::Event;
use toolgraft::event::OwnedEvent;

use crate::error::ToolError;
use crate::records::{Call, Reason, Rejected, Span, either, plain, reason, record, span, text, word};

record! {
    /// Text for the user.
    Text is "text" {
        /// The text, verbatim.
        text: Py<PyString>,
        /// Range of bytes in the stream.
        span: Span,
    }
}

record! {
    /// Text of the reasoning.
    Reasoning is "reasoning" {
        /// The text, verbatim.
        text: Py<PyString>,
        /// The syntax around a drafted call, if the text is that.
        syntax: Option<String>,
        /// Range of bytes in the stream.
        span: Span,
    }
}

record! {
    /// The name of a call is known.
    CallStart is "call_start" {
        /// Index of the call in this message, from 0.
        index: u32,
        /// The server, if it is known already; `CallEnd` is authoritative.
        server: Option<String>,
        /// The tool, as written.
        tool: String,
        /// Range of bytes from the start of the call.
        span: Span,
    }
}

record! {
    /// A preview of the arguments' JSON text: the joined deltas of a call are always a prefix of
    /// some valid JSON text.
    ArgsDelta is "args_delta" {
        /// Index of the call.
        index: u32,
        /// More of the JSON text.
        text: Py<PyString>,
        /// Range of bytes since the call's last event.
        span: Span,
    }
}

record! {
    /// The end of a call. Authoritative; exactly one of `call` and `rejected` is set.
    CallEnd is "call_end" {
        /// Index of the call.
        index: u32,
        /// The call. Its arguments are not yet checked against a schema.
        call: Option<Py<Call>>,
        /// The rejection, if the call must not run.
        rejected: Option<Py<Rejected>>,
        /// The whole text of the call.
        raw: Py<PyString>,
        /// True if the arguments do not continue the joined deltas.
        restated: bool,
        /// Range of bytes since the call's last event.
        span: Span,
    }
}

record! {
    /// Syntax that is neither text nor call.
    Marker is "marker" {
        /// The kind of syntax.
        kind: String,
        /// Its text, verbatim.
        text: Py<PyString>,
        /// Range of bytes in the stream.
        span: Span,
    }
}

record! {
    /// Reported calls are judged again because of the text after them; exactly one of `provenance`
    /// and `reason` is set.
    Revised is "revised" {
        /// Range of indexes of the calls.
        calls: Span,
        /// The new provenance, if they are calls.
        provenance: Option<String>,
        /// The reason, if they must not run.
        reason: Option<Py<Reason>>,
        /// Empty, at the position of the decision.
        span: Span,
    }
}

record! {
    /// Reported text belongs to another part of the message, together with its markers and calls.
    Moved is "moved" {
        /// Ranges of bytes in the stream.
        spans: Py<PyTuple>,
        /// The part: `content`, `reasoning`, `drafts` or `syntax`.
        to: String,
        /// Empty, at the position of the decision.
        span: Span,
    }
}

/// Converts an event of the library. `chunk` is the chunk that was pushed; an event with the same
/// text shares its Python string.
pub(crate) fn event<'py>(
    py: Python<'py>,
    event: Event<'_>,
    chunk: Option<(&str, &Bound<'py, PyString>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let shared = |part: &str| match chunk {
        // Compared by address, which is cheap and enough for an event that is the whole chunk.
        Some((whole, object)) if std::ptr::eq(part, whole) => object.clone().unbind(),
        _ => text(py, part),
    };
    let bytes = span(event.span());
    macro_rules! made {
        ($record:expr) => {
            Bound::new(py, $record)?.into_any()
        };
    }
    Ok(match event {
        Event::Text { text, .. } => made!(Text { text: shared(text), span: bytes }),
        Event::Reasoning { text, syntax, .. } => {
            made!(Reasoning { text: shared(text), syntax: syntax.map(word), span: bytes })
        }
        Event::CallStart { index, server, tool, .. } => {
            let (server, tool) = (server.map(str::to_owned), tool.to_owned());
            made!(CallStart { index, server, tool, span: bytes })
        }
        Event::ArgsDelta { index, text, .. } => made!(ArgsDelta { index, text: shared(text), span: bytes }),
        Event::CallEnd { index, result, raw, restated, .. } => {
            let (call, rejected) = either(py, *result)?;
            made!(CallEnd { index, call, rejected, raw: text(py, raw), restated, span: bytes })
        }
        Event::Marker { kind, text, .. } => made!(Marker { kind: word(kind), text: shared(text), span: bytes }),
        Event::Revised { calls, result, .. } => {
            let calls = Span { start: calls.start.into(), end: calls.end.into() };
            let provenance = result.as_ref().ok().map(|provenance| provenance.as_str().to_owned());
            let reason = result.err().map(|reason| Py::new(py, self::reason(py, &reason)?)).transpose()?;
            made!(Revised { calls, provenance, reason, span: bytes })
        }
        Event::Moved { spans, to, .. } => {
            let spans = spans.iter().map(|part| Py::new(py, span(part.clone()))).collect::<PyResult<Vec<_>>>()?;
            made!(Moved { spans: PyTuple::new(py, spans)?.unbind(), to: word(to), span: bytes })
        }
        // An event kind of a later version of the library must be added here first.
        other => return Err(ToolError::new_err(format!("this package does not know the event {other:?}"))),
    })
}

/// Converts an owned event back into a borrowed one, and takes its parts.
pub(crate) fn lent(event: &mut OwnedEvent) -> Option<Event<'_>> {
    Some(match event {
        OwnedEvent::Text { text, span } => Event::Text { text, span: span.clone() },
        OwnedEvent::Reasoning { text, syntax, span } => Event::Reasoning { text, syntax: *syntax, span: span.clone() },
        OwnedEvent::CallStart { index, server, tool, span } => {
            Event::CallStart { index: *index, server: server.as_deref(), tool, span: span.clone() }
        }
        OwnedEvent::ArgsDelta { index, text, span } => Event::ArgsDelta { index: *index, text, span: span.clone() },
        OwnedEvent::CallEnd { index, call, rejected, raw, restated, span } => {
            let result = match (call.take(), rejected.take()) {
                (Some(call), _) => Ok(*call),
                (None, rejected) => Err(*rejected?),
            };
            Event::CallEnd { index: *index, result: Box::new(result), raw, restated: *restated, span: span.clone() }
        }
        OwnedEvent::Marker { kind, text, span } => Event::Marker { kind: *kind, text, span: span.clone() },
        OwnedEvent::Revised { calls, provenance, reason, span } => {
            let result = match (*provenance, reason.take()) {
                (Some(provenance), _) => Ok(provenance),
                (None, reason) => Err(*reason?),
            };
            Event::Revised { calls: calls.clone(), result, span: span.clone() }
        }
        OwnedEvent::Moved { spans, to, span } => Event::Moved { spans, to: *to, span: span.clone() },
        _ => return None,
    })
}
