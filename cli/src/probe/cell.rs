//! The variants that a probe compares: each is one way to offer tools and to read calls.

use std::fmt;

use serde::{Deserialize, Serialize};
use toolgraft::Dialect;
use toolgraft::dialect::PromptStyle;
use toolgraft::prompt::Listing;

/// A way to offer tools to a model, which a probe tests. Its display text (such as `use_mcp_tool, compact, signature,
/// constrained`) is its name in tables and files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) enum Cell {
    /// Tools in the request, for the endpoint's own tool calling; calls in the text of the answer are parsed, too.
    Native,
    /// Tools in the request; only the endpoint's own `tool_calls` count, to show its results without this program's
    /// parser.
    ToolCalls,
    /// Tools in the system prompt, taught with this dialect, prompt style, form of the tool list and deciding strategy.
    Prompt { dialect: Dialect, style: PromptStyle, listing: Listing, how: How },
}

/// Strategy for deciding whether to call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum How {
    /// The model decides freely while it writes its message.
    Free,
    /// A call is required, and a grammar or schema constrains the answer to one. A chat cannot know when to require a
    /// call, so this strategy only measures how well calls are written.
    Told,
    /// The model decides by the probability that its answer begins with a call, compared with a threshold.
    Measured,
}

impl How {
    const ALL: [How; 3] = [How::Free, How::Told, How::Measured];

    /// Returns `true` if a probe tries this strategy with this dialect and form of the tool list. Only the signature
    /// list is tried for a decision that is made before the call, and for a dialect that only a trained model writes,
    /// since the form of the list hardly matters there; `tool_tag` has no grammar.
    fn is_of(self, dialect: Dialect, listing: Listing) -> bool {
        match self {
            How::Free | How::Told => listing == Listing::Signature || Dialect::taught().any(|taught| taught == dialect),
            How::Measured => dialect != Dialect::ToolTag && listing == Listing::Signature,
        }
    }

    /// Returns the suffix of the display name for this deciding strategy: empty, `, constrained` or `, measured`.
    fn suffix(self) -> &'static str {
        match self {
            How::Free => "",
            How::Told => ", constrained",
            How::Measured => ", measured",
        }
    }
}

impl Cell {
    /// Returns the ways to offer tools that are tried for a model with this native dialect: native tools, and by prompt
    /// each dialect that the prompt can teach and the native dialect.
    pub(crate) fn all(own: Option<Dialect>) -> Vec<Cell> {
        let own = own.filter(|own| Dialect::taught().all(|taught| taught != *own));
        let dialects: Vec<Dialect> = Dialect::taught().chain(own).collect();
        [Cell::Native].into_iter().chain(prompts(&dialects)).collect()
    }

    /// Returns every way to offer tools that a probe knows, in the usual order.
    pub(crate) fn any() -> Vec<Cell> {
        [Cell::Native, Cell::ToolCalls].into_iter().chain(prompts(Dialect::ALL)).collect()
    }

    /// Returns the strategy for deciding on a call; `Free` for native tools, where the endpoint decides.
    pub(crate) fn how(self) -> How {
        match self {
            Cell::Native | Cell::ToolCalls => How::Free,
            Cell::Prompt { how, .. } => how,
        }
    }

    /// Returns `true` unless a call is required, so that the model decides by itself whether to call.
    pub(crate) fn decides(self) -> bool {
        self.how() != How::Told
    }
}

/// Returns the ways to offer tools by prompt in these dialects, for each strategy, prompt style and form of the tool
/// list.
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
