//! A byte stream to blocks of whole lines, as they arrive.

use std::io::{self, Read};

/// Bytes asked for in one read, so also about the size of a block: enough that
/// handing a block from thread to thread costs nothing beside reading it.
const READ: usize = 256 << 10;

/// Longest line. A longer one is not kept and becomes an error of its own.
pub(super) const MAX_LINE: usize = 256 << 20;

/// Whole lines that arrived together, or the mention of a line that is too long.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    /// Number of its first line, from 1.
    pub(super) first: u64,
    /// The lines with their line breaks; `None` for one line that is too long.
    pub(super) lines: Option<Vec<u8>>,
}

/// Cuts a stream into blocks. A block is handed on as soon as its last line is
/// complete: no line waits for another.
pub(super) struct Blocks<R> {
    input: R,
    max_line: usize,
    /// Bytes that were read and not yet returned.
    buffer: Vec<u8>,
    /// Bytes at its start that hold no line break: the start of a line.
    searched: usize,
    /// `true` if the arriving line is too long, so that its rest is dropped.
    dropping: bool,
    /// Number of the line that is arriving.
    line: u64,
    ended: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(input: R, max_line: usize) -> Self {
        Blocks { input, max_line, buffer: Vec::new(), searched: 0, dropping: false, line: 1, ended: false }
    }

    /// The next block; `None` at the end. Waits for input.
    pub(super) fn next(&mut self) -> io::Result<Option<Block>> {
        loop {
            if self.searched == self.buffer.len() && self.read()? == 0 {
                return Ok(self.last());
            }
            let new = &self.buffer[self.searched..];
            let Some(first_end) = memchr::memchr(b'\n', new).map(|at| self.searched + at) else {
                self.searched = self.buffer.len();
                self.drop_if_too_long();
                continue;
            };
            // The line that began earlier may have become too long with its last piece.
            if self.dropping || first_end > self.max_line {
                self.buffer.drain(..=first_end);
                self.searched = 0;
                return Ok(Some(self.too_long()));
            }
            let end = memchr::memrchr(b'\n', new).map_or(first_end, |at| self.searched + at) + 1;
            let rest = self.buffer[end..].to_vec();
            self.searched = rest.len();
            let mut lines = std::mem::replace(&mut self.buffer, rest);
            lines.truncate(end);
            let first = self.line;
            self.line += memchr::memchr_iter(b'\n', &lines).count() as u64;
            return Ok(Some(Block { first, lines: Some(lines) }));
        }
    }

    /// Appends what one read gives; its length, 0 at the end.
    fn read(&mut self) -> io::Result<usize> {
        let start = self.buffer.len();
        self.buffer.resize(start + READ, 0);
        let read = loop {
            match self.input.read(&mut self.buffer[start..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                done => break done,
            }
        };
        self.buffer.truncate(start + read.as_ref().map_or(0, |count| *count));
        read
    }

    fn drop_if_too_long(&mut self) {
        if self.dropping || self.buffer.len() > self.max_line {
            self.buffer = Vec::new();
            self.searched = 0;
            self.dropping = true;
        }
    }

    fn too_long(&mut self) -> Block {
        self.dropping = false;
        self.line += 1;
        Block { first: self.line - 1, lines: None }
    }

    /// Returns the last line if it has no line break.
    fn last(&mut self) -> Option<Block> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        if self.dropping {
            return Some(self.too_long());
        }
        let lines = std::mem::take(&mut self.buffer);
        self.searched = 0;
        (!lines.is_empty()).then_some(Block { first: self.line, lines: Some(lines) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives its pieces one read at a time.
    struct Pieces(Vec<&'static str>);

    impl Read for Pieces {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let piece = self.0.remove(0);
            buffer[..piece.len()].copy_from_slice(piece.as_bytes());
            Ok(piece.len())
        }
    }

    fn blocks(pieces: &[&'static str], max_line: usize) -> Vec<(u64, Option<String>)> {
        let mut blocks = Blocks::new(Pieces(pieces.to_vec()), max_line);
        let mut all = Vec::new();
        while let Some(block) = blocks.next().unwrap() {
            all.push((block.first, block.lines.map(|l| String::from_utf8(l).unwrap())));
        }
        assert!(blocks.next().unwrap().is_none());
        all
    }

    fn lines(first: u64, text: &str) -> (u64, Option<String>) {
        (first, Some(text.to_owned()))
    }

    #[test]
    fn complete_lines_are_handed_on_as_they_arrive() {
        assert_eq!(blocks(&["a\n", "b\nc\n", "d"], 99), [lines(1, "a\n"), lines(2, "b\nc\n"), lines(4, "d")]);
        assert_eq!(blocks(&["a", "a\nb", "b\n"], 99), [lines(1, "aa\n"), lines(2, "bb\n")]);
        assert_eq!(blocks(&["\n", "\n\n", "x\n"], 99), [lines(1, "\n"), lines(2, "\n\n"), lines(4, "x\n")]);
        assert_eq!(blocks(&[], 99), []);
    }

    #[test]
    fn a_line_at_the_limit_is_kept_and_one_past_it_is_not() {
        let long = |first| (first, None);
        assert_eq!(blocks(&["1234\n", "b\n"], 4), [lines(1, "1234\n"), lines(2, "b\n")]);
        assert_eq!(blocks(&["12", "34", "\nb\n"], 4), [lines(1, "1234\nb\n")]);
        assert_eq!(blocks(&["12", "345", "67", "8\nb\nc", "\n"], 4), [long(1), lines(2, "b\n"), lines(3, "c\n")]);
        assert_eq!(blocks(&["12", "345\nb\n"], 4), [long(1), lines(2, "b\n")]);
        assert_eq!(blocks(&["a\n12", "345"], 4), [lines(1, "a\n"), long(2)]);
        assert_eq!(blocks(&["12345", "6\n12345", "6\nb"], 4), [long(1), long(2), lines(3, "b")]);
    }
}
