//! How far the answer to a request is, for those that count it, log it or tell the client.

use toolgraft::constrain::Way;
use toolgraft::message::Usage;
use toolgraft::tools::ToolsMode;

/// How far an exchange is.
#[derive(Default, Clone, Copy)]
pub(super) struct Progress {
    /// Tokens of the last request by our own count.
    pub(super) prompt_tokens: u64,
    /// Requests to the endpoint so far.
    pub(super) rounds: u32,
    /// Calls of the toolbox that were begun so far.
    pub(super) own_calls: usize,
    /// The way to a call that is taken, where one but a free one is configured.
    pub(super) way: Option<Way>,
    /// How the last request offered the tools, where another way but the prompt is configured.
    pub(super) tools_mode: Option<ToolsMode>,
    /// What all rounds cost that are over.
    pub(super) usage: Usage,
    /// What the endpoint cut a prompt to, where it did.
    pub(super) cut_prompt: Option<(u64, u64)>,
    /// Times in a row that the model repeated a passage, where it was stopped for that.
    pub(super) repeats: Option<u32>,
}
