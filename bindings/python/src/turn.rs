//! One request of a client with tools to a model without tool calling: the requests to send, and
//! the answer.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::Value;
use toolgraft_bindings::AnswerPiece;

use crate::error::{ToolError, raised};
use crate::tools::Catalog;
use crate::{settings, value};

/// A model without tool calling, used as if it had it: requests with tools in, text and calls out.
///
/// `messages` are those of a request to Chat Completions. `request` returns the messages for the
/// model, without tools; `push`, `push_reasoning` and `finish` take its answer. A mistake of the
/// model is corrected by a further `request`. At the end there are `calls` or a `content`.
///
/// The settings are those of `render_prompt` except `system`; `output` is a JSON Schema that the
/// answer has to match, and `max_corrections` the largest number of consecutive requests that only
/// correct a mistake.
#[pyclass(module = "toolgraft")]
pub(crate) struct Turn(toolgraft_bindings::Turn);

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

    /// Returns the messages to send now, in the form of Chat Completions, once. `None` if there is
    /// nothing to send: the turn is over, or an answer is awaited.
    fn request<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
        let messages = self.0.request();
        messages.map(|messages| messages.iter().map(|message| value::to_python(py, message)).collect()).transpose()
    }

    /// Takes the next chunk of the answer's text, and returns the pieces for the client: pairs of
    /// `text` or `reasoning` and the text.
    #[pyo3(signature = (chunk, /))]
    fn push(&mut self, chunk: &Bound<'_, PyString>) -> PyResult<Vec<AnswerPiece>> {
        self.0.push(&chunk.to_cow()?).map_err(raised)
    }

    /// Takes the next chunk of a separate reasoning field, and returns the pieces for the client.
    #[pyo3(signature = (chunk, /))]
    fn push_reasoning(&mut self, chunk: &Bound<'_, PyString>) -> PyResult<Vec<AnswerPiece>> {
        self.0.push_reasoning(&chunk.to_cow()?).map_err(raised)
    }

    /// Finishes the answer with the endpoint's finish reason.
    #[pyo3(signature = (reason = "stop"))]
    fn finish(&mut self, py: Python<'_>, reason: &str) -> PyResult<Vec<AnswerPiece>> {
        py.detach(|| self.0.finish(reason)).map_err(raised)
    }

    /// True while more of the model's answer is wanted. After that the stream can be closed.
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

    /// The text of the answer so far.
    #[getter]
    fn content(&self) -> &str {
        self.0.content()
    }

    /// The model's reasoning so far.
    #[getter]
    fn reasoning(&self) -> &str {
        self.0.reasoning()
    }

    /// The finish reason of Chat Completions, or `error` if there is no answer; `None` before the end.
    #[getter]
    fn finish_reason(&self) -> Option<&str> {
        self.0.finish_reason()
    }

    /// A message for the user if the answer is not what was requested; otherwise `None`.
    #[getter]
    fn problem(&self) -> Option<&str> {
        self.0.problem()
    }

    fn __repr__(&self) -> String {
        format!("<toolgraft.Turn, {}>", if self.0.is_over() { "over" } else { "open" })
    }
}
