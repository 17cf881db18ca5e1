//! Finds a model's native dialect by rendering its chat template.
//!
//! A template is rendered with artificial calls. If a parser of all dialects reads them, the dialect of those calls is
//! the model's. Otherwise a dialect's file is derived from the text that all calls share; it is used only if it reads
//! back the template's calls, and calls that are written with it, at every cut. Templates are untrusted: rendering has
//! a limit, and so has the content of a file.

#[cfg(feature = "prompt")]
mod derive;
#[cfg(feature = "prompt")]
mod render;
#[cfg(feature = "prompt")]
mod rendered;

use crate::dialect::{Dialect, by_template};

impl Dialect {
    /// Returns the native dialect of a model, which its chat template writes; `None` if the template writes no calls,
    /// or writes them in a form that no dialect can describe.
    ///
    /// With the feature `prompt` the template is rendered, and a new dialect ([`Dialect::Loaded`]) is derived if no
    /// known one reads its calls. Without the feature, and for a template that cannot be rendered with calls, texts
    /// that occur in the template decide.
    ///
    /// ```
    /// use toolgraft::Dialect;
    ///
    /// let template = "{%- if tools %}<tool_call>{{ call | tojson }}</tool_call>{%- endif %}";
    /// assert_eq!(Dialect::of_template(template), Some(Dialect::Hermes));
    /// ```
    pub fn of_template(template: &str) -> Option<Dialect> {
        #[cfg(feature = "prompt")]
        if let Some(found) = rendered::dialect(template) {
            return found;
        }
        by_template(template)
    }
}
