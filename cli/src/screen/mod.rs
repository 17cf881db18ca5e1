//! What commands show of a model's message: text, reasoning, boxes, lines of our own.
//!
//! In: pieces of a message with their region, and boxes to draw. Out: styled lines for a
//! terminal, or plain ones for a pipe. What a model, a tool or a server wrote goes through
//! [`clean`], so that no control sequence of theirs reaches the terminal; [`boxes`] measures
//! in columns, not in characters. Which events are shown, and in what words, the commands say.

pub(crate) mod boxes;

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use boxes::clean;
use toolgraft::event::Region;

pub(crate) use boxes::Frame;

pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const BOLD: Style = Style::new().bold();
/// Calls that may run.
pub(crate) const CALL: Style = AnsiColor::Green.on_default();
/// Results of calls, and calls that an endpoint made itself.
pub(crate) const RESULT: Style = AnsiColor::Cyan.on_default();
/// Calls that do not run, without anybody's mistake.
pub(crate) const DRAFT: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default();

/// Most characters of a message, a result or a rejected call that are shown.
const EXCERPT: usize = 600;

/// A terminal, or a pipe that is to be readable.
///
/// The parts of a message follow each other with one empty line at most; on a
/// pipe each has a heading, on a terminal reasoning has a gutter.
pub(crate) struct Screen<W> {
    out: W,
    frame: Frame,
    columns: usize,
    /// Part of the message that the last text belongs to.
    region: Option<Region>,
    /// Whether the cursor stands at a line's start.
    fresh: bool,
    /// Line breaks that were held back: none is shown before a box or at the end.
    breaks: usize,
}

impl Frame {
    /// Boxes for a stream that is a terminal, or is not.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        if stream.is_terminal() { Frame::Drawn } else { Frame::Plain }
    }
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, frame: Frame, columns: usize) -> Self {
        Screen { out, frame, columns, region: None, fresh: true, breaks: 0 }
    }

    /// The terminal has become wider or narrower.
    pub(crate) fn resize(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// A message begins.
    pub(crate) fn begin(&mut self) {
        self.region = None;
    }

    /// Lines of our own words, broken between words on a terminal.
    pub(crate) fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        self.end_line()?;
        for line in clean(text).lines() {
            let rows = match self.frame {
                Frame::Drawn => boxes::wrap(line, self.columns),
                Frame::Plain => vec![line.to_owned()],
            };
            rows.iter().try_for_each(|row| writeln!(self.out, "{style}{row}{style:#}"))?;
        }
        self.out.flush()
    }

    /// A box; the text goes on below it, under a heading of its own.
    pub(crate) fn boxed(&mut self, style: Style, title: &str, body: &str) -> io::Result<()> {
        self.end_line()?;
        for line in boxes::draw(title, body, self.frame, self.columns) {
            writeln!(self.out, "{style}{line}{style:#}")?;
        }
        self.region = None;
        self.out.flush()
    }

    /// A piece of the message.
    pub(crate) fn text(&mut self, region: Region, text: &str) -> io::Result<()> {
        if self.region != Some(region) {
            if clean(text).trim_matches('\n').is_empty() {
                return Ok(());
            }
            self.end_line()?;
            self.region = Some(region);
            if self.frame == Frame::Plain {
                self.line(DIM, if region == Region::Reasoning { "[reasoning]" } else { "[answer]" })?;
            }
        }
        for piece in clean(text).split_inclusive('\n') {
            let words = piece.trim_end_matches('\n');
            if !words.is_empty() {
                self.held_breaks()?;
                self.words(region, words)?;
            }
            self.breaks += usize::from(words.len() < piece.len());
        }
        self.out.flush()
    }

    /// Ends the line that text stands on.
    pub(crate) fn end_line(&mut self) -> io::Result<()> {
        self.breaks = 0;
        if !self.fresh {
            writeln!(self.out)?;
            self.fresh = true;
        }
        Ok(())
    }

    /// Leaves one line empty.
    pub(crate) fn empty_line(&mut self) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.out)?;
        self.out.flush()
    }

    fn held_breaks(&mut self) -> io::Result<()> {
        // Of several empty lines one is shown; a part's own leading ones say nothing.
        let breaks = std::mem::take(&mut self.breaks).min(2);
        if !self.fresh {
            (0..breaks).try_for_each(|_| writeln!(self.out))?;
            self.fresh = breaks > 0;
        }
        Ok(())
    }

    fn words(&mut self, region: Region, words: &str) -> io::Result<()> {
        match (region, self.frame) {
            (Region::Reasoning, Frame::Drawn) => {
                let gutter = if self.fresh { "┆ " } else { "" };
                write!(self.out, "{DIM}{gutter}{words}{DIM:#}")?;
            }
            (Region::Reasoning, Frame::Plain) => write!(self.out, "{DIM}{words}{DIM:#}")?,
            (Region::Content, _) => write!(self.out, "{words}")?,
        }
        self.fresh = false;
        Ok(())
    }
}

/// `server.tool`, or the tool alone.
pub(crate) fn full_name(server: Option<&str>, tool: &str) -> String {
    server.map_or_else(|| tool.to_owned(), |server| format!("{server}.{tool}"))
}

/// JSON in one line where it is short, else indented.
pub(crate) fn pretty(value: &serde_json::Value) -> String {
    let line = value.to_string();
    if line.len() <= 60 { line } else { serde_json::to_string_pretty(value).unwrap_or(line) }
}

/// The beginning of a text, and how long it is.
pub(crate) fn excerpt(text: &str) -> String {
    let text = text.trim();
    let short: String = text.chars().take(EXCERPT).collect();
    if short.len() == text.len() {
        return short;
    }
    format!("{short}… ({} characters in all)", text.chars().count())
}
