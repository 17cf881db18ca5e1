//! What moves on a terminal while something is waited for, and leaves no trace.

use std::io::{IsTerminal, stderr, stdout};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::screen::DIM;
use crate::screen::boxes::{clean, fit, wrap};

/// Time between two pictures of the spinner.
const TICK: Duration = Duration::from_millis(100);

/// Rows of reasoning that are shown while it comes.
const ROWS: usize = 6;

/// Where the spinner turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Stdout,
    Stderr,
    /// No terminal is there.
    Nowhere,
}

impl Place {
    /// The terminal that somebody looks at.
    pub(crate) fn here() -> Self {
        match (stdout().is_terminal(), stderr().is_terminal()) {
            (true, _) => Place::Stdout,
            (_, true) => Place::Stderr,
            _ => Place::Nowhere,
        }
    }
}

/// A spinner with a text, the time since it began, and rows below it.
pub(crate) struct Live {
    place: Place,
    columns: usize,
    /// Whether the rows may be dimmed.
    styled: bool,
    bar: Option<ProgressBar>,
    drawn: Instant,
}

impl Live {
    pub(crate) fn new(place: Place, columns: usize, styled: bool) -> Self {
        Live { place, columns, styled, bar: None, drawn: Instant::now() }
    }

    /// The terminal has become wider or narrower.
    pub(crate) fn resize(&mut self, columns: usize) {
        self.columns = columns;
    }

    /// Turns with this text; the time goes on where it turned already.
    pub(crate) fn show(&mut self, what: &str) {
        let target = match self.place {
            Place::Stdout => ProgressDrawTarget::stdout(),
            Place::Stderr => ProgressDrawTarget::stderr(),
            Place::Nowhere => return,
        };
        let what = fit(&clean(what).replace('\n', " "), self.columns.saturating_sub(12));
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {prefix} {elapsed}{msg}");
            let style = style.expect("the template is tested").tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ");
            let bar = ProgressBar::with_draw_target(None, target).with_style(style);
            bar.enable_steady_tick(TICK);
            bar
        });
        bar.set_prefix(what);
    }

    /// Shows the end of a text below the spinner.
    pub(crate) fn tail(&mut self, text: &str) {
        let Some(bar) = &self.bar else { return };
        if self.drawn.elapsed() < TICK {
            return;
        }
        self.drawn = Instant::now();
        let columns = self.columns.saturating_sub(3).max(1);
        let start = text.char_indices().rev().nth(ROWS * columns).map_or(0, |(at, _)| at);
        let rows: Vec<String> = clean(&text[start..])
            .lines()
            .filter(|line| !line.trim().is_empty())
            .flat_map(|line| wrap(line, columns))
            .collect();
        let rows = &rows[rows.len().saturating_sub(ROWS)..];
        let dim = if self.styled { DIM } else { anstyle::Style::new() };
        bar.set_message(rows.iter().map(|row| format!("\n{dim}┆ {row}{dim:#}")).collect::<String>());
    }

    /// Takes it away.
    pub(crate) fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_nothing_turns() {
        let mut live = Live::new(Place::Nowhere, 80, false);
        live.show("waiting");
        live.tail("text");
        assert!(live.bar.is_none());
    }

    #[test]
    fn the_template_is_one() {
        let mut live = Live::new(Place::Stderr, 80, false);
        live.show("waiting");
        assert!(live.bar.is_some());
        live.clear();
        assert!(live.bar.is_none());
    }
}
