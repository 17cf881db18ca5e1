//! The parser: chunks in, events out.

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyDict, PyList, PyString};
use toolgraft::Event;
use toolgraft::event::OwnedEvent;
use toolgraft::message::DeltaKind;
use toolgraft_bindings::{MessageParser, Mistake, ParserSettings};

use crate::error::{ToolError, raised};
use crate::records::{self, NotACall};
use crate::tools::Catalog;
use crate::{events, settings};

/// Size in bytes from which on a chunk is parsed while other Python threads run; for shorter ones the switch costs
/// more than it saves.
const LONG: usize = 32 << 10;

/// An incremental parser of one message of a model.
///
/// `tools` (a `Catalog`, or a list of `Tool` objects or dicts) are the known tools. Without them, calls of any name are
/// accepted, and dialects that read only calls of known tools are off.
///
/// Settings: `dialects` (`"auto"`, the name of a dialect, or a list of names); `model` (the model's name, which selects
/// the profile of its family); `reasoning`, `reasoning_calls`, `reasoning_marks`; `fenced_calls`; `stop` (stop strings
/// of the request); limits on a call's bytes (`call_bytes`), its nesting (`depth`) and the calls of a message
/// (`calls`); `validate` (check the arguments of the calls in `message`; default true); `collect` (collect `message`;
/// default true); `keep_not_calls` (collect `not_calls`; default false). Without `collect` there are no near calls, and
/// no calls of `fenced_calls`.
#[pyclass(module = "toolgraft")]
pub(crate) struct Parser {
    reader: MessageParser,
    message: Option<Py<records::Message>>,
}

impl Parser {
    fn take<'py>(&mut self, kind: DeltaKind, chunk: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        let py = chunk.py();
        let text = PyBackedStr::try_from(chunk.clone())?;
        if text.len() >= LONG {
            return self.apart(py, |reader, kept| reader.push(kind, &text, &mut |event| kept.push(event.into_owned())));
        }
        let mut events = Events::new(py, Some((&text, chunk)));
        self.reader.push(kind, &text, &mut |event| events.add(event)).map_err(raised)?;
        events.finish()
    }

    /// Runs the parser while other Python threads run, and creates the Python events afterwards.
    fn apart<'py>(
        &mut self,
        py: Python<'py>,
        work: impl FnOnce(&mut MessageParser, &mut Vec<OwnedEvent>) -> Result<(), Mistake> + Send,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut kept: Vec<OwnedEvent> = Vec::new();
        py.detach(|| work(&mut self.reader, &mut kept)).map_err(raised)?;
        let mut events = Events::new(py, None);
        for event in &mut kept {
            match events::lent(event) {
                Some(event) => events.add(event),
                None => return Err(ToolError::new_err("this package does not know an event of the parser")),
            }
        }
        events.finish()
    }
}

/// A growing Python list of events.
struct Events<'py, 'c> {
    chunk: Option<(&'c str, &'c Bound<'py, PyString>)>,
    list: Bound<'py, PyList>,
    failed: Option<PyErr>,
}

impl<'py, 'c> Events<'py, 'c> {
    fn new(py: Python<'py>, chunk: Option<(&'c str, &'c Bound<'py, PyString>)>) -> Self {
        Events { chunk, list: PyList::empty(py), failed: None }
    }

    fn add(&mut self, event: Event<'_>) {
        let added = events::event(self.list.py(), event, self.chunk).and_then(|event| self.list.append(event));
        if let Err(error) = added {
            self.failed.get_or_insert(error);
        }
    }

    fn finish(self) -> PyResult<Bound<'py, PyList>> {
        self.failed.map_or(Ok(self.list), Err)
    }
}

#[pymethods]
impl Parser {
    #[new]
    #[pyo3(signature = (tools = None, **settings))]
    fn new(py: Python<'_>, tools: Option<&Bound<'_, PyAny>>, settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let reading = ParserSettings::new(&settings::map(settings)?).map_err(raised)?;
        let catalog = Catalog::given(py, tools)?;
        let known = &catalog.get().0;
        Ok(Parser { reader: py.detach(|| MessageParser::new(reading, known)), message: None })
    }

