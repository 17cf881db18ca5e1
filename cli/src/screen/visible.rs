//! The one way of foreign words to a terminal: nothing in them steers it, nothing hides.
//!
//! What a model, a tool, a server or a project's file wrote may hold escape sequences, line
//! breaks where one line is expected, characters that nobody sees, and more text than a screen
//! has room for. [`clean`] takes a text of several lines, [`word`] what must stay in one, and
//! [`Excerpt`] says how much of a list fits, with the count of what does not.

use toolgraft::outcome::is_invisible;

use super::boxes::width;
use super::wrap::rows;

/// More white space than this in a row stands in one word by its number: it would push what
/// follows to the beginning of a row.
const SPACES: usize = 8;

/// Text that cannot steer a terminal: control characters are shown as pictures, characters
/// that are not seen or turn the direction of others by their numbers, tabs as spaces.
pub(crate) fn clean(text: &str) -> String {
    clean_behind('\0', text)
}

/// As [`clean`], for a text that goes on behind a character.
pub(super) fn clean_behind(mut before: char, text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => safe.push('\n'),
            '\t' => safe.push_str("    "),
            '\r' => {}
            _ if joins(before, c) => safe.push(c),
            c => push(&mut safe, c),
        }
        before = c;
    }
    safe
}

/// As [`clean`], for words that stand in one line and can be a name: line breaks are shown,
/// and so is each character that is not seen, a long run of spaces by its length.
pub(crate) fn word(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if !is_space(c) {
            push(&mut safe, c);
            continue;
        }
        let mut run = String::from(c);
        while let Some(next) = rest.next_if(|next| is_space(*next)) {
            run.push(next);
        }
        match run.chars().count() {
            n if n > SPACES => safe.push_str(&format!("⟨{n}×U+{:04X}⟩", u32::from(c))),
            _ => safe.push_str(&run),
        }
    }
    safe
}

/// A word as a shell would want it: in quotation marks where it holds more than letters, digits
/// and a few signs. Braces and `$` of a variable read better as they are.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@=+,~${}*()?…".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

/// A word of at most so many columns, its beginning and its end; how many characters are
/// missing stands between them.
pub(crate) fn bounded(text: &str, columns: usize) -> String {
    let text = word(text);
    if width(&text) <= columns {
        return text;
    }
    let count = text.chars().count();
    let room = columns.saturating_sub(12).max(8);
    let take = |chars: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        let fits = chars.take_while(|c| {
            used += width(c.encode_utf8(&mut [0; 4]));
            used <= room
        });
        fits.collect::<Vec<char>>()
    };
    let head = take(&mut text.chars(), room - room / 3);
    let tail = take(&mut text.chars().rev(), room / 3);
    let missing = count - head.len() - tail.len();
    format!("{}…[+{missing}]…{}", head.iter().collect::<String>(), tail.iter().rev().collect::<String>())
}

/// A list that was cut to what fits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// Rows, each behind an indent that no foreign word can leave.
    pub(crate) text: String,
    /// How many lines are not there.
    pub(crate) left_out: usize,
    /// Whether every line is there, and whole.
    pub(crate) is_whole: bool,
}

impl Excerpt {
    /// As many of the lines as fit into so many rows, the first ones; a line that takes more
    /// than a few of them is shortened.
    pub(crate) fn of(lines: &[String], rows: usize, columns: usize) -> Self {
        /// A long line takes this many, and one more where its words part badly.
        const ROWS: usize = 3;
        let (mut text, mut used, mut shown, mut is_whole) = (String::new(), 0, 0, true);
        for line in lines {
            let most = ROWS.min(rows.max(1)) * columns.saturating_sub(INDENTS[1].len());
            let fits = bounded(line, most);
            let entry = entry(&fits, columns);
            let height = entry.lines().count();
            // At least one line, however low the screen is.
            if shown > 0 && used + height > rows {
                break;
            }
            is_whole &= fits == word(line);
            (used, shown) = (used + height, shown + 1);
            text += &entry;
        }
        Excerpt { text, left_out: lines.len() - shown, is_whole: is_whole && shown == lines.len() }
    }

    /// All lines, whole.
    pub(crate) fn all(lines: &[String], columns: usize) -> String {
        lines.iter().map(|line| entry(&word(line), columns)).collect()
    }
}

/// Where an entry begins, and where its further rows do, so that none of them looks like an
/// entry of its own.
const INDENTS: [&str; 2] = ["  ", "    "];

fn entry(line: &str, columns: usize) -> String {
    let [first, further] = INDENTS;
    let cut = rows(line, columns.saturating_sub(further.len()));
    let indents = std::iter::once(first).chain(std::iter::repeat(further));
    cut.into_iter().zip(indents).map(|(row, indent)| format!("{indent}{}\n", row.trim_end())).collect()
}

