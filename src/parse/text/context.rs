//! Tracks the Markdown context of an offset between calls, to decide whether a call there is only quoted.
//!
//! ```text
//!   earlier lines ──▶ blank, code, in a list, a line that introduces an example
//!   the line's start ─▶ `>`, indent, `#`, `return`, …
//!   the line's end ──▶ marks that are open: `…, "…, <code>…       (the last 128 bytes)
//! ```
//!
//! Nearly all text only passes: its bytes are copied into a small buffer, and a line is
//! looked at when the buffer is full or something begins on it. A marker and a call end
//! what is known of their line, but for its start. The result depends only on the
//! stream, not on its chunks: on the first [`START`] bytes of a line, its last [`TAIL`],
//! and the result for the lines before.

mod lines;
mod marks;

use super::blocks::OpenBlock;
use crate::dialect::COMMENT_SIGNS;
use crate::event::QuotedIn;
use crate::json::window::{Window, last_char};
use lines::{LineStart, Lines, START, TAIL};
pub(super) use marks::Marks;

/// Capacity in bytes for text that was not examined yet, beside that for one short chunk.
const ROOM: usize = 4096 - SHORT;

/// Maximum length in bytes of a short chunk, for which the buffer always has space.
const SHORT: usize = 32;

/// Minimum number of bytes in which it is worth searching for a line that makes those before it irrelevant.
const WORTH: usize = 256;

/// Markdown context of the current offset in the text between calls.
pub(crate) struct Context {
    /// Text of the open line and of earlier lines that were not examined yet.
    bytes: [u8; ROOM + SHORT],
    length: usize,
    /// Offset in the buffer before which no line ends.
    searched: usize,
    /// `true` if the open line's first bytes were dropped.
    is_cut: bool,
    /// Offset up to which the context has read the text.
    pub(super) at: u64,
    lines: Lines,
    /// State of the lines before the open code fence; `None` outside a fence.
    before_fence: Option<Lines>,
    /// Marks of quotation that were open at the last call on the line and may be open after it.
    carried: Marks,
    /// Marks of quotation that are open at this offset, stored once they were asked for.
    marks_at: Option<(u64, Marks)>,
    /// The open block that quotes the text at the current offset.
    pub(super) block: Option<OpenBlock>,
}

impl Context {
    /// Creates the context of a text that starts at offset `at`.
    pub(super) fn new(at: u64) -> Self {
        Context {
            bytes: [0; ROOM + SHORT],
            length: 0,
            searched: 0,
            is_cut: false,
            at,
            lines: Lines::default(),
            before_fence: None,
            carried: Marks::default(),
            marks_at: None,
            block: None,
        }
    }

    /// Advances past plain text that the scanner skipped.
    #[inline]
    pub(crate) fn pass(&mut self, text: &str) {
        if !self.takes(text) {
            self.pass_long(text.as_bytes());
        }
    }

    /// Advances past plain text if it is short and the buffer has space for it; else returns `false`.
    #[inline(always)] // With each chunk.
    pub(crate) fn takes(&mut self, text: &str) -> bool {
        let (bytes, at) = (text.as_bytes(), self.length);
        if at > ROOM {
            return false;
        }
        // Blocks of one size, or two that overlap, need no loop.
        if let Ok(block) = <&[u8; 16]>::try_from(bytes) {
            self.bytes[at..at + 16].copy_from_slice(block);
            self.length = at + 16;
            return true;
        }
        if bytes.len() > SHORT {
            return false;
        }
        if bytes.len() >= 16 {
            copy_blocks::<16>(&mut self.bytes, at, bytes);
        } else if let [byte] = bytes {
            self.bytes[at] = *byte;
        } else if bytes.len() >= 8 {
            copy_blocks::<8>(&mut self.bytes, at, bytes);
        } else if bytes.len() >= 4 {
            copy_blocks::<4>(&mut self.bytes, at, bytes);
        } else {
            self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        }
        self.length = at + bytes.len();
        true
    }

