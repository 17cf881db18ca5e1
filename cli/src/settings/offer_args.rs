//! The profile and the call syntax of a model: options of the commands that offer tools.

use crate::settings::Settings;
use crate::settings::profiles::{dialect_file, known_profile};
use toolgraft::Dialect;
use toolgraft::constrain::Way;
use toolgraft::dialect::Profile;
use toolgraft::tools::ToolsMode;

/// Overrides of the profile's settings for calls.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct OfferArgs {
    /// Profile to take instead of the one for the model's name
    #[arg(long, value_name = "NAME", value_parser = known_profile, hide_short_help = true)]
    pub(crate) profile: Option<&'static Profile>,

    /// File with a call syntax of your own to teach (docs/dialects.md)
    #[arg(long, value_name = "FILE", value_parser = dialect_file, hide_short_help = true)]
    pub(crate) dialect_file: Option<Dialect>,
}

impl Settings {
    /// Selects the dialect of a file, if one was given. With any selected dialect, or the strategy `measured`, tools
    /// are offered by prompt unless another way is set.
    pub(crate) fn teach(&mut self, of_file: Option<Dialect>) {
        self.dialect = of_file.or(self.dialect);
        if self.dialect.is_some() || self.way == Some(Way::Measured) {
            self.tools_mode.get_or_insert(ToolsMode::Prompt);
        }
    }
}
