//! toolgraft for Python: the native half of the package `toolgraft`.
//!
//! Input is text, lists and dicts of Python; output are [events] and [records] with the names of
//! the JSON forms. Each is created once and holds Python values, so that reading a field copies
//! nothing. Other threads run during long work.

mod agent;
mod bridge;
mod error;
mod events;
mod exchange;
mod hub;
mod model;
mod parser;
mod prompt;
mod records;
mod settings;
mod tools;
mod value;

/// The native half of the package `toolgraft`.
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::PyTuple;
    use toolgraft::Dialect;

    #[pymodule_export]
    use crate::agent::{Conversation, Loop, Run};
    #[pymodule_export]
    use crate::bridge::Work;
    #[pymodule_export]
    use crate::error::{HubError, PromptError, SettingError, StateError, ToolError, ToolgraftError};
    #[pymodule_export]
    use crate::events::{ArgsDelta, CallEnd, CallStart, Marker, Moved, Reasoning, Revised, Text};
    #[pymodule_export]
    use crate::exchange::{Exchange, Exchanges, Refused};
    #[pymodule_export]
    use crate::hub::{Servers, connect};
    #[pymodule_export]
    use crate::parser::{Parser, parse};
    #[pymodule_export]
    use crate::prompt::{render_prompt, results_message};
    #[pymodule_export]
    use crate::records::{Call, Entry, Message, NotACall, Reason, Rejected, Span, ToolResult};
    #[pymodule_export]
    use crate::tools::{Catalog, Tool, load_dialect, neutralise, validate};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let names = Dialect::ALL.iter().map(|dialect| dialect.name());
        module.add("DIALECTS", PyTuple::new(module.py(), names)?)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
