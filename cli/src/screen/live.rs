//! A picture that moves on a terminal while something is waited for, and leaves no trace.

use std::io::{IsTerminal, Write, stderr, stdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::screen::DIM;
use crate::screen::boxes::{clean, wrap};
use crate::terminal::shortened;

/// Time between two frames of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// Number of rows of reasoning that are shown below the spinner while it is received.
const ROWS: usize = 6;

/// The animation frames of the spinner.
const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// The stream on which the spinner is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScreenPlace {
    Stdout,
    Stderr,
    /// No stream, since neither is a terminal.
    Nowhere,
}

impl ScreenPlace {
    /// Returns standard output if it is a terminal, else standard error if that is one, else `Nowhere`.
    pub(crate) fn here() -> Self {
        match (stdout().is_terminal(), stderr().is_terminal()) {
            (true, _) => ScreenPlace::Stdout,
            (_, true) => ScreenPlace::Stderr,
            _ => ScreenPlace::Nowhere,
        }
    }
}

/// A spinner with a text, the elapsed time, and rows of text below.
pub(crate) struct Live {
    place: ScreenPlace,
    columns: usize,
    /// `true` if the rows below the spinner are dimmed.
    styled: bool,
    spinner: Option<Spinner>,
    drawn: Instant,
}

impl Live {
    pub(crate) fn new(place: ScreenPlace, columns: usize, styled: bool) -> Self {
        Live { place, columns, styled, spinner: None, drawn: Instant::now() }
    }

    /// Updates the width after the terminal was resized.
    pub(crate) fn resize(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Shows the spinner with this text; the elapsed time continues if it is already shown.
    pub(crate) fn show(&mut self, what: &str) {
        if self.place == ScreenPlace::Nowhere {
            return;
        }
        // The picture before it and the time after it need the rest of the row.
        let what = shortened(&clean(what).replace('\n', " "), self.columns.saturating_sub(12));
        self.spinner.get_or_insert_with(|| Spinner::start(self.place)).picture().what = what;
    }

    /// Shows the last rows of a text below the spinner.
    pub(crate) fn tail(&mut self, text: &str) {
        let Some(spinner) = &self.spinner else { return };
        // Text comes in small pieces, and nobody sees more of them than the spinner has pictures.
        if self.drawn.elapsed() < TICK {
            return;
        }
        self.drawn = Instant::now();
        let columns = self.columns.saturating_sub(3).max(1);
        // No more characters than the rows can hold: all of a long reasoning would be wrapped again and
        // again.
        let start = text.char_indices().rev().nth(ROWS * columns).map_or(0, |(at, _)| at);
        let text = clean(&text[start..]);
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let rows: Vec<&str> = lines.flat_map(|line| wrap(line, columns)).collect();
        let rows = &rows[rows.len().saturating_sub(ROWS)..];
        let dim = if self.styled { DIM } else { anstyle::Style::new() };
        spinner.picture().rows = rows.iter().map(|row| format!("\n{dim}┆ {row}{dim:#}")).collect();
    }

    /// Returns `true` if nothing is drawn, since there is no terminal.
    pub(crate) fn is_hidden(&self) -> bool {
        self.place == ScreenPlace::Nowhere
    }

    /// Erases the spinner while `print` prints; the spinner is then redrawn below.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        // Held while it is printed: the thread would draw in between.
        let picture = self.spinner.as_ref().map(|spinner| {
            let mut picture = spinner.picture();
            picture.erase();
            picture
        });
        print();
        drop(picture);
    }

