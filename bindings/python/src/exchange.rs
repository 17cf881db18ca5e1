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

/// The exchanges of a client's requests, and what they share.
#[pyclass(module = "toolgraft", frozen)]
pub(crate) struct Exchanges(Embedded);

#[pymethods]
impl Exchanges {
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        embedded(settings::map(settings)?).map(Exchanges).map_err(raised)
    }

    /// Begins the exchange for a request with this body to this route of `toolgraft serve`. With `passes`, returns
    /// `None` if the request can be sent as it is.
    fn begin(&self, py: Python<'_>, path: &str, body: &[u8], passes: bool) -> PyResult<Option<Exchange>> {
        let begun = py.detach(|| self.0.begin(path, body, passes)).map_err(refused)?;
        Ok(begun.map(Exchange))
    }

    /// Begins a turn: the exchange for the body of a request to Chat Completions.
    fn turn(&self, py: Python<'_>, body: &str) -> PyResult<Exchange> {
        py.detach(|| turn(&self.0, body)).map(Exchange).map_err(raised)
    }
}

/// One request of a client on its way. The caller sends what `request` returns, and gives the answer to `push` and
/// `end`, which return bytes for the client.
#[pyclass(module = "toolgraft")]
pub(crate) struct Exchange(Adapter);

impl Exchange {
    /// Applies a step, and returns the text for the client.
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
    /// Returns the body to send now, once; `None` if there is nothing to send.
    fn request<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.0.request().map(|body| PyBytes::new(py, body.to_string().as_bytes()))
    }

    /// Takes bytes of the endpoint's stream.
    fn feed<'py>(&mut self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |adapter| adapter.feed(bytes))
    }

    /// Takes a chunk of the endpoint's stream, or its whole answer.
    fn push<'py>(&mut self, py: Python<'py>, data: &str) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |adapter| adapter.push(data))
    }

    /// Ends an answer of the endpoint.
    fn end<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, Adapter::end)
    }

    /// Ends the answer to the client, since the endpoint refused a request.
    fn fail<'py>(&mut self, py: Python<'py>, status: u16, message: &str) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |adapter| adapter.fail(status, message))
    }

    /// True if the client gets a stream.
    #[getter]
    fn is_stream(&self) -> bool {
        self.0.is_stream()
    }

    /// True while more of the endpoint's answer is wanted.
    #[getter]
    fn is_streaming(&self) -> bool {
        self.0.is_streaming()
    }

    /// The types of tools that are left out, since only the vendor's service runs them.
    #[getter]
    fn left_out(&self) -> &str {
        self.0.left_out()
    }

    /// The text of a streamed answer so far.
    #[getter]
    fn content(&self) -> String {
        self.0.content()
    }

    /// The reasoning of a streamed answer so far.
    #[getter]
    fn reasoning(&self) -> &str {
        self.0.reasoning()
    }

    /// A message for the user if the answer is not what was requested; otherwise `None`.
    #[getter]
    fn problem(&self) -> Option<&str> {
        self.0.problem()
    }
}
