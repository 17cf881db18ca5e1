//! The state of the reader of calls in Python's syntax.

use super::reader::ArgumentsReader;
use crate::parse::call::{CalledTool, Place};
use crate::parse::emit::not_a_call::NotACallReason;

/// The form of a call or a list of calls in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SeriesForm {
    /// The form of one call, alone on its lines.
    #[default]
    Line,
    /// The form of a list of calls in square brackets.
    List,
    /// The form of one call in `print(…)`, as Gemma 3 writes it in its fence.
    Printed,
}

#[derive(Debug, Default)]
pub(super) enum SeriesState {
    /// The reader is before a tool's name; `may_end`: a list may end here, after a comma.
    Name { may_end: bool },
    /// The reader is in the parentheses of a call, which begins at this offset.
    Arguments(u64, Box<ArgumentsReader>),
    /// The reader is after a call inside a list.
    #[default]
    Between,
    /// The reader is after a list's closing bracket.
    AfterList,
    /// The reader is after a member of the series: a call on a line, or a list.
    After(After),
    /// The reader skips a call that cannot be read.
    Skip(Skip),
}

/// Reader of a series of calls in Python's syntax that may yet be text.
#[derive(Debug, Default)]
pub(crate) struct Python {
    /// Form of the open call or list.
    pub(super) form: SeriesForm,
    pub(super) place: Place,
    pub(super) state: SeriesState,
    pub(super) cursor: u64,
    /// Name of the open call, as it is written.
    pub(super) name: String,
    /// Server and tool of the first call.
    pub(super) first: Option<CalledTool>,
    pub(super) series: Series,
    /// `true` inside a comment that is not among a call's arguments.
    pub(super) in_comment: bool,
    /// `true` if a list inside the list is open.
    pub(super) is_nested: bool,
    /// `true` if no comma precedes the call that is read.
    pub(super) missing_comma: bool,
}

impl Python {
    /// Creates a reader of calls that begin at `place` in this form, with `before` bytes before the first name or
    /// bracket.
    pub(super) fn new(form: SeriesForm, place: Place, before: usize) -> Self {
        let mut python = Python { place, cursor: place.at + before as u64, ..Python::default() };
        python.open(form);
        python
    }

    /// Starts to read a call or a list that begins at the cursor.
    pub(super) fn open(&mut self, form: SeriesForm) {
        self.form = form;
        self.series.line |= matches!(form, SeriesForm::Line | SeriesForm::Printed);
        self.cursor += u64::from(form == SeriesForm::List);
        self.state = SeriesState::Name { may_end: false };
    }
}

/// State of a series of calls, all of which are calls or none.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// Offset after the last member that is final, whatever follows; `None` without one.
    pub(super) kept: Option<u64>,
    /// Reason why a member of the series cannot be read; `None` if all can.
    pub(super) failed: Option<NotACallReason>,
    /// Offset at which text of the series first turned out to be no call.
    pub(super) failed_at: Option<u64>,
    /// Offset after the last member, read or not.
    pub(super) end: u64,
    /// `true` if only members may be on this line, as a call outside a list demands.
    pub(super) line: bool,
    /// `true` if a list was repaired in a way that demands that only members are on its line.
    pub(super) needs_line: bool,
    /// `true` once a member of the series has begun.
    pub(super) begun: bool,
    /// `true` if the open call's tool is known.
    pub(super) is_known: bool,
    /// Offset after the last call of a list.
    pub(super) call_end: u64,
    /// `true` if a member that cannot be read continues after its line, as its parentheses are open there.
    pub(super) is_open: bool,
}

impl Series {
    /// Records that a member that ends at `end` cannot be read, and the reason.
    pub(super) fn fails(&mut self, why: NotACallReason, end: u64) {
        self.failed.get_or_insert(why);
        self.end = end;
    }
}

/// State of reading the text after a member of a series.
#[derive(Debug, Clone, Copy)]
pub(super) struct After {
    /// The comma or semicolon after the member; `None` before it was read.
    pub(super) separator: Option<u8>,
    /// Offset after the separator; a semicolon and a comment belong to the calls before them.
    pub(super) separated_at: u64,
    /// Offset at which the next line begins; `None` on the member's own line.
    pub(super) line: Option<u64>,
    /// Last byte of the member if that cannot be read; `None` if it was read.
    pub(super) skipped: Option<u8>,
}

/// State of skipping a member that cannot be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Skip {
    pub(super) why: NotACallReason,
    /// The last byte that is not white space, and the offset after it.
    pub(super) last: (u8, u64),
    /// `true` if a closing parenthesis came.
    pub(super) closed: bool,
    /// Number of open parentheses, the call's own included.
    pub(super) open: u32,
    /// `true` if a comment came after a closing parenthesis.
    pub(super) commented: bool,
}

impl Skip {
    /// Updates the state with `text`, which begins at offset `at` and contains no line break.
    pub(super) fn read(&mut self, text: &str, at: u64) {
        if self.commented {
            return;
        }
        let closer = memchr::memchr(b')', text.as_bytes());
        // Before the parenthesis a `#` may be in a text (`series/hash_in_a_value_and_a_comment`).
        let from = if self.closed { Some(0) } else { closer };
        let comment = from.and_then(|from| Some(from + memchr::memchr(b'#', &text.as_bytes()[from..])?));
        for byte in text[..comment.unwrap_or(text.len())].bytes() {
            match byte {
                b'(' => self.open += 1,
                b')' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
        let code = text[..comment.unwrap_or(text.len())].trim_ascii_end();
        if let Some(last) = code.bytes().next_back() {
            self.last = (last, at + code.len() as u64);
            self.closed |= closer.is_some();
        }
        self.commented = comment.is_some();
    }
}
