//! Shows a model's message: text, reasoning, boxes, lines of our own.
//!
//! In: pieces of a message with their region, and boxes to draw. Out: styled lines for a
//! terminal, or plain ones for a pipe. What a model, a tool or a server wrote goes through
//! [`visible`], so that no control sequence of theirs reaches the terminal; [`boxes`] measures
//! in columns, not in characters; [`wrap`] ends rows between words, and [`page`] renders an
//! answer in [`markdown`] block by block. Which events are shown, and in what words, the commands say.

pub(crate) mod live;

mod arguments;
pub(crate) mod boxes;
pub(crate) mod excerpt;
mod folded;
mod markdown;
mod page;
pub(crate) mod pictures;
pub(crate) mod visible;
pub(crate) mod wrap;

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use crate::terminal;
use markdown::without_colour;
use page::Page;
use toolgraft::event::Region;
use toolgraft::tools::exact_pattern;

pub(crate) use arguments::{arguments, pretty};
pub(crate) use boxes::Frame;
pub(crate) use folded::Folded;

use visible::{clean, clean_after, word};
use wrap::{Layout, OpenRow};

pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BOLD: Style = Style::new().bold();
/// Style of calls that may run.
pub(crate) const CALL: Style = AnsiColor::Green.on_default();
/// Style of results, and of calls that an endpoint made itself.
pub(crate) const RESULT: Style = AnsiColor::Cyan.on_default();
/// Style of calls that do not run, for a reason other than an error.
pub(crate) const DRAFT: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Maximum number of characters shown of a message, a result or a rejected call.
const EXCERPT: usize = 600;

/// Output of messages to a terminal, or readably to a pipe.
///
/// The regions of a message (reasoning, answer) are separated by at most one empty line; on a pipe each has a heading,
/// on a terminal reasoning has a gutter.
pub(crate) struct Screen<W> {
    out: W,
    frame: Frame,
    columns: usize,
    /// Region of the message to which the last text belongs; `None` before the first.
    region: Option<Region>,
    /// `true` if the cursor is at the start of a line.
    fresh: bool,
    /// Number of line breaks not written yet; they are dropped before a box and at the end.
    breaks: usize,
    /// The current row of text.
    row: OpenRow,
    /// Renderer of the answer's Markdown; `None` if Markdown is not rendered.
    page: Option<Page>,
    /// `true` if the terminal allows written text to be erased and rewritten.
    moves: bool,
    /// `true` if colours are off; headings stay bold (no-color.org).
    is_uncoloured: bool,
    /// The last character of the current region of the message.
    last: char,
    /// Number of lines, boxes, pictures and pieces of text written so far.
    shown: u64,
}

