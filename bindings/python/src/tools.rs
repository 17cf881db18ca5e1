//! Tools, their catalog, and the functions that need it: checking calls and defusing texts.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use toolgraft::outcome::Neutraliser;
use toolgraft_bindings::ToolSet;

use crate::error::{ToolError, raised};
use crate::records::{self, Call};
use crate::value;

/// A tool that a model may call.
#[pyclass(frozen, eq, module = "toolgraft", from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct Tool(pub(crate) toolgraft::Tool);

#[pymethods]
impl Tool {
    /// Creates a tool. `input_schema` is the JSON Schema of its arguments; without it any object is accepted. Raises
    /// `ToolError` if the schema cannot be used.
    #[new]
    #[pyo3(signature = (name, *, description = None, input_schema = None, server = None, title = None, output_schema = None, display_only = false))]
    fn new(
        name: String,
        description: Option<String>,
        input_schema: Option<&Bound<'_, PyAny>>,
        server: Option<String>,
        title: Option<String>,
        output_schema: Option<&Bound<'_, PyAny>>,
        display_only: bool,
    ) -> PyResult<Self> {
        let schema = |schema: Option<&Bound<'_, PyAny>>| schema.map(value::from_python).transpose();
        let mut tool = toolgraft::Tool::new(name);
        (tool.description, tool.server, tool.title, tool.display_only) = (description, server, title, display_only);
        tool.input_schema = schema(input_schema).map_err(ToolError::new_err)?;
        tool.output_schema = schema(output_schema).map_err(ToolError::new_err)?;
        toolgraft_bindings::checked(tool).map(Tool).map_err(raised)
    }

    /// Creates a tool from a dict in MCP's form (`name`, `inputSchema`, and also `server`), or in the form of a
    /// function in a request to OpenAI, Anthropic or Gemini. Raises `ToolError` for any other dict.
    #[staticmethod]
    fn from_dict(tool: &Bound<'_, PyDict>) -> PyResult<Self> {
        let value = value::from_python(tool.as_any()).map_err(ToolError::new_err)?;
        toolgraft_bindings::tool(value).map(Tool).map_err(raised)
    }

    /// Returns the tool as a dict in MCP's form, with its server.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = serde_json::to_value(&self.0).map_err(|error| ToolError::new_err(error.to_string()))?;
        value::to_python(py, &value)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        Ok((slf.getattr("_of")?, (slf.get().to_dict(slf.py())?,)))
    }

    /// Creates the tool from the dict that `to_dict` returned, for `pickle` and `copy`. Unlike in `from_dict`, a schema
    /// that cannot be used is accepted.
    #[staticmethod]
    fn _of(tool: Bound<'_, PyDict>) -> PyResult<Self> {
        records::from_record(tool).map(Tool)
    }

    /// Name of the tool, unique within its server.
    #[getter]
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Name of the server that offers the tool; `None` if the tool has none.
    #[getter]
    fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// Name of the tool to show to users; `None` if there is none.
    #[getter]
    fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }

    /// Description of the tool for the model; `None` if there is none.
    #[getter]
    fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    /// JSON Schema of the tool's arguments; `None` if any object is accepted.
    #[getter]
    fn input_schema<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.input_schema.as_ref().map(|schema| value::to_python(py, schema)).transpose()
    }

    /// JSON Schema of the tool's structured result; `None` if there is none.
    #[getter]
    fn output_schema<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.output_schema.as_ref().map(|schema| value::to_python(py, schema)).transpose()
    }

    /// True if calls of the tool run nothing: their arguments are only shown to the user.
    #[getter]
    fn display_only(&self) -> bool {
        self.0.display_only
    }

    fn __repr__(&self) -> String {
        let server = self.0.server.as_ref().map(|server| format!(", server={server:?}"));
        format!("Tool({:?}{})", self.0.name, server.unwrap_or_default())
    }
}

/// A set of tools for parsers and prompts. Create it once and pass it instead of a list of tools, which would be read
/// anew for each message.
#[pyclass(frozen, module = "toolgraft")]
pub(crate) struct Catalog(pub(crate) ToolSet);

