//! The terminal's width, and counts in words.

pub(crate) mod keys;
pub(crate) mod tty;
#[cfg(unix)]
pub(crate) mod typed;

use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use unicode_width::UnicodeWidthChar;

/// Default width in columns, if neither the environment nor a terminal provides one.
const USUAL: usize = 80;

/// Returns the width for output in columns: `COLUMNS`, which shells seldom export, or else the terminal's width.
pub(crate) fn columns() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| width.0);
    choose(std::env::var("COLUMNS").ok().as_deref(), terminal)
}

/// Returns the columns and rows of the terminal, regardless of the environment; `None` if they are not known.
pub(crate) fn size() -> Option<(usize, usize)> {
    terminal_size::terminal_size().map(|(columns, rows)| (columns.0.into(), rows.0.into()))
}

/// Returns the number of rows of the terminal; 24 if it is not known.
pub(crate) fn rows() -> usize {
    size().map(|(_, rows)| rows).filter(|rows| *rows > 0).unwrap_or(24)
}

fn choose(variable: Option<&str>, terminal: Option<u16>) -> usize {
    let variable = variable.and_then(|c| c.trim().parse().ok());
    variable.or(terminal.map(usize::from)).filter(|columns| *columns > 0).unwrap_or(USUAL)
}

/// Returns a number with its noun, such as `1 tool` or `2 tools`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Returns a duration as text, such as `640 ms`, `12.3 s` or `2 min 5 s`.
pub(crate) fn lasted(time: Duration) -> String {
    match time.as_millis() {
        ms @ 0..1000 => format!("{ms} ms"),
        ms @ 1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        ms => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

/// Returns the time of day in UTC, such as `10:52:31.107`.
pub(crate) fn time_of_day(at: SystemTime) -> String {
    DateTime::<Utc>::from(at).format("%H:%M:%S%.3f").to_string()
}

/// Returns a number with separators between thousands, such as `1,234,567`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let first = (digits.len() + 2) % 3 + 1;
    let (head, rest) = digits.split_at(first);
    rest.as_bytes().chunks(3).fold(head.to_owned(), |all, three| all + "," + &String::from_utf8_lossy(three))
}

/// Returns a text shortened to at most so many columns, with an ellipsis at its end if it was shortened.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    let wide = |c: char| c.width().unwrap_or(0);
    if text.chars().map(wide).sum::<usize>() <= columns {
        return text.to_owned();
    }
    let mut used = 0;
    let fits = text.chars().take_while(|c| {
        used += wide(*c);
        // One column is left for the ellipsis.
        used < columns
    });
    let cut: String = fits.collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminals_own_width_counts_where_columns_is_not_exported() {
        assert_eq!(choose(None, Some(60)), 60);
        assert_eq!(choose(Some("100"), Some(60)), 100);
        assert_eq!(choose(Some("wide"), Some(60)), 60);
        assert_eq!(choose(None, None), 80);
        assert_eq!(choose(None, Some(0)), 80, "some terminals say 0 columns when they do not know");
    }

    #[test]
    fn one_is_counted_in_the_singular() {
        assert_eq!([counted(0, "tool"), counted(1, "tool"), counted(2, "tool")], ["0 tools", "1 tool", "2 tools"]);
    }

    #[test]
    fn long_numbers_are_grouped() {
        let shown = [0, 12, 123, 1234, 123_456, 1_234_567].map(grouped);
        assert_eq!(shown, ["0", "12", "123", "1,234", "123,456", "1,234,567"]);
    }

    #[test]
    fn a_long_text_is_cut_in_display_width() {
        assert_eq!(shortened("天气预报查询", 8), "天气预…");
        assert_eq!(shortened("short", 8), "short");
    }
}