    #[inline(never)]
    fn pass_long(&mut self, mut bytes: &[u8]) {
        let has_tag = |from: &usize| self.has_tag(&self.bytes[..self.length]) || self.has_tag(&bytes[..*from]);
        if let Some(from) = settled_from(bytes).filter(|from| !has_tag(from)) {
            self.settle();
            self.length = 0;
            bytes = &bytes[from..];
        }
        while !bytes.is_empty() {
            if self.length + bytes.len() > self.bytes.len() {
                self.make_room();
            }
            let taken = bytes.len().min(self.bytes.len() - self.length);
            self.bytes[self.length..][..taken].copy_from_slice(&bytes[..taken]);
            self.length += taken;
            bytes = &bytes[taken..];
        }
    }

    /// Frees space in the buffer: drops text that is not needed. Lines that do not affect those after them are not
    /// examined.
    fn make_room(&mut self) {
        self.drop_settled();
        if self.length > ROOM / 2 {
            self.tell();
            self.shorten();
        }
    }

    fn drop_settled(&mut self) {
        let from = settled_from(&self.bytes[self.searched..self.length]);
        // A tag in what is dropped says what the text after it is in.
        if let Some(from) = from.filter(|from| !self.has_tag(&self.bytes[..self.searched + from])) {
            self.bytes.copy_within(self.searched + from..self.length, 0);
            self.length -= self.searched + from;
            self.settle();
        }
    }

    /// Advances the context past the window's text up to offset `to`.
    pub(super) fn read(&mut self, window: &Window<'_>, to: u64) {
        if to > self.at {
            self.pass(window.slice(self.at..to));
            self.at = to;
        }
    }

    /// Advances past a call or syntax on the open line, which reaches from `start` to `at`.
    pub(super) fn after(&mut self, window: &Window<'_>, start: u64, at: u64) {
        self.read(window, start);
        self.tell();
        let line = &self.bytes[..self.length];
        self.lines.ends(&line[line.len().saturating_sub(TAIL)..]);
        let is_blank = lines::is_blank(line);
        self.lines.open = Some(self.line_with_code().after(is_blank));
        self.clear(at);
    }

    /// Sets the marks of quotation that were open at the last call and may be open after it.
    pub(super) fn carry(&mut self, marks: Marks) {
        self.carried = marks;
        (self.carried.direct, self.carried.run_before) = (None, 0);
    }

    /// Advances past syntax that begins a line, from `start` up to `at`.
    pub(super) fn new_line(&mut self, window: &Window<'_>, start: u64, at: u64) {
        self.read(window, start);
        self.tell();
        self.lines.after_syntax();
        self.carried = Marks::default();
        self.clear(at);
    }

    /// Saves the state of the lines before a code fence that opens here.
    pub(super) fn fence_opens(&mut self) {
        self.tell();
        self.before_fence = Some(self.lines);
    }

    /// Restores the state of the lines before the code fence, which is closed at `at`; `goes_on`: text follows on the
    /// line of its closer.
    pub(super) fn fence_closes(&mut self, at: u64, goes_on: bool) {
        self.lines = self.before_fence.take().unwrap_or(self.lines);
        self.lines.after_fence(goes_on);
        self.carried = Marks::default();
        self.clear(at);
    }

    /// Returns `true` if a line of `text` may open an element, or a tag in it may close the open one.
    fn has_tag(&self, text: &[u8]) -> bool {
        // What closes it may be cut.
        if self.lines.element.is_some() {
            return memchr::memchr2(b'<', b'>', text).is_some();
        }
        // Nearly no text has one.
        let Some(first) = memchr::memchr(b'<', text) else { return false };
        let text = &text[memchr::memrchr(b'\n', &text[..first]).map_or(0, |end| end + 1)..];
        let is_other = |byte: &&u8| !matches!(byte, b' ' | b'\t' | b'\r' | 0x0c);
        let begins_tag = |line: usize| text[line..].iter().find(is_other) == Some(&b'<');
        begins_tag(0) || memchr::memchr_iter(b'\n', text).any(|end| begins_tag(end + 1))
    }

