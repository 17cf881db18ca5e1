//! Renders the system text, and the message with results.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use toolgraft_bindings::{options, render};

use crate::error::{ToolError, raised};
use crate::records::{Rejected, ToolResult};
use crate::tools::Catalog;
use crate::{settings, value};

/// Returns the system text that teaches the model a call syntax and lists the tools.
///
/// `tools` is a `Catalog`, or a list of `Tool` objects or dicts. Settings: `model` (the model's name, which selects the
/// profile of its family), `dialect`, `lang`, `style`, `listing`, `system` (the caller's own text, which comes first),
/// `tool_choice` (`auto`, `none`, `required` or a tool's name), `max_calls` (maximum number of calls in one message),
/// `description_chars` (maximum length of a description).
#[pyfunction]
#[pyo3(signature = (tools, **settings))]
pub(crate) fn render_prompt(
    py: Python<'_>,
    tools: &Bound<'_, PyAny>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let options = options(&settings::map(settings)?).map_err(raised)?;
    let catalog = Catalog::given(py, Some(tools))?;
    let known = &catalog.get().0;
    py.detach(|| render(known, options)).map_err(raised)
}

/// Converts a `ToolResult` or a `Rejected` of Python to JSON.
fn told(item: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = item.py();
    let dict = match (item.cast::<Rejected>(), item.cast::<ToolResult>()) {
        (Ok(rejected), _) => rejected.get().to_dict(py)?,
        (_, Ok(result)) => result.get().to_dict(py)?,
        _ => {
            let found = item.repr()?;
            return Err(PyTypeError::new_err(format!("expected a ToolResult or a Rejected, found {found}")));
        }
    };
    value::from_python(dict.as_any()).map_err(ToolError::new_err)
}

/// Returns the text of the one user message that answers all calls of the model's last message. `results` are a
/// `ToolResult` for each call that ran, and the `Rejected` calls. `request` is the user's request, which the message
/// repeats for the model.
///
/// The settings are those of `render_prompt`, with the same values; in addition, `result_bytes` is the maximum number
/// of bytes of one result that the model reads.
#[pyfunction]
#[pyo3(signature = (tools, results, *, request = None, **settings))]
pub(crate) fn results_message(
    py: Python<'_>,
    tools: &Bound<'_, PyAny>,
    results: &Bound<'_, PyAny>,
    request: Option<&str>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let options = options(&settings::map(settings)?).map_err(raised)?;
    let catalog = Catalog::given(py, Some(tools))?;
    let known = &catalog.get().0;
    let told = results.try_iter()?.map(|item| told(&item?)).collect::<PyResult<Vec<_>>>()?;
    py.detach(|| toolgraft_bindings::results(known, told, request, options)).map_err(raised)
}
