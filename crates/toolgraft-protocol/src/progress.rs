//! The progress of an answer, for metrics, the log and the client.

use toolgraft::constrain::Way;
use toolgraft::message::Usage;
use toolgraft::tools::ToolsMode;

/// The progress of an answer: counters of its rounds, calls and tokens.
#[derive(Default, Clone, Copy)]
pub struct Progress {
    /// Tokens of the last request to the endpoint, estimated here.
    pub prompt_tokens: u64,
    /// Number of requests to the endpoint so far.
    pub rounds: u32,
    /// Number of calls of the toolbox begun so far.
    pub own_calls: usize,
    /// Strategy by which it is decided whether to call a tool; `None` if only the free one is configured.
    pub way: Option<Way>,
    /// Mode in which the last request offered the tools, natively or by prompt; `None` if only the prompt is
    /// configured.
    pub tools_mode: Option<ToolsMode>,
    /// Token usage summed over all finished rounds.
    pub usage: Usage,
    /// Sizes in tokens of a prompt that the endpoint truncated: the estimated size that was sent, and the size that
    /// the endpoint read. `None` if none was truncated.
    pub cut_prompt: Option<(u64, u64)>,
    /// Number of times in a row that the model repeated a passage, if it was stopped for that.
    pub repeats: Option<u32>,
}
