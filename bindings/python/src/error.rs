//! The exceptions: one family, for mistakes of the caller. A model's mistakes are not exceptions.

use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyTypeError};
use toolgraft_bindings::Mistake;

create_exception!(toolgraft, ToolgraftError, PyException, "Any mistake of the caller that this package finds.");
create_exception!(
    toolgraft,
    SettingError,
    ToolgraftError,
    "A setting has a value that it does not take: no dialect's name, for instance."
);
create_exception!(toolgraft, ToolError, ToolgraftError, "A description of a tool, a call or a result cannot be read.");
create_exception!(toolgraft, PromptError, ToolgraftError, "A prompt cannot be written.");
create_exception!(
    toolgraft,
    StateError,
    ToolgraftError,
    "A parser was used after its message's end, or asked before it."
);
create_exception!(
    toolgraft,
    HubError,
    ToolgraftError,
    "MCP servers: their configuration cannot be read, or one of them is not there."
);

/// Returns the exception for a mistake.
pub(crate) fn raised(mistake: Mistake) -> PyErr {
    match mistake {
        Mistake::Type(words) => PyTypeError::new_err(words),
        Mistake::Setting(words) => SettingError::new_err(words),
        Mistake::Tool(words) => ToolError::new_err(words),
        Mistake::Prompt(words) => PromptError::new_err(words),
        Mistake::State(words) => StateError::new_err(words),
    }
}