impl Catalog {
    /// Converts the caller's `tools`: a catalog, a list of tools, or nothing.
    pub(crate) fn given<'py>(py: Python<'py>, tools: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, Catalog>> {
        match tools {
            None => Bound::new(py, Catalog(ToolSet::new(Vec::new()))),
            Some(tools) => match tools.cast::<Catalog>() {
                Ok(catalog) => Ok(catalog.clone()),
                Err(_) => Bound::new(py, Catalog::new(tools)?),
            },
        }
    }
}

#[pymethods]
impl Catalog {
    /// Creates a catalog from `Tool` objects, or from dicts as in the `tools` of a request to OpenAI, Anthropic or
    /// Gemini or in an MCP server's list of tools.
    #[new]
    fn new(tools: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut list = Vec::new();
        for tool in tools.try_iter()? {
            let tool = tool?;
            match (tool.cast::<Tool>(), tool.cast::<PyDict>()) {
                (Ok(tool), _) => list.push(tool.get().0.clone()),
                (_, Ok(dict)) => {
                    let value = value::from_python(dict.as_any()).map_err(ToolError::new_err)?;
                    list.extend(toolgraft_bindings::tools(value).map_err(raised)?);
                }
                _ => return Err(PyTypeError::new_err(format!("expected a Tool or a dict, found {}", tool.repr()?))),
            }
        }
        Ok(Catalog(ToolSet::new(list)))
    }

    /// Tools of the catalog, grouped by server.
    #[getter]
    fn tools(&self) -> Vec<Tool> {
        self.0.catalog.tools().cloned().map(Tool).collect()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyAny>, (Vec<Tool>,)) {
        (slf.get_type().into_any(), (slf.get().tools(),))
    }

    /// Returns an error message for each schema that cannot be used. The tools of such schemas accept any object as
    /// arguments.
    fn problems(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.0.validator.problems().iter().map(ToString::to_string).collect())
    }

    fn __len__(&self) -> usize {
        self.0.catalog.tools().count()
    }

    fn __repr__(&self) -> String {
        format!("Catalog({} tools)", self.0.catalog.tools().count())
    }
}

/// Checks a call's arguments against the schema of its tool. Returns a `Call` with arguments that the schema accepts,
/// repaired if the repair loses nothing, or a `Rejected` with a message for the model. For an unknown tool any object
/// is accepted.
#[pyfunction]
pub(crate) fn validate<'py>(
    py: Python<'py>,
    call: &Bound<'py, Call>,
    tools: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let catalog = Catalog::given(py, Some(tools))?;
    let validator = Arc::clone(&catalog.get().0.validator);
    let call: toolgraft::Call = records::from_record(call.get().to_dict(py)?)?;
    Ok(match py.detach(move || validator.check(call, "")) {
        Ok(call) => Bound::new(py, records::call(py, call)?)?.into_any(),
        Err(rejected) => Bound::new(py, records::rejected(py, *rejected)?)?.into_any(),
    })
}

/// Registers the dialect that the JSON text `file` describes, and returns the dialect's name. Settings accept the name
/// from then on: `dialect=name` teaches the dialect, `dialects=["auto", name]` reads it in addition to the built-in
/// ones. Raises `ToolgraftError` if the text cannot be used.
#[pyfunction]
pub(crate) fn load_dialect(file: &str) -> PyResult<&'static str> {
    toolgraft_bindings::load_dialect(file).map_err(raised)
}

/// Returns the text with all syntax escaped that could be read as a call or a result. Use it for untrusted text of
/// servers and files in a prompt. With `tools`, calls by their names are escaped, too.
#[pyfunction]
#[pyo3(signature = (text, tools = None))]
pub(crate) fn neutralise<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyString>> {
    let catalog = Arc::clone(&Catalog::given(py, tools)?.get().0.catalog);
    let given = text.to_cow()?;
    let safe = py.detach(|| match Neutraliser::new(&catalog).neutralise(&given) {
        Cow::Borrowed(_) => None,
        Cow::Owned(safe) => Some(safe),
    });
    Ok(safe.map_or_else(|| text.clone(), |safe| PyString::new(py, &safe)))
}
