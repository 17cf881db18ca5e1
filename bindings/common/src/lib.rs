//! The code that the bindings for other languages share. Each binding has its own values and
//! classes and passes JSON; this crate has the common behaviour, so that no binding differs.

mod exchange;
mod history;
mod prompt;
mod reader;
mod settings;
mod tools;

use std::fmt::{self, Display};
use std::str::FromStr;

pub use exchange::{embedded, placed, turn};
pub use history::read;
pub use prompt::{render, results};
pub use reader::MessageParser;
pub use settings::{ParserSettings, load_dialect, model, options};
pub use tools::{ToolSet, checked, tool, tools};

/// A mistake of the calling program, by kind. Each binding has an exception for each kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mistake {
    /// A setting does not exist, or has a value of the wrong type.
    Type(String),
    /// A setting has a value that is not allowed.
    Setting(String),
    /// A description of a tool, a call, a message or a result cannot be read.
    Tool(String),
    /// A prompt cannot be rendered.
    Prompt(String),
    /// A method was called after the end of a message or turn, or before it.
    State(String),
}

impl Mistake {
    /// Creates the mistake for a tool, a call or a result that cannot be read.
    pub(crate) fn tool(error: impl Display) -> Self {
        Mistake::Tool(error.to_string())
    }

    /// Creates the mistake for a prompt that cannot be rendered.
    pub(crate) fn prompt(error: impl Display) -> Self {
        Mistake::Prompt(error.to_string())
    }
}

impl Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Mistake::Type(words)
        | Mistake::Setting(words)
        | Mistake::Tool(words)
        | Mistake::Prompt(words)
        | Mistake::State(words)) = self;
        f.write_str(words)
    }
}

impl std::error::Error for Mistake {}

/// Parses a setting that is one of several words.
///
/// # Errors
///
/// [`Mistake::Setting`] if the word is not one of them.
pub fn word<T: FromStr<Err: Display>>(word: &str) -> Result<T, Mistake> {
    word.parse().map_err(|error: T::Err| Mistake::Setting(error.to_string()))
}
