//! The shape of a name, then an object with bare keys and texts between tokens.
//!
//! ```text
//! Lead ──▶ Body ──▶ Tail ──closer──▶ end
//!           │        ├──`<`, the stream's end──▶ end, `missing_close`
//!           │        └──something else──┐
//!           └──what fits nothing──▶ Junk ──closer, the next call──▶ end, malformed
//! ```
//!
//! The object is JSON as it comes ([`Delimited`]), which is handed on as far as it is valid.

use crate::dialect::NamedCall;
use crate::event::Repair;
use crate::json::window::{Answer, No, Undecided, Window, begins, leading_space};
use crate::json::{Delimited, DelimitedStep, LexStep, Lexer, read};
use crate::parse::call::{CallOut, CallShape, CalledTool, Ending, Missing, Step, kept_end};
use crate::parse::emit::damage::{CallCloser, CloserKind};
use crate::parse::emit::unresolved::{Fault, UnresolvedCall};
use crate::parse::marks::fence::think_close;
use crate::parse::marks::head::{closes, unit};
use crate::parse::tables::Tables;

/// What stands in the braces or behind them is no object of the dialect.
const UNREADABLE: &str = "a bracket or a token stands where the arguments should go on";

/// Something stands between the object and the call's closing token.
const GOES_ON: &str = "something stands between the arguments and the closing token";

/// An open call of a name and such an object.
#[derive(Debug)]
pub(crate) struct DelimitedCall {
    form: &'static NamedCall,
    token: &'static str,
    max_depth: usize,
    state: State,
    cursor: u64,
    call: UnresolvedCall,
    started: bool,
    body_start: u64,
    body: Delimited,
    preview: Preview,
    /// Where the object ends, once it does.
    complete_at: Option<u64>,
    /// The call is over the limit; see [`CallOut::is_over_limit`].
    over_limit: bool,
    too_deep: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Lead,
    Body,
    Tail,
    Junk,
}

impl DelimitedCall {
    /// A call of a server's tool whose name ends at `at`, with texts between two `token`s.
    pub(crate) fn new(
        form: &'static NamedCall,
        token: &'static str,
        called: CalledTool,
        at: u64,
        max_depth: usize,
    ) -> Self {
        DelimitedCall {
            form,
            token,
            max_depth,
            state: State::Lead,
            cursor: at,
            call: UnresolvedCall::of(called),
            started: false,
            body_start: at,
            body: Delimited::new(token, max_depth),
            preview: Preview { json: String::new(), lexer: Lexer::new(max_depth), lexed: 0, told: 0, is_valid: true },
            complete_at: None,
            over_limit: false,
            too_deep: false,
        }
    }

    fn body(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        let step = self.body.next(window.from(self.cursor), window.more, &mut self.cursor, &mut self.preview.json);
        self.preview.hand_on(self.body_start, out);
        match step {
            DelimitedStep::More => return Step::More,
            DelimitedStep::End(at) => {
                self.complete_at = Some(at);
                self.state = State::Tail;
                // Where nothing closes the call, the object's end does.
                if self.form.close.is_empty() {
                    return Step::End(at);
                }
            }
            DelimitedStep::Unexpected(_) => self.fails(Fault::malformed(UNREADABLE)),
            DelimitedStep::TooDeep(_) => {
                self.too_deep = true;
                self.fails(Fault::too_deep(self.max_depth));
            }
        }
        Step::Next
    }

    fn fails(&mut self, fault: Fault) {
        self.call.fault.get_or_insert(fault);
        self.complete_at = None;
        self.state = State::Junk;
    }

    /// Behind the object, at what is no white space.
    fn tail(&mut self, window: &Window<'_>) -> Step {
        let (rest, more) = (window.from(self.cursor), window.more);
        match (closes(self.form, rest, more), begins(rest, self.token, more)) {
            (Ok(length), _) => return Step::End(self.cursor + length as u64),
            (Err(Undecided), _) | (_, Err(Undecided)) => return Step::More,
            // A bracket stands too early (`gemma/member_behind`).
            (_, Ok(())) => {}
            (Err(No), Err(No)) if rest.starts_with('<') => {
                return self.ends_with(window).map_or(Step::More, Step::End);
            }
            (Err(No), Err(No)) => {}
        }
        self.fails(Fault::malformed(GOES_ON));
        Step::Next
    }

