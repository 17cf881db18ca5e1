//! An object with bare keys and texts between tokens.
//!
//! It is JSON as it comes ([`Delimited`]), which is emitted as far as it is valid.

use crate::json::window::{Match, No, Window, begins};
use crate::json::{Delimited, DelimitedStep, JsonStep, Lexer};
use crate::parse::call::CallOut;
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};

/// Error message for braces that hold, or are followed by, text that is no object of the dialect.
const UNREADABLE: &str = "a bracket or a token is where the arguments should continue";

/// Reader of an object with bare keys and texts between tokens, which converts it to JSON.
#[derive(Debug)]
pub(crate) struct DelimitedObject {
    body: Delimited,
    /// The JSON text of the object so far.
    json: String,
    lexer: Lexer,
    /// Offset in the JSON text up to which the lexer has read it; `told` is that up to which it was emitted.
    lexed: usize,
    told: usize,
    is_valid: bool,
}

impl DelimitedObject {
    /// Creates a reader of an object whose texts are each between two `token`s.
    pub(crate) fn new(token: &'static str, max_depth: usize) -> Self {
        let (body, lexer) = (Delimited::new(token, max_depth), Lexer::new(max_depth));
        DelimitedObject { body, json: String::new(), lexer, lexed: 0, told: 0, is_valid: true }
    }

    /// Reads more of an object that begins at `start`, from the cursor on; returns the offset at which it ends, or
    /// `None` if more text is needed.
    ///
    /// # Errors
    /// Returns the fault if the text is no such object, or is nested too deep.
    pub(crate) fn next(
        &mut self,
        start: u64,
        cursor: &mut u64,
        window: &Window<'_>,
        out: &mut CallOut<'_, '_>,
    ) -> Result<Option<u64>, Fault> {
        let step = self.body.next(window.from(*cursor), window.more, cursor, &mut self.json);
        self.emit(start, out);
        match step {
            DelimitedStep::More => Ok(None),
            DelimitedStep::End(at) => Ok(Some(at)),
            DelimitedStep::Unexpected => Err(Fault::malformed(UNREADABLE)),
            DelimitedStep::TooDeep => Err(Fault::too_deep(self.body.max_depth)),
        }
    }

    /// Checks whether `text`, which follows the object and is not its closer, continues it: `text` begins with the
    /// texts' token, or with anything but `<`. The object's last bracket then came too early (`gemma/member_after`).
    pub(crate) fn goes_on(&self, text: &str, more: bool) -> Match<()> {
        match begins(text, self.body.token, more) {
            Err(No) if !text.starts_with('<') => Ok(()),
            found => found,
        }
    }

    /// Reads the whole object, which was written as `text`, into the call.
    pub(crate) fn read(&self, text: &str, call: &mut UnresolvedCall) {
        let unchanged = call.take_json(text, &self.json, self.body.max_depth);
        call.restated = unchanged.is_some_and(|unchanged| unchanged < self.told);
    }

    /// Emits the part of the JSON that is certain to be valid. Its length differs from that of the text as written, so
    /// its span is empty, at `at`, the start of the object: the bytes are those of the call's end
    /// (`gemma/preview_stops`).
    fn emit(&mut self, at: u64, out: &mut CallOut<'_, '_>) {
        if out.is_over_limit() {
            // Nothing of it is read any more.
            self.is_valid = false;
            self.json.clear();
        }
        if !self.is_valid {
            return;
        }
        let mut cursor = self.lexed as u64;
        let step = self.lexer.next(&self.json.as_bytes()[self.lexed..], &mut cursor);
        self.lexed = cursor as usize;
        let to = match step {
            JsonStep::Fault(at) => {
                self.is_valid = false;
                self.lexer.safe(at) as usize
            }
            _ => self.lexer.safe(cursor) as usize,
        };
        if to > self.told {
            out.delta(at, &self.json[self.told..to]);
            self.told = to;
        }
    }
}
