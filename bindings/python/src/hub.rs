//! MCP servers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft_mcp::{Config, HubBuilder, Logins, Start};

use crate::bridge::{self, Work};
use crate::error::{HubError, SettingError, ToolError};
use crate::records::{Call, ToolResult};
use crate::tools::Tool;
use crate::value;

/// The native part of a `Hub`: connections to MCP servers.
#[pyclass(frozen, module = "toolgraft")]
pub(crate) struct Servers {
    hub: Arc<toolgraft_mcp::Hub>,
}

impl Servers {
    /// Returns the MCP servers as a toolbox.
    pub(crate) fn toolbox(&self) -> Arc<dyn Toolbox> {
        Arc::clone(&self.hub) as Arc<dyn Toolbox>
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        bridge::discard(Arc::clone(&self.hub));
    }
}

/// Starts to connect to the MCP servers of `configs`, which are pairs of a name for error messages and a configuration
/// in JSON. `environment` has the variables for placeholders in the configurations and for the servers' processes.
/// `done` is called with an exception or `None`, and with the `Servers`. Returns the work, which can be cancelled.
/// Settings: `require_all`, `lazy`, `connect_timeout` and `call_timeout` in seconds, and `logins` (a path).
#[pyfunction]
#[pyo3(signature = (done, configs, environment, **settings))]
pub(crate) fn connect(
    done: Py<PyAny>,
    configs: Vec<(String, String)>,
    environment: HashMap<String, String>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Work> {
    let mut builder = toolgraft_mcp::Hub::builder();
    for (source, text) in configs {
        let config = Config::parse(&text, &source, &|name| environment.get(name).cloned());
        builder = builder.config(config.map_err(|error| HubError::new_err(error.to_string()))?);
    }
    let builder = set(builder.environment(environment), settings)?;
    bridge::begin(done, async move {
        let hub = builder.connect().await.map_err(|error| HubError::new_err(error.to_string()))?;
        let servers = Servers { hub: Arc::new(hub) };
        Python::attach(|py| Ok(Py::new(py, servers)?.into_any()))
    })
}

fn set(mut builder: HubBuilder, settings: Option<&Bound<'_, PyDict>>) -> PyResult<HubBuilder> {
    for (name, value) in settings.into_iter().flatten() {
        builder = match name.extract::<String>()?.as_str() {
            "require_all" if value.extract()? => builder.require_all(),
            "require_all" => builder,
            "lazy" if value.extract()? => builder.start(Start::Lazy),
            "lazy" => builder,
            "connect_timeout" => builder.connect_timeout(seconds(&value)?),
            "call_timeout" => builder.call_timeout(seconds(&value)?),
            "logins" => builder.logins(Logins::new(value.extract::<std::path::PathBuf>()?)),
            _ => return Err(PyTypeError::new_err(format!("unknown setting: {name}"))),
        };
    }
    Ok(builder)
}

/// Reads a time in seconds.
pub(crate) fn seconds(value: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds = value.extract::<f64>()?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| SettingError::new_err(format!("{seconds} is not a number of seconds: {error}")))
}

#[pymethods]
impl Servers {
    /// Returns the tools that all servers offer now.
    fn tools(&self) -> Vec<Tool> {
        self.hub.catalog().tools().cloned().map(Tool).collect()
    }

    /// Returns a dict for each server with its status, such as `name`, `state` and `error`.
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let states = serde_json::to_value(self.hub.servers()).map_err(|error| HubError::new_err(error.to_string()))?;
        value::to_python(py, &states)
    }

    /// Starts to run a call on its server. `done` is called with an exception or `None`, and with the `ToolResult`; a
    /// failure of the tool is a result, too. Returns the work, which can be cancelled.
    fn call(&self, py: Python<'_>, done: Py<PyAny>, call: Py<Call>) -> PyResult<Work> {
        let hub = Arc::clone(&self.hub);
        let made = call.get();
        let arguments = value::from_python(made.arguments.bind(py)).map_err(ToolError::new_err)?;
        if !arguments.is_object() {
            return Err(ToolError::new_err(format!("the arguments of {} are not an object", made.tool)));
        }
        let mut invocation = Invocation::new(&made.tool).with_arguments(arguments);
        invocation.server.clone_from(&made.server);
        bridge::begin(done, async move {
            let outcome = hub.call(invocation).await;
            Python::attach(|py| Ok(Py::new(py, result(py, call, outcome)?)?.into_any()))
        })
    }

    /// Starts to shut down all servers. `done` is called at the end. Returns the work, which can be cancelled.
    fn close(&self, done: Py<PyAny>) -> PyResult<Work> {
        let hub = Arc::clone(&self.hub);
        bridge::begin(done, async move {
            hub.shutdown().await;
            Python::attach(|py| Ok(py.None()))
        })
    }
}

/// Converts the outcome of a call to a Python result.
fn result(py: Python<'_>, call: Py<Call>, outcome: toolgraft::Outcome) -> PyResult<ToolResult> {
    let structured = outcome.structured.as_ref().map(|value: &Value| value::to_python(py, value)).transpose()?;
    Ok(ToolResult {
        call,
        text: outcome.text,
        id: None,
        status: outcome.status.as_str().to_owned(),
        structured: structured.map(Bound::unbind),
    })
}
