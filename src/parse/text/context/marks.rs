//! Marks around what is quoted in a line: runs of backticks, quotation marks, code tags.

use crate::event::QuotedIn;
use crate::json::window::{Answer, Match, No, Undecided, begins, first_of};

/// Pairs of opening and closing quotation marks.
const QUOTATION: [(char, char); 10] = [
    ('"', '"'),
    ('\'', '\''),
    ('＂', '＂'),
    ('＇', '＇'),
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('«', '»'),
    ('「', '」'),
    ('『', '』'),
];

/// Opening tags, without their end, and closing tags around code, quotations and deleted text.
const TAGS: [(&str, &str); 7] = [
    ("<code", "</code>"),
    ("<pre", "</pre>"),
    ("<samp", "</samp>"),
    ("<kbd", "</kbd>"),
    ("<tt", "</tt>"),
    ("<q", "</q>"),
    ("<del", "</del>"),
];

/// Delimiter around text that is struck out.
const STRIKE: &str = "~~";

/// For each byte, `true` if a mark of quotation may begin with it.
const MAY_BE_MARK: [bool; 256] = {
    let (mut may_be, mut byte) = ([false; 256], 0);
    while byte < 256 {
        may_be[byte] = matches!(byte as u8, b'`' | b'<' | b'"' | b'\'' | b'~' | b'\\' | 0x80..);
        byte += 1;
    }
    may_be
};

/// Maximum length of a run of backticks that quotes within a line.
const MAX_RUN: usize = 2;

/// Marks of quotation that are open at an offset in a line.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Marks {
    /// For each length less one, `true` if a run of backticks is open.
    runs: [bool; MAX_RUN],
    /// Set of the open quotation marks, one bit for each index in [`QUOTATION`].
    quotations: u16,
    /// For each index in [`TAGS`], `true` if the tag is open.
    tags: [bool; TAGS.len()],
    /// `true` inside text that is struck out.
    struck: bool,
    /// Kind of quotation of a call at this offset, by the mark right before it; `None` without one.
    pub(crate) direct: Option<QuotedIn>,
    /// Length of the run of backticks right before this offset; 0 without one.
    pub(crate) run_before: usize,
}

impl Marks {
    /// Returns the marks that are open after `text`, if `open` were open before it. `begins_line`: `text` is all of the
    /// line so far.
    pub(super) fn open(open: Marks, text: &str, begins_line: bool) -> Self {
        let mut marks = Marks { direct: None, run_before: 0, ..open };
        let mut before_runs = [marks.runs; MAX_RUN];
        let mut at = 0;
        while let Some(found) = text.as_bytes()[at..].iter().position(|byte| MAY_BE_MARK[usize::from(*byte)]) {
            at += found;
            let rest = &text[at..];
            let before = || text[..at].chars().next_back().or(begins_line.then_some(' '));
            let mut chars = rest.chars();
            at += match chars.next() {
                None => break,
                Some('`') => {
                    let length = rest.bytes().take_while(|byte| *byte == b'`').count();
                    if length == rest.len() {
                        marks.direct = Some(QuotedIn::CodeSpan);
                        marks.run_before = length;
                    }
                    // A backtick after a backslash is none of the run.
                    marks.run(length - usize::from(before() == Some('\\')), &mut before_runs);
                    length
                }
                Some('<') => {
                    marks.tag(rest);
                    1
                }
                Some('~') => {
                    let length = rest.bytes().take_while(|byte| *byte == b'~').count();
                    if length == STRIKE.len() {
                        marks.struck = !marks.struck;
                        if length == rest.len() && marks.struck {
                            marks.direct = Some(QuotedIn::Sign);
                        }
                    }
                    length
                }
                Some('\\') => {
                    let length = rest.bytes().take_while(|byte| *byte == b'\\').count();
                    // Two backslashes are one that is meant.
                    if length == rest.len() && length % 2 == 1 {
                        marks.direct = Some(QuotedIn::Sign);
                    }
                    length
                }
                Some(c) => {
                    marks.quotation(c, before(), chars.next());
                    c.len_utf8()
                }
            };
        }
        marks
    }

    fn run(&mut self, length: usize, before_runs: &mut [[bool; MAX_RUN]; MAX_RUN]) {
        let Some(index) = length.checked_sub(1).filter(|index| *index < MAX_RUN) else { return };
        if self.runs[index] {
            // What is in a span opens nothing.
            self.runs = before_runs[index];
        } else {
            before_runs[index] = self.runs;
            self.runs[index] = true;
        }
    }

