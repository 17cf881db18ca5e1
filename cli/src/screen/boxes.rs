//! Boxes of text in display width.

use unicode_width::UnicodeWidthChar;

pub(crate) use super::visible::clean;
use super::visible::word;
use crate::terminal::shortened;

/// The style of the frame around boxes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// Box-drawing characters, closed on the right, for terminals.
    Drawn,
    /// ASCII characters, open on the right, for pipes and files.
    Plain,
}

/// Minimum and maximum width of a box, in columns.
const WIDTHS: std::ops::RangeInclusive<usize> = 24..=100;

/// Returns the lines of a box around `body` with `title` in its upper edge. No line is wider than `columns`, except
/// with [`Frame::Plain`], which never wraps.
pub(crate) fn draw(title: &str, body: &str, frame: Frame, columns: usize) -> Vec<String> {
    let title = word(title);
    let body = clean(body);
    if frame == Frame::Plain {
        let mut lines = vec![format!("+-- {title}")];
        lines.extend(body.lines().map(|line| format!("| {line}").trim_end().to_owned()));
        lines.push("+--".to_owned());
        return lines;
    }
    let wrapped = rows(&body, columns);
    let columns = columns.clamp(*WIDTHS.start(), *WIDTHS.end());
    // Of the upper edge the corners and what is beside the title take six columns; of a row the sides
    // take four.
    let title = shortened(&title, columns - 6);
    let inner = wrapped.iter().map(|line| width(line)).chain([width(&title) + 2]).max().unwrap_or_default();
    let mut lines = vec![format!("╭─ {title} {}╮", "─".repeat(inner - 1 - width(&title)))];
    lines.extend(wrapped.iter().map(|line| format!("│ {line}{} │", " ".repeat(inner - width(line)))));
    lines.push(format!("╰{}╯", "─".repeat(inner + 2)));
    lines
}

/// Returns a text wrapped into the inner rows of a box that is at most `columns` wide.
pub(super) fn rows(body: &str, columns: usize) -> Vec<String> {
    let columns = columns.clamp(*WIDTHS.start(), *WIDTHS.end());
    clean(body).lines().flat_map(|line| wrap(line, columns - 4)).map(str::to_owned).collect()
}

/// Returns the byte offset at which each row of a [clean] text begins when it is wrapped in a box of at most `columns`.
pub(super) fn row_starts(body: &str, columns: usize) -> Vec<usize> {
    let columns = columns.clamp(*WIDTHS.start(), *WIDTHS.end());
    let (mut starts, mut line_at) = (Vec::new(), 0);
    for line in body.split_inclusive('\n') {
        let mut at = line_at;
        for row in wrap(line.trim_end_matches('\n'), columns - 4) {
            starts.push(at);
            at += row.len();
        }
        line_at += line.len();
    }
    starts
}

/// Returns the number of columns that a text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Aligns rows of cells in columns as narrow as possible, separated by `gap`, and returns a line for each row. Columns
/// with an index of at least `figures` are right-aligned.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]], figures: usize, gap: &str) -> Vec<String> {
    let widths: [usize; N] = std::array::from_fn(|n| rows.iter().map(|row| width(&row[n])).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).enumerate().map(|(n, (cell, wide))| {
            let pad = " ".repeat(wide.saturating_sub(width(cell)));
            if n < figures { format!("{cell}{pad}") } else { format!("{pad}{cell}") }
        });
        cells.collect::<Vec<_>>().join(gap)
    };
    rows.iter().map(line).collect()
}

/// Splits a line into rows of at most `columns`. At a full row, `place` gets the row and the width of the next
/// character and returns the offset at which to split it; `None` splits before the next character.
pub(super) fn cut_at(line: &str, columns: usize, place: impl Fn(&str, usize) -> Option<usize>) -> Vec<&str> {
    // A wide character takes two columns: in fewer none would ever fit.
    let columns = columns.max(2);
    let (mut rows, mut start, mut used) = (Vec::new(), 0, 0);
    for (at, c) in line.char_indices() {
        let wide = c.width().unwrap_or(0);
        if used + wide > columns {
            let end = place(&line[start..at], wide).map_or(at, |place| start + place);
            rows.push(&line[start..end]);
            (start, used) = (end, width(&line[end..at]));
        }
        used += wide;
    }
    rows.push(&line[start..]);
    rows
}

/// Splits a line into rows of at most `columns`, at spaces if possible; before a wide character, such as an ideograph,
/// at any point.
pub(crate) fn wrap(line: &str, columns: usize) -> Vec<&str> {
    // Ideographs may part anywhere.
    cut_at(line, columns, |piece, next| if next < 2 { word_begun(piece) } else { None })
}

/// Returns the offset of the last word in a full row, if a break before it leaves the row at least half full.
fn word_begun(piece: &str) -> Option<usize> {
    let at = piece.rfind(' ')? + 1;
    (width(&piece[..at]) * 2 >= width(piece)).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_edge_is_straight_in_display_width() {
        let lines = draw("调用 weather_query", "{\n  \"city\": \"武汉\"\n}", Frame::Drawn, 80);
        assert_eq!(
            lines,
            [
                "╭─ 调用 weather_query ─╮",
                "│ {                    │",
                "│   \"city\": \"武汉\"     │",
                "│ }                    │",
                "╰──────────────────────╯",
            ]
        );
    }

    #[test]
    fn long_lines_are_wrapped_and_long_titles_cut_within_the_columns() {
        let lines = draw(&"题".repeat(60), &"字".repeat(60), Frame::Drawn, 40);
        assert!(lines.len() > 4);
        let widths: Vec<_> = lines.iter().map(|line| width(line)).collect();
        assert!(widths.iter().all(|w| *w == widths[0] && *w <= 40), "{widths:?}");
    }

    #[test]
    fn a_line_is_wrapped_at_a_space_where_one_is_near_and_loses_nothing() {
        assert_eq!(wrap("figures of a demonstration", 16), ["figures of a ", "demonstration"]);
        assert_eq!(wrap("a {\"city\":\"Hangzhou\"}", 16), ["a {\"city\":\"Hangz", "hou\"}"]);
        assert_eq!(wrap("天气 天气预报查询", 8), ["天气 天", "气预报查", "询"]);
        let words = "one  two three\u{301} four ";
        assert!((1..30).all(|columns| wrap(words, columns.max(2)).concat() == words));
    }

    #[test]
    fn a_plain_box_keeps_its_lines_whole() {
        assert_eq!(draw("call", "a\n\nb", Frame::Plain, 10), ["+-- call", "| a", "|", "| b", "+--"]);
    }
}
