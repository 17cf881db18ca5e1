//! Markdown as rows of a terminal.
//!
//! In: the source of whole blocks. Out: styled rows that fit the columns. Every word of the
//! source is in them: what renders to nothing, such as a link's definition, stays as it was
//! written. Text is [clean]ed here once more, since Markdown can name any character by its number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use anstyle::{AnsiColor, Effects, Style};
use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, HeadingLevel, LinkType, OffsetIter, Options, Parser, Tag, TagEnd,
};

use regex::Regex;

use super::boxes::{clean, width};
use super::wrap::{cut, rows};

/// A row of rendered Markdown: pieces of text with their styles.
pub(super) type TableRow = Vec<(Style, String)>;

const PLAIN: Style = Style::new();
const DIM: Style = PLAIN.dimmed();
pub(super) const CODE: Style = AnsiColor::Cyan.on_default();
/// The indent of each line of a code block.
pub(super) const CODE_INDENT: &str = "  ";

/// Minimum width of a table column, in terminal columns.
const CELL: usize = 6;
/// Minimum width of text, in terminal columns, at any nesting depth.
const NARROWEST: usize = 12;

/// Pattern of ticked checkboxes and character references, whose letters the rendered text lacks.
static SIGNS: OnceLock<Regex> = OnceLock::new();

fn parse(source: &str) -> OffsetIter<'_> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    Parser::new_ext(source, options).into_offset_iter()
}

/// A top-level block of Markdown; each item of a top-level list is a block of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MarkdownBlock {
    /// Byte offset of the block's first line.
    pub(super) start: usize,
    pub(super) ends: Ends,
}

/// The condition that ends a Markdown block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// The block ends with its line.
    Line,
    /// The block ends at an empty line.
    EmptyLine,
    /// The block ends where the next block begins.
    NextBlock,
    /// The block ends at a closing fence, or at the end of the text.
    Fence,
}

/// Returns the top-level blocks of a Markdown text.
pub(super) fn blocks(source: &str) -> Vec<MarkdownBlock> {
    let mut found: Vec<MarkdownBlock> = Vec::new();
    let (mut depth, mut in_list) = (0_usize, false);
    for (event, range) in parse(source) {
        let ends = match &event {
            Event::Start(Tag::List(_)) if depth == 0 => {
                in_list = true;
                None
            }
            Event::Start(Tag::Item) if depth == 1 && in_list => Some(Ends::NextBlock),
            Event::Start(Tag::Heading { .. }) if depth == 0 => Some(Ends::Line),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) if depth == 0 => Some(Ends::Fence),
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) if depth == 0 => Some(Ends::NextBlock),
            Event::Rule if depth == 0 => Some(Ends::Line),
            Event::Start(_) if depth == 0 => Some(Ends::EmptyLine),
            _ => None,
        };
        if let Some(ends) = ends {
            let start = source[..range.start].rfind('\n').map_or(0, |at| at + 1);
            found.push(MarkdownBlock { start, ends });
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => {
                depth -= 1;
                in_list &= depth > 0;
            }
            _ => {}
        }
    }
    found
}

/// Renders a Markdown text of whole blocks as rows of at most `columns`.
pub(super) fn render(source: &str, columns: usize) -> Vec<TableRow> {
    let mut page =
        Renderer { source, events: parse(source), columns, rows: Vec::new(), prefixes: Vec::new(), before: None };
    let mut covered = 0;
    while let Some((event, range)) = page.events.next() {
        page.unrendered(covered..range.start);
        covered = range.end;
        page.block(event, range);
    }
    page.unrendered(covered..source.len());
    page.rows
}

/// Returns `true` if the rows contain every letter of the source, so that rendering loses no text.
pub(super) fn keeps_letters(source: &str, rows: &[TableRow]) -> bool {
    let mut letters = HashMap::<char, i64>::new();
    // These stand for another character.
    let signs = SIGNS.get_or_init(|| Regex::new(r"\[[xX]\]|&#?\w+;").expect("it is tested"));
    let source = signs.replace_all(source, "");
    source.chars().filter(|c| c.is_alphabetic()).for_each(|c| *letters.entry(c).or_default() += 1);
    let shown = rows.iter().flatten().flat_map(|(_, text)| text.chars()).filter(|c| c.is_alphabetic());
    shown.for_each(|c| *letters.entry(c).or_default() -= 1);
    letters.values().all(|missing| *missing <= 0)
}

