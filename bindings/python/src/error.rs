//! The exceptions: one family, for mistakes of the caller. A model's mistakes are not exceptions.

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyTypeError};
use toolgraft_bindings::Mistake;

create_exception!(
    toolgraft,
    ToolgraftError,
    PyException,
    "The base class of this package's exceptions: a mistake of \
    the caller."
);
create_exception!(
    toolgraft,
    SettingError,
    ToolgraftError,
    "A setting has an invalid value, such as an unknown dialect."
);
create_exception!(toolgraft, ToolError, ToolgraftError, "A description of a tool, a call or a result cannot be read.");
create_exception!(toolgraft, PromptError, ToolgraftError, "A prompt cannot be written.");
create_exception!(
    toolgraft,
    StateError,
    ToolgraftError,
    "A parser was used after `finish`, or its message was read before."
);
create_exception!(
    toolgraft,
    HubError,
    ToolgraftError,
    "The configuration of MCP servers cannot be read, or a server is not reachable."
);

/// Returns the Python exception for a mistake of the caller.
pub(crate) fn raised(mistake: Mistake) -> PyErr {
    match mistake {
        Mistake::Type(words) => PyTypeError::new_err(words),
        Mistake::Setting(words) => SettingError::new_err(words),
        Mistake::Tool(words) => ToolError::new_err(words),
        Mistake::Prompt(words) => PromptError::new_err(words),
        Mistake::State(words) => StateError::new_err(words),
    }
}
