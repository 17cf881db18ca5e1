//! The members and the end of a series of calls and lists: all of it is calls or none.
//!
//! A member is a known tool's name and its parenthesis, or a bracket and those, after a comma, a semicolon or a line
//! break, beside a list also after spaces; after a comma or semicolon also an unknown name with arguments that can be
//! read. Any other text ends the series. A member that cannot be read is skipped with its line, and then none is a
//! call.

use super::begins::{MAX_INDENT, MAX_NAME, list_ahead, unknown_name};
use super::state::{After, Python, SeriesForm, SeriesState, Skip};
use crate::json::window::{Answer, Match, No, Window};
use crate::parse::call::{CallOut, Step};
use crate::parse::emit::not_a_call::NotACallReason;
use crate::parse::marks::fence::{ends_message, fence_end};
use crate::parse::marks::kinds::Kinds;
use crate::parse::tables::Tables;

impl Python {
    /// Notes that a member of the series ended at offset `end`; the text after it is read next.
    pub(super) fn member_ended(&mut self, end: u64) {
        self.series.end = end;
        self.cursor = end;
        self.state = SeriesState::After(After { separator: None, separated_at: end, line: None, skipped: None });
    }

    /// Makes all members up to `end` final calls, whatever follows, unless one cannot be read.
    pub(super) fn keep(&mut self, end: u64) -> Step {
        self.series.end = end;
        if self.first.is_none() {
            self.series.line = false;
            return Step::Next;
        }
        self.series.kept = Some(end);
        self.series.line = false;
        self.series.needs_line = false;
        Step::Kept(end)
    }

    /// Reads the text after a member: a separator, the line's end, a further member, or something else.
    pub(super) fn after(&mut self, after: After, window: &Window<'_>, out: &CallOut<'_, '_>) -> Step {
        let rest = window.from(self.cursor);
        let Some(byte) = rest.bytes().next() else {
            let is_over = after.skipped.is_some() && !window.more;
            return if is_over { self.is_over(self.cursor, NotACallReason::CutOff) } else { Step::More };
        };
        match byte {
            b' ' | b'\t' | b'\r' => {
                self.cursor += rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count() as u64;
            }
            b'\n' => {
                self.cursor += 1;
                // After a comma the series goes on with the next line.
                let ends_line = after.line.is_none() && after.separator != Some(b',');
                self.state = SeriesState::After(After { line: Some(self.cursor), ..after });
                if ends_line && after.skipped.is_none() && self.is_due(after) {
                    return self.keep(after.separated_at);
                }
            }
            b',' | b';' if after.separator.is_none() && after.line.is_none() => {
                self.cursor += 1;
                self.state = SeriesState::After(After { separator: Some(byte), separated_at: self.cursor, ..after });
            }
            // Else it would be prose, and of a series only what follows would run
            // (`series/comments_after_calls`).
            b'#' if after.line.is_none() && after.skipped.is_none() && self.series.line => self.in_comment = true,
            _ => return self.further(after, window, out).unwrap_or(Step::More),
        }
        Step::Next
    }

    /// Returns `true` if members on this line are not final yet, and become so if the line ends here.
    fn is_due(&self, after: After) -> bool {
        self.series.line || self.series.kept.is_some_and(|end| end < after.separated_at)
    }

    /// Reads the text after a member that begins with neither white space nor a separator: a further member, or the
    /// series' end.
    fn further(&mut self, after: After, window: &Window<'_>, out: &CallOut<'_, '_>) -> Match<Step> {
        let tables = out.tables;
        let (text, more) = window.candidate(self.cursor, tables.hold.max(MAX_NAME));
        let list = if text.starts_with('[') { list_ahead(&tables.names, text, more) } else { Err(No) };
        let form = match text.as_bytes()[0] {
            b'[' if list != Err(No) => list,
            // Tokens begin with a bracket, too (`tokens/with_brackets_after_a_python_call`).
            b'<' | b'[' | b'`' | b'~' | b'\'' if after.line.is_none() => {
                let is_end = self.ends(text, out.think_ends, more).decided()?.is_some();
                // The end of the message ends the line as a line break does, unless a comma announces one
                // more member.
                if is_end && after.separator != Some(b',') && after.skipped.is_none() && self.is_due(after) {
                    return Ok(self.keep(after.separated_at));
                }
                Err(No)
            }
            _ => self.line_ahead(after, text, more, window, tables),
        };
        if let Some(form) = form.decided()? {
            self.open(form);
            return Ok(Step::Next);
        }
        Ok(match (after.line, self.series.failed) {
            // Two bytes tell what begins a line.
            (Some(_), Some(_)) if text.len() < 2 && more => Step::More,
            // What was broken over lines goes on there.
            (Some(_), Some(why)) if goes_on(after.skipped, text, tables) => self.skip_from(self.cursor, why),
            (line, _) => self.is_over(line.unwrap_or(self.cursor), NotACallReason::TextAfter),
        })
    }

