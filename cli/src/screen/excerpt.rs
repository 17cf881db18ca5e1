//! Cuts untrusted text to the part that fits, with the count of what does not.

use super::boxes::width;
use super::visible::{clean, word};
use super::wrap::rows;

/// Returns a text in one line of at most so many columns: a longer one as its beginning and end, with the number of
/// omitted characters between them. At least about 20 columns are used.
pub(crate) fn bounded(text: &str, columns: usize) -> String {
    let text = word(text);
    if width(&text) <= columns {
        return text;
    }
    let count = text.chars().count();
    // The note of what is missing takes about twelve columns.
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

/// Maximum width in columns of a name in a list; the next constant is the maximum number of names.
const NAME: usize = 60;
const NAMES: usize = 40;

/// Returns a comma-separated list of names in one line, each shortened, with the number of names that are not shown.
pub(crate) fn names<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    let all: Vec<String> = names.into_iter().map(|name| bounded(name.as_ref(), NAME)).collect();
    match all.len().checked_sub(NAMES) {
        Some(more @ 1..) => format!("{}, …[+{more}]", all[..NAMES].join(", ")),
        _ => all.join(", "),
    }
}

/// Maximum numbers of lines shown at the beginning and at the end of a remark; the next constant is the maximum width
/// of one of its lines in columns.
const REMARK: [usize; 2] = [50, 300];
const REMARK_LINE: usize = 4000;

/// Returns a remark as it is printed: lines after the first are indented, so that untrusted text in them cannot look
/// like another remark; the middle of a long one is replaced by the number of omitted lines.
pub(crate) fn remark(text: &str) -> String {
    let text = clean(text);
    let lines: Vec<&str> = text.lines().collect();
    let [head, tail] = REMARK;
    let left_out = head..lines.len().saturating_sub(tail).max(head);
    let mut shown = String::with_capacity(text.len());
    for (n, line) in lines.iter().enumerate() {
        if n == left_out.start && !left_out.is_empty() {
            shown += &format!("\n{}…[+{}]", INDENTS[0], left_out.len());
        }
        if left_out.contains(&n) {
            continue;
        }
        let indent = if n == 0 || line.is_empty() || line.starts_with(INDENTS[0]) { "" } else { INDENTS[0] };
        let line = if width(line) > REMARK_LINE { bounded(line, REMARK_LINE) } else { (*line).to_owned() };
        shown += &format!("{}{indent}{line}", if n == 0 { "" } else { "\n" });
    }
    shown
}

/// The first lines of a list, limited to the available rows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The rows of the list as text, indented so that untrusted text cannot look like other output.
    pub(crate) text: String,
    /// Number of lines that were omitted.
    pub(crate) left_out: usize,
    /// `true` if no line was omitted or shortened.
    pub(crate) is_whole: bool,
}

impl Excerpt {
    /// Returns the first of the lines, as many as fit into this many rows but at least one; a line of more than about
    /// three rows is shortened.
    pub(crate) fn of(lines: &[String], rows: usize, columns: usize) -> Self {
        /// Number of rows that a long line is shortened to; with unfavourable word breaks it may take one more.
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

    /// Returns all lines as text, not shortened.
    pub(crate) fn all(lines: &[String], columns: usize) -> String {
        lines.iter().map(|line| entry(&word(line), columns)).collect()
    }
}

/// The indents of an entry's first row and of its further rows, which differ so that a further row never looks like
/// another entry.
const INDENTS: [&str; 2] = ["  ", "    "];

fn entry(line: &str, columns: usize) -> String {
    let [first, further] = INDENTS;
    let cut = rows(line, columns.saturating_sub(further.len()));
    let indents = std::iter::once(first).chain(std::iter::repeat(further));
    cut.into_iter().zip(indents).map(|(row, indent)| format!("{indent}{}\n", row.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_name_stays_in_its_list_and_a_remark_in_its_lines() {
        assert_eq!(names(["a", "b\nc: d", "e"]), "a, b␊c: d, e");
        let many = names((0..300).map(|n| format!("s{n}")));
        assert!(many.ends_with("s39, …[+260]"), "{many}");
        assert!(names(["x".repeat(9000)]).len() < 100);
        assert_eq!(remark("one\ntwo\r\n\n  three"), "one\n  two\n\n  three");
        let long = remark(&(0..1000).map(|n| format!("line {n}\n")).collect::<String>());
        assert!(long.contains("line 49\n  …[+650]\n  line 700\n") && long.ends_with("line 999"), "{long}");
        assert!(remark(&"x".repeat(100_000)).len() < 5000);
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
