//! The tables of `config.toml` that `toolgraft probe` writes.

use serde::{Deserialize, Serialize};
use toml_edit::{Item, Table};
use toolgraft::Dialect;
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::PromptStyle;
use toolgraft::prompt::Listing;
use toolgraft::tools::ToolsMode;

use super::wrong::{self, Wrong};

/// The settings that `probe` saved for a model; `None` leaves a setting to the built-in profile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SavedProfile {
    pub(crate) name: String,
    pub(crate) endpoint: Option<String>,
    pub(crate) tools_mode: Option<ToolsMode>,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) prompt_style: Option<PromptStyle>,
    pub(crate) listing: Option<Listing>,
    /// Setting for constraining answers by a grammar or schema; `None` if the saved strategy needs none.
    pub(crate) constrain: Option<Constrain>,
    /// Strategy for deciding whether to call a tool.
    pub(crate) way: Option<Way>,
    /// Minimum logarithm of the probability with which a message counts as a call.
    pub(crate) call_threshold: Option<f64>,
}

/// Returns the faults in the `[[probed]]` tables of the configuration file.
pub(super) fn wrong_in_probed(item: &Item) -> Vec<Wrong> {
    let key = "probed".to_owned();
    let Some(tables) = item.as_array_of_tables() else {
        return vec![(vec![key], (None, "\"probed\" has to be written as [[probed]] tables".to_owned()))];
    };
    let problem = |(n, table): (usize, &Table)| {
        let (at, problem) = wrong::read_item::<SavedProfile>(&Item::Table(table.clone())).err()?;
        Some((vec![key.clone(), n.to_string()], (at, format!("[[probed]] {}: {problem}", n + 1))))
    };
    tables.iter().enumerate().filter_map(problem).collect()
}