    fn clear(&mut self, at: u64) {
        (self.length, self.searched, self.is_cut, self.at) = (0, 0, false, at);
        self.marks_at = None;
    }

    /// Returns the construct on earlier lines or at the line's start that quotes a call at the current offset; `None`
    /// without one. `in_group`: the call is in a group of calls, which has an indent of its own.
    pub(super) fn place(&mut self, in_group: bool) -> Option<QuotedIn> {
        if let Some(block) = self.block {
            return Some(block.quoted_in());
        }
        self.tell();
        let line = self.line();
        match () {
            () if self.lines.introduces && line.holds_only_calls(&self.bytes[..self.length]) => {
                Some(QuotedIn::OwnWords)
            }
            () if self.lines.triple.is_some() => Some(QuotedIn::Block),
            () if self.lines.is_quote(line) => Some(QuotedIn::BlockQuote),
            () if !in_group && self.lines.is_code(line) => Some(QuotedIn::IndentedCode),
            // The sign must be all of the line before the call: no call and no text that is gone is before
            // it.
            () => sign_before(&self.bytes[..self.length]).filter(|_| !line.has_syntax && !self.is_cut),
        }
    }

    /// Advances past the closer of a block, up to `at`.
    pub(super) fn block_closes(&mut self, window: &Window<'_>, at: u64) {
        self.block = None;
        self.read(window, at);
        self.tell();
        self.lines.after_block();
    }

    /// Returns the state of the lines that have ended.
    pub(super) fn lines(&mut self) -> &Lines {
        self.tell();
        &self.lines
    }

    /// Returns `true` if a list in Python's syntax at the current offset is a part of the code on its line.
    pub(super) fn is_code_around(&mut self) -> bool {
        self.tell();
        // Nor is a list in that list any other (`context/list_subscript_of_lists`).
        let before = self.bytes[..self.length].iter().rfind(|byte| **byte != b'[');
        let subscript = before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b')' | b']'));
        subscript || self.line_with_code().is_code
    }

    /// Returns `true` if the current offset is inside an element of an unknown name, an edit or a block of YAML.
    pub(super) fn in_element(&mut self) -> bool {
        self.tell();
        let columns = self.line().columns;
        self.lines.element.is_some_and(|open| !open.is_left_by(columns))
    }

    /// Updates the state of the lines where the reasoning begins or ends.
    pub(super) fn leave_region(&mut self) {
        self.tell();
        self.lines.leave();
    }

    /// Returns `true` if only calls and white space precede the current offset on its line.
    pub(super) fn begins_line(&mut self) -> bool {
        self.tell();
        self.line().holds_only_calls(&self.bytes[..self.length])
    }

    /// Returns the character before the current offset on its line; `None` at the line's start.
    pub(super) fn last(&self) -> Option<char> {
        last_char(&self.bytes[..self.length]).filter(|c| *c != '\n')
    }

    /// Returns the marks of quotation that are open on the line at the current offset.
    pub(super) fn marks(&mut self) -> Marks {
        self.tell();
        if self.length == 0 {
            return self.carried;
        }
        // A call is asked about where it may begin, and once more where it does.
        if let Some((at, marks)) = self.marks_at
            && at == self.at
        {
            return marks;
        }
        let marks = self.marks_of_line();
        self.marks_at = Some((self.at, marks));
        marks
    }

    fn marks_of_line(&self) -> Marks {
        let tail = &self.bytes[self.length.saturating_sub(TAIL)..self.length];
        let is_whole = self.length <= TAIL && !self.is_cut;
        // The first bytes may be the rest of a character.
        let skipped = tail.iter().take_while(|byte| (0x80..0xc0).contains(*byte)).count();
        let text = std::str::from_utf8(&tail[skipped..]).unwrap_or_default();
        let begins_line = is_whole && !self.lines.open.is_some_and(|line| line.has_syntax);
        Marks::open(if is_whole { self.carried } else { Marks::default() }, text, begins_line)
    }

    /// Resets the state of the lines: those so far do not affect those that follow.
    fn settle(&mut self) {
        self.lines = self.lines.settled();
        (self.searched, self.is_cut, self.carried) = (0, false, Marks::default());
    }

    /// Updates the state of the lines with those that have ended.
    #[inline]
    fn tell(&mut self) {
        if self.searched < self.length {
            self.tell_lines();
        }
    }

    fn tell_lines(&mut self) {
        if self.length - self.searched >= WORTH {
            self.drop_settled();
        }
        let mut from = 0;
        while let Some(found) = memchr::memchr(b'\n', &self.bytes[self.searched..self.length]) {
            let end = self.searched + found;
            let line = &self.bytes[from..end];
            let tail = &line[line.len().saturating_sub(TAIL)..];
            self.lines.line(line, tail, !self.is_cut && line.len() <= TAIL);
            from = end + 1;
            self.searched = from;
            self.is_cut = false;
            self.carried = Marks::default();
        }
        if from > 0 {
            self.bytes.copy_within(from..self.length, 0);
            self.length -= from;
        }
        self.searched = self.length;
    }

    /// Drops the bytes of a long line that are not needed: all but its last ones.
    fn shorten(&mut self) {
        if self.length > TAIL {
            let gone = &self.bytes[..self.length - TAIL];
            let is_blank = lines::is_blank(gone);
            let mut line = self.line_with_code();
            line.is_blank &= is_blank;
            self.lines.open = Some(line);
            self.bytes.copy_within(self.length - TAIL..self.length, 0);
            (self.length, self.searched, self.is_cut) = (TAIL, TAIL, true);
        }
    }

    /// Returns the classification of the open line by its first bytes.
    fn line(&self) -> LineStart {
        self.lines.open.unwrap_or_else(|| LineStart::of(&self.bytes[..self.length.min(START)]))
    }

    /// Returns the classification of the open line by its first bytes, and whether it is code, which only lists of
    /// calls need.
    fn line_with_code(&mut self) -> LineStart {
        let line = self.lines.open.unwrap_or_else(|| LineStart::with_code(&self.bytes[..self.length.min(START)]));
        // All bytes that say what the line is are at hand, and later they may be gone.
        if self.length >= START {
            self.lines.open = Some(line);
        }
        line
    }
}

