//! Prepares untrusted text for a terminal: nothing in it steers the terminal or stays invisible.
//!
//! Text of a model, a tool, a server or a project's file may contain escape sequences, line breaks where one line is
//! expected, characters that nobody sees, and more text than a screen has room for. [`clean`] takes a text of several
//! lines, [`packed`] one of which nothing may be out of sight, [`word`] what must stay in one line; how much of a list
//! fits on a screen is decided by [`excerpt`](super::excerpt).

use toolgraft::outcome::is_invisible;
use unicode_width::UnicodeWidthChar;

/// Maximum run of white space in one line; a longer run is replaced by its length, since it would push the text after
/// it to the beginning of a row.
const SPACES: usize = 8;

/// Maximum run of blanks in a [packed] text, followed by the maximum number of empty lines; longer runs are replaced by
/// their length.
const INDENT: usize = 40;
const EMPTY: usize = 3;

/// Returns a text that cannot control a terminal: control characters are replaced by visible symbols, invisible
/// characters and those that change the writing direction by their numbers, and tabs by spaces.
pub(crate) fn clean(text: &str) -> String {
    clean_after('\0', text)
}

/// Returns a text that cannot control a terminal, as by [`clean`], where the text follows the character `before`.
pub(crate) fn clean_after(mut before: char, text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => safe.push('\n'),
            '\t' => safe.push_str("    "),
            // At the end of a piece its line break may follow; elsewhere it would begin the line anew.
            '\r' if chars.peek().is_none_or(|next| *next == '\n') => {}
            _ if joins(before, c) => safe.push(c),
            c => push(&mut safe, c),
        }
        before = c;
    }
    safe
}

/// Returns a text that cannot control a terminal, as by [`clean`], and is visible as a whole: long runs of white space
/// in a line, and several empty lines, are replaced by their length, because they would push later text off the screen.
/// A line with only a diff sign counts as empty.
pub(crate) fn packed(text: &str) -> String {
    let text = clean(text);
    let lines: Vec<&str> = text.lines().collect();
    let is_empty = |line: &str| matches!(line.trim(), "" | "|" | "+" | "-" | "·");
    let pack = |group: &[&str]| match group {
        [first, _, ..] if group.len() > EMPTY => format!("{} ⟨{}×U+000A⟩", first.trim(), group.len()).trim().to_owned(),
        lines => lines
            .iter()
            .map(|line| counted(line, |c| if c == ' ' { INDENT } else { SPACES }, String::push))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    let groups = lines.chunk_by(|one, next| is_empty(one) && one.trim() == next.trim());
    groups.map(pack).collect::<Vec<_>>().join("\n")
}

/// Returns a text such as a name in one line that cannot control a terminal: line breaks and invisible characters are
/// made visible, and long runs of spaces are replaced by their length.
pub(crate) fn word(text: &str) -> String {
    counted(text, |_| SPACES, push)
}

/// Replaces each run of white space, or of combining marks, that is longer than `longest` of its first character by its
/// length. `push` adds the other characters.
fn counted(text: &str, longest: impl Fn(char) -> usize, push: impl Fn(&mut String, char)) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let Some(is_alike) = [is_space, is_mark].into_iter().find(|is_alike| is_alike(c)) else {
            push(&mut safe, c);
            continue;
        };
        let mut run = String::from(c);
        while let Some(next) = rest.next_if(|next| is_alike(*next)) {
            run.push(next);
        }
        match run.chars().count() {
            n if n > longest(c) => safe.push_str(&format!("⟨{n}×U+{:04X}⟩", u32::from(c))),
            _ => safe.push_str(&run),
        }
    }
    safe
}

/// Returns a word in quotation marks if it contains more than letters, digits and a few signs. Braces and `$` of
/// variables stay unquoted, for readability.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@=+,~${}*()?…".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.to_owned() } else { format!("{word:?}") }
}

fn push(safe: &mut String, c: char) {
    match c {
        '\0'..='\x1f' => safe.push(char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}')),
        '\x7f' => safe.push('␡'),
        c if is_invisible(c) => safe.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
        c => safe.push(c),
    }
}

/// Returns `true` for white space that takes a column, and for the Braille pattern without dots.
fn is_space(c: char) -> bool {
    (c.is_whitespace() && !c.is_control() && !is_invisible(c)) || c == '\u{2800}'
}

/// Returns `true` for a combining mark; many of them on one letter would cover the lines above.
fn is_mark(c: char) -> bool {
    c.width() == Some(0) && !c.is_control() && !is_invisible(c)
}

/// Returns `true` if an invisible character `c` belongs to the character before it: in an emoji sequence, or as a
/// joiner in scripts that use these.
pub(crate) fn joins(before: char, c: char) -> bool {
    match c {
        // A heart on fire, for example, has a joiner after the selector U+FE0F, which is itself invisible.
        '\u{200d}' if before == '\u{fe0f}' => true,
        // Letters, which are below U+2000, need no selector: there it would hide something.
        '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' if before > '\u{2000}' && !is_invisible(before) => true,
        // Arabic to Sinhala: Persian, Urdu, Hindi and others part or join letters by them.
        '\u{200c}' | '\u{200d}' => matches!(before, '\u{620}'..='\u{dff}'),
        _ => false,
    }
}

/// Returns an untrusted text in one line, without control characters.
pub(crate) fn plain(text: &str) -> String {
    clean(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_steer_the_terminal() {
        assert_eq!(clean("\x1b[31mred\x07\u{9b}2J\u{202e}x\r\n\ty"), "␛[31mred␇⟨U+009B⟩2J⟨U+202E⟩x\n    y");
        assert_eq!(clean("ls\rrm -rf ~\r"), "ls␍rm -rf ~", "a line is not begun anew");
    }

    #[test]
    fn nothing_pushes_the_rest_of_a_text_off_the_screen() {
        let spaces = " ".repeat(10_000);
        assert_eq!(packed(&format!("echo{spaces}; rm -rf ~")), "echo⟨10000×U+0020⟩; rm -rf ~");
        assert_eq!(packed(&format!("a{}b", "\u{3000}".repeat(9))), "a⟨9×U+3000⟩b");
        assert_eq!(packed(&format!("a{} b\u{301}", "\u{336}".repeat(9))), "a⟨9×U+0336⟩ b\u{301}");
        assert_eq!(packed(&format!("ls{}rm -rf ~", "\n".repeat(1000))), "ls\n⟨999×U+000A⟩\nrm -rf ~");
        assert_eq!(packed("| ls\n| \n|  \n|\n| \n| rm"), "| ls\n| ⟨4×U+000A⟩\n| rm", "however many spaces are in them");
        let code = format!("def f():\n{}return 1\n\n\n\nx", " ".repeat(40));
        assert_eq!(packed(&code), code);
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
        assert_eq!(clean_after('👩', "\u{200d}🚀"), "\u{200d}🚀", "a piece of a stream");
        assert_eq!(word("❤\u{fe0f}"), "❤⟨U+FE0F⟩", "two names must not look alike");
    }

    #[test]
    fn a_word_stays_in_its_line() {
        assert_eq!(word("a\n\r\n\tb\u{85}c"), "a␊␍␊␉b⟨U+0085⟩c");
        assert_eq!(word(&format!("a  b{}c", " ".repeat(70))), "a  b⟨70×U+0020⟩c");
        assert_eq!(word(&"\u{2800}".repeat(9)), "⟨9×U+2800⟩");
        assert_eq!(word(&"\n".repeat(24)), "␊".repeat(24));
    }
}
