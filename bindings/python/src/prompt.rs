//! The system text, and the message that carries results.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use toolgraft::outcome::Status;
use toolgraft::prompt::{Item, Listing, Options, Prompt, Round};
use toolgraft::{Outcome, event};

use crate::error::{PromptError, SettingError, ToolError};
use crate::records::{self, Rejected, ToolResult};
use crate::tools::Catalog;
use crate::{settings, value};

fn prompt(options: Options) -> PyResult<Prompt> {
    // It lists no parameters: the model asks for them with a built-in tool.
    if options.listing == Listing::Index {
        return Err(SettingError::new_err("the listing `index` wants an agent that answers what the model asks of it"));
    }
    Prompt::new(options).map_err(|error| PromptError::new_err(error.to_string()))
}

/// The system text that teaches a syntax of calls and lists the tools.
///
/// Settings: `model` (its name, for what is known of its family), `dialect`, `lang`, `style`,
/// `listing`, `system` (the caller's own text, which comes first), `tool_choice` (`auto`, `none`,
/// `required` or a tool's name), `max_calls`, `description_chars`.
#[pyfunction]
#[pyo3(signature = (tools, **settings))]
pub(crate) fn render_prompt(
    py: Python<'_>,
    tools: &Bound<'_, PyAny>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let prompt = prompt(settings::options(settings)?)?;
    let catalog = Arc::clone(&Catalog::given(py, Some(tools))?.get().known);
    py.detach(|| prompt.system(&catalog)).map_err(|error| PromptError::new_err(error.to_string()))
}

/// What is told of one call, with what it borrows.
enum Told {
    Answered { id: String, server: Option<String>, tool: String, arguments: Map<String, Value>, outcome: Outcome },
    Rejected(event::Rejected),
}

impl Told {
    fn of(py: Python<'_>, item: &Bound<'_, PyAny>, place: usize) -> PyResult<Self> {
        if let Ok(rejected) = item.cast::<Rejected>() {
            return Ok(Told::Rejected(records::from_record(rejected.get().to_dict(py)?)?));
        }
        let Ok(result) = item.cast::<ToolResult>() else {
            let found = item.repr()?;
            return Err(PyTypeError::new_err(format!("expected a ToolResult or a Rejected, found {found}")));
        };
        let (result, call) = (result.get(), result.get().call.get());
        let arguments = value::from_python(call.arguments.bind(py)).map_err(ToolError::new_err)?;
        let Value::Object(arguments) = arguments else {
            return Err(ToolError::new_err(format!("the arguments of {} are no object", call.tool)));
        };
        let mut outcome = Outcome::new(settings::word::<Status>(&result.status)?, &result.text);
        if let Some(structured) = &result.structured {
            outcome = outcome.with_structured(value::from_python(structured.bind(py)).map_err(ToolError::new_err)?);
        }
        let id = result.id.clone().unwrap_or_else(|| format!("call_{}", place + 1));
        Ok(Told::Answered { id, server: call.server.clone(), tool: call.tool.clone(), arguments, outcome })
    }

    fn item(&self) -> Item<'_> {
        match self {
            Told::Answered { id, server, tool, arguments, outcome } => {
                Item::Answered { id, server: server.as_deref(), tool, arguments, outcome }
            }
            Told::Rejected(rejected) => Item::Rejected(rejected),
        }
    }
}

/// The one user message that answers the calls of the model's last message, rejected ones
/// included. `request` is what the person asked for, which is recalled.
///
/// Settings are those of `render_prompt`, and have to be the same; `result_bytes` is how much of
/// one result the model sees.
#[pyfunction]
#[pyo3(signature = (tools, results, *, request = None, **settings))]
pub(crate) fn results_message(
    py: Python<'_>,
    tools: &Bound<'_, PyAny>,
    results: &Bound<'_, PyAny>,
    request: Option<&str>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<String> {
    let prompt = prompt(settings::options(settings)?)?;
    let catalog = Arc::clone(&Catalog::given(py, Some(tools))?.get().known);
    let told = results.try_iter()?.enumerate().map(|(place, item)| Told::of(py, &item?, place));
    let told = told.collect::<PyResult<Vec<_>>>()?;
    let written = py.detach(|| {
        let items: Vec<Item<'_>> = told.iter().map(Told::item).collect();
        prompt.results(&catalog, &Round::new(&items).with_request(request))
    });
    written.map_err(|error| PromptError::new_err(error.to_string()))
}
