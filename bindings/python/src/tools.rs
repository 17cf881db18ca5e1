//! Tools, the catalog of them, and what is checked and made harmless by it.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::Value;
use toolgraft::event::Collector;
use toolgraft::outcome::Neutraliser;
use toolgraft::validate::Validator;
use toolgraft::wire::{ToolDefinition, openai};

use crate::error::ToolError;
use crate::records::{self, Call};
use crate::value;

/// A tool that a model may call.
#[pyclass(frozen, eq, module = "toolgraft", from_py_object)]
#[derive(Clone, PartialEq)]
pub(crate) struct Tool(toolgraft::Tool);

impl From<toolgraft::Tool> for Tool {
    fn from(tool: toolgraft::Tool) -> Self {
        Tool(tool)
    }
}

impl From<Tool> for toolgraft::Tool {
    fn from(tool: Tool) -> Self {
        tool.0
    }
}

#[pymethods]
impl Tool {
    /// A tool; `input_schema` is the JSON Schema of its arguments, without which any object is taken.
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
        Ok(Tool(tool))
    }

    /// The tool of a dict: of MCP's form (`name`, `inputSchema`, and `server` beside it), or of an
    /// item of `tools` in a request to OpenAI.
    #[staticmethod]
    fn from_dict(tool: &Bound<'_, PyDict>) -> PyResult<Self> {
        let value = value::from_python(tool.as_any()).map_err(ToolError::new_err)?;
        let wrong = |error: serde_json::Error| ToolError::new_err(format!("not a tool: {error}"));
        if value.get("function").is_some_and(Value::is_object) && value.get("name").is_none() {
            let wired: openai::Tool = serde_json::from_value(value).map_err(wrong)?;
            let ToolDefinition { name, description, parameters, .. } = wired.into();
            let tool = toolgraft::Tool::new(name).with_description(description).with_schema(parameters);
            return Ok(Tool(tool));
        }
        serde_json::from_value(value).map(Tool).map_err(wrong)
    }

    /// The tool in MCP's form, with its server.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let value = serde_json::to_value(&self.0).map_err(|error| ToolError::new_err(error.to_string()))?;
        value::to_python(py, &value)
    }

    /// Name, unique within its server.
    #[getter]
    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    /// Server that offers the tool.
    #[getter]
    fn server(&self) -> Option<&str> {
        self.0.server.as_deref()
    }

    /// Name for people.
    #[getter]
    fn title(&self) -> Option<&str> {
        self.0.title.as_deref()
    }

    /// What the tool does.
    #[getter]
    fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    /// JSON Schema of the arguments.
    #[getter]
    fn input_schema<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.input_schema.as_ref().map(|schema| value::to_python(py, schema)).transpose()
    }

    /// JSON Schema of the structured result.
    #[getter]
    fn output_schema<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.output_schema.as_ref().map(|schema| value::to_python(py, schema)).transpose()
    }

    /// Whether calls run nothing and only show their arguments.
    #[getter]
    fn display_only(&self) -> bool {
        self.0.display_only
    }

    fn __repr__(&self) -> String {
        let server = self.0.server.as_ref().map(|server| format!(", server={server:?}"));
        format!("Tool({:?}{})", self.0.name, server.unwrap_or_default())
    }
}

/// Tools that are known together. Made once and used for many messages, it spares each of them
/// the work that a list of tools is.
#[pyclass(frozen, module = "toolgraft")]
pub(crate) struct Catalog {
    pub(crate) known: Arc<toolgraft::Catalog>,
    pub(crate) validator: Arc<Validator>,
}

impl Catalog {
    fn of(tools: Vec<toolgraft::Tool>) -> Self {
        let known = Arc::new(toolgraft::Catalog::from_tools(tools));
        Catalog { validator: Arc::new(Validator::new(Arc::clone(&known))), known }
    }

    /// The catalog that a caller hands over: one, or a list of tools, or nothing.
    pub(crate) fn given<'py>(py: Python<'py>, tools: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, Catalog>> {
        match tools {
            None => Bound::new(py, Catalog::of(Vec::new())),
            Some(tools) => match tools.cast::<Catalog>() {
                Ok(catalog) => Ok(catalog.clone()),
                Err(_) => Bound::new(py, Catalog::new(tools)?),
            },
        }
    }

    /// The tools as a parser takes them: none of them is not the same as an empty list.
    pub(crate) fn for_parser(&self) -> Option<Arc<toolgraft::Catalog>> {
        (!self.known.is_empty()).then(|| Arc::clone(&self.known))
    }
}

#[pymethods]
impl Catalog {
    /// A catalog of tools, or of dicts as `Tool.from_dict` takes them.
    #[new]
    fn new(tools: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut list = Vec::new();
        for tool in tools.try_iter()? {
            let tool = tool?;
            list.push(match (tool.cast::<Tool>(), tool.cast::<PyDict>()) {
                (Ok(tool), _) => tool.get().0.clone(),
                (_, Ok(dict)) => Tool::from_dict(dict)?.0,
                _ => return Err(PyTypeError::new_err(format!("expected a Tool or a dict, found {}", tool.repr()?))),
            });
        }
        Ok(Catalog::of(list))
    }

    /// The tools, server by server.
    #[getter]
    fn tools(&self) -> Vec<Tool> {
        self.known.tools().cloned().map(Tool::from).collect()
    }

    /// What is wrong with schemas that cannot be used; their tools take any object.
    fn problems(&self, py: Python<'_>) -> Vec<String> {
        py.detach(|| self.validator.problems().iter().map(ToString::to_string).collect())
    }

    fn __len__(&self) -> usize {
        self.known.tools().count()
    }

    fn __repr__(&self) -> String {
        format!("Catalog({} tools)", self.known.tools().count())
    }
}

/// The call with arguments that its tool's schema accepts, mended where that loses nothing; or
/// why it must not run, in words for the model. Of a tool that is not known, any object is taken.
#[pyfunction]
pub(crate) fn validate<'py>(
    py: Python<'py>,
    call: &Bound<'py, Call>,
    tools: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let catalog = Catalog::given(py, Some(tools))?;
    let validator = Arc::clone(&catalog.get().validator);
    let call: toolgraft::Call = records::from_record(call.get().to_dict(py)?)?;
    Ok(match py.detach(move || validator.check(call, "")) {
        Ok(call) => Bound::new(py, records::call(py, call)?)?.into_any(),
        Err(rejected) => Bound::new(py, records::rejected(py, *rejected)?)?.into_any(),
    })
}

/// The text with nothing in it that any syntax of calls takes for a call or a result: for what
/// servers and files say in a prompt. With `tools` their names count too.
#[pyfunction]
#[pyo3(signature = (text, tools = None))]
pub(crate) fn neutralise<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyString>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyString>> {
    let catalog = Arc::clone(&Catalog::given(py, tools)?.get().known);
    let given = text.to_cow()?;
    let safe = py.detach(|| match Neutraliser::new(&catalog).neutralise(&given) {
        Cow::Borrowed(_) => None,
        Cow::Owned(safe) => Some(safe),
    });
    Ok(safe.map_or_else(|| text.clone(), |safe| PyString::new(py, &safe)))
}

/// Checks what a message says, in place.
pub(crate) fn check(validator: Option<&Validator>, collector: Collector) -> toolgraft::event::Assembled {
    let mut assembled = collector.finish();
    if let Some(validator) = validator {
        validator.check_all(&mut assembled);
    }
    assembled
}
