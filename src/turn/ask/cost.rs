//! The tokens that a round used, as the endpoint reports them or by an estimate.

use crate::message::{Message, NativeCall, Role, TokenCounter};
use crate::model::{Request, Usage};
use crate::turn::warning::CallerWarning;

/// Number of tokens that a chat template puts around each message: role and delimiters
/// (github.com/openai/openai-cookbook, "How to count tokens with tiktoken").
const MESSAGE_TOKENS: usize = 4;

/// Number of tokens of an image: those of a square of 1,024 pixels by OpenAI's count for GPT-4o, 85 plus 170 for each
/// of four tiles (platform.openai.com/docs/guides/images-vision). Models differ, by their own count and by the image's
/// size.
const IMAGE_TOKENS: usize = 765;

/// Number of bytes of sound per token: ten tokens a second (platform.openai.com/docs/guides/audio), at the 16 kB a
/// second of a usual MP3. A WAV of the same duration has more bytes, so its estimate is too high.
const AUDIO_BYTES: usize = 1_600;

/// Minimum number of tokens that an endpoint reports for a prompt that it has cut; with fewer, it counted only the
/// tokens that were not cached. Ollama keeps half of a context that a prompt exceeds, and its contexts have at least
/// 2048 tokens in every version (github.com/ollama/ollama/issues/17427).
const LEAST_CUT: u64 = 256;

/// Token usage of a turn's rounds.
#[derive(Debug, Default)]
pub(in crate::turn) struct Cost {
    /// Size of the last request, if tokens are counted.
    sent: Option<RequestSize>,
    /// The usage of the round as the endpoint reported it.
    pub(in crate::turn) reported: Option<Usage>,
    /// Usage of the round's earlier requests, whose messages were discarded.
    left: Option<Usage>,
    /// Sum of the usage of the rounds; it is an estimate if a part of it is one.
    pub(in crate::turn) total: Option<Usage>,
    /// `true` if the caller was already warned that the endpoint cuts prompts.
    cut_told: bool,
}

/// Estimated size of a request in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RequestSize {
    /// Number of tokens of the request's messages.
    tokens: u64,
    /// Number of tokens of the images in these messages.
    images: u64,
    /// Number of tokens of the messages that cannot have been in an earlier request: those from the model's last one
    /// on.
    new: u64,
}

impl Cost {
    /// Records the size of a request to the model.
    pub(super) fn sends(&mut self, counter: Option<&TokenCounter>, request: &Request) {
        self.sent = counter.map(|counter| {
            // The model's last message was not in an earlier prompt, so nothing from it on can be cached.
            let own = request.messages.iter().rposition(|m| m.role == Role::Assistant).unwrap_or(0);
            let tokens = count(counter, request) as u64;
            let images = request.messages.iter().map(image_tokens).sum::<usize>() as u64;
            RequestSize { tokens, images, new: count_messages(counter, &request.messages[own..]) as u64 }
        });
        self.reported = None;
    }

    /// Adds the usage of the last request to the round's, as its message is replaced by that of another request.
    /// `spoken` is the text received for it.
    pub(super) fn leaves(&mut self, counter: Option<&TokenCounter>, spoken: (String, String)) {
        let reported = self.reported.take();
        let cost = match (counter, self.sent) {
            (Some(counter), Some(sent)) => Some(completed(reported, counter, sent, &spoken)),
            _ => reported,
        };
        self.left = match (self.left.take(), cost) {
            (Some(left), Some(cost)) => Some(left.plus(cost)),
            (left, cost) => left.or(cost),
        };
    }

    /// Returns the numbers of tokens of the prompt and of the answer, if the endpoint reported them.
    pub(super) fn tokens(&self) -> Option<(u64, u64)> {
        self.reported.map(|usage| (read(usage), usage.completion_tokens))
    }

    /// Returns the number of tokens of the prompt that the endpoint read, if it reported it.
    pub(super) fn read(&self) -> Option<u64> {
        self.reported.map(read)
    }

    /// Returns the token usage of the round, and adds it to the turn's. Numbers that the endpoint did not report are
    /// counted if there is a counter. `spoken` is the answer and the reasoning.
    pub(super) fn round(
        &mut self,
        counter: Option<&TokenCounter>,
        spoken: impl FnOnce() -> (String, String),
    ) -> Option<Usage> {
        let reported = self.reported.take();
        let usage = match (counter, self.sent) {
            (Some(counter), Some(sent)) => Some(completed(reported, counter, sent, &spoken())),
            _ => reported,
        };
        let left = self.left.take();
        let usage = usage.map(|usage| left.map_or(usage, |left| left.plus(usage)));
        if let Some(usage) = usage {
            self.total = Some(self.total.map_or(usage, |total| total.plus(usage)));
        }
        usage
    }

    /// Returns a warning, once in a turn, if the endpoint cut the prompt.
    pub(super) fn cut(&mut self, usage: Option<Usage>) -> Option<CallerWarning> {
        let (usage, sent) = (usage.filter(|usage| !usage.estimated)?, self.sent?);
        let read = read(usage);
        if self.cut_told || !sent.was_cut(read) {
            return None;
        }
        self.cut_told = true;
        Some(CallerWarning::PromptCut { sent: sent.tokens, read })
    }
}

