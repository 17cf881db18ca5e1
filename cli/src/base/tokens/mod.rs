//! The size of a text in tokens of o200k, the encoding of OpenAI's newer models.
//!
//! The table is OpenAI's (`o200k_base.tiktoken` of tiktoken, MIT), sorted and packed by `table.py`, so that nothing has
//! to be built of it when the program begins.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use regex::Regex;

/// Size in bytes up to which a text is counted entirely; the next constant is the number of samples of a longer one.
const COUNTED: usize = 1 << 20;
const PARTS: usize = 16;

/// Returns the number of tokens of a text in the encoding o200k; counts of other models differ by some tens of percent.
/// The number for a text of more than [`COUNTED`] bytes is estimated from samples, since counting blocks everything
/// else, such as Ctrl-C.
pub(crate) fn count(text: &str) -> usize {
    if text.len() <= COUNTED {
        return count_all(text);
    }
    let part = |n: usize| {
        // Neither end of a part is inside a character.
        let begin = text.ceil_char_boundary(text.len() / PARTS * n);
        &text[begin..text.floor_char_boundary(begin + COUNTED / PARTS)]
    };
    let (tokens, bytes) = (0..PARTS).map(part).fold((0, 0), |(t, b), part| (t + count_all(part), b + part.len()));
    tokens * text.len() / bytes
}

fn count_all(text: &str) -> usize {
    let mut at = 0;
    let mut tokens = 0;
    while let Some(piece) = piece(text, at) {
        tokens += TABLE.tokens(piece.as_bytes());
        at += piece.len();
    }
    tokens
}

/// Pattern of the pieces of a text that no token crosses: words with the character before them, up to three digits,
/// punctuation, line breaks, and white space.
static PIECES: LazyLock<Regex> = LazyLock::new(|| {
    let contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
    let pattern = [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
        contraction,
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
        contraction,
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
    ];
    Regex::new(&pattern.concat()).expect("the pattern is tested")
});

/// Returns the piece that begins at this byte offset; `None` at the end of the text.
fn piece(text: &str, at: usize) -> Option<&str> {
    let found = PIECES.find_at(text, at)?.as_str();
    let rest = &text[at + found.len()..];
    // The last space of several belongs to what follows: the encoding's own pattern says `\s+(?!\S)` for it.
    if !rest.is_empty() && !found.ends_with(['\r', '\n']) && found.trim().is_empty() {
        let last = found.chars().next_back().map_or(0, char::len_utf8);
        if last < found.len() {
            return Some(&found[..found.len() - last]);
        }
    }
    Some(found)
}

static TABLE: LazyLock<RankTable> = LazyLock::new(|| RankTable::read(include_bytes!("o200k.bin")));

/// The tokens of the encoding sorted by their bytes, each with its rank, which is the priority for merging two
/// neighbours.
struct RankTable {
    /// Offset in `bytes` at which each token ends.
    ends: Vec<u32>,
    /// Ranks of the tokens, three bytes each.
    ranks: &'static [u8],
    bytes: &'static [u8],
}

