//! What counts for one model of several behind a server.

use crate::constrain::{Constrain, Way};
use crate::dialect::{Dialect, PromptStyle};
use crate::message::setters;
use crate::prompt::Listing;
use crate::tools::ToolsMode;

/// What counts for one model before what the server's configuration says for all; `None`
/// leaves it to that, and then to the model's profile.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
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

setters!(
    ModelSettings,
    with_tools_mode => tools_mode: Option<ToolsMode>,
    with_dialect => dialect: Option<Dialect>, with_style => style: Option<PromptStyle>,
    with_listing => listing: Option<Listing>, with_constrain => constrain: Option<Constrain>,
    with_way => way: Option<Way>, with_call_threshold => call_threshold: Option<f64>,
);