    /// Matches a further call that is not in a list at the cursor, if its position allows one.
    fn line_ahead(
        &self,
        after: After,
        text: &str,
        more: bool,
        window: &Window<'_>,
        tables: &Tables,
    ) -> Match<SeriesForm> {
        let separated = after.separator.is_some();
        let is_code = |line: u64| self.cursor - line > MAX_INDENT || window.slice(line..self.cursor).contains('\t');
        // On a further line its indent must not be that of code (`series/no_comma_and_indented`); on the same
        // line a separator, or a list's bracket, is before it.
        let may_stand = match after.line {
            Some(line) => separated || !is_code(line),
            None => separated || self.form != SeriesForm::Line,
        };
        if !may_stand {
            return Err(No);
        }
        let known = tables.names.called(text, more);
        let any = match known {
            Err(No) if separated && after.skipped.is_none() => unknown_name(text, more),
            known => known,
        };
        any.map(|_| SeriesForm::Line)
    }

    /// Matches the end of the message, of its reasoning or of the fence at the start of `text`.
    fn ends(&self, text: &str, think_ends: bool, more: bool) -> Match<()> {
        let fence = self.place.fence.map_or(Err(No), |fence| fence_end(text, fence, think_ends, more).map(|_| ()));
        fence.either(ends_message(text, true, more))
    }

    /// Handles a member that cannot be read, and ends or continues at `at`: the rest of its line is skipped.
    pub(super) fn unreadable(&mut self, at: u64, why: NotACallReason) -> Step {
        // An unknown name and what is no literal is prose, as `[f(a=1)], say (or so)` is.
        if !self.series.is_known && self.form == SeriesForm::Line {
            return self.is_over(at, NotACallReason::TextAfter);
        }
        self.series.failed_at.get_or_insert(at);
        self.skip_from(at, why)
    }

    /// Ends the series at a further member, since the limit on examined beginnings of calls is reached.
    pub(super) fn past_openings(&mut self) -> Step {
        self.fails(NotACallReason::Limit, self.cursor);
        self.is_over(self.cursor, NotACallReason::Limit)
    }

    fn skip_from(&mut self, at: u64, why: NotACallReason) -> Step {
        self.cursor = at;
        self.state = SeriesState::Skip(Skip { why, last: (b'(', at), closed: false, open: 1, commented: false });
        Step::Next
    }

    /// Skips a member that cannot be read up to the end of its line.
    pub(super) fn skip(&mut self, mut skip: Skip, window: &Window<'_>, out: &CallOut<'_, '_>) -> Match<Step> {
        let rest = window.from(self.cursor);
        let stop = memchr::memchr3(b'\n', b'<', b'[', rest.as_bytes()).unwrap_or(rest.len());
        skip.read(&rest[..stop], self.cursor);
        self.cursor += stop as u64;
        self.state = SeriesState::Skip(skip);
        let tables = out.tables;
        let (text, more) = window.candidate(self.cursor, tables.hold);
        match text.bytes().next() {
            None if window.more => return Ok(Step::More),
            None | Some(b'\n') => return Ok(self.skipped(skip)),
            Some(b'<') => {
                if ends_message(text, out.think_ends, more).decided()?.is_some() {
                    return Ok(self.skipped(skip));
                }
                // Two bytes after it tell what begins there, and no more are looked at: where the chunk ends must not
                // matter (`python/closing_tag_in_a_value`).
                if text.len() < 3 && more {
                    return Ok(Step::More);
                }
                // A marker may be here, which is none of the series.
                if tables.lexicon.leads_tag(text) {
                    self.series.is_open = skip.open > 0;
                    self.fails(skip.why, self.cursor);
                    return Ok(self.is_over(self.cursor, skip.why));
                }
            }
            Some(_) => {
                if ends_message(text, false, more).decided()?.is_some() {
                    return Ok(self.skipped(skip));
                }
                // Text that comes first and is no call says nothing of a list after it.
                if self.first.is_none() && list_ahead(&tables.names, text, more).decided()?.is_some() {
                    self.series.is_open = skip.open > 0;
                    return Ok(Step::Text(self.cursor, skip.why));
                }
            }
        }
        skip.read(&text[..1], self.cursor);
        self.cursor += 1;
        self.state = SeriesState::Skip(skip);
        Ok(Step::Next)
    }