    /// In what cannot be read: up to the closer, the next call or the reasoning's end.
    fn junk(&mut self, window: &Window<'_>, think_ends: bool) -> Step {
        let rest = window.from(self.cursor);
        let Some(at) = memchr::memchr(b'<', rest.as_bytes()) else {
            self.cursor = window.end();
            return Step::More;
        };
        self.cursor += at as u64;
        let (rest, more) = (&rest[at..], window.more);
        let think = if think_ends { unit(think_close(rest, more)) } else { Err(No) };
        let next = self.form.opener().map_or(Err(No), |open| begins(rest, open, more));
        match (closes(self.form, rest, more), think.either(next)) {
            (Ok(length), _) => Step::End(self.cursor + length as u64),
            (_, Ok(())) => Step::End(self.cursor),
            (Err(Undecided), _) | (_, Err(Undecided)) => Step::More,
            (Err(No), Err(No)) => {
                self.cursor += 1;
                Step::Next
            }
        }
    }

    /// Where the call ended if nothing more belongs to it.
    fn completed(&self) -> Option<u64> {
        Some(kept_end(self.complete_at?, self.cursor, self.over_limit))
    }

    /// The same; that its closer is missing is noted. One that the stream's end cut off belongs
    /// to the call.
    fn ends_with(&mut self, window: &Window<'_>) -> Option<u64> {
        let at = self.completed()?;
        self.call.note(Repair::MissingClose);
        let cut = window.from(at).trim_start();
        let is_cut = !window.more && cut.len() > 1 && closes(self.form, cut, true) == Err(Undecided);
        Some(if is_cut { window.end() } else { at })
    }
}

impl CallShape for DelimitedCall {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        self.over_limit = out.is_over_limit();
        out.start_once(&mut self.started, self.cursor, &self.call);
        if matches!(self.state, State::Lead | State::Tail) {
            self.cursor += leading_space(window.from(self.cursor)) as u64;
        }
        let rest = window.from(self.cursor);
        match self.state {
            _ if rest.is_empty() => Step::More,
            State::Lead => {
                self.body_start = self.cursor;
                self.state = State::Body;
                Step::Next
            }
            State::Body => self.body(window, out),
            State::Tail => self.tail(window),
            State::Junk => self.junk(window, out.think_ends),
        }
    }

    fn due(&self, window: &Window<'_>, _: &Tables) -> Option<String> {
        let is_over = window.from(self.complete_at?).trim().is_empty();
        is_over.then(|| self.form.close.to_owned())
    }

    fn missing(&self, _: &Window<'_>, _: &Tables) -> Missing {
        let inner = if self.complete_at.is_none() { "}" } else { "" };
        Missing { inner: inner.to_owned(), close: self.form.close.to_owned() }
    }

    fn take_closer(&mut self, _: &Window<'_>, _: &Tables) {
        self.call.note(Repair::StopSequence);
    }

    fn ending(&mut self, window: &Window<'_>, _: &Tables) -> Ending {
        self.ends_with(window).map_or(Ending::Cut, Ending::Complete)
    }

    fn called(&self, _: &Tables) -> CalledTool {
        self.call.called()
    }

    fn resolve(mut self: Box<Self>, window: &Window<'_>, _: u64, _: &Tables) -> UnresolvedCall {
        let Some(end) = self.complete_at else { return self.call };
        let written = window.slice(self.body_start..end);
        self.call.raw_arguments = written.to_owned();
        match read(&Delimited::json(self.token, self.max_depth, written)) {
            Ok(found) => {
                self.call.restated = found.unchanged < self.preview.told;
                self.call.arguments = found.value;
                self.call.repairs.extend(found.repairs);
            }
            Err(error) => {
                self.call.fault = Some(Fault::malformed(format!("the arguments are not valid JSON: {error}")));
            }
        }
        self.call
    }

    fn needed_from(&self) -> u64 {
        self.completed().unwrap_or(self.cursor)
    }

    fn is_too_deep(&self) -> bool {
        self.too_deep
    }

    fn closer(&self) -> CallCloser {
        CallCloser::behind_json(CloserKind::Named(self.form))
    }

    /// What its tokens cut short no lexer sees.
    fn is_damaged(&self) -> bool {
        true
    }
}

/// The JSON so far, and what was handed on of it.
#[derive(Debug)]
struct Preview {
    json: String,
    lexer: Lexer,
    lexed: usize,
    told: usize,
    is_valid: bool,
}

impl Preview {
    /// Hands on what is known to be good. What is told is no longer as long as what was written, so
    /// that all of it stands at `at`, where the object begins: its bytes are told with the call's
    /// end (`gemma/preview_stops`).
    fn hand_on(&mut self, at: u64, out: &mut CallOut<'_, '_>) {
        self.is_valid &= !out.is_over_limit();
        if !self.is_valid {
            self.json.truncate(self.told);
            return;
        }
        let mut cursor = self.lexed as u64;
        let step = self.lexer.next(&self.json.as_bytes()[self.lexed..], &mut cursor);
        self.lexed = cursor as usize;
        let to = match step {
            LexStep::Fault(at) => {
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
