//! The progress of an answer, for metrics, the log and the client.

use toolgraft::constrain::Way;
use toolgraft::message::Usage;
use toolgraft::tools::ToolsMode;

/// The progress of an exchange.
#[derive(Default, Clone, Copy)]
pub struct Progress {
    /// Tokens of the last request by our own count.
    pub prompt_tokens: u64,
    /// Number of requests to the endpoint so far.
    pub rounds: u32,
    /// Number of calls of the toolbox begun so far.
    pub own_calls: usize,
    /// The way that is used to decide on a call, if one other than the free one is configured.
    pub way: Option<Way>,
    /// The mode in which the last request offered the tools, if one other than by prompt is configured.
    pub tools_mode: Option<ToolsMode>,
    /// Summed usage of all finished rounds.
    pub usage: Usage,
    /// For a prompt that the endpoint cut: its tokens by our own count, and how many of them the
    /// endpoint read.
    pub cut_prompt: Option<(u64, u64)>,
    /// Number of times in a row that the model repeated a passage, if it was stopped for that.
    pub repeats: Option<u32>,
}