    fn tag(&mut self, rest: &str) {
        if !rest.as_bytes().get(1).is_some_and(|byte| *byte == b'/' || byte.is_ascii_alphabetic()) {
            return;
        }
        for (index, (open, close)) in TAGS.into_iter().enumerate() {
            if rest.starts_with(close) {
                self.tags[index] = false;
            } else if let Some(attributes) = rest.strip_prefix(open).filter(|rest| rest.starts_with(['>', ' ']))
                && let Some(end) = attributes.find('>')
            {
                self.tags[index] = true;
                if end + 1 == attributes.len() {
                    self.direct = Some(QuotedIn::CodeSpan);
                }
            }
        }
    }

    fn quotation(&mut self, c: char, before: Option<char>, next: Option<char>) {
        let mut closed = false;
        for (index, _) in QUOTATION.iter().enumerate().filter(|(_, (_, close))| *close == c) {
            closed |= self.quotations & 1 << index != 0 && ends_quotation(c, next);
            if closed {
                self.quotations &= !(1 << index);
            }
        }
        let opens = QUOTATION.iter().position(|(open, _)| *open == c);
        if let Some(index) = opens.filter(|_| !closed) {
            let is_last = next.is_none();
            // A mark that also closes opens only where a word may begin, or right before a call.
            if is_last || QUOTATION[index].1 != c || before.is_some_and(may_open_after) {
                self.quotations |= 1 << index;
            }
        }
        // A curly mark that closes quotes a call right after it, too.
        if next.is_none() && (opens.is_some() || matches!(c, '”' | '’')) {
            self.direct = Some(QuotedIn::Quotation);
        }
    }

    /// Checks whether the run of backticks right before a tag is repeated right after it, at the start of `after`: the
    /// two runs belong together, whatever is open before them.
    pub(crate) fn encloses(self, after: &str, more: bool) -> Match<()> {
        let run = after.bytes().take_while(|byte| *byte == b'`').count();
        match self.run_before {
            0 => Err(No),
            // A run that reaches the end of what is at hand may be longer.
            before if run <= before && run == after.len() && more => Err(Undecided),
            before if run == before => Ok(()),
            _ => Err(No),
        }
    }

    /// Returns these marks without those that may be apostrophes.
    pub(crate) fn without_apostrophes(mut self) -> Self {
        for (index, (open, _)) in QUOTATION.iter().enumerate() {
            let is_apostrophe = matches!(open, '\'' | '＇' | '‘');
            if is_apostrophe && self.direct != Some(QuotedIn::Quotation) {
                self.quotations &= !(1 << index);
            }
        }
        self
    }

    pub(crate) fn is_empty(self) -> bool {
        let has_tags = self.tags != [false; TAGS.len()];
        // `direct` and `run_before` tell what is right before the place, and are no open marks.
        self.runs == [false; MAX_RUN] && self.quotations == 0 && !has_tags && !self.struck
    }

    /// Returns the kind of quotation of a call in the midst of a line, if `text`, which follows it, has neither the
    /// line's end nor another call, so that the closing mark may be further on; else `None`.
    pub(crate) fn go_on_in(self, text: &str, begins_call: impl Fn(&str) -> bool) -> Option<QuotedIn> {
        let marks = self.without_apostrophes();
        let quoted_in = match () {
            () if marks.runs != [false; MAX_RUN] => QuotedIn::CodeSpan,
            () if marks.quotations != 0 => QuotedIn::Quotation,
            () => return None,
        };
        let mut places = memchr::memchr3_iter(b'\n', b'<', b'[', text.as_bytes());
        let ends = |at: usize| text[at..].starts_with('\n') || begins_call(&text[at..]);
        (!places.any(ends)).then_some(quoted_in)
    }

