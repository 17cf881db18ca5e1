//! Token accounting of an answer: what its rounds cost, and what the client's limit and the context
//! leave for the next.

use serde_json::{Value, json};

use toolgraft::message::{FinishReason, TokenCounter, Usage};
use toolgraft::turn::cut_to;
use toolgraft::wire::ToolDefinition;

/// Upper bound for the bytes of a token, averaged over a message: most tokens have about four
/// bytes, runs of spaces have more.
const TOKEN_BYTES: usize = 16;

/// Bytes that a message may have in addition to its token limit times the bytes of a token, for short messages.
const SPARE_BYTES: usize = 2 << 10;

/// Token accounting of one answer.
#[derive(Default)]
pub(crate) struct Costs {
    /// Token usage summed over all finished rounds; `delivered` is the usage of the last one.
    pub(crate) total: Usage,
    pub(crate) delivered: Usage,
    /// Size of the model's context in tokens, where it is known.
    pub(crate) context: Option<usize>,
    /// Maximum number of tokens of the current round's message; `None` if the client sets no limit.
    limit: Option<u64>,
    /// Number of the model's last messages, in a row, that a token limit cut off.
    cut_off: u32,
    /// Tokens of the current round's request, estimated here. `new_tokens` counts those from the model's last message
    /// on, which no earlier request contained.
    pub(crate) sent_tokens: usize,
    new_tokens: usize,
    /// Sizes in tokens of a prompt that the endpoint truncated: the estimated size that was sent, and the size that
    /// the endpoint read. `None` if none was truncated.
    pub(crate) cut_prompt: Option<(u64, u64)>,
}

impl Costs {
    /// Returns the maximum number of tokens of the next message, and stores it as the limit: `most`, which the client
    /// allows, less the tokens of the text that the client was shown. Rounds that the client does not see do not
    /// count in that, but all rounds together have at most twice `most`.
    pub(crate) fn left(&mut self, most: u64, shown: &str) -> u64 {
        let of_client = most.saturating_sub(TokenCounter::estimate().count(shown) as u64);
        let of_all = most.saturating_mul(2).saturating_sub(self.total.completion_tokens);
        let left = of_client.min(of_all);
        self.limit = Some(left);
        left
    }

    /// Returns the maximum number of bytes of the current round's message, for endpoints that ignore the token limit;
    /// `usize::MAX` without a limit.
    pub(crate) fn allowed_bytes(&self) -> usize {
        let bytes = |tokens: u64| usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(TOKEN_BYTES);
        self.limit.map_or(usize::MAX, |limit| bytes(limit).saturating_add(SPARE_BYTES))
    }

    /// Estimates and stores the tokens of a request with these messages and tools.
    pub(crate) fn sends(&mut self, messages: &[Value], tools: &[ToolDefinition]) {
        let own = messages.iter().rposition(|message| message["role"] == "assistant").unwrap_or(0);
        let calls = |message: &Value| message.get("tool_calls").map_or(0, |calls| tokens(&calls.to_string().into()));
        let told = |message: &Value| tokens(&message["content"]) + calls(message);
        let count = |messages: &[Value]| messages.iter().map(told).sum::<usize>();
        let tools = if tools.is_empty() { 0 } else { tokens(&json!(tools).to_string().into()) };
        self.new_tokens = count(&messages[own..]);
        self.sent_tokens = tools + count(&messages[..own]) + self.new_tokens;
    }

    /// Adds the estimated token usage of a round to the total, since its request is replaced by another before it was
    /// answered.
    pub(crate) fn replaced(&mut self, spoken: &str) {
        self.total = self.total.plus(self.estimate(spoken));
    }

    /// Adds the token usage of a finished round, and counts its message if a limit cut it off. The usage is estimated
    /// if the endpoint reports none.
    pub(crate) fn round_over(&mut self, usage: Option<Usage>, finish: Option<&FinishReason>, spoken: &str) {
        self.cut_off = if finish == Some(&FinishReason::Length) { self.cut_off + 1 } else { 0 };
        if let Some(read) = usage.and_then(|usage| cut_to(self.sent_tokens, self.new_tokens, usage)) {
            self.cut_prompt = Some((self.sent_tokens as u64, read));
        }
        self.delivered = usage.unwrap_or_else(|| self.estimate(spoken));
        self.total = self.total.plus(self.delivered);
    }

    /// Estimates the token usage of a round for which the endpoint reports none, or whose stream was cancelled.
    fn estimate(&self, spoken: &str) -> Usage {
        let written = TokenCounter::estimate().count(spoken) as u64;
        Usage::default()
            .with_prompt_tokens(self.sent_tokens as u64)
            .with_completion_tokens(written)
            .with_estimated(true)
    }

    /// Returns `true` if another round may correct the model's last message. One that a limit cut off is corrected
    /// only if the message before it was complete, and if it neither filled the context nor used half of the client's
    /// limit.
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

/// Estimates the tokens of a message's content: a text, or a list of parts.
fn tokens(content: &Value) -> usize {
    let counter = TokenCounter::estimate();
    let count = |text: &Value| text.as_str().map_or(0, |text| counter.count(text));
    match content {
        Value::Array(parts) => parts.iter().map(|part| count(&part["text"])).sum(),
        text => count(text),
    }
}
