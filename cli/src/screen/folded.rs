//! A text that is longer than there is room for, in parts that together are the text.

use super::boxes;

/// A text's beginning and end, and the hidden middle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) head: String,
    /// The hidden middle of the text; empty if the whole text fits.
    pub(crate) hidden: String,
    pub(crate) tail: String,
}

impl Folded {
    /// Splits a text so that its beginning and end fit into `room` rows of a box of `columns`, with a row for a note on
    /// the hidden part.
    pub(crate) fn of(text: &str, (columns, room): (usize, usize)) -> Self {
        let rows = boxes::row_starts(text, columns);
        if rows.len() <= room {
            return Folded { head: text.to_owned(), hidden: String::new(), tail: String::new() };
        }
        // One row says how much is folded.
        let room = room.saturating_sub(1);
        let (head, tail) = (rows[room - room / 3], rows[rows.len() - room / 3]);
        Folded { head: text[..head].to_owned(), hidden: text[head..tail].to_owned(), tail: text[tail..].to_owned() }
    }

    /// Returns `true` if no part of the text is hidden.
    pub(crate) fn is_whole(&self) -> bool {
        self.hidden.is_empty()
    }

    /// Returns the whole text, with the hidden part.
    pub(crate) fn whole(&self) -> String {
        [self.head.as_str(), &self.hidden, &self.tail].concat()
    }

    /// Returns the beginning and end, with a line between them that gives the number of hidden characters.
    pub(crate) fn shown(&self) -> String {
        if self.is_whole() {
            return self.head.clone();
        }
        let more = format!("… {} characters more", self.hidden.chars().count());
        format!("{}\n{more}\n{}", self.head.strip_suffix('\n').unwrap_or(&self.head), self.tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_the_text_and_the_rows_are_as_many_as_there_is_room_for() {
        let lines: String = (0..300).map(|n| format!("{n} 武汉 {}\n", "x".repeat(n))).collect();
        for text in [lines.as_str(), &"x".repeat(30_000), &"a b\n\n".repeat(50)] {
            for room in [(80, 14), (40, 4), (30, 5), (120, 60)] {
                let folded = Folded::of(text, room);
                assert_eq!(folded.whole(), text);
                assert!(!folded.is_whole(), "{room:?}");
                let shown = folded.shown();
                assert_eq!(boxes::rows(&shown, room.0).len(), room.1, "{room:?}: {shown}");
                assert!(shown.contains(&format!("… {} characters more", folded.hidden.chars().count())));
            }
        }
        assert!(Folded::of("a\nb", (80, 2)).is_whole());
    }
}
