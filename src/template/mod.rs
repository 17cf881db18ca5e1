//! A model's native dialect, found by rendering its chat template.
//!
//! A template is rendered with calls that are made up. Where a parser of all dialects reads them, the one
//! that reads them is the model's. Where none does, a file is derived from what is the same in all calls; it
//! counts only if it reads back what the template wrote, and what is written with it, at every cut.
//! A template may be anybody's: rendering has a limit, and so has what a file may say.

#[cfg(feature = "prompt")]
mod derive;
#[cfg(feature = "prompt")]
mod render;
#[cfg(feature = "prompt")]
mod rendered;

use crate::dialect::{Dialect, by_template};

impl Dialect {
    /// The dialect that a chat template writes, which its model was trained on; `None` where it
    /// writes no calls, or in a way that is no dialect.
    ///
    /// With the feature `prompt` the template is rendered, and a dialect of its own is derived where
    /// none is known that reads its calls ([`Dialect::Loaded`]). Without it, and of a template that cannot be
    /// rendered with calls, texts in the template tell.
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
