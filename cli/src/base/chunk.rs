//! The pieces in which a text is fed to the parser.

use std::num::NonZeroUsize;
use std::str::FromStr;

/// Maximum number of characters of a random piece.
const MAX_RANDOM: u64 = 16;

/// The way in which a text is split into pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chunk {
    /// The whole text as one piece.
    Whole,
    /// Pieces of this many characters.
    Characters(NonZeroUsize),
    /// Pieces of 1 to [`MAX_RANDOM`] characters, reproducible for the same seed.
    Random(u64),
}

impl FromStr for Chunk {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = match text.strip_prefix("random:") {
            Some(seed) => seed.parse().ok().map(Chunk::Random),
            None if text == "whole" => Some(Chunk::Whole),
            None => text.parse().ok().map(Chunk::Characters),
        };
        parsed.ok_or_else(|| {
            format!("expected `whole`, a number of characters above 0, or `random:SEED`, found {text:?}")
        })
    }
}

impl Chunk {
    /// Splits a text into pieces. `salt` makes the random cuts of different texts differ.
    pub(crate) fn pieces(self, text: &str, salt: u64) -> impl Iterator<Item = &str> {
        let mut rest = text;
        let mut state = match self {
            // The salts of lines are neighbours (1, 2, 3): multiplied, they begin far from each other in
            // the sequence.
            Chunk::Random(seed) => seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            _ => 0,
        };
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let characters = match self {
                Chunk::Whole => usize::MAX,
                Chunk::Characters(n) => n.get(),
                Chunk::Random(_) => 1 + (split_mix(&mut state) % MAX_RANDOM) as usize,
            };
            // A text has no more characters than bytes, so the whole of it is taken without a walk.
            let end = match characters {
                n if n >= rest.len() => rest.len(),
                n => rest.char_indices().nth(n).map_or(rest.len(), |(at, _)| at),
            };
            let (piece, after) = rest.split_at(end);
            rest = after;
            Some(piece)
        })
    }
}

/// Advances the SplitMix64 generator (Steele, Lea, Flood 2014) and returns its next number.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "aé漢🦀b, and then some more of it\n";

    fn pieces(chunk: &str, text: &str) -> Vec<String> {
        chunk.parse::<Chunk>().unwrap().pieces(text, 7).map(str::to_owned).collect()
    }

    #[test]
    fn pieces_are_counted_in_characters() {
        assert_eq!(pieces("1", "aé漢🦀"), ["a", "é", "漢", "🦀"]);
        assert_eq!(pieces("3", "aé漢🦀"), ["aé漢", "🦀"]);
        assert_eq!(pieces("99", "aé漢🦀"), ["aé漢🦀"]);
        assert_eq!(pieces("whole", "aé漢🦀"), ["aé漢🦀"]);
        assert!(pieces("1", "").is_empty());
    }

    #[test]
    fn pieces_joined_are_the_text() {
        for chunk in ["whole", "1", "2", "5", "random:0", "random:1", "random:18446744073709551615"] {
            assert_eq!(pieces(chunk, TEXT).concat(), TEXT, "{chunk}");
        }
    }

    #[test]
    fn random_cuts_depend_on_the_seed_alone() {
        assert_eq!(pieces("random:1", TEXT), pieces("random:1", TEXT));
        assert_ne!(pieces("random:1", TEXT), pieces("random:2", TEXT));
    }

    #[test]
    fn other_words_are_refused() {
        for text in ["0", "-1", "half", "random", "random:", "random:x", "1.5", ""] {
            let error = text.parse::<Chunk>().unwrap_err();
            assert!(error.contains("`random:SEED`") && error.contains(&format!("{text:?}")), "{error}");
        }
    }
}
