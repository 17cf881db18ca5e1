//! Shows the model its own reasoning again.

use crate::conversation::{Conversation, HistoryEntry};
use crate::message::{CarryReasoning, TokenCounter};
use crate::turn::config::TurnConfig;

/// Text in the place of the part of a reasoning that is left out.
const GAP: &str = "\n[…]\n";

/// Minimum number of tokens of repeated reasoning; with fewer, none is repeated, as it would have no meaning.
const LEAST: usize = 16;

/// Returns the model's reasoning before its last messages, newest first, as far as it is shown to the model again. The
/// limit on tokens is used for the newest first.
pub(super) fn thoughts(config: &TurnConfig, conversation: &Conversation) -> Vec<String> {
    let rounds = match config.carry_reasoning {
        CarryReasoning::None => return Vec::new(),
        CarryReasoning::Last => 1,
        CarryReasoning::Turn => usize::MAX,
    };
    let counter = config.tokens.clone().unwrap_or_default();
    let mut left = config.carry_tokens;
    let entries = conversation.entries().iter().rev();
    // The reasoning about an earlier question is never shown again.
    let messages = entries.take_while(|e| !matches!(e, HistoryEntry::User(_))).filter_map(|entry| match entry {
        HistoryEntry::Assistant(message) => Some(message.reasoning.trim()),
        _ => None,
    });
    let carried = messages.take(rounds).map(|thought| {
        let text = clipped(thought, left, &counter);
        left = left.saturating_sub(counter.count(&text));
        text
    });
    carried.collect()
}

/// Returns a reasoning, cut to `cap` tokens if it is longer: a quarter of them from its beginning and the rest from its
/// end, where the decision usually is.
fn clipped(text: &str, cap: usize, counter: &TokenCounter) -> String {
    if counter.count(text) <= cap {
        return text.to_owned();
    }
    if cap < LEAST {
        return String::new();
    }
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let cut = |kept: usize| {
        let head = chars[kept / 4].0;
        let tail = chars[chars.len() - (kept - kept / 4)..].first().map_or(text.len(), |(at, _)| *at);
        format!("{}{GAP}{}", &text[..head], &text[tail..])
    };
    // Tokens can only be counted, so the longest cut that fits is searched for.
    let (mut low, mut high) = (0, chars.len() - 1);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if counter.count(&cut(middle)) <= cap { low = middle } else { high = middle - 1 }
    }
    cut(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_thought_keeps_a_little_of_its_head_and_most_of_its_tail() {
        let counter = TokenCounter::new(|text| text.chars().count());
        let text = format!("{}{}", "头".repeat(100), "尾".repeat(100));
        assert_eq!(clipped(&text, 200, &counter), text);
        let short = clipped(&text, 45, &counter);
        assert_eq!(short, format!("{}{GAP}{}", "头".repeat(10), "尾".repeat(30)));
        assert_eq!(clipped(&text, 3, &counter), "");
        assert_eq!(clipped("", 0, &counter), "");
    }
}
