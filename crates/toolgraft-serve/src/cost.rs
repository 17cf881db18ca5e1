//! What the rounds of an answer cost, and what the client's limit and the context leave for the next.

use serde_json::{Value, json};

use toolgraft::message::{FinishReason, TokenCounter, Usage};
use toolgraft::turn::cut_to;
use toolgraft::wire::ToolDefinition;

/// Bytes of a token at most, taken over a whole message: most have four, runs of spaces more.
const TOKEN_BYTES: usize = 16;

/// Bytes beside those, for short messages.
const SPARE_BYTES: usize = 2 << 10;

/// What the rounds of an answer cost.
#[derive(Default)]
pub(super) struct Costs {
    /// Sum over the rounds that are over, and what the last of them cost.
    pub(super) total: Usage,
    pub(super) delivered: Usage,
    /// Tokens of the model's context, where that is known.
    context: Option<usize>,
    /// Tokens that the round's message may have, where the client says so.
    limit: Option<u64>,
    /// Messages in a row that a limit cut off.
    cut_off: u32,
    /// Tokens of the round's request by our own count, and those of them from the model's last
    /// message on, which no request held before.
    pub(super) sent_tokens: usize,
    new_tokens: usize,
    /// Tokens of a prompt by our own count, and what the endpoint read of it, where it cut it.
    pub(super) cut_prompt: Option<(u64, u64)>,
}

impl Costs {
    pub(super) fn new(context: Option<usize>) -> Self {
        Costs { context, ..Costs::default() }
    }

    /// Tokens that the next message may have, of so many in all.
    pub(super) fn left(&mut self, most: u64) -> u64 {
        let left = most.saturating_sub(self.total.completion_tokens);
        self.limit = Some(left);
        left
    }

    /// Bytes that the round's message may have, whatever the endpoint makes of the limit.
    pub(super) fn allowed_bytes(&self) -> usize {
        let bytes = |tokens: u64| usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(TOKEN_BYTES);
        self.limit.map_or(usize::MAX, |limit| bytes(limit).saturating_add(SPARE_BYTES))
    }

    /// These messages go to the model, with these tools beside them.
    pub(super) fn sends(&mut self, messages: &[Value], tools: &[ToolDefinition]) {
        let own = messages.iter().rposition(|message| message["role"] == "assistant").unwrap_or(0);
        let calls = |message: &Value| message.get("tool_calls").map_or(0, |calls| tokens(&calls.to_string().into()));
        let told = |message: &Value| tokens(&message["content"]) + calls(message);
        let count = |messages: &[Value]| messages.iter().map(told).sum::<usize>();
        let tools = if tools.is_empty() { 0 } else { tokens(&json!(tools).to_string().into()) };
        self.new_tokens = count(&messages[own..]);
        self.sent_tokens = tools + count(&messages[..own]) + self.new_tokens;
    }

    /// Another request stands in the place of the last one, which costs as well.
    pub(super) fn replaced(&mut self, spoken: &str) {
        self.total = self.total.plus(self.estimate(spoken));
    }

    /// A round is over; what the endpoint says that it cost, and what came of it.
    pub(super) fn round_over(&mut self, usage: Option<Usage>, finish: Option<&FinishReason>, spoken: &str) {
        self.cut_off = if finish == Some(&FinishReason::Length) { self.cut_off + 1 } else { 0 };
        if let Some(read) = usage.and_then(|usage| cut_to(self.sent_tokens, self.new_tokens, usage)) {
            self.cut_prompt = Some((self.sent_tokens as u64, read));
        }
        self.delivered = usage.unwrap_or_else(|| self.estimate(spoken));
        self.total = self.total.plus(self.delivered);
    }

    /// What a round cost whose endpoint does not say so, or whose stream was cancelled.
    fn estimate(&self, spoken: &str) -> Usage {
        let written = TokenCounter::estimate().count(spoken) as u64;
        Usage::default()
            .with_prompt_tokens(self.sent_tokens as u64)
            .with_completion_tokens(written)
            .with_estimated(true)
    }

    /// Whether a further round may mend a message that a limit cut off: not the second one, none
    /// that filled the context, and none that took what the client allows.
    pub(super) fn may_mend(&self) -> bool {
        if self.cut_off == 0 {
            return true;
        }
        let Usage { prompt_tokens, completion_tokens, estimated, .. } = self.delivered;
        let is_full = self.context.is_some_and(|most| {
            // Servers keep a few tokens for themselves.
            let slack = most as u64 / 128 + 2;
            prompt_tokens + completion_tokens + slack >= most as u64
        });
        // Where the endpoint's own limit is far below the client's, less may fit.
        let is_used_up = self.limit.is_some_and(|most| estimated || completion_tokens >= most / 2);
        self.cut_off == 1 && !is_full && !is_used_up
    }
}

/// Tokens of a message's content by our own count.
fn tokens(content: &Value) -> usize {
    let counter = TokenCounter::estimate();
    let count = |text: &Value| text.as_str().map_or(0, |text| counter.count(text));
    match content {
        Value::Array(parts) => parts.iter().map(|part| count(&part["text"])).sum(),
        text => count(text),
    }
}
