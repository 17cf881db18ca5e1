//! Settings for single models of a server.

use std::sync::Arc;

use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::PromptStyle;
use toolgraft::prompt::Listing;
use toolgraft::tools::ToolsMode;

/// Settings for one model, which take precedence over the server's configuration for all; `None`
/// means the configuration's value, and then the profile's.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelSettings {
    /// The way in which tools are offered.
    pub tools_mode: Option<ToolsMode>,
    /// The call syntax that is taught.
    pub dialect: Option<Dialect>,
    /// The amount of text in the prompt apart from the tools.
    pub style: Option<PromptStyle>,
    /// The form in which the tools are listed.
    pub listing: Option<Listing>,
    /// The cases in which the endpoint is asked to constrain answers that must have a structure.
    pub constrain: Option<Constrain>,
    /// The way in which the choice between a call and a plain answer is made.
    pub way: Option<Way>,
    /// Logarithm of the probability from which on a message becomes a call, for [`Way::Measured`].
    pub call_threshold: Option<f64>,
}

/// Returns the settings of a model by its name; `None` if it has none of its own.
pub(crate) type ModelTable = Arc<dyn Fn(&str) -> Option<ModelSettings> + Send + Sync>;
