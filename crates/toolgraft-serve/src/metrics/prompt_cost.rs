//! Measures how much of a request the endpoint was sent before.
//!
//! An endpoint has to read everything after the first token that differs from all its cached
//! prompts. So a request is divided into blocks, each of which is identified by a hash over
//! everything up to its end.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// Size in bytes of the blocks into which prompts are divided to find repeated ones; also the largest error of the
/// result.
const BLOCK: usize = 256;

/// Maximum number of blocks of prompts that are remembered, enough for some hundred conversations of 100 kB. Half of
/// them are dropped at a time, those that no recent request contained.
const KNOWN: usize = 1 << 16;

/// Size and cost of the prompts of an answer's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PromptCost {
    /// Bytes of the texts of all messages in the prompts.
    pub bytes: u64,
    /// Bytes at the beginning of the prompts that repeat the beginning of an earlier request to the same model.
    pub repeated: u64,
    /// Tokens of the prompts, as the endpoint counts them, or else estimated.
    pub tokens: u64,
    /// Tokens of the prompts that the endpoint had cached, if it reports them.
    pub cached_tokens: Option<u64>,
    /// Sizes in tokens of a prompt that the endpoint silently truncated: the estimated size that was sent, and the
    /// size that the endpoint read. The tools are at the prompt's beginning, which is lost first.
    pub cut: Option<(u64, u64)>,
}

impl PromptCost {
    /// Returns the percentage of the prompts' bytes that repeat the beginning of an earlier request.
    pub fn repeated_percent(&self) -> u64 {
        (self.repeated * 100).checked_div(self.bytes).unwrap_or(0)
    }
}

/// Hashes of the beginnings of requests that were sent to an endpoint, with which repetitions are measured.
#[derive(Default)]
pub(crate) struct PromptPrefixes {
    hasher: RandomState,
    /// Hashes of the blocks of recent requests, and of those of the generation before.
    known: Mutex<[HashSet<u64>; 2]>,
}

impl PromptPrefixes {
    /// Adds a request; returns its size in bytes, and how many bytes at its beginning repeat the beginning of an
    /// earlier request to the model.
    pub(crate) fn take(&self, model: &str, messages: &[Value]) -> (u64, u64) {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(model.as_bytes());
        let (mut bytes, mut blocks) = (0, Vec::new());
        for message in messages {
            let whole;
            let content = match &message["content"] {
                Value::String(text) => text,
                other => {
                    whole = other.to_string();
                    &whole
                }
            };
            for text in [message["role"].as_str().unwrap_or_default(), "\0", content, "\0"] {
                let mut rest = text.as_bytes();
                while bytes / BLOCK != (bytes + rest.len()) / BLOCK {
                    let (block, after) = rest.split_at(BLOCK - bytes % BLOCK);
                    hasher.write(block);
                    blocks.push(hasher.finish());
                    (bytes, rest) = (bytes + block.len(), after);
                }
                hasher.write(rest);
                bytes += rest.len();
            }
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let [late, before] = &mut *known;
        let repeated = blocks.iter().take_while(|block| late.contains(block) || before.contains(block)).count();
        if late.len() + blocks.len() > KNOWN / 2 {
            *before = std::mem::take(late);
        }
        late.extend(blocks.into_iter().take(KNOWN / 2));
        (bytes as u64, (repeated * BLOCK) as u64)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(texts: &[&str]) -> Vec<Value> {
        texts.iter().map(|text| json!({"role": "user", "content": text})).collect()
    }

    #[test]
    fn what_a_request_begins_with_as_one_before_is_repeated() {
        let beginnings = PromptPrefixes::default();
        let long = "0123456789".repeat(1_000);
        let repeated = |texts: &[&str]| beginnings.take("m", &said(texts)).1;
        assert_eq!(repeated(&[&long]), 0);
        let again = repeated(&[&long, "and more"]);
        assert!((9_500..=10_000).contains(&again), "{again}");
        assert!(repeated(&[&long[..5_000], &long]).abs_diff(5_000) <= 2 * BLOCK as u64);
        assert_eq!(repeated(&["other", &long]), 0, "text after another beginning is read again");
        assert_eq!(beginnings.take("n", &said(&[&long])).1, 0, "by another model too");
    }

    #[test]
    fn what_is_known_is_bounded_and_what_goes_on_stays() {
        let beginnings = PromptPrefixes::default();
        let kept = "k".repeat(100 * BLOCK);
        beginnings.take("m", &said(&[&kept]));
        for at in 0..1_000 {
            let other = format!("{at}{}", "x".repeat(150 * BLOCK));
            beginnings.take("m", &said(&[&other]));
            assert!(beginnings.take("m", &said(&[&kept])).1 > 90 * BLOCK as u64, "{at}");
        }
        let known = beginnings.known.lock().unwrap();
        assert!(known.iter().map(HashSet::len).sum::<usize>() <= KNOWN);
    }
}