    /// Stops and erases the spinner.
    pub(crate) fn clear(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.end();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A running spinner, drawn by its own thread.
struct Spinner(Arc<(Mutex<Picture>, Condvar)>);

impl Spinner {
    fn start(place: ScreenPlace) -> Self {
        let picture = Picture::new(place);
        let shared = Arc::new((Mutex::new(picture), Condvar::new()));
        let drawn = Arc::clone(&shared);
        thread::spawn(move || {
            let (picture, ended) = &*drawn;
            let mut picture = picture.lock().unwrap_or_else(PoisonError::into_inner);
            while !picture.has_ended {
                picture.draw();
                picture = ended.wait_timeout(picture, TICK).unwrap_or_else(PoisonError::into_inner).0;
            }
        });
        Spinner(shared)
    }

    fn picture(&self) -> MutexGuard<'_, Picture> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the spinner and erases it at once, so that the next output takes its rows.
    fn end(&self) {
        let mut picture = self.picture();
        picture.has_ended = true;
        picture.erase();
        self.0.1.notify_all();
    }
}

/// The content of the spinner, and the state of its rows on the terminal.
struct Picture {
    out: Box<dyn Write + Send>,
    what: String,
    rows: String,
    begun: Instant,
    /// Number of frames drawn so far.
    frames: usize,
    /// Number of rows that the spinner takes on the terminal.
    lines: usize,
    has_ended: bool,
}

impl Picture {
    fn new(place: ScreenPlace) -> Self {
        let out: Box<dyn Write + Send> =
            if place == ScreenPlace::Stdout { Box::new(stdout()) } else { Box::new(stderr()) };
        let (what, rows) = (String::new(), String::new());
        Picture { out, what, rows, begun: Instant::now(), frames: 0, lines: 0, has_ended: false }
    }

    fn draw(&mut self) {
        // The first text comes right after the beginning.
        if self.what.is_empty() {
            return;
        }
        let frame = FRAMES[self.frames % FRAMES.len()];
        let text = format!("{}{frame} {} {}{}", self.erasing(), self.what, elapsed(self.begun.elapsed()), self.rows);
        self.frames += 1;
        self.lines = 1 + self.rows.matches('\n').count();
        self.write(&text);
    }

    fn erase(&mut self) {
        let text = self.erasing();
        self.lines = 0;
        self.write(&text);
    }

    /// Returns the escape sequences that move the cursor to the spinner's first row and erase everything from there.
    fn erasing(&self) -> String {
        match self.lines {
            0 => String::new(),
            1 => "\r\x1b[J".to_owned(),
            lines => format!("\x1b[{}A\r\x1b[J", lines - 1),
        }
    }

    /// Writes to the terminal; errors, such as of a closed terminal, are ignored.
    fn write(&mut self, text: &str) {
        let _ = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
    }
}

/// Returns a duration in its largest unit, such as `5s`, `3m` or `2h`.
fn elapsed(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..90 => format!("{seconds}s"),
        seconds @ ..5400 => format!("{}m", (seconds + 30) / 60),
        seconds => format!("{}h", (seconds + 1800) / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_nothing_turns() {
        let mut live = Live::new(ScreenPlace::Nowhere, 80, false);
        live.show("waiting");
        live.tail("text");
        assert!(live.is_hidden() && live.spinner.is_none());
    }

    /// A writer that stores the written bytes for a test.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_drawn_takes_the_place_of_what_was_and_leaves_no_trace() {
        let kept = Kept::default();
        let mut picture = Picture { out: Box::new(kept.clone()), ..Picture::new(ScreenPlace::Stderr) };
        picture.draw();
        picture.what = "waiting".to_owned();
        picture.draw();
        picture.rows = "\n┆ one\n┆ two".to_owned();
        picture.draw();
        picture.erase();
        picture.erase();
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text, "⠋ waiting 0s\r\x1b[J⠙ waiting 0s\n┆ one\n┆ two\x1b[2A\r\x1b[J");
    }

    #[test]
    fn a_time_has_its_largest_unit() {
        let of = |seconds| elapsed(Duration::from_secs(seconds));
        assert_eq!([of(0), of(89), of(90), of(5399), of(5400)], ["0s", "89s", "2m", "90m", "2h"]);
    }
}
