//! Token accounting of an answer: what its rounds cost, and what the client's limit and the context
//! leave for the next.

use serde_json::{Value, json};

use toolgraft::message::{FinishReason, TokenCounter, Usage};
use toolgraft::turn::cut_to;
use toolgraft::wire::ToolDefinition;

/// Upper bound for the bytes of a token, averaged over a message: most tokens have about four
/// bytes, runs of spaces have more.
const TOKEN_BYTES: usize = 16;

/// Bytes that are allowed in addition, for short messages.
const SPARE_BYTES: usize = 2 << 10;

/// Token accounting of one answer.
#[derive(Default)]
pub(crate) struct Costs {
    /// `total` is the sum over all finished rounds, `delivered` the usage of the last of them.
    pub(crate) total: Usage,
    pub(crate) delivered: Usage,
    /// Size of the model's context in tokens, where it is known.
    pub(crate) context: Option<usize>,
    /// Tokens that the round's message may have, where the client sets a limit.
    limit: Option<u64>,
    /// Number of messages in a row that a limit cut off.
    cut_off: u32,
    /// Tokens of the round's request by our own count. `new_tokens` counts those from the model's
    /// last message on, which no earlier request held.
    pub(crate) sent_tokens: usize,
    new_tokens: usize,
    /// For a prompt that the endpoint cut: its tokens by our own count, and how many of them the
    /// endpoint read.
    pub(crate) cut_prompt: Option<(u64, u64)>,
}

impl Costs {
    /// Returns how many tokens the next message may have if the client allows `most` and was shown this text, and remembers
    /// that. Rounds that the client does not see do not shorten its answer, but all rounds together have at most twice
    /// `most`.
    pub(crate) fn left(&mut self, most: u64, shown: &str) -> u64 {
        let of_client = most.saturating_sub(TokenCounter::estimate().count(shown) as u64);
        let of_all = most.saturating_mul(2).saturating_sub(self.total.completion_tokens);
        let left = of_client.min(of_all);
        self.limit = Some(left);
        left
    }

    /// Returns the bytes that the round's message may have, for endpoints that ignore the token
    /// limit.
    pub(crate) fn allowed_bytes(&self) -> usize {
        let bytes = |tokens: u64| usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(TOKEN_BYTES);
        self.limit.map_or(usize::MAX, |limit| bytes(limit).saturating_add(SPARE_BYTES))
    }

    /// Counts the tokens of a request with these messages and tools.
    pub(crate) fn sends(&mut self, messages: &[Value], tools: &[ToolDefinition]) {
        let own = messages.iter().rposition(|message| message["role"] == "assistant").unwrap_or(0);
        let calls = |message: &Value| message.get("tool_calls").map_or(0, |calls| tokens(&calls.to_string().into()));
        let told = |message: &Value| tokens(&message["content"]) + calls(message);
        let count = |messages: &[Value]| messages.iter().map(told).sum::<usize>();
        let tools = if tools.is_empty() { 0 } else { tokens(&json!(tools).to_string().into()) };
        self.new_tokens = count(&messages[own..]);
        self.sent_tokens = tools + count(&messages[..own]) + self.new_tokens;
    }

    /// Adds the estimated cost of the round whose request is being replaced by another.
    pub(crate) fn replaced(&mut self, spoken: &str) {
        self.total = self.total.plus(self.estimate(spoken));
    }

    /// Adds a finished round: its usage as the endpoint reports it, and its finish reason. Without
    /// a usage the cost is estimated.
    pub(crate) fn round_over(&mut self, usage: Option<Usage>, finish: Option<&FinishReason>, spoken: &str) {
        self.cut_off = if finish == Some(&FinishReason::Length) { self.cut_off + 1 } else { 0 };
        if let Some(read) = usage.and_then(|usage| cut_to(self.sent_tokens, self.new_tokens, usage)) {
            self.cut_prompt = Some((self.sent_tokens as u64, read));
        }
        self.delivered = usage.unwrap_or_else(|| self.estimate(spoken));
        self.total = self.total.plus(self.delivered);
    }

    /// Estimates the cost of a round for which the endpoint reports none, or whose stream was
    /// cancelled.
    fn estimate(&self, spoken: &str) -> Usage {
        let written = TokenCounter::estimate().count(spoken) as u64;
        Usage::default()
            .with_prompt_tokens(self.sent_tokens as u64)
            .with_completion_tokens(written)
            .with_estimated(true)
    }

    /// Returns `true` if a further round may mend a message that a limit cut off: only the first
    /// one in a row, and not if it filled the context or used up what the client allows.
    pub(crate) fn may_mend(&self) -> bool {
        if self.cut_off == 0 {
            return true;
        }
        let Usage { prompt_tokens, completion_tokens, estimated, .. } = self.delivered;
        let is_full = self.context.is_some_and(|most| {
            // Servers reserve a few tokens of the context for themselves.
            let slack = most as u64 / 128 + 2;
            prompt_tokens + completion_tokens + slack >= most as u64
        });
        // From half of the limit on it counts as used up: an endpoint whose own limit is far below the
        // client's cuts earlier. So does an estimate, which may be wrong by as much.
        let is_used_up = self.limit.is_some_and(|most| estimated || completion_tokens >= most / 2);
        self.cut_off == 1 && !is_full && !is_used_up
    }
}

/// Returns the tokens of a message's content by our own count.
fn tokens(content: &Value) -> usize {
    let counter = TokenCounter::estimate();
    let count = |text: &Value| text.as_str().map_or(0, |text| counter.count(text));
    match content {
        Value::Array(parts) => parts.iter().map(|part| count(&part["text"])).sum(),
        text => count(text),
    }
}