    /// Checks whether one of these marks is closed in `text`, on its first line and before anything that `begins_call`;
    /// returns the kind of quotation.
    pub(crate) fn closed_in(self, text: &str, more: bool, begins_call: impl Fn(&str) -> bool) -> Match<QuotedIn> {
        if self.is_empty() {
            return Err(No);
        }
        let open_end = if more { Err(Undecided) } else { Err(No) };
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let rest = &text[at..];
            match c {
                '\n' => return Err(No),
                '`' => {
                    let length = rest.bytes().take_while(|byte| *byte == b'`').count();
                    if length == rest.len() && more {
                        return Err(Undecided);
                    }
                    if self.runs.get(length - 1) == Some(&true) {
                        return Ok(QuotedIn::CodeSpan);
                    }
                    chars.by_ref().take(length - 1).for_each(drop);
                }
                '~' if self.struck => {
                    if begins(rest, STRIKE, more).decided()?.is_some() {
                        return Ok(QuotedIn::Sign);
                    }
                }
                '<' | '[' => {
                    let tags = TAGS.iter().zip(self.tags).filter(|(_, is_open)| *is_open);
                    if first_of(tags.map(|((_, close), _)| begins(rest, close, more))).decided()?.is_some() {
                        return Ok(QuotedIn::CodeSpan);
                    }
                    if begins_call(rest) {
                        return Err(No);
                    }
                }
                _ => {
                    let mut open = QUOTATION.iter().enumerate().filter(|(index, _)| self.quotations & 1 << index != 0);
                    if open.any(|(_, (_, close))| *close == c) {
                        let next = chars.peek().map(|(_, next)| *next);
                        // The next character tells a closing mark from an apostrophe.
                        if next.is_none() && more && is_apostrophe(c) {
                            return Err(Undecided);
                        }
                        if ends_quotation(c, next) {
                            return Ok(QuotedIn::Quotation);
                        }
                    }
                }
            }
        }
        open_end
    }
}

/// Returns `true` if the closing mark `close` ends its quotation before `next`: an apostrophe in a word does not.
fn ends_quotation(close: char, next: Option<char>) -> bool {
    !(is_apostrophe(close) && next.is_some_and(char::is_alphanumeric))
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '’' | '＇')
}

/// Returns `true` if a mark after `c` may open a quotation: after white space, an opening bracket, or a script without
/// spaces between words.
fn may_open_after(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | '[' | '{' | '<') || c >= '\u{2e80}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(before: &str, after: &str) -> Match<QuotedIn> {
        let marks = Marks::open(Marks::default(), before, true);
        let (all, begins_call) = (marks.closed_in(after, false, |_| false), |rest: &str| rest.starts_with("<call>"));
        for (end, _) in after.char_indices() {
            let so_far = marks.closed_in(&after[..end], true, begins_call);
            assert!(so_far == Err(Undecided) || so_far == all, "{before}…{}", &after[..end]);
        }
        all
    }

    #[test]
    fn what_opens_before_and_closes_after_quotes() {
        let (span, quotation) = (Ok(QuotedIn::CodeSpan), Ok(QuotedIn::Quotation));
        for (before, after, found) in [
            ("`like this: ", "` is it", span),
            ("``a ` b ", "``", span),
            ("``a ` b ", "`", span),
            ("`a` and `b` ", "`", Err(No)),
            ("``a ` b`` ", "`", Err(No)),
            ("`` a ", "`", Err(No)),
            ("``` a ", "```", Err(No)),
            ("\\`a ", "`", Err(No)),
            ("`a ", "\n`", Err(No)),
            ("say \"please ", " now\"", quotation),
            ("5\" of ", "\"", Err(No)),
            ("say \"a\" ", "\"", Err(No)),
            ("'tis ", " don't", Err(No)),
            ("'tis ", " done'", quotation),
            ("请写“例如 ", "”", quotation),
            ("写「 ", "」", quotation),
            ("写\"例如 ", "\"", quotation),
            ("<code>like ", "</code>", span),
            ("<code class=\"x\">a</code> ", "</code>", Err(No)),
            ("plain ", "`\"'", Err(No)),
        ] {
            assert_eq!(closed(before, after), found, "{before}…{after}");
        }
    }

    #[test]
    fn every_mark_may_begin_with_its_first_byte() {
        let marks = QUOTATION.iter().flat_map(|(open, close)| [open.to_string(), close.to_string()]);
        for mark in marks.chain(TAGS.iter().flat_map(|(open, close)| [open.to_string(), close.to_string()])) {
            assert!(MAY_BE_MARK[usize::from(mark.as_bytes()[0])], "{mark}");
        }
    }

    #[test]
    fn a_mark_right_before_is_told() {
        for (text, direct) in [
            ("`", Some(QuotedIn::CodeSpan)),
            ("a ```", Some(QuotedIn::CodeSpan)),
            ("<code>", Some(QuotedIn::CodeSpan)),
            ("a\"", Some(QuotedIn::Quotation)),
            ("“", Some(QuotedIn::Quotation)),
            ("”", Some(QuotedIn::Quotation)),
            ("\" ", None),
            ("</code>", None),
            ("", None),
        ] {
            assert_eq!(Marks::open(Marks::default(), text, true).direct, direct, "{text}");
        }
    }
}
