//! Requests of a client with tools, answered by the exchange of `toolgraft serve` without HTTP.

use std::sync::Arc;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Map, Value};
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::Profile;
use toolgraft::tools::ToolsMode;
use toolgraft_bindings::{Mistake, model, options};
use toolgraft_serve::{Adapter, Config, Embedded, Piece, Refusal};

use crate::error::raised;
use crate::settings;

create_exception!(
    toolgraft,
    Refused,
    PyException,
    "A request was refused, or its answer failed: HTTP status, message, and the error for the client."
);

/// Settings of a prompt that a request has itself, or that serve has no use for.
const OF_THE_REQUEST: [&str; 4] = ["system", "tool_choice", "max_calls", "description_chars"];

/// Returns the configuration for settings by name.
fn config(mut settings: Map<String, Value>) -> Result<Config, Mistake> {
    if let Some(name) = OF_THE_REQUEST.iter().find(|name| settings.contains_key(**name)) {
        return Err(Mistake::Type(format!("the setting `{name}` is for a `Turn`: here the request decides")));
    }
    let wrong = |error: &dyn std::fmt::Display| Mistake::Setting(error.to_string());
    // The URL is not used: the caller sends the requests.
    let mut config = Config::new("http://localhost").map_err(|error| wrong(&error))?;
    // Nothing is known of the endpoint, and it gets texts alone.
    config = config.with_tools_mode(ToolsMode::Prompt).with_constrain(Constrain::Off).with_way(Way::Free);
    if let Some(model) = model(&settings)? {
        config = config.with_profile(Profile::for_model(&model));
        settings.shift_remove("model");
    }
    if let Some(corrections) = settings.shift_remove("max_corrections").filter(|given| !given.is_null()) {
        let count = corrections.as_u64().and_then(|count| u32::try_from(count).ok());
        let wrong = || Mistake::Type(format!("the setting `max_corrections`: {corrections} is not a count"));
        config = config.with_max_corrections(count.ok_or_else(wrong)?);
    }
    let options = options(&settings)?;
    if settings.contains_key("dialect") {
        config = config.with_dialect(options.dialect);
    }
    if settings.contains_key("lang") {
        config = config.with_lang(options.lang);
    }
    if settings.contains_key("style") {
        config = config.with_style(options.style);
    }
    Ok(config.with_prompt(options))
}

fn refused(refusal: Refusal) -> PyErr {
    let Refusal { status, message, param, body, .. } = refusal;
    Refused::new_err((status, param.map_or(message.clone(), |param| format!("{param}: {message}")), body))
}

/// The exchanges of a client's requests, and what they share.
#[pyclass(module = "toolgraft", frozen)]
pub(crate) struct Exchanges(Arc<Embedded>);

#[pymethods]
impl Exchanges {
    #[new]
    #[pyo3(signature = (**settings))]
    fn new(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let config = config(settings::map(settings)?).map_err(raised)?;
        let embedded = Embedded::new(config).map_err(|error| raised(Mistake::Setting(error.to_string())))?;
        Ok(Exchanges(Arc::new(embedded)))
    }

    /// Begins the exchange for a request with this body to this route of `toolgraft serve`. With `passes`, returns
    /// `None` if the request can be sent as it is.
    fn begin(&self, py: Python<'_>, path: &str, body: &[u8], passes: bool) -> PyResult<Option<Exchange>> {
        let begun = py.detach(|| self.0.begin(path, body, passes)).map_err(refused)?;
        Ok(begun.map(|adapter| {
            let (line, text) = Default::default();
            let mut exchange = Exchange { adapter, request: None, refusal: None, line, text };
            exchange.take();
            exchange
        }))
    }
}

/// One request of a client on its way. The caller sends what `request` returns, and gives the answer to `push` and
/// `end`, which return bytes for the client.
#[pyclass(module = "toolgraft")]
pub(crate) struct Exchange {
    adapter: Adapter,
    /// The body to send next.
    request: Option<Vec<u8>>,
    /// The reason for which there is no answer.
    refusal: Option<Refusal>,
    /// The beginning of a line of the endpoint's stream.
    line: Vec<u8>,
    /// Text for the client that no call has returned yet.
    text: String,
}

impl Exchange {
    fn take(&mut self) {
        while let Some(piece) = self.adapter.next() {
            match piece {
                Piece::Request(body) => self.request = Some(body.to_string().into_bytes()),
                Piece::Text(text) => self.text.push_str(&text),
                Piece::Failed(refusal) if self.adapter.is_stream() => self.text.push_str(&refusal.body),
                Piece::Failed(refusal) => self.refusal = Some(refusal),
                _ => {}
            }
        }
    }

    /// Takes lines of the endpoint's stream, and keeps the beginning of one that is not complete.
    fn read(&mut self, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(line);
            if line.ends_with(b"\n") && self.is_streaming() {
                self.line_read();
            }
        }
    }

    fn line_read(&mut self) {
        let line = std::mem::take(&mut self.line);
        if let Some(data) = String::from_utf8_lossy(&line).strip_prefix("data:") {
            self.adapter.push_data(data);
        }
        self.take();
    }

    /// Applies a step, and returns the text for the client.
    fn step<'py>(&mut self, py: Python<'py>, step: impl FnOnce(&mut Self) + Send) -> PyResult<Bound<'py, PyBytes>> {
        py.detach(|| {
            step(self);
            self.take();
        });
        match self.refusal.take() {
            Some(refusal) => Err(refused(refusal)),
            None => Ok(PyBytes::new(py, std::mem::take(&mut self.text).as_bytes())),
        }
    }
}

#[pymethods]
impl Exchange {
    /// Returns the body to send now, once; `None` if there is nothing to send.
    fn request<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.line.clear();
        self.request.take().map(|body| PyBytes::new(py, &body))
    }

    /// Takes bytes of the endpoint's stream.
    fn feed<'py>(&mut self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |exchange| exchange.read(bytes))
    }

    /// Takes a chunk of the endpoint's stream, or its whole answer.
    fn push<'py>(&mut self, py: Python<'py>, data: &str) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |exchange| exchange.adapter.push_data(data))
    }

    /// Ends an answer of the endpoint.
    fn end<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |exchange| {
            exchange.line_read();
            // Otherwise its end was in the stream, and the next request is not answered yet.
            if exchange.request.is_none() {
                exchange.adapter.end();
            }
        })
    }

    /// Ends the answer to the client, since the endpoint refused a request.
    fn fail<'py>(&mut self, py: Python<'py>, status: u16, message: &str) -> PyResult<Bound<'py, PyBytes>> {
        self.step(py, |exchange| exchange.adapter.fail(status, message))
    }

    /// True if the client gets a stream.
    #[getter]
    fn is_stream(&self) -> bool {
        self.adapter.is_stream()
    }

    /// True while more of the endpoint's answer is wanted.
    #[getter]
    fn is_streaming(&self) -> bool {
        self.request.is_none() && self.adapter.is_streaming()
    }

    /// The types of tools that are left out, since only the vendor's service runs them.
    #[getter]
    fn left_out(&self) -> &str {
        self.adapter.left_out()
    }
}