impl Frame {
    /// Returns the frame style for a stream: drawn for a terminal, ASCII otherwise.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        if stream.is_terminal() { Frame::Drawn } else { Frame::Plain }
    }
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, frame: Frame, columns: usize) -> Self {
        Screen {
            out,
            frame,
            columns,
            region: None,
            fresh: true,
            breaks: 0,
            row: OpenRow::default(),
            page: None,
            moves: false,
            is_uncoloured: false,
            last: '\0',
            shown: 0,
        }
    }

    /// Returns the number of lines, boxes, pictures and pieces of text written so far. While it is unchanged, the last
    /// of them is still at the end of the screen.
    pub(crate) fn shown(&self) -> u64 {
        self.shown
    }

    /// Enables rewriting of written text, for a terminal with this many rows whose width equals that of this screen.
    /// With `renders`, the answer's Markdown is rendered.
    pub(crate) fn with_moves(mut self, rows: usize, renders: bool) -> Self {
        self.moves = true;
        self.page = renders.then(|| Page::new(self.columns, rows, self.is_uncoloured));
        self
    }

    /// Turns colours off.
    pub(crate) fn uncoloured(self) -> Self {
        Screen { is_uncoloured: true, ..self }
    }

    /// Updates the size after the terminal was resized.
    pub(crate) fn resize(&mut self, columns: usize, rows: usize) {
        if self.row.width() > columns.saturating_sub(1) {
            // How the terminal shows the row now is its own affair.
            self.breaks = self.breaks.max(1);
        }
        self.columns = columns;
        if let Some(page) = &mut self.page {
            page.resize(columns, rows);
        }
    }

    /// Starts a new message, so that its first region gets a heading on a pipe.
    pub(crate) fn begin(&mut self) {
        self.region = None;
    }

    /// Prints lines of the program itself, wrapped between words on a terminal.
    pub(crate) fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.shown += 1;
        self.end_line()?;
        let style = if self.is_uncoloured { without_colour(style) } else { style };
        for line in clean(text).lines() {
            let rows = match self.frame {
                Frame::Drawn => wrap::hung(line, self.columns),
                Frame::Plain => vec![line.to_owned()],
            };
            rows.iter().try_for_each(|row| writeln!(self.out, "{style}{}{style:#}", row.trim_end()))?;
        }
        self.out.flush()
    }

    /// Prints a remark that may contain untrusted text: like [`line`](Self::line), but indented so that none of its
    /// lines looks like another remark.
    pub(crate) fn remark(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.line(style, &excerpt::remark(text))
    }

    /// Prints a box. Message text after it continues under a new heading.
    pub(crate) fn boxed(&mut self, style: Style, title: &str, body: &str) -> io::Result<()> {
        self.shown += 1;
        self.end_line()?;
        let style = if self.is_uncoloured { without_colour(style) } else { style };
        for line in boxes::draw(title, body, self.frame, self.columns) {
            writeln!(self.out, "{style}{line}{style:#}")?;
        }
        self.region = None;
        self.out.flush()
    }

    /// Prints a picture, given as the escape sequence that draws it.
    pub(crate) fn picture(&mut self, drawn: &str) -> io::Result<()> {
        self.shown += 1;
        self.end_line()?;
        writeln!(self.out, "{drawn}")?;
        self.region = None;
        self.out.flush()
    }

    /// Writes a piece of the message that belongs to this region.
    pub(crate) fn text(&mut self, region: Region, text: &str) -> io::Result<()> {
        if self.region != Some(region) {
            // Line breaks alone begin no part of the message.
            if clean(text).trim_matches('\n').is_empty() {
                return Ok(());
            }
            self.end_line()?;
            self.region = Some(region);
            self.last = '\0';
            if self.frame == Frame::Plain {
                let heading = if region == Region::Reasoning { "reasoning" } else { "answer" };
                self.line(DIM, &format!("[{heading}]"))?;
            }
        }
        self.shown += 1;
        let safe = clean_after(self.last, text);
        self.last = text.chars().next_back().unwrap_or(self.last);
        if region == Region::Content
            && let Some(page) = &mut self.page
        {
            let shown = page.push(&safe);
            self.fresh = page.is_fresh();
            self.out.write_all(shown.as_bytes())?;
            return self.out.flush();
        }
        for piece in safe.split_inclusive('\n') {
            let words = piece.trim_end_matches('\n');
            if !words.is_empty() {
                self.held_breaks()?;
                self.words(region, words)?;
            }
            self.breaks += usize::from(words.len() < piece.len());
        }
        self.out.flush()
    }

    /// Ends the current line of text, and drops pending line breaks.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        self.breaks = 0;
        if let Some(page) = &mut self.page {
            // `finish` leaves the cursor at the start of a line.
            self.fresh |= !page.is_fresh();
            let shown = page.finish();
            self.out.write_all(shown.as_bytes())?;
        }
        if !self.fresh {
            self.end_row()?;
            writeln!(self.out)?;
            self.fresh = true;
        }
        Ok(())
    }

    /// Ends the current line and writes an empty one.
    pub(crate) fn empty_line(&mut self) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.out)?;
        self.out.flush()
    }

    fn held_breaks(&mut self) -> io::Result<()> {
        // Several empty lines are shown as one; those at the start of a part are dropped.
        let breaks = std::mem::take(&mut self.breaks).min(2);
        if !self.fresh && breaks > 0 {
            self.end_row()?;
            (0..breaks).try_for_each(|_| writeln!(self.out))?;
            self.fresh = true;
        }
        Ok(())
    }

    fn words(&mut self, region: Region, words: &str) -> io::Result<()> {
        self.fresh = false;
        if self.frame == Frame::Plain {
            let style = style_of(region);
            return write!(self.out, "{style}{words}{style:#}");
        }
        let mut shown = String::new();
        self.row.push(&mut shown, words, self.layout(region));
        self.styled(region, &shown)
    }

    /// Writes the text of the current row that was not written yet.
    fn end_row(&mut self) -> io::Result<()> {
        let (region, mut held) = (self.region.unwrap_or(Region::Content), String::new());
        self.row.end(&mut held, self.layout(region));
        self.styled(region, &held)
    }

    fn styled(&mut self, region: Region, text: &str) -> io::Result<()> {
        let style = if text.is_empty() { Style::new() } else { style_of(region) };
        write!(self.out, "{style}{text}{style:#}")
    }

    /// Returns the layout of rows in this region. One column stays free, since in the last one some terminals delay the
    /// line break.
    fn layout(&self, region: Region) -> Layout<'static> {
        let gutter = if region == Region::Reasoning { "┆ " } else { "" };
        Layout { columns: self.columns.saturating_sub(1), gutter, moves: self.moves, cuts: false }
    }
}

fn style_of(region: Region) -> Style {
    if region == Region::Reasoning { DIM } else { Style::new() }
}

/// Returns `server.tool`, or the tool alone without a server. If a name contains a character that makes this ambiguous,
/// returns the pattern that matches this tool only, such as `server/repo.list`.
pub(crate) fn full_name(server: Option<&str>, tool: &str) -> String {
    let Some(server) = server else { return word(tool) };
    // A server's names are untrusted text inside lines of the program.
    word(&match [server, tool].concat().contains(['.', '/', '*', '?', '\\']) {
        true => exact_pattern(Some(server), tool),
        false => format!("{server}.{tool}"),
    })
}

/// Number of screen rows to reserve for a box's frame, and for a question with its answer below it.
const AROUND: usize = 10;

/// Returns the width of the terminal, and the number of rows for a box's text that leave room for a question below it.
pub(crate) fn room() -> (usize, usize) {
    (terminal::columns(), terminal::rows().saturating_sub(AROUND).max(4))
}

/// Returns a box's text limited to the screen with a question below it: its beginning and end, with the number of
/// omitted characters between them.
pub(crate) fn as_fits_screen(body: &str) -> String {
    Folded::of(&clean(body), room()).shown()
}

/// Returns the first `most` characters of a text, followed by the number of omitted ones.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let shown: String = text.chars().take(most).collect();
    match text.chars().count() - shown.chars().count() {
        0 => shown,
        more => format!("{shown}\n… {more} characters more"),
    }
}

/// Returns the first 600 characters of a trimmed text; if it is longer, followed by its total number of characters.
pub(crate) fn excerpt(text: &str) -> String {
    let text = text.trim();
    let short: String = text.chars().take(EXCERPT).collect();
    if short.len() == text.len() {
        return short;
    }
    format!("{short}… ({} characters in all)", text.chars().count())
}