impl RequestSize {
    /// Returns `true` if `read` tokens are so few that the endpoint must have cut the prompt.
    ///
    /// Tokenizers differ by some tens of percent, an estimate by up to 40 %: below 60 % and 500 tokens less exceeds
    /// both. An endpoint that counts only uncached tokens reports about the new part, or next to nothing.
    fn was_cut(self, read: u64) -> bool {
        // An image may count next to nothing.
        let least = self.tokens - self.images;
        let few = read * 10 < least * 6 && least - read > 500;
        // Half as much again is for the difference between two tokenizers.
        let uncached = self.new < self.tokens && read <= self.new + self.new / 2;
        // Few tokens alone are no proof: they may be an uncached rest, or the count of a cache hit.
        few && read >= LEAST_CUT && !uncached
    }
}

/// Returns the number of tokens that the endpoint read of a prompt of `tokens` by our own count, of which `new` are
/// certainly not cached; `None` if it need not have cut the prompt.
pub fn cut_to(tokens: usize, new: usize, usage: Usage) -> Option<u64> {
    let (sent, read) = (RequestSize { tokens: tokens as u64, images: 0, new: new as u64 }, read(usage));
    Some(read).filter(|read| !usage.estimated && sent.was_cut(*read))
}

/// Returns the number of tokens of the prompt that the endpoint read, cached or not. Most endpoints include cached
/// tokens in the total; if there are more cached ones than the total, they are reported separately.
fn read(usage: Usage) -> u64 {
    let cached = usage.cached_tokens.unwrap_or(0);
    if cached > usage.prompt_tokens { usage.prompt_tokens + cached } else { usage.prompt_tokens }
}

/// Returns the reported usage, completed with our own count where the endpoint reported none.
fn completed(
    reported: Option<Usage>,
    counter: &TokenCounter,
    sent: RequestSize,
    (answer, reasoning): &(String, String),
) -> Usage {
    let (answer, reasoning) = (counter.count(answer) as u64, counter.count(reasoning) as u64);
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
            // The endpoint's total is split in proportion to our own count.
            let share = usage.completion_tokens * reasoning / (answer + reasoning);
            Usage { reasoning_tokens: Some(share), reasoning_estimated: true, ..usage }
        }
        Some(usage) => usage,
    }
}

/// Returns the number of tokens of a request by our own count.
pub(super) fn count(counter: &TokenCounter, request: &Request) -> usize {
    let tools = request.tools.iter().map(|tool| tool.tokens(counter));
    count_messages(counter, &request.messages) + tools.sum::<usize>()
}

/// Returns the number of tokens of messages as a chat template writes them.
fn count_messages(counter: &TokenCounter, messages: &[Message]) -> usize {
    let call = |call: &NativeCall| counter.count(&call.name) + counter.count(&call.arguments);
    let message = |m: &Message| {
        let reasoning = m.reasoning.as_deref().unwrap_or_default();
        let calls = m.calls.iter().map(call).sum::<usize>();
        counter.count(&m.content) + image_tokens(m) + counter.count(reasoning) + calls + MESSAGE_TOKENS
    };
    messages.iter().map(message).sum()
}

/// Returns the estimated number of tokens of a message's images and sound.
fn image_tokens(message: &Message) -> usize {
    let audio = message.audio.iter().map(|audio| audio.bytes() / AUDIO_BYTES).sum::<usize>();
    message.images.len() * IMAGE_TOKENS + audio
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Image;

    #[test]
    fn an_image_costs_a_fixed_number_and_never_looks_like_a_cut_prompt() {
        let image = Image::new(b"GIF89a").unwrap();
        let said = [Message::user("Look").with_image(image.clone()).with_image(image)];
        let counter = TokenCounter::new(str::len);
        assert_eq!(count_messages(&counter, &said), 4 + 2 * IMAGE_TOKENS + MESSAGE_TOKENS);
        let mut cost = Cost::default();
        cost.sends(Some(&counter), &Request::new(said.to_vec()));
        let read = |prompt_tokens| Usage { prompt_tokens, ..Usage::default() };
        assert_eq!(cost.cut(Some(read(270))), None, "a model with 128 tokens for an image");
    }

    #[test]
    fn a_prompt_counts_as_cut_only_where_nothing_else_explains_the_number() {
        let first = RequestSize { tokens: 11_289, images: 0, new: 11_289 };
        assert!(first.was_cut(4_096));
        assert!(first.was_cut(2_050), "half of a context of 4096, and two");
        assert!(!first.was_cut(7_000), "another tokeniser");
        assert!(!first.was_cut(0) && !first.was_cut(20), "the prompt was cached");
        assert!(!RequestSize { tokens: 900, images: 0, new: 900 }.was_cut(450), "too little to tell");
        // Later rounds: an endpoint that counts only what is new.
        let later = RequestSize { tokens: 12_000, images: 0, new: 1_500 };
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
