//! Requests of a client with tools, answered by the exchange of `toolgraft serve` without HTTP.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use toolgraft_bindings::{embedded, placed, turn};
use toolgraft_protocol::{Adapter, Embedded, Refusal};

use crate::error::raised;
use crate::settings;

create_exception!(
    toolgraft,
    Refused,
    PyException,
    "A request was refused, or its answer failed: HTTP status, message, and the error for the client."
);

fn refused(refusal: Refusal) -> PyErr {
    Refused::new_err((refusal.status, placed(&refusal), refusal.body))
}

/// A converter of requests with tools for models without tool calling. It holds the settings that all its exchanges
/// share.
#[pyclass(module = "toolgraft", frozen)]
pub(crate) struct Exchanges(Embedded);

#[pymethods]
impl Exchanges {
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        embedded(settings::map(settings)?).map(Exchanges).map_err(raised)
    }

    /// Begins the exchange for a client's request: `path` is the route of `toolgraft serve` (such as
    /// `/v1/chat/completions`), `body` the JSON. If `passes` is true, it returns `None` for a request that can be sent
    /// to the endpoint unchanged. Raises `Refused` if the request cannot be answered.
    fn begin(&self, py: Python<'_>, path: &str, body: &[u8], passes: bool) -> PyResult<Option<Exchange>> {
        let begun = py.detach(|| self.0.begin(path, body, passes)).map_err(refused)?;
        Ok(begun.map(Exchange))
    }

    /// Begins the exchange for a request to Chat Completions with the JSON `body`. Raises `ToolError` if the request
    /// cannot be answered.
    fn turn(&self, py: Python<'_>, body: &str) -> PyResult<Exchange> {
        py.detach(|| turn(&self.0, body)).map(Exchange).map_err(raised)
    }
}

/// The exchange for one request of a client. The caller sends the body that `request` returns to the endpoint, and
/// passes the endpoint's answer to `feed` or `push` and then `end`. These return bytes for the client.
#[pyclass(module = "toolgraft")]
pub(crate) struct Exchange(Adapter);

impl Exchange {
    /// Calls a method of the adapter, and returns its text for the client as bytes.
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        step: impl FnOnce(&mut Adapter) -> Result<String, Refusal> + Send,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let told = py.detach(|| step(&mut self.0)).map_err(refused)?;
        Ok(PyBytes::new(py, told.as_bytes()))
    }
}

#[pymethods]
impl Exchange {
    /// Returns the JSON body of the next request to the endpoint, once, or `None` if there is nothing to send now.
    fn request<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.request().map(|body| PyBytes::new(py, body.to_string().as_bytes()))
    }

    /// Reads bytes of the endpoint's event stream, cut anywhere, and returns the bytes for the client, which may be
    /// empty.
    fn feed<'py>(&mut self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |adapter| adapter.feed(bytes))
    }

    /// Reads one chunk of the endpoint's stream (the JSON after `data:`) or its whole answer, and returns the bytes for
    /// the client, which may be empty.
    fn push<'py>(&mut self, py: Python<'py>, data: &str) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |adapter| adapter.push(data))
    }

    /// Reports that the endpoint's answer has ended, and returns the bytes for the client. Afterwards `request` may
    /// return a further body.
    fn end<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, Adapter::end)
    }

    /// Reports that the endpoint refused a request, with the HTTP status and the message, and returns the last bytes
    /// for the client. Raises `Refused` if the client gets no stream.
    fn fail<'py>(&mut self, py: Python<'py>, status: u16, message: &str) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |adapter| adapter.fail(status, message))
    }

    /// True if the client gets its answer as a stream, as its request asked.
    #[getter]
    fn is_stream(&self) -> bool {
        self.0.is_stream()
    }

    /// True while more of the endpoint's current answer is expected. If it becomes false early, the answer can be
    /// cancelled.
    #[getter]
    fn is_streaming(&self) -> bool {
        self.0.is_streaming()
    }

    /// Types of the tools that were omitted from the request to the model, because only the vendor's service can run
    /// them; empty if none.
    #[getter]
    fn left_out(&self) -> &str {
        self.0.left_out()
    }

    /// Text of the answer so far, for a client that gets a stream.
    #[getter]
    fn content(&self) -> String {
        self.0.content()
    }

    /// Reasoning of the answer so far, for a client that gets a stream.
    #[getter]
    fn reasoning(&self) -> &str {
        self.0.reasoning()
    }

    /// Message for the user if the answer failed or is not what the client requested; otherwise `None`.
    #[getter]
    fn problem(&self) -> Option<&str> {
        self.0.problem()
    }
}
