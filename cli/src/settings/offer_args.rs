//! How tools are offered to a model and how it comes to a call: flags that `chat` and `serve` share.

use crate::settings::profiles::{dialect_file, known_profile, taught_dialect};
use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::Profile;
use toolgraft::tools::ToolsMode;

/// What the model's profile decides of its calls, unless it is said here.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct OfferArgs {
    /// Profile to take instead of the one for the model's name
    #[arg(long, value_name = "NAME", value_parser = known_profile)]
    pub(crate) profile: Option<&'static Profile>,

    /// How tools are offered: auto, native, prompt
    ///
    /// auto: in the request where profile or endpoint say that it works, else in
    /// the prompt. With --dialect it is the prompt.
    #[arg(long, value_name = "MODE")]
    pub(crate) tools_mode: Option<ToolsMode>,

    /// Whether answers are held to a form where one is due: auto, off, require
    ///
    /// Due it is where a call is required, for an answer after a schema, and for the request
    /// that corrects either. auto: in the form that the endpoint takes (a grammar, a JSON
    /// Schema), if it takes one. require: else the answer is an error. [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub(crate) constrain: Option<Constrain>,

    /// How it comes to a call where the model may as well answer: free, measured, auto
    ///
    /// free: as the model writes. measured: by the probability that its answer begins with a
    /// call; the call is then held to its form, and so are the steps after it. auto: measured for a
    /// small model (the compact prompt). Where the endpoint tells no probabilities: free.
    /// [default: auto]
    #[arg(long, value_name = "WAY")]
    pub(crate) way: Option<Way>,

    /// Logarithm of that probability from which on it is a call [default: -4]
    #[arg(long, value_name = "LN", allow_negative_numbers = true)]
    pub(crate) call_threshold: Option<f64>,

    /// Call syntax to teach: use_mcp_tool, tool_tag, type_marker
    #[arg(long, value_name = "DIALECT", value_parser = taught_dialect)]
    pub(crate) dialect: Option<Dialect>,

    /// File with a call syntax of your own to teach (docs/dialects.md)
    #[arg(long, value_name = "FILE", value_parser = dialect_file, conflicts_with = "dialect")]
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