fn push(safe: &mut String, c: char) {
    match c {
        '\0'..='\x1f' => safe.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
        '\x7f' => safe.push('␡'),
        c if is_invisible(c) => safe.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
        c => safe.push(c),
    }
}

/// White space that takes a column; the pattern of Braille that has no dot is one too.
fn is_space(c: char) -> bool {
    (c.is_whitespace() && !c.is_control() && !is_invisible(c)) || c == '\u{2800}'
}

/// Whether a character that is not seen by itself belongs to the one before it: parts of an
/// emoji, and the joiners of scripts that are written with them.
pub(crate) fn joins(before: char, c: char) -> bool {
    match c {
        '\u{200d}' if before == '\u{fe0f}' => true,
        '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' if before > '\u{2000}' && !is_invisible(before) => true,
        // Arabic to Sinhala: Persian, Urdu, Hindi and others part or join letters by them.
        '\u{200c}' | '\u{200d}' => matches!(before, '\u{620}'..='\u{dff}'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_steer_the_terminal() {
        assert_eq!(clean("\x1b[31mred\x07\u{9b}2J\u{202e}x\r\n\ty"), "␛[31mred␇⟨U+009B⟩2J⟨U+202E⟩x\n    y");
    }

    #[test]
    fn what_is_not_seen_is_shown() {
        for (text, shown) in [
            ("zero\u{200b}width\u{feff}", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
            ("hid\u{e0041}den\u{2028}", "hid⟨U+E0041⟩den⟨U+2028⟩"),
            ("a\u{200d}b", "a⟨U+200D⟩b"),
            ("❤\u{fe0f} 👩\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥", "❤\u{fe0f} 👩\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥"),
            ("می\u{200c}خواهم क्\u{200d}ष", "می\u{200c}خواهم क्\u{200d}ष"),
        ] {
            assert_eq!(clean(text), shown);
        }
        assert_eq!(clean_behind('👩', "\u{200d}🚀"), "\u{200d}🚀", "a piece of a stream");
        assert_eq!(word("❤\u{fe0f}"), "❤⟨U+FE0F⟩", "two names must not look alike");
    }

    #[test]
    fn a_word_stays_in_its_line() {
        assert_eq!(word("a\n\r\n\tb\u{85}c"), "a␊␍␊␉b⟨U+0085⟩c");
        assert_eq!(word(&format!("a  b{}c", " ".repeat(70))), "a  b⟨70×U+0020⟩c");
        assert_eq!(word(&"\u{2800}".repeat(9)), "⟨9×U+2800⟩");
        assert_eq!(word(&"\n".repeat(24)), "␊".repeat(24));
    }

    #[test]
    fn a_bounded_word_has_its_end_and_the_count_between() {
        assert_eq!(bounded("short", 20), "short");
        let long = format!("head {} tail", "x".repeat(20_000));
        let shown = bounded(&long, 60);
        assert!(shown.starts_with("head ") && shown.ends_with(" tail") && width(&shown) <= 60, "{shown}");
        let missing: usize = shown.split(['+', ']']).nth(1).unwrap().parse().unwrap();
        let kept = shown.replace(&format!("…[+{missing}]…"), "");
        assert_eq!(kept.chars().count() + missing, long.chars().count());
    }

    #[test]
    fn an_excerpt_says_what_it_leaves_out_and_keeps_to_its_rows() {
        let lines: Vec<String> = (0..300).map(|n| format!("s{n}: run {}", "x".repeat(n * 7))).collect();
        for (rows, columns) in [(2, 40), (10, 40), (17, 80), (40, 120)] {
            let excerpt = Excerpt::of(&lines, rows, columns);
            let shown: Vec<&str> = excerpt.text.lines().collect();
            assert!(shown.len() <= rows && shown.iter().all(|row| width(row) <= columns), "{excerpt:?}");
            let entries = shown.iter().filter(|row| row.starts_with("  s")).count();
            assert_eq!(entries + excerpt.left_out, 300, "{excerpt:?}");
            assert!(!excerpt.is_whole);
        }
        let few = Excerpt::of(&lines[..3], 10, 80);
        assert!(few.is_whole && few.left_out == 0);
        assert_eq!(few.text, Excerpt::all(&lines[..3], 80));
    }

    #[test]
    fn no_row_of_an_entry_looks_like_an_entry() {
        let forged = format!("evil: sh -c \"{} ./.mcp.json belongs to you and starts nothing\"", "x".repeat(66));
        for columns in [30, 80] {
            let all = Excerpt::all(std::slice::from_ref(&forged), columns);
            assert!(all.lines().skip(1).all(|row| row.starts_with("    ")), "{all}");
        }
    }
}
