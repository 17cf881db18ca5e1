//! The size of a text in tokens.

/// Tokens of the text in o200k, the encoding of OpenAI's newer models. Other
/// models' counts differ by some tens of percent.
///
/// The table is built at the first call, which takes a fraction of a second.
pub(crate) fn count(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len()
}
