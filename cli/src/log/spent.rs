//! Describes the cost of a conversation. `≈` marks a number that was counted on this side.

use crate::terminal::grouped;
use toolgraft::message::Usage;

/// Returns the tokens of a conversation, such as `12,345 tokens`, with the cost if the endpoint reports it.
pub(super) fn short(usage: Usage) -> String {
    let tokens = tokens(usage.prompt_tokens + usage.completion_tokens, usage);
    with_cost(format!("{tokens} tokens"), usage)
}

/// Returns the tokens of a conversation, such as `12,345 tokens read, 678 written`, with the cost if the endpoint
/// reports it.
pub(super) fn full(usage: Usage) -> String {
    let [read, written] = [usage.prompt_tokens, usage.completion_tokens].map(|n| tokens(n, usage));
    with_cost(format!("{read} tokens read, {written} written"), usage)
}

fn tokens(n: u64, usage: Usage) -> String {
    format!("{}{}", if usage.estimated { "≈" } else { "" }, grouped(n))
}

fn with_cost(said: String, usage: Usage) -> String {
    match usage.cost {
        // Sums of decimal fractions have a tail of digits that nobody asked for.
        Some(cost) => format!("{said}, cost {}", format!("{cost:.6}").trim_end_matches('0').trim_end_matches('.')),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_said_where_it_is_known() {
        let usage = Usage::default().with_prompt_tokens(12_345).with_completion_tokens(678);
        assert_eq!(full(usage), "12,345 tokens read, 678 written");
        let said = [0.1 + 0.2, 3.0, 0.000_012].map(|cost| short(usage.with_cost(cost)));
        let costs = ["0.3", "3", "0.000012"].map(|cost| format!("13,023 tokens, cost {cost}"));
        assert_eq!(said, costs);
        assert_eq!(short(usage.with_estimated(true)), "≈13,023 tokens");
    }
}
