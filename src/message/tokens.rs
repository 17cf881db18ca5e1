//! Counts texts in tokens, with the caller's tokenizer or by an estimate.

use std::fmt;
use std::sync::Arc;

type Count = dyn Fn(&str) -> usize + Send + Sync;

/// Function that counts the tokens of a text. Cheap to clone.
///
/// Tokenizers are large and differ from model to model, so a program brings its own. The default is
/// [`TokenCounter::estimate`], which needs none.
///
/// ```
/// use toolgraft::message::TokenCounter;
///
/// let words = TokenCounter::new(|text| text.split_whitespace().count());
/// assert_eq!(words.count("three small words"), 3);
/// assert!(!words.is_estimate() && TokenCounter::default().is_estimate());
/// ```
#[derive(Clone, Default)]
pub struct TokenCounter(Option<Arc<Count>>);

impl TokenCounter {
    /// Creates a counter that uses this function. Callers assume that a text never has more tokens than bytes, and do
    /// not count where a text has fewer bytes than its limit in tokens.
    pub fn new(count: impl Fn(&str) -> usize + Send + Sync + 'static) -> Self {
        TokenCounter(Some(Arc::new(count)))
    }

    /// Creates the counter that estimates from the characters alone: four letters or spaces of ASCII are one token, as
    /// are two other characters of ASCII and two letters of other alphabets; four ideographs are three tokens. For
    /// prompts of tools and results, English and Chinese, the estimate is 10 to 40 % above the count of o200k: enough
    /// for models with smaller vocabularies.
    pub fn estimate() -> Self {
        TokenCounter(None)
    }

    /// Returns `true` if counts are estimates from the characters alone.
    pub fn is_estimate(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the number of tokens of the text.
    pub fn count(&self, text: &str) -> usize {
        match &self.0 {
            Some(count) => count(text),
            None if text.is_ascii() => ascii_quarters_of(text).div_ceil(4),
            None => text.split_inclusive('\n').map(quarters_of).sum::<usize>().div_ceil(4),
        }
    }
}

/// Returns the estimate for a line in quarters of a token. Lines of ASCII, which most are, are summed in a fraction of
/// the time.
fn quarters_of(line: &str) -> usize {
    if line.is_ascii() { ascii_quarters_of(line) } else { line.chars().map(quarters).sum() }
}

/// Returns the estimate for an ASCII text in quarters of a token, summed in bytes, of which a processor adds many at
/// once.
fn ascii_quarters_of(text: &str) -> usize {
    let light = |bytes: &[u8]| bytes.iter().map(|byte| 2 - ascii_quarters(*byte)).sum::<u8>();
    // Each byte adds 0 or 1, so the sum of 255 fits into a byte.
    2 * text.len() - text.as_bytes().chunks(255).map(|bytes| usize::from(light(bytes))).sum::<usize>()
}

/// Returns the estimate for an ASCII character in quarters of a token.
fn ascii_quarters(byte: u8) -> u8 {
    2 - u8::from(byte.is_ascii_alphabetic() || byte == b' ')
}

/// Returns the estimate for a character in quarters of a token.
fn quarters(c: char) -> usize {
    match c {
        '\0'..='\u{7f}' => ascii_quarters(c as u8).into(),
        // Alphabets come before U+2E80, the first block of the East Asian scripts.
        '\u{80}'..='\u{2e7f}' => 2,
        _ => 3,
    }
}

impl fmt::Debug for TokenCounter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_estimate() { "TokenCounter::estimate()" } else { "TokenCounter(..)" })
    }
}

/// Compares two counters: they are equal if one is a clone of the other, or if both estimate.
impl PartialEq for TokenCounter {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_equal_and_strangers_are_not() {
        let counter = TokenCounter::new(str::len);
        assert_eq!(counter, counter.clone());
        assert_ne!(counter, TokenCounter::new(str::len));
        assert_ne!(counter, TokenCounter::estimate());
        assert_eq!(TokenCounter::default(), TokenCounter::estimate());
    }

    #[test]
    fn lines_are_counted_as_their_characters_are() {
        let letters = "a ".repeat(400);
        for text in ["", "\n", "a b\n{1}\n\nKöln 城市\n", &letters, &format!("{letters}\n{letters}.天")] {
            let by_characters = text.chars().map(quarters).sum::<usize>().div_ceil(4);
            assert_eq!(TokenCounter::estimate().count(text), by_characters, "{text}");
        }
    }

    #[test]
    fn a_text_costs_no_less_than_its_beginning() {
        let counter = TokenCounter::estimate();
        assert_eq!(counter.count(""), 0);
        assert_eq!(counter.count("a"), 1);
        let text = "Wetter in Köln: {\"城市\": 21}";
        let counts: Vec<usize> = text.char_indices().map(|(at, _)| counter.count(&text[..at])).collect();
        assert!(counts.is_sorted(), "{counts:?}");
    }

    /// Checks the bound that the documentation of the estimate states.
    #[test]
    fn the_estimate_is_near_a_real_count() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prompt/snapshots");
        let mut seen = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let (real, guess) = (
                tiktoken_rs::o200k_base_singleton().encode_ordinary(&text).len(),
                TokenCounter::estimate().count(&text),
            );
            #[expect(clippy::cast_precision_loss, reason = "counts of a test's texts are small")]
            let ratio = guess as f64 / real as f64;
            assert!((0.95..1.45).contains(&ratio), "{}: {guess} for {real}", path.display());
            seen += 1;
        }
        assert!(seen > 10);
    }
}