    /// Ends the line of a member that cannot be read: the text after it may be a further member.
    fn skipped(&mut self, skip: Skip) -> Step {
        let (last, end) = skip.last;
        self.series.is_open = skip.open > 0;
        if is_prose(skip) {
            return self.is_over(self.cursor, skip.why);
        }
        self.fails(skip.why, end);
        let separator = Some(last).filter(|last| matches!(last, b',' | b';'));
        self.state = SeriesState::After(After { separator, separated_at: end, line: None, skipped: Some(last) });
        Step::Next
    }

    /// Records that a member whose line ends at `end` cannot be read: everything up to there belongs to the series.
    fn fails(&mut self, why: NotACallReason, end: u64) {
        self.series.fails(why, end);
        if self.first.is_some() {
            self.series.kept = Some(end);
        }
    }

    /// Returns the step that ends the series: the text at `at` is no member, nor is the text after the last member that
    /// is [kept](Step::Kept).
    pub(super) fn is_over(&self, at: u64, why: NotACallReason) -> Step {
        // Where no member could be read, all is text.
        let read = self.series.kept.is_some() || self.place.after_calls;
        match (self.series.kept, self.series.failed) {
            (_, Some(failed)) if read => Step::Broken(self.series.end, failed),
            (Some(end), None) => Step::End(end),
            (_, failed) => Step::Text(at, failed.unwrap_or(why)),
        }
    }

    /// Returns the last step if the stream ends after a member, or in one that cannot be read.
    pub(super) fn ending_of_series(&mut self) -> Step {
        match self.state {
            SeriesState::Skip(skip) if !is_prose(skip) => self.fails(skip.why, skip.last.1),
            SeriesState::After(After { skipped: None, separator, separated_at, line }) => {
                // A comma announces one more.
                if separator == Some(b',') && self.series.line {
                    return Step::More;
                }
                if self.first.is_some() && line.is_none() {
                    let end = if separator == Some(b',') { self.series.end } else { separated_at };
                    (self.series.end, self.series.kept) = (end, Some(end));
                }
            }
            _ => {}
        }
        self.is_over(self.cursor, NotACallReason::CutOff)
    }
}

/// Returns `true` if a line that is no call continues as a sentence does after its parentheses.
///
/// A member of a series ends with a bracket, a quotation mark or a separator of members (`series/prose_about_a_tool`
/// and `series/middle_unreadable`).
fn is_prose(skip: Skip) -> bool {
    skip.closed && !matches!(skip.last.0, b')' | b']' | b'}' | b',' | b';' | b'"' | b'\'' | b'\\')
}

/// Returns `true` if `text`, at a line's start, continues a member that cannot be read.
///
/// `last` is the last byte of the line before, if that could not be read. A closing bracket, or a line that ends as no
/// member does, shows that the member continues (`series/over_lines_unreadable`, `series/list_over_lines_unreadable`).
fn goes_on(last: Option<u8>, text: &str, tables: &Tables) -> bool {
    let is_open = last.is_some_and(|last| matches!(last, b',' | b'(' | b'[' | b'{' | b'=' | b':'));
    text.starts_with([')', ']', '}'])
        || (is_open && tables.lexicon.line_leads(text.as_bytes(), Kinds::ALL) == Kinds::NONE)
}