/// Returns the indented rows of one line of a code block.
pub(super) fn code_rows(line: &str, columns: usize) -> Vec<TableRow> {
    let columns = columns.saturating_sub(width(CODE_INDENT)).max(NARROWEST);
    let pieces = cut(line, columns).into_iter();
    pieces.map(|piece| vec![(PLAIN, CODE_INDENT.to_owned()), (CODE, piece.to_owned())]).collect()
}

/// Returns the row with a code block's language, which is shown above it; `None` if no language is named.
pub(super) fn code_label(language: &str) -> Option<TableRow> {
    let language = clean(language).replace('\n', " ");
    (!language.trim().is_empty()).then(|| vec![(DIM, format!("{CODE_INDENT}{}", language.trim()))])
}

/// The prefixes of the rows of a nested block, such as a list item or a quotation.
struct Prefix {
    /// Prefix of the first row; `None` once that row is written.
    first: Option<(Style, String)>,
    rest: (Style, String),
}

struct Renderer<'a> {
    source: &'a str,
    events: OffsetIter<'a>,
    columns: usize,
    rows: Vec<TableRow>,
    prefixes: Vec<Prefix>,
    /// Byte offset at which the previous sibling block ended; `None` for the first one.
    before: Option<usize>,
}

impl Renderer<'_> {
    /// Writes source text that belongs to no block, such as link definitions, as it is.
    fn unrendered(&mut self, range: Range<usize>) {
        let Some(text) = self.source.get(range.clone()).filter(|text| !text.trim().is_empty()) else { return };
        let begins = range.start + (text.len() - text.trim_start().len());
        self.separate(begins);
        self.raw(text.trim(), PLAIN);
        self.before = Some(range.end);
    }

    fn block(&mut self, event: Event<'_>, range: Range<usize>) {
        self.separate(range.start);
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let spans = self.inline(TagEnd::Heading(level), heading(level));
                self.spans(&spans);
            }
            Event::Start(Tag::CodeBlock(kind)) => self.code(&kind),
            Event::Start(Tag::List(first)) => self.list(first),
            Event::Start(Tag::BlockQuote(kind)) => {
                let bar = (DIM, "▏ ".to_owned());
                self.nested(Prefix { first: None, rest: bar }, TagEnd::BlockQuote(kind));
            }
            Event::Start(Tag::Table(alignments)) => self.table(&alignments, &range),
            Event::Start(Tag::HtmlBlock) => {
                let mut html = String::new();
                for (event, _) in self.events.by_ref() {
                    match event {
                        Event::End(TagEnd::HtmlBlock) => break,
                        Event::Html(text) | Event::Text(text) => html.push_str(&text),
                        _ => {}
                    }
                }
                self.raw(html.trim_end(), PLAIN);
            }
            Event::Rule => {
                let wide = self.room().min(40);
                self.emit(vec![(DIM, "─".repeat(wide))]);
            }
            Event::Start(tag) => {
                let spans = self.inline(tag.to_end(), PLAIN);
                self.spans(&spans);
            }
            _ => {}
        }
        self.before = Some(range.end);
    }

    /// Writes an empty row if the source has an empty line between the previous block and the one at `start`.
    fn separate(&mut self, start: usize) {
        let Some(before) = self.before else { return };
        // The range of a block may include the line breaks that follow it.
        let before = self.source[..before].trim_end().len();
        if self.source.get(before..start).is_some_and(|gap| gap.matches('\n').count() > 1) {
            self.emit(Vec::new());
        }
    }

    /// Renders the blocks inside a container, with its prefix, up to its end.
    fn nested(&mut self, prefix: Prefix, until: TagEnd) {
        self.prefixes.push(prefix);
        self.before = None;
        let mut spans = Vec::new();
        while let Some((event, range)) = self.events.next() {
            match event {
                Event::End(end) if end == until => break,
                Event::End(_) => {}
                Event::Start(
                    Tag::Paragraph
                    | Tag::Heading { .. }
                    | Tag::BlockQuote(_)
                    | Tag::CodeBlock(_)
                    | Tag::HtmlBlock
                    | Tag::List(_)
                    | Tag::Table(_),
                )
                | Event::Rule => {
                    self.spans(&std::mem::take(&mut spans));
                    self.block(event, range);
                }
                // Text of a tight item has no paragraph.
                other => {
                    self.piece(&mut spans, other, PLAIN);
                    self.before = Some(range.end);
                }
            }
        }
        self.spans(&spans);
        // An item without text shows its marker all the same.
        if self.prefixes.last().is_some_and(|prefix| prefix.first.is_some()) {
            self.emit(Vec::new());
        }
        self.prefixes.pop();
    }

    fn list(&mut self, first: Option<u64>) {
        let mut number = first;
        self.before = None;
        while let Some((event, range)) = self.events.next() {
            match event {
                Event::End(TagEnd::List(_)) => break,
                Event::Start(Tag::Item) => {
                    self.separate(range.start);
                    let marker = number.map_or_else(|| "• ".to_owned(), |number| format!("{number}. "));
                    let rest = (PLAIN, " ".repeat(width(&marker)));
                    self.nested(Prefix { first: Some((PLAIN, marker)), rest }, TagEnd::Item);
                    number = number.map(|number| number.saturating_add(1));
                    self.before = Some(range.end);
                }
                _ => {}
            }
        }
    }

    fn code(&mut self, kind: &CodeBlockKind<'_>) {
        let mut text = String::new();
        for (event, _) in self.events.by_ref() {
            match event {
                Event::End(TagEnd::CodeBlock) => break,
                Event::Text(piece) => text.push_str(&piece),
                _ => {}
            }
        }
        if let CodeBlockKind::Fenced(language) = kind
            && let Some(label) = code_label(language)
        {
            self.emit(label);
        }
        let room = self.room();
        for line in clean(text.trim_end_matches('\n')).split('\n') {
            code_rows(line, room).into_iter().for_each(|row| self.emit(row));
        }
    }

    /// Returns the inline text up to the end of the enclosing element, in this style.
    fn inline(&mut self, until: TagEnd, style: Style) -> TableRow {
        let mut spans = Vec::new();
        while let Some((event, _)) = self.events.next() {
            match event {
                Event::End(end) if end == until => break,
                event => self.piece(&mut spans, event, style),
            }
        }
        spans
    }

    fn piece(&mut self, spans: &mut TableRow, event: Event<'_>, style: Style) {
        let mut add = |style: Style, text: &str| spans.push((style, clean(text)));
        match event {
            Event::Text(text) | Event::InlineHtml(text) | Event::Html(text) => add(style, &text),
            Event::Code(text) => add(CODE | style.get_effects(), &text),
            Event::SoftBreak | Event::HardBreak => add(style, "\n"),
            Event::TaskListMarker(done) => add(style, if done { "☑ " } else { "☐ " }),
            Event::Start(Tag::Emphasis) => spans.extend(self.inline(TagEnd::Emphasis, style | Effects::ITALIC)),
            Event::Start(Tag::Strong) => spans.extend(self.inline(TagEnd::Strong, style | Effects::BOLD)),
            Event::Start(Tag::Strikethrough) => {
                spans.extend(self.inline(TagEnd::Strikethrough, style | Effects::STRIKETHROUGH));
            }
            Event::Start(Tag::Link { link_type, dest_url, title, .. }) => {
                let text = self.inline(TagEnd::Link, style | Effects::UNDERLINE);
                // A link that shows its own address needs it once; only a title is worth a repetition.
                let is_bare = matches!(link_type, LinkType::Autolink | LinkType::Email) || said(&text) == *dest_url;
                spans.extend(text);
                spans.extend(target(&dest_url, &title).filter(|_| !is_bare || !title.is_empty()));
            }
            Event::Start(Tag::Image { dest_url, title, .. }) => {
                let text = self.inline(TagEnd::Image, style);
                let text = said(&text);
                spans.push((style, if text.is_empty() { "[image]".to_owned() } else { format!("[image: {text}]") }));
                spans.extend(target(&dest_url, &title));
            }
            Event::Start(tag) => spans.extend(self.inline(tag.to_end(), style)),
            _ => {}
        }
    }

    /// Renders a table. Its columns are as wide as their cells, or narrower if they do not fit; a table that cannot fit
    /// is written as source text.
    fn table(&mut self, alignments: &[Alignment], range: &Range<usize>) {
        let (mut lines, mut line): (Vec<Vec<TableRow>>, Vec<TableRow>) = (Vec::new(), Vec::new());
        while let Some((event, _)) = self.events.next() {
            match event {
                Event::End(TagEnd::Table) => break,
                Event::Start(Tag::TableCell) => {
                    let style = if lines.is_empty() { PLAIN | Effects::BOLD } else { PLAIN };
                    line.push(self.inline(TagEnd::TableCell, style));
                }
                Event::End(TagEnd::TableHead | TagEnd::TableRow) => lines.push(std::mem::take(&mut line)),
                _ => {}
            }
        }
        let columns = alignments.len();
        let natural = |column: usize| lines.iter().filter_map(|line| Some(width(&said(line.get(column)?)))).max();
        let widths: Vec<usize> = (0..columns).map(|column| natural(column).unwrap_or(0).max(1)).collect();
        // Three columns for each separator (` │ `).
        let room = self.room().saturating_sub(3 * columns.saturating_sub(1));
        // The widest limit at which all columns have room; where even narrow cells have none the source
        // is shown.
        let Some(most) = (CELL..=self.columns.max(CELL))
            .rev()
            .find(|most| widths.iter().map(|w| w.min(most)).sum::<usize>() <= room)
        else {
            let source = self.source[range.clone()].trim_end();
            return self.raw(source, PLAIN);
        };
        let widths: Vec<usize> = widths.into_iter().map(|w| w.min(most)).collect();
        for (n, line) in lines.iter().enumerate() {
            self.table_line(line, &widths, alignments);
            if n == 0 {
                let rule: Vec<String> = widths.iter().map(|w| "─".repeat(*w)).collect();
                self.emit(vec![(DIM, rule.join("─┼─"))]);
            }
        }
    }

    fn table_line(&mut self, cells: &[TableRow], widths: &[usize], alignments: &[Alignment]) {
        let cells: Vec<Vec<TableRow>> = cells.iter().zip(widths).map(|(cell, wide)| broken(cell, *wide)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        for n in 0..height {
            let mut row = TableRow::new();
            for (column, (cell, wide)) in cells.iter().zip(widths).enumerate() {
                let text = cell.get(n).cloned().unwrap_or_default();
                let room = wide.saturating_sub(width(said(&text).trim_end()));
                let left = match alignments.get(column) {
                    Some(Alignment::Right) => room,
                    Some(Alignment::Center) => room / 2,
                    _ => 0,
                };
                if column > 0 {
                    row.push((DIM, " │ ".to_owned()));
                }
                row.push((PLAIN, " ".repeat(left)));
                let mut text = text;
                if let Some((_, last)) = text.last_mut() {
                    last.truncate(last.trim_end().len());
                }
                row.extend(text);
                row.push((PLAIN, " ".repeat(room - left)));
            }
            self.emit(row);
        }
    }

    /// Writes text as it is in the source, with control characters made visible.
    fn raw(&mut self, text: &str, style: Style) {
        self.spans(&[(style, clean(text))]);
    }

    fn spans(&mut self, spans: &[(Style, String)]) {
        if spans.iter().all(|(_, text)| text.is_empty()) {
            return;
        }
        broken(spans, self.room()).into_iter().for_each(|row| self.emit(row));
    }

    /// Returns the number of columns for text inside the current prefixes.
    fn room(&self) -> usize {
        let taken: usize = self.prefixes.iter().map(|prefix| width(&prefix.rest.1)).sum();
        self.columns.saturating_sub(taken).max(NARROWEST)
    }

    fn emit(&mut self, text: TableRow) {
        let before = self.prefixes.iter_mut().map(|prefix| prefix.first.take().unwrap_or_else(|| prefix.rest.clone()));
        let mut row: TableRow = before.collect();
        row.extend(text);
        while row.last().is_some_and(|(_, text)| text.trim().is_empty()) {
            row.pop();
        }
        if let Some((_, last)) = row.last_mut() {
            last.truncate(last.trim_end().len());
        }
        self.rows.push(row);
    }
}

