//! The parser's events as Python sees them.

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
        /// Its bytes.
        span: Span,
    }
}

record! {
    /// Text of the reasoning.
    Reasoning is "reasoning" {
        /// The text, verbatim.
        text: Py<PyString>,
        /// Syntax around a draft, if it is that.
        syntax: Option<String>,
        /// Its bytes.
        span: Span,
    }
}

record! {
    /// A call's name is known.
    CallStart is "call_start" {
        /// Which call of this message, from 0.
        index: u32,
        /// Server, as far as it is known here; `CallEnd` is authoritative.
        server: Option<String>,
        /// Tool, as written.
        tool: String,
        /// Bytes from the call's start to here.
        span: Span,
    }
}

record! {
    /// A preview of the arguments' JSON text: all deltas of a call, joined, are always a prefix of
    /// some valid JSON text.
    ArgsDelta is "args_delta" {
        /// Which call.
        index: u32,
        /// More of the JSON text.
        text: Py<PyString>,
        /// Bytes since the call's last event.
        span: Span,
    }
}

record! {
    /// A call is over. Authoritative; exactly one of `call` and `rejected` is there.
    CallEnd is "call_end" {
        /// Which call.
        index: u32,
        /// The call, its arguments not yet checked against a schema.
        call: Option<Py<Call>>,
        /// Why it must not run.
        rejected: Option<Py<Rejected>>,
        /// The call's whole text.
        raw: Py<PyString>,
        /// Whether the arguments do not continue the joined deltas.
        restated: bool,
        /// Bytes since the call's last event.
        span: Span,
    }
}

record! {
    /// Syntax that is neither text nor call.
    Marker is "marker" {
        /// Which.
        kind: String,
        /// Its text, verbatim.
        text: Py<PyString>,
        /// Its bytes.
        span: Span,
    }
}

record! {
    /// Calls that were reported are judged anew, by what came after them; exactly one of `provenance` and
    /// `reason` is there.
    Revised is "revised" {
        /// Which calls.
        calls: Span,
        /// How they were found, if they are calls.
        provenance: Option<&'static str>,
        /// Why they must not run.
        reason: Option<Py<Reason>>,
        /// Empty, at the point of the decision.
        span: Span,
    }
}

record! {
    /// Text that was reported belongs elsewhere, with the markers and calls in it.
    Moved is "moved" {
        /// Which bytes of the stream.
        spans: Py<PyTuple>,
        /// Where they belong: `content`, `reasoning`, `drafts` or `syntax`.
        to: String,
        /// Empty, at the point of the decision.
        span: Span,
    }
}

/// An event of the library; `chunk` is the piece that was pushed, which an event with the
/// same text shares.
pub(crate) fn event<'py>(
    py: Python<'py>,
    event: Event<'_>,
    chunk: Option<(&str, &Bound<'py, PyString>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let shared = |part: &str| match chunk {
        // All of the chunk in place, so that it need not be compared.
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
            let provenance = result.as_ref().ok().map(|provenance| provenance.as_str());
            let reason = result.err().map(|reason| Py::new(py, self::reason(py, &reason)?)).transpose()?;
            made!(Revised { calls, provenance, reason, span: bytes })
        }
        Event::Moved { spans, to, .. } => {
            let spans = spans.iter().map(|part| Py::new(py, span(part.clone()))).collect::<PyResult<Vec<_>>>()?;
            made!(Moved { spans: PyTuple::new(py, spans)?.unbind(), to: word(to), span: bytes })
        }
        // A kind that a later version of the library adds is a row here first.
        other => return Err(ToolError::new_err(format!("this package does not know the event {other:?}"))),
    })
}

/// The event that an owned one was made of.
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
