//! Calls in Python's syntax: a line `f(a=1)`, a list `[f(a=1), g(b='x')]`, and series of them.
//!
//! ```text
//!   Name ──(──▶ Arguments ──)──▶ Between ──,──▶ Name           (in a list)
//!    │                             └──]──▶ AfterList ──▶ After
//!   Name ──(──▶ Arguments ──)──▶ After                         (on a line)
//!   After ──`,`, `;`, white space, and a further call or list──▶ Name
//!     └──anything else──▶ end
//!   Arguments ──no literal──▶ Skip ──the line's end──▶ After   (none of the series is a call)
//!   anything else: text
//! ```
//!
//! A call on a line is one only if nothing but a further call or a comment follows it
//! on the line. What ends a series is in `series.rs`, what a call says in `call.rs`.

mod begins;
mod call;
mod literal;
mod reader;
mod series;
mod state;

use crate::event::Repair;
use crate::json::window::{Answer, No, Undecided, Window, begins};
use crate::parse::call::{CallOut, CallShape, CalledTool, Step};
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::tables::Tables;
pub(crate) use begins::{Calls, MAX_INDENT, ToolCode, quoted_list_ahead};
use begins::{MAX_NAME, unknown_name};
use call::{call_of, split_name};
use reader::ArgumentsReader;
use state::{Python, SeriesForm, SeriesState};

impl Python {
    /// Reads the next token outside a call's parentheses, which is not white space: a name, a bracket, a separator or a
    /// comment.
    fn next_token(&mut self, rest: &str, out: &mut CallOut<'_, '_>, window: &Window<'_>) -> Step {
        let Some(byte) = rest.bytes().next() else { return Step::More };
        match (&self.state, byte) {
            (SeriesState::Name { may_end: true } | SeriesState::Between, b']') => {
                self.cursor += 1;
                let is_inner = std::mem::take(&mut self.is_nested);
                self.state = if is_inner { SeriesState::Between } else { SeriesState::AfterList };
            }
            (SeriesState::Between, b')') if self.form == SeriesForm::Printed => {
                self.form = SeriesForm::Line;
                self.member_ended(self.cursor + 1);
            }
            (SeriesState::Name { .. }, b'[') if self.form == SeriesForm::List && !self.is_nested => {
                self.is_nested = true;
                self.cursor += 1;
                self.state = SeriesState::Name { may_end: false };
            }
            (SeriesState::Between, b',' | b';') if byte == b',' || self.form == SeriesForm::List => {
                self.cursor += 1;
                self.state = SeriesState::Name { may_end: true };
            }
            // Else the list would be text, and a call on a later line of it one by itself
            // (`python/comments_in_a_list`).
            (_, b'#') if self.form == SeriesForm::List => self.in_comment = true,
            (SeriesState::Name { .. }, _) => return self.call_name(out, window),
            // A call on a further line (`python/list_without_commas`).
            (SeriesState::Between, _) if self.form == SeriesForm::List && self.begins_line(window) => {
                let (text, more) = window.candidate(self.cursor, out.tables.hold.max(MAX_NAME));
                match out.tables.names.called(text, more) {
                    Err(Undecided) => return Step::More,
                    Err(No) => return self.is_over(self.cursor, NotACallReason::NoFurtherCall),
                    Ok(_) => {}
                }
                self.missing_comma = true;
                return self.call_name(out, window);
            }
            _ => return self.is_over(self.cursor, NotACallReason::NoFurtherCall),
        }
        Step::Next
    }

    /// Returns `true` if a line break is between the last call of the list and the cursor.
    fn begins_line(&self, window: &Window<'_>) -> bool {
        window.slice(self.series.call_end..self.cursor).contains('\n')
    }

    fn call_name(&mut self, out: &mut CallOut<'_, '_>, window: &Window<'_>) -> Step {
        let tables = out.tables;
        let (rest, more) = window.candidate(self.cursor, tables.hold.max(MAX_NAME));
        let (length, is_known) = match tables.names.called(rest, more) {
            Ok(length) => (length, true),
            // The first is known: a further one that is not is a mistake, no text.
            Err(No) if self.first.is_some() => match unknown_name(rest, more) {
                Ok(length) => (length, false),
                Err(Undecided) => return Step::More,
                Err(No) => return self.is_over(self.cursor, NotACallReason::NoFurtherCall),
            },
            Err(No) => return self.is_over(self.cursor, NotACallReason::UnknownTool),
            Err(Undecided) => return Step::More,
        };
        let start = self.cursor;
        // The first of all is the one that the calls were opened for.
        if std::mem::replace(&mut self.series.begun, true) && !out.emitter.budget.takes_opening() {
            return self.past_openings();
        }
        rest[..length].clone_into(&mut self.name);
        self.series.is_known = is_known;
        self.cursor += length as u64 + 1;
        let reader = ArgumentsReader::new(self.cursor, tables.config.limits.depth, self.place.announced);
        self.state = SeriesState::Arguments(start, Box::new(reader));
        Step::Next
    }

