//! Writes tools and results as text for the model.
//!
//! [`Prompt::system`] teaches a call syntax and lists the tools of a catalog; [`Prompt::results`] writes the one user
//! message that answers the calls of a round. Both are minijinja templates (`prompts/<lang>/`), filled with escaped
//! values: all text of a server or a tool is stripped, cut to limits and [escaped](crate::outcome::Neutraliser). Other
//! modules decide the place of the system text and the time of each call.
//!
//! ```text
//! Catalog ─▶ entry: cleaned, bounded ─▶ budget: how long? ─▶ listing ─┐
//! Round ───▶ results ─────────────────────────────────────────────────┼▶ templates ─▶ text
//! Catalog, tools in the request ─▶ native ────────────────────────────┘
//!              └──────▶ budget ─▶ offer ─▶ definitions
//! ```
//!
//! ```
//! use toolgraft::{Catalog, Tool};
//! use toolgraft::prompt::{Options, Prompt};
//!
//! let tool = Tool::new("get_weather").with_server("weather").with_schema(serde_json::json!({
//!     "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
//! }));
//! let text = Prompt::new(Options::default())?.system(&Catalog::from_tools([tool]))?;
//! assert!(text.contains("get_weather(city: string)"));
//! # Ok::<(), toolgraft::prompt::PromptError>(())
//! ```

mod budget;
mod dialogue;
mod entry;
mod error;
mod example;
mod listing;
mod native;
mod offer;
mod options;
mod reasons;
mod results;
mod sentence;
mod shown;
mod signature;
mod template;
mod templates;
mod validate_templates;
mod writer;

pub use budget::{Listed, TOOL_BUDGET, tool_budget};
pub use error::PromptError;
#[cfg(feature = "agent")]
pub use listing::Example;
pub use offer::OfferedTools;
pub use options::{COMPACT_RESULT_BYTES, DESCRIPTION_CHARS, Listing, NOTE_CHARS, Options, SENTENCE_CHARS, TEXT_CHARS};
pub use reasons::reason_in;
pub use template::{Template, TemplateError};
pub use writer::{Prompt, System};
