//! What is compared: a way to offer tools and to read calls.

use std::fmt;

use serde::{Deserialize, Serialize};
use toolgraft::Dialect;
use toolgraft::dialect::PromptStyle;
use toolgraft::prompt::Listing;

/// One way to offer tools. Its text (`use_mcp_tool, compact, signature, constrained`) is
/// its name in tables and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum Cell {
    /// In the request, as the endpoint's own tool calling has it.
    Native,
    /// In the prompt.
    Prompt {
        dialect: Dialect,
        style: PromptStyle,
        listing: Listing,
        /// Where a call is wanted one is required, and the endpoint holds the answer to its form.
        constrained: bool,
    },
}

impl Cell {
    /// All of them; without those that are constrained where the endpoint takes no form.
    pub(crate) fn all(constrained: bool) -> Vec<Cell> {
        let mut cells = vec![Cell::Native];
        for constrained in [false, true].into_iter().take(if constrained { 2 } else { 1 }) {
            for dialect in Dialect::taught() {
                for style in PromptStyle::ALL {
                    for listing in [Listing::Signature, Listing::Schema] {
                        cells.push(Cell::Prompt { dialect, style: *style, listing, constrained });
                    }
                }
            }
        }
        cells
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Native => f.write_str("native"),
            Cell::Prompt { dialect, style, listing, constrained } => {
                write!(f, "{}, {style}, {listing}", dialect.name())?;
                if *constrained { f.write_str(", constrained") } else { Ok(()) }
            }
        }
    }
}

impl From<Cell> for String {
    fn from(cell: Cell) -> Self {
        cell.to_string()
    }
}

impl TryFrom<String> for Cell {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let found = Cell::all(true).into_iter().find(|cell| cell.to_string() == text);
        found.ok_or_else(|| format!("{text:?} is no way to offer tools"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_name_of_its_own_that_is_read_again() {
        for cell in Cell::all(true) {
            assert_eq!(Cell::try_from(cell.to_string()), Ok(cell));
        }
        assert_eq!(Cell::all(false).len(), 13);
        assert_eq!(Cell::all(true).len(), 25);
        assert!(Cell::try_from("x".to_owned()).is_err());
    }
}