/// Returns the kind of quotation if `line`, the text on a line before a call, is the sign of a comment or of a diff and
/// nothing else; else `None`.
fn sign_before(line: &[u8]) -> Option<QuotedIn> {
    // A diff's sign is in its first column and touches what it is about; one of a list does not.
    if matches!(line, b"-" | b"+") {
        return Some(QuotedIn::Sign);
    }
    let sign = std::str::from_utf8(line.trim_ascii()).ok()?;
    COMMENT_SIGNS.contains(&sign).then_some(QuotedIn::Comment)
}

/// Returns the offset of the last complete line that makes those before it irrelevant: an unindented line of text after
/// a blank one, which ends lists and code alike. `None` without one.
fn settled_from(text: &[u8]) -> Option<usize> {
    if text.len() < WORTH {
        return None;
    }
    let mut end = memchr::memrchr(b'\n', text)?;
    while let Some(found) = memchr::memrchr(b'\n', &text[..end]) {
        let begins_text = |byte: u8| byte.is_ascii_alphabetic() || byte >= 0x80;
        if found > 0 && text[found - 1] == b'\n' && begins_text(text[found + 1]) {
            return Some(found + 1);
        }
        end = found;
    }
    None
}

/// Copies `from`, which has the length of one or two blocks of `N` bytes, to `at`.
#[inline(always)]
fn copy_blocks<const N: usize>(to: &mut [u8; ROOM + SHORT], at: usize, from: &[u8]) {
    if let (Some(first), Some(last)) = (from.first_chunk::<N>(), from.last_chunk::<N>()) {
        to[at..at + N].copy_from_slice(first);
        if from.len() > N {
            let end = at + from.len();
            to[end - N..end].copy_from_slice(last);
        }
    }
}
