//! Parts of a long text: the text from a byte offset, and the places where a text occurs.

use regex::RegexBuilder;

/// Numbers of bytes of the line that are shown before and after an occurrence.
const AROUND: (usize, usize) = (80, 160);

/// Number of bytes that the offset and separator of a shown occurrence count towards the limit.
const NUMBER: usize = 16;

/// Maximum number of characters of a searched text that are compared.
const WANTED_CHARS: usize = 256;

/// Maximum number of occurrences of a searched text that are shown.
const PLACES: usize = 40;

/// The part of a text from a byte offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TextPart<'a> {
    /// The byte offset where the part begins.
    pub from: usize,
    /// The part's text.
    pub text: &'a str,
}

impl<'a> TextPart<'a> {
    /// Returns at most `limit` bytes of `text` from the character at byte `from`. The part ends after a line break if
    /// one is in its last quarter, and has at least one character.
    pub fn new(text: &'a str, from: usize, limit: usize) -> Self {
        let from = text.floor_char_boundary(from);
        let rest = &text[from..];
        // A reader that goes on at the end of each part must get further, even with a limit below one
        // character.
        let least = rest.chars().next().map_or(0, char::len_utf8);
        let most = rest.floor_char_boundary(limit).max(least);
        let line = rest[..most].rfind('\n').map(|at| at + 1).filter(|end| most < rest.len() && *end > most / 4 * 3);
        TextPart { from, text: &rest[..line.unwrap_or(most)] }
    }

    /// Returns the byte offset after the part.
    pub fn end(&self) -> usize {
        self.from + self.text.len()
    }
}

/// The places where a text occurs in another one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TextPlaces<'a> {
    /// Text around each shown occurrence, on its line, with the byte offset where that text begins.
    pub shown: Vec<TextPart<'a>>,
    /// Number of occurrences; further ones in the text around an occurrence do not count.
    pub count: usize,
}

impl<'a> TextPlaces<'a> {
    /// Finds `wanted` in `text`, without regard to case. At most 40 places and `limit` bytes are shown. Of a longer
    /// `wanted` only the first 256 characters are compared.
    pub fn new(text: &'a str, wanted: &str, limit: usize) -> Self {
        let mut places = TextPlaces::default();
        let wanted = wanted.char_indices().nth(WANTED_CHARS).map_or(wanted, |(end, _)| &wanted[..end]);
        let pattern = RegexBuilder::new(&regex::escape(wanted)).case_insensitive(true).build();
        let Some(pattern) = pattern.ok().filter(|_| !wanted.is_empty()) else { return places };
        let (mut at, mut bytes) = (0, 0);
        while let Some(found) = pattern.find_at(text, at) {
            // The search for line breaks is limited to what is shown, because the line may be the whole text.
            let first = text.floor_char_boundary(found.start().saturating_sub(AROUND.0));
            let last = text.floor_char_boundary(found.end() + AROUND.1);
            let begin = text[first..found.start()].rfind('\n').map_or(first, |line| first + line + 1);
            let end = text[found.end()..last].find('\n').map_or(last, |line| found.end() + line);
            places.count += 1;
            bytes += end - begin + NUMBER;
            if places.shown.len() < PLACES && bytes <= limit {
                places.shown.push(TextPart { from: begin, text: &text[begin..end] });
            }
            at = end.max(found.end());
        }
        places
    }

    /// Returns the shown occurrences, each on a line with the byte offset of its text.
    pub fn lines(&self) -> String {
        let lines: Vec<String> = self.shown.iter().map(|place| format!("{}: {}", place.from, place.text)).collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_one_after_the_other_are_the_text() {
        let text = "天气\nfine weather\n".repeat(40);
        for limit in [0, 1, 7, 64, 1_000_000] {
            let (mut at, mut read) = (0, String::new());
            while at < text.len() {
                let part = TextPart::new(&text, at, limit);
                assert!(part.text.len() <= limit.max(3) && part.from == at, "{part:?}");
                read += part.text;
                at = part.end();
            }
            assert_eq!(read, text, "{limit}");
        }
        assert_eq!(TextPart::new("ab", 9, 5), TextPart { from: 2, text: "" });
        assert_eq!(TextPart::new("天", 1, 5), TextPart { from: 0, text: "天" }, "a character is not taken apart");
        assert_eq!(TextPart::new("aaaa\nbbbb", 0, 6).text, "aaaa\n", "a line ends it");
    }

    #[test]
    fn places_are_told_with_what_stands_around_them() {
        let text = format!("one Needle\n{}needle{}\nlast", "x".repeat(500), "y".repeat(500));
        let places = TextPlaces::new(&text, "NEEDLE", 10_000);
        assert_eq!(places.count, 2);
        assert_eq!(places.shown[0], TextPart { from: 0, text: "one Needle" });
        let second = places.shown[1];
        assert_eq!(second.text.len(), AROUND.0 + "needle".len() + AROUND.1);
        assert_eq!(&text[second.from..second.end()], second.text);
        assert_eq!(TextPlaces::new(&text, "(", 10_000).count, 0);
        assert_eq!(TextPlaces::new(&text, "", 10_000).count, 0);
        let long = "ab".repeat(1_000);
        assert_eq!(TextPlaces::new(&long, &long, 10_000).count, 5, "by its beginning, each after the one before");
        let many = "a\n".repeat(1_000);
        let places = TextPlaces::new(&many, "a", 20 * (1 + NUMBER));
        assert_eq!((places.count, places.shown.len()), (1_000, 20));
    }
}