pub(super) fn without_colour(style: Style) -> Style {
    style.fg_color(None)
}

fn heading(level: HeadingLevel) -> Style {
    match level {
        HeadingLevel::H1 => PLAIN | Effects::BOLD | Effects::UNDERLINE,
        HeadingLevel::H2 => PLAIN | Effects::BOLD,
        _ => PLAIN | Effects::BOLD | Effects::ITALIC,
    }
}

/// Returns the address and title of a link, which are shown after its text; `None` if both are empty.
fn target(url: &str, title: &str) -> Option<(Style, String)> {
    let title = if title.is_empty() { String::new() } else { format!(" {title:?}") };
    let text = clean(&format!(" ({url}{title})")).replace('\n', " ");
    (!url.is_empty() || !title.is_empty()).then_some((DIM, text))
}

/// Returns the text of spans without their styles.
fn said(spans: &[(Style, String)]) -> Cow<'_, str> {
    match spans {
        [(_, text)] => Cow::Borrowed(text),
        several => Cow::Owned(several.iter().map(|(_, text)| text.as_str()).collect()),
    }
}

/// Wraps styled spans into rows of at most `columns`.
fn broken(spans: &[(Style, String)], columns: usize) -> Vec<TableRow> {
    let text = said(spans);
    let (mut broken, mut spans, mut left) = (Vec::new(), spans.iter(), ("", PLAIN));
    for line in text.split('\n') {
        for row in rows(line, columns) {
            let (mut styled, mut wanted) = (TableRow::new(), row.len());
            while wanted > 0 {
                if left.0.is_empty() {
                    let Some((style, text)) = spans.next() else { break };
                    left = (text, *style);
                    continue;
                }
                let taken = wanted.min(left.0.len());
                styled.push((left.1, left.0[..taken].to_owned()));
                (left.0, wanted) = (&left.0[taken..], wanted - taken);
            }
            broken.push(styled);
        }
        // The line break itself belongs to a span, too.
        while left.0.is_empty() {
            let Some((style, text)) = spans.next() else { break };
            left = (text, *style);
        }
        left.0 = left.0.strip_prefix('\n').unwrap_or(left.0);
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str, columns: usize) -> Vec<String> {
        let rows = render(source, columns);
        assert!(keeps_letters(source, &rows), "{rows:?}");
        rows.iter().map(|row| said(row).into_owned()).collect()
    }

    #[test]
    fn blocks_are_shown_without_their_marks() {
        let source = "# Weather\n\nIt is **wet** in *Oslo*, says [the office](https://met.example).\n\n\
            - rain\n  - all day\n- wind\n\n3. three\n4. four\n\n> so it is\n> said\n\n```rust\nfn main() {}\n\nend\n```\n---\n";
        assert_eq!(
            shown(source, 60),
            [
                "Weather",
                "",
                "It is wet in Oslo, says the office (https://met.example).",
                "",
                "• rain",
                "  • all day",
                "• wind",
                "",
                "3. three",
                "4. four",
                "",
                "▏ so it is",
                "▏ said",
                "",
                "  rust",
                "  fn main() {}",
                "",
                "  end",
                "────────────────────────────────────────",
            ]
        );
    }

    #[test]
    fn a_table_fits_in_display_width_or_stays_as_it_was_written() {
        let source = "| 城市 | rain in mm |\n|---|--:|\n| 武汉 | 7 |\n| Oslo, by the sea | 12 |\n";
        assert_eq!(
            shown(source, 60),
            [
                "城市             │ rain in mm",
                "─────────────────┼───────────",
                "武汉             │          7",
                "Oslo, by the sea │         12",
            ]
        );
        assert!(shown(source, 22).iter().all(|row| width(row) <= 22), "{:?}", shown(source, 22));
        assert_eq!(shown(source, 12).concat().matches("---").count(), 1, "too narrow for a table");
    }

    #[test]
    fn words_are_wrapped_after_the_marks_of_their_blocks() {
        assert_eq!(shown("- one two three four\n", 13), ["• one two", "  three four"]);
        assert_eq!(shown("> 武汉今天有雨，明天晴\n", 14), ["▏ 武汉今天有", "▏ 雨，明天晴"]);
    }

    #[test]
    fn what_renders_to_nothing_is_shown_as_it_was_written() {
        assert_eq!(
            shown("See [it][1].\n\n[1]: https://a.example \"T\"\n", 60).concat(),
            "See it (https://a.example \"T\").[1]: https://a.example \"T\""
        );
        assert_eq!(shown("<b>x</b>\n\n<div>\ny\n</div>\n", 60), ["<b>x</b>", "", "<div>", "y", "</div>"]);
        assert_eq!(shown("![a map](m.png)\n", 60), ["[image: a map] (m.png)"]);
        assert_eq!(shown("- [x] done\n- [ ] not\n", 60), ["• ☑ done", "• ☐ not"]);
    }

    #[test]
    fn a_character_that_is_named_by_its_number_cannot_steer_the_terminal() {
        for source in ["a &#27;[2J b\n", "[x](a&#x9b;2J)\n", "`&#7;` &#x202e;\n"] {
            assert!(!shown(source, 60).concat().contains(['\x1b', '\u{9b}', '\u{7}', '\u{202e}']), "{source}");
        }
    }
}
