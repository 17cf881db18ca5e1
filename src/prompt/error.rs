//! The errors of writing a prompt.

use super::template::TemplateError;

/// The reason why a prompt cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PromptError {
    /// The tool choice names a tool that is not in the catalog.
    #[error("the tool choice names {name:?}, which is not a tool{}", nearest_list(nearest))]
    UnknownTool {
        /// The name in the tool choice.
        name: String,
        /// Names of tools that are similar to it.
        nearest: Vec<String>,
    },
    /// The tool choice requires a call, but the catalog is empty.
    #[error("the tool choice requires a call, but there are no tools")]
    NothingToCall,
    /// A template does not compile, or cannot be filled.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

fn nearest_list(nearest: &[String]) -> String {
    if nearest.is_empty() { String::new() } else { format!("; nearest: {}", nearest.join(", ")) }
}
