//! Templates of the caller and their errors.

use serde::{Deserialize, Serialize};

use crate::cause::Cause;

/// Name of the template that replaces the whole system text.
pub(super) const SYSTEM: &str = "system";

/// A template of the caller, in the syntax of minijinja (Jinja).
///
/// Its name decides its use: `system` replaces the whole system text; `results` and `describe` replace the messages
/// about calls; `frame`, `listing`, `tool`, `lookup` and `rules` replace a part of the built-in text. A template of any
/// other name is only for `{% include "NAME.j2" %}`. The built-in templates can be included and extended as
/// `en/listing.j2` and so on, and without the folder in the prompt's language. `docs/prompt.md` lists the variables.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Template {
    pub(super) name: String,
    pub(super) source: String,
    pub(super) origin: String,
}

impl Template {
    /// The names of templates that replace built-in ones.
    pub const NAMES: &'static [&'static str] =
        &[SYSTEM, "results", "describe", "frame", "listing", "tool", "lookup", "rules"];

    /// Creates a template with this name, which is without `.j2`.
    pub fn new(name: impl Into<String>, source: impl Into<String>) -> Self {
        let name = name.into();
        Template { origin: format!("{name}.j2"), source: source.into(), name }
    }

    /// Creates a template that replaces the whole system text.
    pub fn system(source: impl Into<String>) -> Self {
        Template::new(SYSTEM, source)
    }

    /// Sets the name that errors give the template, such as the file that it was read from.
    #[must_use]
    pub fn from_file(mut self, origin: impl Into<String>) -> Self {
        self.origin = origin.into();
        self
    }

    /// Returns the name under which the template replaces a built-in one or is included.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The error of a template that does not compile or cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}{}: {message}", line.map(|line| format!(":{line}")).unwrap_or_default())]
#[non_exhaustive]
pub struct TemplateError {
    /// File or name of the template with the error.
    pub origin: String,
    /// Line of the error in the template, from 1; `None` if it is unknown.
    pub line: Option<usize>,
    /// Description of the problem and the remedy.
    pub message: String,
    /// The error of the template engine, if it found the problem.
    pub source: Option<Cause>,
}
