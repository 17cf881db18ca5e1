//! What the bindings for other languages share: each has its own values and classes, and hands
//! over JSON. Here stands what is the same for all, so that none does it differently.

mod history;
mod prompt;
mod reader;
mod settings;
mod tools;
mod turn;

use std::fmt::{self, Display};
use std::str::FromStr;

pub use history::read;
pub use prompt::{render, results};
pub use reader::Reader;
pub use settings::{Reading, load_dialect, model, options};
pub use tools::{Known, tool};
pub use turn::{Told, ToldKind, Turn, messages};

/// A mistake of the caller, by kind: each binding has an exception for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mistake {
    /// A setting does not exist, or has a value of another type.
    Type(String),
    /// A setting has a value that it does not take.
    Setting(String),
    /// A description of a tool, a call, a message or a result cannot be read.
    Tool(String),
    /// A prompt cannot be written.
    Prompt(String),
    /// Something was used after its end, or asked before it.
    State(String),
}

impl Mistake {
    /// A tool, a call or a result cannot be read.
    pub(crate) fn tool(error: impl Display) -> Self {
        Mistake::Tool(error.to_string())
    }

    /// A prompt cannot be written.
    pub(crate) fn prompt(error: impl Display) -> Self {
        Mistake::Prompt(error.to_string())
    }

    /// Something is used in the wrong order.
    pub(crate) fn state(error: impl Display) -> Self {
        Mistake::State(error.to_string())
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

/// The value that a word stands for.
///
/// # Errors
///
/// [`Mistake::Setting`] where the word stands for none.
pub fn word<T: FromStr<Err: Display>>(word: &str) -> Result<T, Mistake> {
    word.parse().map_err(|error: T::Err| Mistake::Setting(error.to_string()))
}