    fn call_ended(&mut self, start: u64, end: u64, tables: &Tables, window: &Window<'_>) -> Step {
        let SeriesState::Arguments(_, reader) = std::mem::replace(&mut self.state, SeriesState::Between) else {
            return Step::Next;
        };
        let raw = window.slice(start + self.name.len() as u64 + 1..end - 1);
        let mut call = match call_of(&self.name, reader.arguments, raw, tables) {
            Ok(call) => call,
            Err(why) => return self.unreadable(end, why),
        };
        self.cursor = end;
        self.series.call_end = end;
        if std::mem::take(&mut self.missing_comma) {
            call.note(Repair::Syntax);
        }
        if self.form == SeriesForm::Line {
            self.member_ended(end);
        }
        // It was read only because it is by itself on its lines.
        self.series.needs_line |= call.repairs.contains(&Repair::InnerQuotes);
        self.first.get_or_insert_with(|| call.called());
        Step::Call(start..end, Box::new(call))
    }

    /// Decides about a list by `rest`, the text after its closing bracket.
    fn list_ended(&mut self, rest: &str, more: bool) -> Step {
        match begins(rest, "(", more).either(begins(rest, ":", more)) {
            // `[f(a=1)](…)` is a link, `[f(a=1)]: …` what one refers to.
            Ok(()) => self.is_over(self.cursor, NotACallReason::Link),
            Err(Undecided) => Step::More,
            Err(No) if self.place.is_quoted => {
                let end = self.cursor;
                self.series.failed.map_or(Step::End(end), |why| Step::Broken(end, why))
            }
            Err(No) => {
                // A list in which an apostrophe was mended is a call only alone on its lines.
                self.series.line |= self.series.needs_line && self.place.at_line_start;
                if self.series.needs_line && !self.place.at_line_start {
                    return self.is_over(self.cursor, NotACallReason::TextAfter);
                }
                self.member_ended(self.cursor);
                if self.series.line { Step::Next } else { self.keep(self.cursor) }
            }
        }
    }
}

impl CallShape for Python {
    fn step(&mut self, window: &Window<'_>, out: &mut CallOut<'_, '_>) -> Step {
        if let SeriesState::Arguments(start, reader) = &mut self.state {
            let start = *start;
            return match reader.next(window, out.think_ends) {
                Step::End(end) => self.call_ended(start, end, out.tables, window),
                Step::Text(at, why) => self.unreadable(at, why),
                step => step,
            };
        }
        if self.in_comment {
            self.in_comment = window.to_byte(b'\n', &mut self.cursor).is_none();
            if let SeriesState::After(after) = &mut self.state {
                after.separated_at = self.cursor;
            }
            return if self.in_comment { Step::More } else { Step::Next };
        }
        match self.state {
            SeriesState::AfterList => return self.list_ended(window.from(self.cursor), window.more),
            SeriesState::After(after) => return self.after(after, window, out),
            SeriesState::Skip(skip) => return self.skip(skip, window, out).unwrap_or(Step::More),
            _ => {}
        }
        let rest = window.past_space(&mut self.cursor);
        self.next_token(rest, out, window)
    }

    /// Returns the last step at the stream's end: a cut-off first call is one only if a parameter of its tool was
    /// named.
    fn ending(&mut self, window: &Window<'_>, tables: &Tables) -> Step {
        let named = match &self.state {
            SeriesState::AfterList if self.series.needs_line && !self.place.at_line_start => {
                return Step::Text(window.end(), NotACallReason::CutOff);
            }
            SeriesState::AfterList => {
                self.member_ended(self.cursor);
                return self.ending_of_series();
            }
            SeriesState::After(_) | SeriesState::Skip(_) => return self.ending_of_series(),
            _ if self.first.is_some() => return Step::More,
            SeriesState::Arguments(_, reader) => reader.first_keyword(),
            _ => None,
        };
        let (server, name) = split_name(&self.name, tables);
        match (named, tables.tool(server.as_deref(), &name)) {
            // A tool may have any parameter where none is known.
            (Some(keyword), Some(tool)) if tool.has_parameter(keyword) || tool.parameters().next().is_none() => {
                Step::More
            }
            _ => Step::Text(window.end(), NotACallReason::CutOff),
        }
    }

    /// Returns server and tool of the series' first call or, without one, of the open call.
    fn called(&self, tables: &Tables) -> CalledTool {
        self.first.clone().unwrap_or_else(|| {
            let (server, tool) = split_name(&self.name, tables);
            (server, Some(tool))
        })
    }

    fn failed_at(&self) -> Option<u64> {
        self.series.failed_at
    }

    fn is_damaged(&self) -> bool {
        self.series.is_open
    }

    fn at_limit(&mut self, at: u64) -> Step {
        match self.series.kept {
            Some(_) => self.is_over(at, NotACallReason::Limit),
            None => Step::Text(at, NotACallReason::Limit),
        }
    }

    fn ends_with_reasoning(&self) -> bool {
        false
    }
}
