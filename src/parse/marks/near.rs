//! Marks of the dialects as letters alone, for what is spelt nearly so.

use crate::dialect::Dialect;

/// Minimum number of letters of a delimiter that is compared despite misspelling.
const LEAST: usize = 6;

/// Maximum length in bytes of a text that is compared with the known delimiters.
const LONGEST: usize = 48;

/// Characters that end the name in a delimiter.
const ENDS: [char; 7] = ['>', ']', '=', '"', '{', '\n', ' '];

/// Delimiters of dialects, compared by their letters; of several with the same letters, the first dialect's is stored.
#[derive(Debug, Default)]
pub(crate) struct NearMarks {
    marks: Vec<Mark>,
}

/// A delimiter of a dialect, with the letters by which it is compared.
#[derive(Debug)]
struct Mark {
    letters: String,
    /// The delimiter as the dialect writes it.
    text: String,
    dialect: Dialect,
}

impl NearMarks {
    /// Collects the delimiters of `dialects`: those before, in and after their calls.
    pub(crate) fn of(dialects: impl Iterator<Item = Dialect>) -> Self {
        let mut marks = NearMarks::default();
        for dialect in dialects {
            dialect.spec().marks().iter().for_each(|mark| marks.add(dialect, mark));
        }
        marks
    }

    /// Returns `true` if `word` has the same letters as a known delimiter.
    pub(crate) fn holds(&self, word: &str) -> bool {
        let letters = letters(word);
        self.marks.iter().any(|known| known.letters == letters)
    }

    fn add(&mut self, dialect: Dialect, mark: &str) {
        let letters = letters(mark);
        if letters.len() >= LEAST && self.marks.iter().all(|known| known.letters != letters) {
            self.marks.push(Mark { letters, text: mark.to_owned(), dialect });
        }
    }

    /// Returns the dialect of the first delimiter in `text`, with at most one slip in its spelling, and the number of
    /// such delimiters; `None` without any.
    pub(crate) fn found_in(&self, text: &str) -> Option<(Dialect, usize)> {
        let mut found = self.all_in(text);
        let first = found.next()?;
        Some((first.dialect, 1 + found.count()))
    }

    /// Returns the first tag or token in `text` that is a misspelt delimiter, or one in the wrong case: as it is
    /// written, and as its dialect writes it. Other signs between the letters are no slip, since several dialects have
    /// the same letters.
    pub(crate) fn slip_in<'t>(&'t self, text: &'t str) -> Option<(&'t str, &'t str)> {
        memchr::memchr2_iter(b'<', b'[', text.as_bytes()).find_map(|at| {
            let rest = &text[at..];
            let end = rest.find(ENDS).unwrap_or(rest.len());
            let end = end + usize::from(rest[end..].starts_with(['>', ']']));
            let written = &rest[..end];
            let known = self.near(written)?.text.trim_end();
            let in_other_letters = written != known && written.eq_ignore_ascii_case(known);
            (in_other_letters || !self.holds(written)).then_some((written, known))
        })
    }

    /// Returns the delimiters in `text`, each with at most one slip in its spelling.
    fn all_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = &'t Mark> {
        // A line that announces calls has spaces in it.
        let line = self.near(text.lines().next().unwrap_or_default());
        let mut before = None;
        let places = text.char_indices().filter(move |(at, c)| {
            // The bar of `<|` begins no mark of its own.
            let is_first = !matches!(before.replace(*c), Some('<' | '['));
            *at == 0 || (is_first && matches!(c, '<' | '[' | '|' | '｜'))
        });
        line.into_iter().chain(places.filter_map(|(at, _)| self.mark(&text[at..])))
    }

    fn mark(&self, text: &str) -> Option<&Mark> {
        let inner = text.trim_start_matches(['<', '[', '|', '｜', '/']);
        let up_to = |ends: &[char]| &inner[..inner.find(ends).unwrap_or(inner.len())];
        let token = self.near(up_to(&['>', ']', '=', '"', '{', '\n', '<', '|', '｜', ' ']));
        // Kimi K3's words follow their token.
        token.or_else(|| self.near(up_to(&['"', '{', '\n'])))
    }

    fn near(&self, text: &str) -> Option<&Mark> {
        let letters = letters(text);
        // The slip may have left out a letter.
        if letters.len() + 1 < LEAST || text.len() > LONGEST {
            return None;
        }
        let exact = self.marks.iter().find(|known| known.letters == letters);
        exact.or_else(|| self.marks.iter().find(|known| alike(&letters, &known.letters)))
    }
}

/// Returns the ASCII letters of a delimiter in lower case, without the signs between them, which vary.
fn letters(mark: &str) -> String {
    mark.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect()
}

/// Returns `true` if two texts are the same except for one slip: a character left out, added or replaced, or two that
/// changed places. If `b` has fewer than four bytes, they must be equal.
pub(crate) fn alike(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    // A character has at most four bytes.
    if a.len().abs_diff(b.len()) > 4 || b.len() < 4 {
        return false;
    }
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    match a.len() as isize - b.len() as isize {
        // The first character that differs is another one, or has changed places with the next.
        0 => a[1..] == b[1..] || (a.len() > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..]),
        1 => a[1..] == *b,
        -1 => *a == b[1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_looked_past_and_two_are_not() {
        for slip in ["get_forecast", "gt_forecast", "get_forecastt", "get_forxcast", "gte_forecast", "xget_forecast"] {
            assert!(alike(slip, "get_forecast"), "{slip}");
        }
        for other in ["get_forecasts_", "set_forecasx", "forecast", "", "get_for"] {
            assert!(!alike(other, "get_forecast"), "{other}");
        }
        assert!(!alike("gat", "get") && alike("get", "get"));
    }
}
