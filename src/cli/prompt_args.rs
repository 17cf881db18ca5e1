//! How a prompt lists its tools: flags that commands with a prompt share.

use std::num::NonZeroUsize;

use serde_json::{Map, Value};

use super::{input, tokens};
use crate::prompt::{Listed, Listing, Options};
use crate::tokens::TokenCounter;

/// How the tools are listed.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Tools in the prompt")]
pub(crate) struct PromptArgs {
    /// How tools are listed: schema, signature, brief or index
    ///
    /// schema: the whole JSON Schema. signature: one line like TypeScript,
    /// description and notes. brief: the same with the first sentence of the
    /// description. index: name and first sentence; the model asks for the rest
    /// with a built-in tool.
    #[arg(long, value_name = "STYLE", default_value_t)]
    pub(crate) listing: Listing,

    /// Tokens that the list of tools may take: tools are listed shorter until it fits
    ///
    /// First all tools with a schema become signatures, those that save most
    /// first, then brief, then index. No tool is left out. Counted in o200k;
    /// instructions and resources of the servers count too, the rules of the
    /// prompt do not.
    #[arg(long, value_name = "TOKENS", value_parser = input::above_zero)]
    pub(crate) tool_budget: Option<NonZeroUsize>,
}

impl PromptArgs {
    /// The options with what the flags say.
    pub(crate) fn apply(&self, options: Options) -> Options {
        Options {
            listing: self.listing,
            tool_budget: self.tool_budget.map(NonZeroUsize::get),
            tokens: TokenCounter::new(tokens::count),
            ..options
        }
    }
}

/// What a budget did to the tools, for people; `None` where nothing was asked.
pub(crate) fn fitted(listed: &Listed) -> Option<String> {
    let budget = listed.budget?;
    let asks = if listed.count(Listing::Index) > 0 { " (describe_tool gives the rest)" } else { "" };
    Some(format!("tools: {} of {budget} tokens; {listed}{asks}", listed.tokens))
}

/// What to do about a listing that does not fit its budget.
pub(crate) fn over_budget(listed: &Listed) -> Option<String> {
    let budget = listed.budget.filter(|_| listed.is_over_budget())?;
    Some(format!(
        "the tools take {} tokens, listed as short as they can be, and --tool-budget is {budget}; all of them are in \
         the prompt: raise the budget, or connect fewer servers",
        listed.tokens
    ))
}

/// The same as JSON: `tokens`, `budget`, and the number of tools in each style.
pub(crate) fn as_json(listed: &Listed) -> Value {
    let mut object = Map::new();
    object.insert("tokens".to_owned(), listed.tokens.into());
    object.insert("budget".to_owned(), listed.budget.into());
    object.extend(Listing::ALL.iter().map(|style| (style.to_string(), listed.count(*style).into())));
    Value::Object(object)
}
