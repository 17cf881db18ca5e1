//! What a round cost: as the endpoint counts, or as we do.

use super::draft::Message;
use super::{Notice, Turn};
use crate::message::{self, NativeCall, Role};
use crate::model::{Request, Usage};
use crate::tokens::TokenCounter;
use crate::wire::ToolDefinition;

/// Tokens that a chat template puts around each message: role and delimiters
/// (github.com/openai/openai-cookbook, "How to count tokens with tiktoken").
const MESSAGE_TOKENS: usize = 4;

/// Fewer tokens than these are no cut prompt but a count of what was not cached:
/// Ollama keeps half of a context that a prompt passes, of 2048 tokens at least
/// in every version (github.com/ollama/ollama/issues/17427).
const LEAST_CUT: u64 = 256;

/// A request that goes to the model, by our own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sent {
    /// Tokens of all messages.
    tokens: u64,
    /// Tokens that cannot have been in a request before: those from the model's
    /// last message on.
    new: u64,
}

impl Turn {
    pub(super) fn count_sent(&self, request: &Request) -> Option<Sent> {
        let counter = self.setup.config.tokens.as_ref()?;
        let own = request.messages.iter().rposition(|m| m.role == Role::Assistant).unwrap_or(0);
        let tokens = count(counter, request) as u64;
        Some(Sent { tokens, new: count_messages(counter, &request.messages[own..]) as u64 })
    }

    /// What the round cost; numbers that the endpoint does not give are counted
    /// where a counter is there.
    pub(super) fn cost(&mut self, message: &Message) -> Option<Usage> {
        let reported = self.usage.take();
        if let Some(usage) = reported {
            self.setup.measured.counted(&self.model.name, self.asked.0, read(usage));
        }
        let usage = match (&self.setup.config.tokens, self.sent) {
            (Some(counter), Some(sent)) => Some(completed(reported, counter, sent, message)),
            _ => reported,
        };
        if let Some(usage) = usage {
            self.total = Some(self.total.map_or(usage, |total| total.plus(usage)));
        }
        usage
    }

    /// Says once in a turn that the endpoint cut the prompt.
    pub(super) fn notice_cut(&mut self, usage: Option<Usage>) -> Option<Notice> {
        let (usage, sent) = (usage.filter(|usage| !usage.estimated)?, self.sent?);
        let read = read(usage);
        if self.cut_told || !sent.was_cut(read) {
            return None;
        }
        self.cut_told = true;
        Some(Notice::PromptCut { sent: sent.tokens, read })
    }
}

impl Sent {
    /// Whether `read` tokens are so few that the endpoint must have cut the prompt.
    ///
    /// Tokenisers differ by some tens of percent, an estimate by up to 40: below
    /// 60 % and 500 tokens less is past both. An endpoint that counts only what
    /// it had not cached reports about the new part, or next to nothing.
    fn was_cut(self, read: u64) -> bool {
        let few = read * 10 < self.tokens * 6 && self.tokens - read > 500;
        let uncached = self.new < self.tokens && read <= self.new + self.new / 2;
        few && read >= LEAST_CUT && !uncached
    }
}

/// Tokens of the prompt that the endpoint read, cached or not. Most count cached
/// tokens in; where there are more cached ones than tokens in all, they stand apart.
fn read(usage: Usage) -> u64 {
    let cached = usage.cached_tokens.unwrap_or(0);
    if cached > usage.prompt_tokens { usage.prompt_tokens + cached } else { usage.prompt_tokens }
}

/// The usage with our own count where the endpoint gives none.
fn completed(reported: Option<Usage>, counter: &TokenCounter, sent: Sent, message: &Message) -> Usage {
    let (answer, reasoning) = message.spoken();
    let (answer, reasoning) = (counter.count(&answer) as u64, counter.count(&reasoning) as u64);
    let own = Usage {
        prompt_tokens: sent.tokens,
        completion_tokens: answer + reasoning,
        reasoning_tokens: (reasoning > 0).then_some(reasoning),
        reasoning_estimated: reasoning > 0,
        estimated: true,
        ..Usage::default()
    };
    match reported {
        None => own,
        Some(usage) if usage.reasoning_tokens.is_none() && reasoning > 0 => {
            // The endpoint's total, shared out as we count.
            let share = usage.completion_tokens * reasoning / (answer + reasoning);
            Usage { reasoning_tokens: Some(share), reasoning_estimated: true, ..usage }
        }
        Some(usage) => usage,
    }
}

/// Tokens of a request.
pub(super) fn count(counter: &TokenCounter, request: &Request) -> usize {
    let tool = |tool: &ToolDefinition| {
        let text = [&tool.name, &tool.description].map(|text| counter.count(text));
        text.iter().sum::<usize>() + counter.count(&tool.parameters.to_string())
    };
    count_messages(counter, &request.messages) + request.tools.iter().map(tool).sum::<usize>()
}

/// Tokens of messages as a chat template puts them.
fn count_messages(counter: &TokenCounter, messages: &[message::Message]) -> usize {
    let call = |call: &NativeCall| counter.count(&call.name) + counter.count(&call.arguments);
    let message = |m: &message::Message| {
        let reasoning = m.reasoning.as_deref().unwrap_or_default();
        let calls = m.calls.iter().map(call).sum::<usize>();
        counter.count(&m.content) + counter.count(reasoning) + calls + MESSAGE_TOKENS
    };
    messages.iter().map(message).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_counts_as_cut_only_where_nothing_else_explains_the_number() {
        let first = Sent { tokens: 11_289, new: 11_289 };
        assert!(first.was_cut(4_096));
        assert!(first.was_cut(2_050), "half of a context of 4096, and two");
        assert!(!first.was_cut(7_000), "another tokeniser");
        assert!(!first.was_cut(0) && !first.was_cut(20), "the prompt was cached");
        assert!(!Sent { tokens: 900, new: 900 }.was_cut(450), "too little to tell");
        // Later rounds: an endpoint that counts only what is new.
        let later = Sent { tokens: 12_000, new: 1_500 };
        assert!(!later.was_cut(1_600) && later.was_cut(4_096));
    }

    #[test]
    fn cached_tokens_count_as_read() {
        let usage = |prompt_tokens, cached| Usage { prompt_tokens, cached_tokens: cached, ..Usage::default() };
        assert_eq!(read(usage(2_006, Some(1_920))), 2_006);
        assert_eq!(read(usage(86, Some(1_920))), 2_006);
        assert_eq!(read(usage(86, None)), 86);
    }
}
