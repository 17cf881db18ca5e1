//! Calls and messages as Python classes: frozen, with the names of the JSON forms.

use std::fmt::Display;
use std::str::FromStr;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolgraft::event::{self, Assembled};
use toolgraft::parse;

use crate::error::{ToolError, raised};
use crate::value;

/// Defines a class whose fields can be read, compared, matched and written as JSON. The fields
/// after `beside` can only be read.
macro_rules! record {
    (
        $(#[$doc:meta])* $name:ident $(is $type:literal)?
        { $($(#[$field_doc:meta])* $field:ident: $of:ty),* $(,)? }
        $(beside { $($(#[$beside_doc:meta])* $beside:ident: $beside_of:ty),* $(,)? })?
        $(new $new:item)?
    ) => {
        $(#[$doc])*
        #[pyclass(frozen, get_all, module = "toolgraft", skip_from_py_object)]
        pub(crate) struct $name {
            $($(#[$field_doc])* pub(crate) $field: $of,)*
            $($($(#[$beside_doc])* pub(crate) $beside: $beside_of,)*)?
        }

        impl $name {
            fn fields<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
                Ok(vec![$((stringify!($field), (&self.$field).into_bound_py_any(py)?),)*])
            }
        }

        #[pymethods]
        impl $name {
            $($new)?

            $(
                /// Name of the event, which is the member `type` of its JSON form.
                #[classattr]
                #[pyo3(name = "type")]
                fn kind() -> &'static str {
                    $type
                }
            )?

            /// Returns the object in its JSON form, as a dict.
            #[allow(clippy::wrong_self_convention, reason = "one name and form for all, `Span` among them, which is `Copy`")]
            pub(crate) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
                let dict = PyDict::new(py);
                $(dict.set_item("type", $type)?;)?
                for (name, field) in self.fields(py)? {
                    dict.set_item(name, plain(&field)?)?;
                }
                Ok(dict)
            }

            /// Creates the object from the dict that `to_dict` returned.
            #[staticmethod]
            fn from_dict(dict: &Bound<'_, PyDict>) -> PyResult<Self> {
                Ok($name {
                    $($field: $crate::records::member(dict, stringify!($field))?,)*
                    $($($beside: PyTuple::empty(dict.py()).unbind(),)*)?
                })
            }

            /// Creates the object from the values of its fields, for `pickle` and `copy`.
            #[staticmethod]
            #[allow(clippy::too_many_arguments, reason = "one for each field")]
            fn _of($($field: $of,)* $($($beside: $beside_of,)*)?) -> Self {
                $name { $($field,)* $($($beside,)*)? }
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
                let names = [$(stringify!($field),)* $($(stringify!($beside),)*)?];
                let fields = names.iter().map(|name| slf.getattr(*name)).collect::<PyResult<Vec<_>>>()?;
                Ok((slf.getattr("_of")?, PyTuple::new(slf.py(), fields)?))
            }

            fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
                let Ok(other) = other.cast::<Self>() else { return Ok(false) };
                let (mine, theirs) = (slf.get().fields(slf.py())?, other.get().fields(slf.py())?);
                for ((_, mine), (_, theirs)) in mine.iter().zip(&theirs) {
                    if !mine.eq(theirs)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                let fields = self.fields(py)?;
                let shown = fields.iter().map(|(name, field)| Ok(format!("{name}={}", field.repr()?)));
                Ok(format!("{}({})", stringify!($name), shown.collect::<PyResult<Vec<_>>>()?.join(", ")))
            }
        }
    };
}
pub(crate) use record;

record! {
    /// A range of bytes of the stream in UTF-8, or of indices of calls.
    #[derive(Clone, Copy)]
    Span {
        /// Offset of the first byte from the start of the stream, or the first index.
        start: u64,
        /// Offset of the byte after the last one, or the index after the last one.
        end: u64,
    }
}

impl<'py> FromPyObject<'_, 'py> for Span {
    type Error = PyErr;

    fn extract(of: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(*of.cast::<Span>()?.get())
    }
}

record! {
    /// A complete call of a tool, or a read of a resource.
    Call {
        /// Name of the tool's server, as the model wrote it or as resolved from the catalog; `None` if neither gives
        /// one.
        server: Option<String>,
        /// Name of the called tool.
        tool: String,
        /// Arguments of the call: any JSON value before validation, a dict after it.
        arguments: Py<PyAny>,
        /// Text of the call's arguments as the model wrote it.
        raw_arguments: Py<PyString>,
        /// Dialect (call syntax) in which the model wrote the call.
        dialect: String,
        /// Names of the repairs that made the call readable or valid, in the order in which they were made.
        repairs: Py<PyTuple>,
        /// Provenance: how the call was found. A call with any provenance but `plain` may not be meant, and needs
        /// approval.
        provenance: String,
    }
    new
    /// Creates a call without repairs, as if the model had written it in this dialect.
    #[new]
    #[pyo3(signature = (tool, arguments, *, server = None, dialect = "use_mcp_tool"))]
    fn new(py: Python<'_>, tool: &str, arguments: &Bound<'_, PyAny>, server: Option<String>, dialect: &str) -> PyResult<Self> {
        let arguments = value::from_python(arguments).map_err(ToolError::new_err)?;
        let mut call = toolgraft::Call::new(word_of(dialect)?, tool, arguments);
        call.server = server;
        self::call(py, call)
    }
}

record! {
    /// A call that must not run, with the reason.
    Rejected {
        /// Kind of the reason why the call must not run, such as `truncated`.
        kind: String,
        /// Text of the call as the model wrote it, cut off after `call_bytes` bytes.
        raw: Py<PyString>,
        /// Error message that names the fault and its position, for the user and for the model.
        message: String,
        /// Name of the tool's server; `None` if it is unknown.
        server: Option<String>,
        /// Name of the called tool; `None` if it could not be read.
        tool: Option<String>,
        /// Names of tools that the model may have meant; empty unless the kind is `unknown_tool`.
        nearest: Py<PyTuple>,
        /// Dialect (call syntax) in which the model wrote the call.
        dialect: String,
        /// The parsed call if it was complete; otherwise `None`.
        call: Option<Py<Call>>,
        /// Construct that quotes the call, such as `code_span`, if the parser rejected the call as `quoted`; otherwise
        /// `None`.
        quoted_in: Option<String>,
        /// True if the text of an `invented` call remains in the message's content.
        in_text: bool,
    }
}

record! {
    /// The reason why a call must not run, without the call itself.
    Reason {
        /// Kind of the reason why the call must not run, such as `truncated`.
        kind: String,
        /// Error message that names the fault and its position, for the user and for the model.
        message: String,
        /// Names of tools that the model may have meant; empty unless the kind is `unknown_tool`.
        nearest: Py<PyTuple>,
        /// Construct that quotes the call, such as `code_span`, if the parser rejected the call as `quoted`; otherwise
        /// `None`.
        quoted_in: Option<String>,
        /// Provenance of the rejected call, which applies if a later event revises the rejection.
        provenance: String,
    }
}

record! {
    /// A parsed message of a model.
    Message {
        /// Text of the answer, which the user sees.
        content: Py<PyString>,
        /// Text of the reasoning, including the text of calls that were only drafted in it.
        reasoning: Py<PyString>,
        /// Calls that may run, in the order of the message.
        calls: Py<PyTuple>,
        /// Rejected calls, which must not run, in the order of the message.
        rejected: Py<PyTuple>,
        /// True if the text was first classified as reasoning and then turned out to be the answer.
        answer_in_reasoning: bool,
    }
    beside {
        /// An `Entry` for each call and each rejected call, in the order of the message.
        entries: Py<PyTuple>,
    }
}

record! {
    /// A call or rejected call of a message. Exactly one of `call` and `rejected` is set.
    Entry {
        /// Index of the call in the message, from 0, as in the events.
        index: u32,
        /// The call, or `None` if it was rejected.
        call: Option<Py<Call>>,
        /// The rejected call with the reason, or `None` if the call may run.
        rejected: Option<Py<Rejected>>,
        /// Text of the call as the model wrote it, cut off after `call_bytes` bytes.
        raw: Py<PyString>,
        /// Joined texts of the call's `ArgsDelta` events.
        deltas: Py<PyString>,
        /// True if the final arguments do not continue `deltas`.
        restated: bool,
    }
}

record! {
    /// A text that looked like a call but is none. It stays in the message's text.
    NotACall {
        /// Dialect (call syntax) in which the text looked like a call.
        dialect: String,
        /// Range of bytes of the stream that the text, or its opening delimiter, occupies.
        span: Span,
        /// Reason why the text is not a call, such as `no_json`.
        reason: String,
    }
}

record! {
    /// The result of a call, for `results_message`.
    ToolResult {
        /// The call that this result answers.
        call: Py<Call>,
        /// The tool's answer as text.
        text: String,
        /// Identifier of the call; if `None`, `call_` and the number of the result in the list, from 1.
        id: Option<String>,
        /// Status of the call: `result`, `tool_error`, `denied`, `timed_out`, `cancelled` or `displayed`.
        status: String,
        /// Structured result of the tool (`structuredContent` in MCP), which the model reads if `text` is blank; `None`
        /// if there is none.
        structured: Option<Py<PyAny>>,
    }
    new
    /// Creates the result of `call`. With the default status, `text` is the tool's answer.
    #[new]
    #[pyo3(signature = (call, text, *, id = None, status = "result", structured = None))]
    fn new(call: Py<Call>, text: String, id: Option<String>, status: &str, structured: Option<Py<PyAny>>) -> PyResult<Self> {
        let status = word_of::<toolgraft::outcome::Status>(status)?.to_string();
        Ok(ToolResult { call, text, id, status, structured })
    }
}

/// Converts a field of a record to its JSON form: records to dicts, tuples to lists.
pub(crate) fn plain<'py>(field: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = field.py();
    if let Ok(items) = field.cast::<PyTuple>() {
        let items = items.iter().map(|item| plain(&item)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyList::new(py, items)?.into_any());
    }
    match field.getattr_opt("to_dict")? {
        Some(to_dict) => to_dict.call0(),
        None => Ok(field.clone()),
    }
}

/// Returns a member of a record's JSON form, converted to the record's field; a missing member counts as `None`.
pub(crate) fn member<'py, T: FromPyObjectOwned<'py>>(dict: &Bound<'py, PyDict>, name: &str) -> PyResult<T> {
    let value = dict.get_item(name)?.unwrap_or_else(|| dict.py().None().into_bound(dict.py()));
    // These may be any JSON value.
    let value = if matches!(name, "arguments" | "structured") { value } else { field(value)? };
    let wrong = |error: PyErr| ToolError::new_err(format!("{name}: {error}"));
    value.extract().map_err(|error: T::Error| wrong(error.into()))
}

/// Converts the JSON form of a field back: dicts to records, lists to tuples. The inverse of [`plain`].
fn field(value: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = value.py();
    if let Ok(items) = value.cast::<PyList>() {
        let items = items.iter().map(field).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyTuple::new(py, items)?.into_any());
    }
    let Ok(dict) = value.cast::<PyDict>() else { return Ok(value) };
    // A member that only this record has.
    Ok(if dict.contains("start")? {
        Bound::new(py, Span::from_dict(dict)?)?.into_any()
    } else if dict.contains("raw_arguments")? {
        Bound::new(py, Call::from_dict(dict)?)?.into_any()
    } else if dict.contains("in_text")? {
        Bound::new(py, Rejected::from_dict(dict)?)?.into_any()
    } else {
        Bound::new(py, Reason::from_dict(dict)?)?.into_any()
    })
}

/// Converts a Python record to the library's type, by their common JSON form.
pub(crate) fn from_record<T: DeserializeOwned>(dict: Bound<'_, PyDict>) -> PyResult<T> {
    let value = value::from_python(dict.as_any()).map_err(ToolError::new_err)?;
    serde_json::from_value(value).map_err(|error| ToolError::new_err(error.to_string()))
}

/// Parses an argument whose value is one of several words.
fn word_of<T: FromStr<Err: Display>>(word: &str) -> PyResult<T> {
    toolgraft_bindings::word(word).map_err(raised)
}

/// Returns the word that represents a value in JSON; the JSON text if that is no string.
pub(crate) fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => other.map(|value| value.to_string()).unwrap_or_default(),
    }
}

fn words(py: Python<'_>, words: impl IntoIterator<Item = impl ToString>) -> PyResult<Py<PyTuple>> {
    let words: Vec<String> = words.into_iter().map(|word| word.to_string()).collect();
    Ok(PyTuple::new(py, words)?.unbind())
}

pub(crate) fn text(py: Python<'_>, text: &str) -> Py<PyString> {
    PyString::new(py, text).unbind()
}

pub(crate) fn span(span: event::Span) -> Span {
    Span { start: span.start, end: span.end }
}

/// Converts a call of the library to its Python record.
pub(crate) fn call(py: Python<'_>, call: toolgraft::Call) -> PyResult<Call> {
    Ok(Call {
        arguments: value::to_python(py, &call.arguments)?.unbind(),
        raw_arguments: text(py, &call.raw_arguments),
        dialect: call.dialect.name().to_owned(),
        repairs: words(py, &call.repairs)?,
        provenance: call.provenance.as_str().to_owned(),
        server: call.server,
        tool: call.tool,
    })
}

/// Converts a rejected call of the library to its Python record.
pub(crate) fn rejected(py: Python<'_>, rejected: event::Rejected) -> PyResult<Rejected> {
    Ok(Rejected {
        kind: rejected.kind.as_str().to_owned(),
        raw: text(py, &rejected.raw),
        message: rejected.message,
        server: rejected.server,
        tool: rejected.tool,
        nearest: words(py, &rejected.nearest)?,
        dialect: rejected.dialect.name().to_owned(),
        call: rejected.call.map(|call| Py::new(py, self::call(py, *call)?)).transpose()?,
        quoted_in: rejected.quoted_in.map(word),
        in_text: rejected.in_text,
    })
}

type CallOrRejected = (Option<Py<Call>>, Option<Py<Rejected>>);

pub(crate) fn either(py: Python<'_>, result: Result<toolgraft::Call, event::Rejected>) -> PyResult<CallOrRejected> {
    Ok(match result {
        Ok(call) => (Some(Py::new(py, self::call(py, call)?)?), None),
        Err(rejected) => (None, Some(Py::new(py, self::rejected(py, rejected)?)?)),
    })
}

/// Converts a text that looked like a call but is none to its Python record.
pub(crate) fn not_a_call(not: &parse::NotACall) -> NotACall {
    NotACall { dialect: not.dialect.name().to_owned(), span: span(not.span.clone()), reason: word(not.reason) }
}

/// Converts a message of the library to its Python record.
pub(crate) fn message(py: Python<'_>, assembled: Assembled) -> PyResult<Message> {
    let (mut entries, mut calls, mut not_run) = (Vec::new(), Vec::new(), Vec::new());
    for entry in assembled.entries {
        let (call, rejected) = either(py, entry.result)?;
        calls.extend(call.as_ref().map(|call| call.clone_ref(py)));
        not_run.extend(rejected.as_ref().map(|rejected| rejected.clone_ref(py)));
        let (raw, deltas) = (text(py, &entry.raw), text(py, &entry.deltas));
        let restated = entry.restated;
        entries.push(Py::new(py, Entry { index: entry.index, call, rejected, raw, deltas, restated })?);
    }
    Ok(Message {
        content: text(py, &assembled.content),
        reasoning: text(py, &assembled.reasoning),
        calls: PyTuple::new(py, calls)?.unbind(),
        rejected: PyTuple::new(py, not_run)?.unbind(),
        answer_in_reasoning: assembled.answer_in_reasoning,
        entries: PyTuple::new(py, entries)?.unbind(),
    })
}

pub(crate) fn reason(py: Python<'_>, reason: &event::Reason) -> PyResult<Reason> {
    Ok(Reason {
        kind: reason.kind.as_str().to_owned(),
        message: reason.message.clone(),
        nearest: words(py, &reason.nearest)?,
        quoted_in: reason.quoted_in.map(word),
        provenance: reason.provenance.as_str().to_owned(),
    })
}
