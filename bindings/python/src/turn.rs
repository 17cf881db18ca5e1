//! One request of a client with tools, to a model that has none: what to send, what comes of it.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::Value;
use toolgraft_bindings::Told;

use crate::error::{ToolError, raised};
use crate::tools::Catalog;
use crate::{settings, value};

/// A model without tools, asked as if it had some: requests to send in, and text and calls out.
///
/// `messages` are those of a request to Chat Completions. `request` is what to send to the model,
/// texts alone; `push`, `push_reasoning` and `finish` take what it answers. A mistake of the model's is
/// corrected by a further `request`. In the end there are `calls` or a `content`.
///
/// Settings are those of `render_prompt`, but `system`; `output`, a JSON Schema that the answer has to
/// match; and `max_corrections`, requests in a row that may only correct.
#[pyclass(module = "toolgraft")]
pub(crate) struct Turn(toolgraft_bindings::Turn);

/// What a client is told, as Python sees it.
fn told(told: Vec<Told>) -> Vec<(&'static str, String)> {
    told.into_iter().map(|(kind, text)| (kind.as_str(), text)).collect()
}

#[pymethods]
impl Turn {
    #[new]
    #[pyo3(signature = (tools, messages, *, output = None, max_corrections = None, **settings))]
    fn new(
        tools: &Bound<'_, PyAny>,
        messages: &Bound<'_, PyAny>,
        output: Option<&Bound<'_, PyAny>>,
        max_corrections: Option<u32>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = tools.py();
        let settings = settings::map(settings)?;
        let catalog = Catalog::given(py, Some(tools))?;
        let known = &catalog.get().0;
        let messages = messages.try_iter()?.map(|message| value::from_python(&message?).map_err(ToolError::new_err));
        let messages = messages.collect::<PyResult<Vec<Value>>>()?;
        let output = output.map(value::from_python).transpose().map_err(ToolError::new_err)?;
        let turn = py.detach(|| toolgraft_bindings::Turn::new(known, messages, output, max_corrections, &settings));
        turn.map(Turn).map_err(raised)
    }

    /// Takes the messages that are to be sent now, in the form of Chat Completions; `None` where
    /// nothing is: the turn is over, or an answer is awaited.
    fn request<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let messages = self.0.request();
        messages.map(|messages| messages.iter().map(|message| value::to_python(py, message)).collect()).transpose()
    }

    /// Takes the next piece of the answer's text, and gives what the client is told now: pairs of
    /// `text` or `reasoning` and the text.
    #[pyo3(signature = (chunk, /))]
    fn push(&mut self, chunk: &Bound<'_, PyString>) -> PyResult<Vec<(&'static str, String)>> {
        self.0.push(&chunk.to_cow()?).map(told).map_err(raised)
    }

    /// Takes the next piece of a separate reasoning field.
    #[pyo3(signature = (chunk, /))]
    fn push_reasoning(&mut self, chunk: &Bound<'_, PyString>) -> PyResult<Vec<(&'static str, String)>> {
        self.0.push_reasoning(&chunk.to_cow()?).map(told).map_err(raised)
    }

    /// Takes a message of the endpoint's answer, or a piece of one, in the form of Chat Completions.
    #[pyo3(signature = (message, /))]
    fn push_message(&mut self, message: &Bound<'_, PyAny>) -> PyResult<Vec<(&'static str, String)>> {
        let message: Value = value::from_python(message).map_err(ToolError::new_err)?;
        self.0.push_message(&message).map(told).map_err(raised)
    }

    /// Ends the answer, by the endpoint's word for why it ended.
    #[pyo3(signature = (reason = "stop"))]
    fn finish(&mut self, py: Python<'_>, reason: &str) -> PyResult<Vec<(&'static str, String)>> {
        py.detach(|| self.0.finish(reason)).map(told).map_err(raised)
    }

    /// Whether more of the model's answer is wanted; once it is not, the stream can be closed.
    #[getter]
    fn is_streaming(&self) -> bool {
        self.0.is_streaming()
    }

    /// Calls for the client to run: identifier within the conversation, tool, arguments.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, String, Bound<'py, PyAny>)>> {
        let calls = self.0.calls().iter().map(|call| {
            let arguments = value::to_python(py, &Value::Object(call.arguments.clone()))?;
            Ok((call.id.clone(), call.tool.clone(), arguments))
        });
        calls.collect()
    }

    /// What the answer says so far.
    #[getter]
    fn content(&self) -> &str {
        self.0.content()
    }

    /// What the model thought so far.
    #[getter]
    fn reasoning(&self) -> &str {
        self.0.reasoning()
    }

    /// Why the answer ended, in the words of Chat Completions; `None` before that.
    #[getter]
    fn finish_reason(&self) -> Option<&'static str> {
        self.0.finish_reason()
    }

    /// What is wrong with the answer, in words for people, where it is not what was asked for.
    #[getter]
    fn problem(&self) -> Option<String> {
        self.0.problem()
    }

    fn __repr__(&self) -> String {
        format!("<toolgraft.Turn, {}>", if self.0.is_over() { "over" } else { "open" })
    }
}
