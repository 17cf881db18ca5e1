//! The state of the reader of calls in Python's syntax.

use super::reader::ArgumentsReader;
use crate::parse::call::{CalledTool, Place};
use crate::parse::emit::not_a_call::NotACallReason;

/// The form of a call or a list of calls in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum SeriesForm {
    /// One call, alone on its lines.
    #[default]
    Line,
    /// Calls in square brackets.
    List,
    /// One call that is printed, as Gemma 3 writes it in its fence.
    Printed,
}

#[derive(Debug, Default)]
pub(super) enum SeriesState {
    /// Before a name; after a comma a list may end.
    Name { may_end: bool },
    /// In the parentheses of a call, which begins at the first place.
    Arguments(u64, Box<ArgumentsReader>),
    /// After a call of a list.
    #[default]
    Between,
    /// After a list.
    AfterList,
    /// After a call on a line, or what may follow a list.
    After(After),
    /// In a call that cannot be read.
    Skip(Skip),
}

/// Calls in Python's syntax that may yet be text; see the module.
#[derive(Debug, Default)]
pub(crate) struct Python {
    /// The form of what is open.
    pub(super) form: SeriesForm,
    pub(super) place: Place,
    pub(super) state: SeriesState,
    pub(super) cursor: u64,
    /// Name of the open call, as it is written.
    pub(super) name: String,
    /// Server and tool of the first call.
    pub(super) first: Option<CalledTool>,
    pub(super) series: Series,
    /// In a comment between the calls of a list.
    pub(super) in_comment: bool,
    /// A list in the list is open.
    pub(super) is_nested: bool,
    /// No comma is before the call that is read.
    pub(super) missing_comma: bool,
}

impl Python {
    /// The calls that begin at this place in this form, with so many bytes before the first name or bracket.
    pub(super) fn new(form: SeriesForm, place: Place, before: usize) -> Self {
        let mut python = Python { place, cursor: place.at + before as u64, ..Python::default() };
        python.open(form);
        python
    }

    /// Goes on with a call or a list that begins at the cursor.
    pub(super) fn open(&mut self, form: SeriesForm) {
        self.form = form;
        self.series.line |= matches!(form, SeriesForm::Line | SeriesForm::Printed);
        self.cursor += u64::from(form == SeriesForm::List);
        self.state = SeriesState::Name { may_end: false };
    }
}

/// The state of a series.
#[derive(Debug, Default)]
pub(super) struct Series {
    /// After the last member that is one whatever follows, if there are such.
    pub(super) kept: Option<u64>,
    /// Why one of them cannot be read.
    pub(super) failed: Option<NotACallReason>,
    /// The position where something first was no call.
    pub(super) failed_at: Option<u64>,
    /// After the last member, read or not.
    pub(super) end: u64,
    /// Nothing but members may be on this line: a call without brackets does.
    pub(super) line: bool,
    /// A list was mended in a way that asks for the same.
    pub(super) needs_line: bool,
    /// A member of it began.
    pub(super) begun: bool,
    /// The open call's tool is known.
    pub(super) is_known: bool,
    /// After the last call of a list.
    pub(super) call_end: u64,
    /// A member that cannot be read goes on after its line: its parentheses are open there.
    pub(super) is_open: bool,
}

impl Series {
    /// A member that ends at `end` cannot be read.
    pub(super) fn fails(&mut self, why: NotACallReason, end: u64) {
        self.failed.get_or_insert(why);
        self.end = end;
    }
}

/// The text after a member.
#[derive(Debug, Clone, Copy)]
pub(super) struct After {
    /// A comma or a semicolon.
    pub(super) separator: Option<u8>,
    /// After it; a semicolon and a comment belong to the calls before them.
    pub(super) separated_at: u64,
    /// The position where the line begins, if a further one does.
    pub(super) line: Option<u64>,
    /// The last byte of a member that cannot be read, if this is after one.
    pub(super) skipped: Option<u8>,
}

/// The text of a member that cannot be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Skip {
    pub(super) why: NotACallReason,
    /// Last byte that is no white space, and where it ends.
    pub(super) last: (u8, u64),
    /// A closing parenthesis came.
    pub(super) closed: bool,
    /// Parentheses that are open, the call's own included.
    pub(super) open: u32,
    /// A comment came after that.
    pub(super) commented: bool,
}

impl Skip {
    /// Goes on after `text`, which is at `at` and ends no line.
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
