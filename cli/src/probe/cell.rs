//! The variants that a probe compares: each is one way to offer tools and to read calls.

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
    /// In the request, for the endpoint's own tool calling; calls in its text are read, too.
    Native,
    /// In the request, and only the endpoint's own `tool_calls` are taken: what it does without this program.
    ToolCalls,
    /// In the prompt.
    Prompt { dialect: Dialect, style: PromptStyle, listing: Listing, how: How },
}

/// Strategy for deciding whether to call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum How {
    /// The model writes freely.
    Free,
    /// The model is told to call: a call is required, and the endpoint holds the answer to its
    /// form. A chat cannot know when to, so it says how well a call is written, and no more.
    Told,
    /// By the probability that the answer begins with one.
    Measured,
}

impl How {
    const ALL: [How; 3] = [How::Free, How::Told, How::Measured];

    /// Returns `true` if this strategy is tried with this dialect and listing. A decision that is made before a call is
    /// written hardly depends on how tools are listed, nor does a dialect that the model was trained to write; and a
    /// tag for each tool has no grammar.
    fn is_of(self, dialect: Dialect, listing: Listing) -> bool {
        match self {
            How::Free | How::Told => listing == Listing::Signature || Dialect::taught().any(|taught| taught == dialect),
            How::Measured => dialect != Dialect::ToolTag && listing == Listing::Signature,
        }
    }

    /// Returns the suffix of the cell's name for this strategy.
    fn suffix(self) -> &'static str {
        match self {
            How::Free => "",
            How::Told => ", constrained",
            How::Measured => ", measured",
        }
    }
}

impl Cell {
    /// Returns the cells of a model with this native dialect: native tools, and by prompt each dialect that the
    /// prompt can teach, and the model's own.
    pub(crate) fn all(own: Option<Dialect>) -> Vec<Cell> {
        let own = own.filter(|own| Dialect::taught().all(|taught| taught != *own));
        let dialects: Vec<Dialect> = Dialect::taught().chain(own).collect();
        [Cell::Native].into_iter().chain(prompts(&dialects)).collect()
    }

    /// Returns every cell.
    pub(crate) fn any() -> Vec<Cell> {
        [Cell::Native, Cell::ToolCalls].into_iter().chain(prompts(Dialect::ALL)).collect()
    }

    /// Returns the strategy for deciding on a call; native cells leave it to the endpoint.
    pub(crate) fn how(self) -> How {
        match self {
            Cell::Native | Cell::ToolCalls => How::Free,
            Cell::Prompt { how, .. } => how,
        }
    }

    /// Returns `true` unless the model is told to call.
    pub(crate) fn decides(self) -> bool {
        self.how() != How::Told
    }
}

/// Returns the ways in which calls are taught in these dialects.
fn prompts(dialects: &[Dialect]) -> impl Iterator<Item = Cell> {
    let listed = |how: How, dialect| {
        [Listing::Signature, Listing::Schema].into_iter().filter(move |listing| how.is_of(dialect, *listing))
    };
    let of = move |how, dialect| {
        let styles = PromptStyle::ALL.iter().copied();
        styles.flat_map(move |style| {
            listed(how, dialect).map(move |listing| Cell::Prompt { dialect, style, listing, how })
        })
    };
    How::ALL.into_iter().flat_map(move |how| dialects.iter().flat_map(move |dialect| of(how, *dialect)))
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Native => f.write_str("native"),
            Cell::ToolCalls => f.write_str("native, tool_calls alone"),
            Cell::Prompt { dialect, style, listing, how } => {
                write!(f, "{}, {style}, {listing}{}", dialect.name(), how.suffix())
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
        let found = Cell::any().into_iter().find(|cell| cell.to_string() == text);
        found.ok_or_else(|| format!("{text:?} is not a way to offer tools"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cell_has_a_name_of_its_own_that_is_read_again() {
        for cell in Cell::any() {
            assert_eq!(Cell::try_from(cell.to_string()), Ok(cell));
        }
        assert_eq!(Cell::all(None).len(), 29);
        assert_eq!(Cell::all(Some(Dialect::TypeMarker)).len(), 29);
        assert_eq!(Cell::all(Some(Dialect::Hermes)).len(), 35);
        assert!(Cell::try_from("x".to_owned()).is_err());
    }
}