impl RankTable {
    fn read(packed: &'static [u8]) -> Self {
        let (number, rest) = packed.split_at(4);
        let number = number.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte));
        let (lengths, rest) = rest.split_at(number);
        let (ranks, bytes) = rest.split_at(3 * number);
        let mut end = 0;
        let ends = lengths.iter().map(|length| {
            end += u32::from(*length);
            end
        });
        RankTable { ends: ends.collect(), ranks, bytes }
    }

    fn token(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.bytes[start..self.ends[at] as usize]
    }

    fn rank(&self, bytes: &[u8]) -> Option<u32> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.token(middle).cmp(bytes) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    let rank = &self.ranks[3 * middle..3 * middle + 3];
                    return Some(u32::from_le_bytes([rank[0], rank[1], rank[2], 0]));
                }
            }
        }
        None
    }

    /// Returns the number of tokens of a piece. Starting from single bytes, the two neighbours whose token has the
    /// lowest rank are merged, the first of several, until no two neighbours form a token.
    fn tokens(&self, piece: &[u8]) -> usize {
        if piece.len() == 1 || self.rank(piece).is_some() {
            return 1;
        }
        // A part begins at each index that has an end; `before` leads back to the part before.
        let mut ends: Vec<Option<usize>> = (1..=piece.len()).map(Some).collect();
        let mut before: Vec<usize> = (0..piece.len()).map(|at| at.saturating_sub(1)).collect();
        let mut pairs = BinaryHeap::new();
        let pair = |ends: &[Option<usize>], at: usize| {
            let middle = ends[at]?;
            let end = (*ends.get(middle)?)?;
            Some(Reverse((self.rank(&piece[at..end])?, at, end)))
        };
        pairs.extend((0..piece.len()).filter_map(|at| pair(&ends, at)));
        let mut parts = piece.len();
        while let Some(Reverse((_, at, end))) = pairs.pop() {
            // A pair is gone if its parts have been merged with others.
            let Some(middle) = ends[at].filter(|middle| *middle < end) else { continue };
            if ends[middle] != Some(end) {
                continue;
            }
            (ends[at], ends[middle]) = (Some(end), None);
            parts -= 1;
            if let Some(next) = before.get_mut(end) {
                *next = at;
                pairs.extend(pair(&ends, at));
            }
            if at > 0 {
                pairs.extend(pair(&ends, before[at]));
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn is_as_published(text: &str) {
        let published = tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len();
        assert_eq!(count(text), published, "{:?}", text.chars().take(200).collect::<String>());
    }

    #[test]
    fn the_table_has_every_token_of_the_published_one() {
        let table = &TABLE;
        assert_eq!(table.ends.len(), 199_998);
        assert!((1..table.ends.len()).all(|at| table.token(at - 1) < table.token(at)));
        assert_eq!(table.ends.last().map(|end| *end as usize), Some(table.bytes.len()));
        assert_eq!((table.rank(b"!"), table.rank(b" the"), table.rank(b"no token of it")), (Some(0), Some(290), None));
    }

    #[test]
    fn texts_have_as_many_tokens_as_the_published_tokeniser_counts() {
        for text in [
            "",
            " ",
            "a",
            "\n",
            "  \n  x",
            " \r\n\r\n y ",
            "a  b   c    ",
            "\t\tif x:\n\t\t\treturn 1\n\n\n",
            "I'll say it's DON'T, we'VE; ſ's",
            "12345678 1,234.5 ٣٤٥٦ ⅷ",
            "HTTPServerError camelCase ÀÉÎ ßẞ ǅungla",
            "价格是 12 元。\u{3000}「好」",
            "👩‍👩‍👧‍👦 🇩🇪 e\u{301}\u{302}",
            "<｜tool▁call▁begin｜>{\"a\": [1, 2]}</s>",
            "https://example.com/a/b?c=d#e\r\n// comment ////\n",
            "\u{a0}\u{2028}x\u{85}y",
            "नमस्ते مرحبا שלום",
        ] {
            is_as_published(text);
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for file in
            ["README.md", "README.zh-CN.md", "docs/parser.md", "fixtures/tools/git.json", "fixtures/prose/texts.jsonl"]
        {
            is_as_published(&std::fs::read_to_string(root.join(file)).unwrap());
        }
    }

    #[test]
    fn a_text_beyond_the_limit_is_estimated_by_its_parts() {
        let line = "The rain in Spain falls on the plain. 价格是 12 元。\n";
        let text = line.repeat(3 * COUNTED / line.len());
        let (exact, found) = (count(line) * (text.len() / line.len()), count(&text));
        assert!(found.abs_diff(exact) * 200 < exact, "{found} of {exact}");
    }

    #[test]
    fn a_long_piece_takes_no_more_than_its_share() {
        for piece in ["a", "ab", "=", "天", "é"] {
            is_as_published(&piece.repeat(20_000));
        }
    }

    #[test]
    fn pieces_put_together_at_random_are_counted_alike() {
        let parts = [
            "a", "B", "é", "Ж", "天", "1", "２", " ", "\t", "\n", "\r", "'s", "'", "/", "<", "＊", "\u{301}", "ǅ",
            "\u{a0}",
        ];
        let mut state = 7_u32;
        let mut next = |most: usize| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as usize % most
        };
        for _ in 0..2_000 {
            let text: String = (0..=next(12)).map(|_| parts[next(parts.len())]).collect();
            is_as_published(&text);
        }
    }
}