    /// Parses the next chunk of the answer's text, and returns the events that it completes. Raises `StateError` after
    /// `finish`.
    #[pyo3(signature = (chunk, /))]
    fn push<'py>(&mut self, chunk: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        self.take(DeltaKind::Content, chunk)
    }

    /// Parses the next chunk of a separate reasoning field (`reasoning_content`), and returns the events that it
    /// completes. Raises `StateError` after `finish`.
    #[pyo3(signature = (chunk, /))]
    fn push_reasoning<'py>(&mut self, chunk: &Bound<'py, PyString>) -> PyResult<Bound<'py, PyList>> {
        self.take(DeltaKind::Reasoning, chunk)
    }

    /// Finishes the message with the endpoint's finish reason, and returns the last events. `stop` are the request's
    /// stop strings, if they are known only now. If a text was meant as a call but fits no call syntax, the last event
    /// is its rejection (`near_call`).
    #[pyo3(signature = (reason = "stop", *, stop = None))]
    fn finish<'py>(
        &mut self,
        py: Python<'py>,
        reason: &str,
        stop: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyList>> {
        self.apart(py, |reader, kept| {
            reader.finish(reason, stop.as_deref(), &mut |event| kept.push(event.into_owned()))
        })
    }

    /// The parsed message, after `finish`; earlier, or without `collect`, it raises `StateError`. The arguments of its
    /// calls are checked against the tools' schemas unless `validate` is false.
    #[getter]
    fn message(&mut self, py: Python<'_>) -> PyResult<Py<records::Message>> {
        if let Some(message) = &self.message {
            return Ok(message.clone_ref(py));
        }
        let assembled = py.detach(|| self.reader.take_message()).map_err(raised)?;
        let message = Py::new(py, records::message(py, assembled)?)?;
        self.message = Some(message.clone_ref(py));
        Ok(message)
    }

    /// The texts that looked like calls but are none, if the setting `keep_not_calls` is true; otherwise empty.
    #[getter]
    fn not_calls(&self) -> Vec<NotACall> {
        self.reader.not_calls().iter().map(records::not_a_call).collect()
    }

    /// Prepares the parser for another message with the same settings and tools. The current message is discarded.
    fn reset(&mut self) {
        self.reader.reset();
        self.message = None;
    }

    /// Returns a new parser with the same settings and tools, at the start of a message. The cost does not depend on
    /// the number of tools.
    fn fork(&self) -> Self {
        Parser { reader: self.reader.fork(), message: None }
    }

    /// Parses the whole text of a message with the settings and tools of this parser, and returns the message.
    /// `reasoning` is the text of a separate reasoning field, `reason` the finish reason. The message in progress is
    /// not affected.
    #[pyo3(signature = (text, /, *, reasoning = "", reason = "stop"))]
    fn parse(&self, text: &Bound<'_, PyString>, reasoning: &str, reason: &str) -> PyResult<records::Message> {
        let py = text.py();
        let text = PyBackedStr::try_from(text.clone())?;
        let assembled = py.detach(|| self.reader.parse(&text, reasoning, reason));
        records::message(py, assembled)
    }

    fn __repr__(&self) -> String {
        let state = if self.reader.is_over() { "over" } else { "open" };
        format!("<toolgraft.Parser, its message {state}>")
    }
}

/// Parses the whole text of a model's message, checks the calls' arguments against the tools' schemas, and returns the
/// message.
///
/// `tools` and the settings are those of `Parser`. `finish_reason` is the endpoint's finish reason, `reasoning_field`
/// the text of a separate reasoning field. For many texts with the same tools, call `parse` of one `Parser`: it reads
/// the list of tools only once.
#[pyfunction]
#[pyo3(signature = (text, tools = None, *, finish_reason = "stop", reasoning_field = "", **settings))]
pub(crate) fn parse(
    text: &Bound<'_, PyString>,
    tools: Option<&Bound<'_, PyAny>>,
    finish_reason: &str,
    reasoning_field: &str,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<records::Message> {
    Parser::new(text.py(), tools, settings)?.parse(text, reasoning_field, finish_reason)
}
