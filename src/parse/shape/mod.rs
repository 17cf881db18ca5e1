//! The shapes of calls: how the text of one looks, where it ends and what it says.
//!
//! A shape is a [`CallShape`](super::call::CallShape): what goes in is the text of
//! one open call, what comes out are steps and, at the end, what the call says. A
//! dialect is data for a shape (`src/dialect/`). Each file begins with a picture.
//!
//! | shape | looks like | dialects |
//! |---|---|---|
//! | `element` | `<call><name>f</name><arguments>{…}</arguments></call>` | `use_mcp_tool` |
//! | `tool_tag` | `<f><a>text</a></f>`, or the same with names in attributes | `tool_tag`, `function_tag`, `invoke`, `glm` |
//! | `named` | a name, then JSON | `deepseek`, `kimi`, `function_tag`, `tool_calls` |
//! | `named`, `arrows` | a name, then `{--key value}` or `{key => value}` | `tool_request` |
//! | `named`, `elements` | a name, then elements with a token before each tag | `invoke` |
//! | `named`, `delimited` | a name, then an object with bare keys and texts between tokens | `gemma` |
//! | `object`, in a `run` | a marker, then objects with name and arguments | `hermes`, `type_marker` and others |
//! | `message` | such objects, and nothing else | `json` |
//! | `name_line` | a name, a line break, an object | `glm` |
//! | `python` | `[f(a=1)]` | `python` |
//! | `react` | `Action: f`, `Action Input: {…}` | `react` |
//! | `named` | a word at a line's start, then as the others with a name | `gemma` |
//!
//! A further shape is a file here, a line in [`OPENERS`] and a variant of
//! [`Shape`](crate::dialect::Shape) for its data; `tests/smallest.rs` is one.
//! The last five have no marker: their line is in [`MARKERLESS`], and
//! `tests/smallest_bare.rs` is such a one.

mod arrows;
pub(crate) mod call_object;
mod delimited;
pub(crate) mod element;
mod elements;
pub(crate) mod fit;
pub(crate) mod message;
pub(crate) mod name_line;
pub(crate) mod named;
pub(crate) mod object;
pub(crate) mod python;
pub(crate) mod react;
pub(crate) mod run;
#[cfg(test)]
mod tests;
pub(crate) mod tool_tag;
mod tool_tags;

use crate::parse::call::{Markerless, Opens};
use crate::parse::marks::kinds::Kinds;
use crate::parse::tables::Tables;

/// Name of the repair for closing brackets after calls, which nothing opened.
const SURPLUS_BRACKET: &str = "surplus_bracket";

/// The recognisers of each shape's calls at a `<` or a `[`, in order of precedence, with the kind of the marks that
/// their openers begin with.
pub(crate) const OPENERS: &[(Kinds, &dyn Opens)] = &[
    (Kinds::ELEMENT, &element::Blocks),
    (Kinds::TOOL_TAG, &tool_tags::ToolTags),
    (Kinds::MARKER, &run::Markers),
    (Kinds::NAMED, &named::Heads),
    #[cfg(test)]
    (Kinds::MARKER, &tests::smallest::Smallest),
];

/// The recognisers of each shape's calls without a marker, in order of precedence.
pub(crate) const MARKERLESS: &[&dyn Markerless] = &[
    &message::WholeMessages,
    &python::Calls,
    &name_line::NameLines,
    &react::ReactOpeners,
    &named::LineHeads,
    #[cfg(test)]
    &tests::smallest_bare::Smallest,
];

/// Adds the line beginnings of calls without a marker to the lexicon.
pub(crate) fn add_marks(tables: &mut Tables) {
    #[cfg(test)]
    tables.lexicon.add_mark(tests::smallest::OPEN, Kinds::MARKER);
    MARKERLESS.iter().for_each(|shape| shape.add_leads(tables));
}
