//! What counts for one model of several behind a server.

use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::PromptStyle;
use toolgraft::prompt::Listing;
use toolgraft::tools::ToolsMode;

/// What counts for one model before what the server's configuration says for all; `None`
/// leaves it to that, and then to the model's profile.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ModelSettings {
    /// How tools are offered.
    pub tools_mode: Option<ToolsMode>,
    /// Call syntax that is taught.
    pub dialect: Option<Dialect>,
    /// How much the prompt says beside the tools.
    pub style: Option<PromptStyle>,
    /// How the tools are listed.
    pub listing: Option<Listing>,
    /// Whether answers are held to a structure where one is due.
    pub constrain: Option<Constrain>,
    /// How it comes to a call where the model may as well answer.
    pub way: Option<Way>,
    /// Logarithm of the probability from which on a message is to be a call, for
    /// [`Way::Measured`].
    pub call_threshold: Option<f64>,
}
