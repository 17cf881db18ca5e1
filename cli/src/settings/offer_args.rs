//! How tools are offered to a model and how it comes to a call: what `chat` and `serve` share.

use crate::settings::profiles::{dialect_file, known_profile};
use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::Profile;
use toolgraft::tools::ToolsMode;

/// What the model's profile decides of its calls, unless it is said here.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct OfferArgs {
    /// Profile to take instead of the one for the model's name
    #[arg(long, value_name = "NAME", value_parser = known_profile, hide_short_help = true)]
    pub(crate) profile: Option<&'static Profile>,

    #[arg(skip)]
    pub(crate) tools_mode: Option<ToolsMode>,

    #[arg(skip)]
    pub(crate) constrain: Option<Constrain>,

    #[arg(skip)]
    pub(crate) way: Option<Way>,

    #[arg(skip)]
    pub(crate) call_threshold: Option<f64>,

    #[arg(skip)]
    pub(crate) dialect: Option<Dialect>,

    /// File with a call syntax of your own to teach (docs/dialects.md)
    #[arg(long, value_name = "FILE", value_parser = dialect_file, hide_short_help = true)]
    pub(crate) dialect_file: Option<Dialect>,
}

impl OfferArgs {
    /// Whoever names a syntax, or a way to calls in it, wants it to be taught.
    pub(crate) fn teach_what_is_named(&mut self) {
        self.dialect = self.dialect_file.or(self.dialect);
        if self.dialect.is_some() || self.way == Some(Way::Measured) {
            self.tools_mode.get_or_insert(ToolsMode::Prompt);
        }
    }
}
