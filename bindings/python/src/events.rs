//! The parser's events as Python classes.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use toolgraft::Event;
use toolgraft::event::OwnedEvent;

use crate::error::ToolError;
use crate::records::{Call, Reason, Rejected, Span, either, plain, reason, record, span, text, word};

record! {
    /// A piece of the answer's text, which the user sees.
    Text is "text" {
        /// The text, verbatim.
        text: Py<PyString>,
        /// Range of bytes of the stream that this event covers.
        span: Span,
    }
}

record! {
    /// A piece of the model's reasoning.
    Reasoning is "reasoning" {
        /// The text, verbatim.
        text: Py<PyString>,
        /// Kind of the syntax around a draft (a call in the reasoning), if the text is such syntax; otherwise `None`.
        syntax: Option<String>,
        /// Range of bytes of the stream that this event covers.
        span: Span,
    }
}

record! {
    /// The start of a call: the name of its tool is known.
    CallStart is "call_start" {
        /// Index of the call in the message, from 0.
        index: u32,
        /// Name of the tool's server, or `None` if it is not known yet. The server in `CallEnd` is authoritative.
        server: Option<String>,
        /// Name of the tool, as the model wrote it.
        tool: String,
        /// Range of bytes of the stream from the start of the call to the end of its name.
        span: Span,
    }
}

record! {
    /// A piece of a call's arguments as JSON text, as a preview. The joined pieces of a call are always a prefix of
    /// some valid JSON text.
    ArgsDelta is "args_delta" {
        /// Index of the call in the message, from 0.
        index: u32,
        /// Next piece of the arguments' JSON text.
        text: Py<PyString>,
        /// Range of bytes of the stream since the call's last event.
        span: Span,
    }
}

record! {
    /// The end of a call. It replaces everything that earlier events reported of the call. Exactly one of `call` and
    /// `rejected` is set.
    CallEnd is "call_end" {
        /// Index of the call in the message, from 0.
        index: u32,
        /// The call, or `None` if it was rejected. Its arguments are not checked against a schema yet.
        call: Option<Py<Call>>,
        /// The rejected call with the reason, or `None` if the call may run.
        rejected: Option<Py<Rejected>>,
        /// Text of the call as the model wrote it, cut off after `call_bytes` bytes.
        raw: Py<PyString>,
        /// True if the final arguments do not continue the joined `ArgsDelta` texts of the call.
        restated: bool,
        /// Range of bytes of the stream since the call's last event.
        span: Span,
    }
}

record! {
    /// Syntax that is neither text nor part of a call, such as a think tag, the fence around a call or a special token.
    Marker is "marker" {
        /// Kind of the syntax, such as `think_open` or `fence`.
        kind: String,
        /// Text of the syntax, verbatim.
        text: Py<PyString>,
        /// Range of bytes of the stream that this event covers.
        span: Span,
    }
}

record! {
    /// A new verdict on calls that were reported earlier, because of the text after them. Exactly one of `provenance`
    /// and `reason` is set.
    Revised is "revised" {
        /// Indices of the calls: `start` is the first, `end` the one after the last.
        calls: Span,
        /// New provenance of the calls, or `None` if they must not run.
        provenance: Option<String>,
        /// Reason why the calls must not run, or `None` if they may.
        reason: Option<Py<Reason>>,
        /// Empty range at the offset of the stream where this was decided.
        span: Span,
    }
}

record! {
    /// Text that was reported earlier moves to another part of the message, with the markers and calls in it.
    Moved is "moved" {
        /// Ranges of bytes of the stream that move.
        spans: Py<PyTuple>,
        /// Part of the message that the text moves to: `content` (the answer), `reasoning`, `drafts` (the reasoning;
        /// its calls become drafts), or `syntax` (neither: it is syntax around calls).
        to: String,
        /// Empty range at the offset of the stream where this was decided.
        span: Span,
    }
}

/// Converts a parser event of the library to a Python object. `chunk` is the chunk that was pushed; an event with the
/// same text shares its Python string.
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

/// Converts an owned parser event to a borrowed one, and moves its call or rejection out of it; `None` for an unknown
/// event.
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
