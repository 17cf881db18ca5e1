//! The JSON of a call's arguments: read, and handed on as it comes.

use super::body::{CallOut, JsonCloser, JsonStep, JsonText};
use super::calm::CalmKind;
use super::verdict::{Fault, Parts};
use super::window::Window;

/// JSON arguments, which begin with the text.
#[derive(Debug)]
pub(super) struct Arguments {
    json: JsonText,
    /// Where the value ends.
    end: Option<u64>,
    /// The text up to here was handed on.
    previewed: u64,
}

/// What the arguments came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentsStep {
    /// More of the text is needed.
    More,
    /// The value ends here.
    Ended(u64),
    /// A closer begins where the cursor is; the value, which was not over, was read as far as it can be.
    Closed,
    /// A closer on a line that was passed ended the call here; the value was read up to there.
    Passed(u64),
}

impl Arguments {
    pub(super) fn new(at: u64, max_depth: usize) -> Self {
        Arguments { json: JsonText::new(at, max_depth), end: None, previewed: at }
    }

    /// Up to where the text was read.
    pub(super) fn cursor(&self) -> u64 {
        self.json.cursor
    }

    /// Where the value ends, once that is known.
    pub(super) fn end(&self) -> Option<u64> {
        self.end
    }

    /// Reads on. `shown`: the call was announced, so that its arguments are handed on.
    pub(super) fn next(
        &mut self,
        window: &Window<'_>,
        max_depth: usize,
        closer: &dyn JsonCloser,
        shown: bool,
        parts: &mut Parts,
        out: &mut CallOut<'_, '_>,
    ) -> ArgumentsStep {
        loop {
            let step = self.json.next(window, out.is_past(), closer);
            if let JsonStep::End(at) = step {
                self.end = Some(at);
            }
            // One piece for what came at once, so not at every key and value.
            if shown && matches!(step, JsonStep::More | JsonStep::End(_) | JsonStep::Passed(_) | JsonStep::Fault) {
                self.preview(window, out);
            }
            match step {
                JsonStep::More => return ArgumentsStep::More,
                JsonStep::End(at) => return ArgumentsStep::Ended(at),
                // By quotation marks the lexer may have misjudged where strings end.
                JsonStep::Closed(at) => {
                    self.json.read(out.head.unwrap_or(window), at, max_depth, parts);
                    return ArgumentsStep::Closed;
                }
                JsonStep::Passed(at) => {
                    self.json.read(window, at, max_depth, parts);
                    return ArgumentsStep::Passed(at);
                }
                JsonStep::Fault | JsonStep::Key(_) | JsonStep::ValueStart(_) | JsonStep::ValueEnd(_) => {}
            }
        }
    }

    /// Hands on the text that is known to be good.
    pub(super) fn preview(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) {
        let safe = self.end.map_or(self.json.safe(), |end| end.min(self.json.safe()));
        if safe > self.previewed && !out.is_past() {
            out.delta(safe, window.slice(self.previewed..safe));
            self.previewed = safe;
        }
    }

    /// If all up to `at` was read and handed on: what the text is, in a call that `closer` ends.
    pub(super) fn calm(&self, at: u64, closer: Option<&str>) -> Option<CalmKind> {
        let is_calm = self.previewed == at && self.json.is_calm_at(at);
        is_calm.then(|| CalmKind::json(closer, self.json.in_string()))
    }

    /// See [`JsonText::read_on`].
    pub(super) fn read_on(&mut self, at: u64, chunk: &str) -> Option<bool> {
        self.json.read_on(at, chunk.as_bytes())
    }

    /// See `Body::go_on`.
    pub(super) fn go_on(&mut self, at: u64) {
        self.previewed = at;
        self.json.go_on(at);
    }

    /// See [`JsonText::look_behind`].
    pub(super) fn look_behind(&mut self, at: u64, rest: &str, more: bool) -> bool {
        self.json.look_behind(at, rest, more)
    }

    /// Reads the value, if it is over and nothing is wrong yet.
    pub(super) fn read(&self, window: &Window<'_>, max_depth: usize, parts: &mut Parts) {
        if let Some(end) = self.end.filter(|_| parts.fault.is_none()) {
            self.json.read(window, end, max_depth, parts);
        }
    }

    /// Why a call that was cut off is none: `what`, or a limit that its arguments passed before.
    pub(super) fn cut(arguments: Option<&Self>, what: &str, max_depth: usize) -> Fault {
        let limit = arguments.and_then(|arguments| arguments.json.limit_fault(max_depth));
        limit.unwrap_or_else(|| Fault::truncated(what))
    }
}
