//! A byte stream to blocks of whole lines, as they arrive.

use std::io::{self, BufRead, BufReader, Read};

/// Number of bytes requested in one read, and thus the approximate size of a block: large enough that passing a block
/// between threads costs little compared to parsing it.
const READ: usize = 256 << 10;

/// Maximum length of a line in bytes. A longer line is skipped and reported as an error.
pub(super) const MAX_LINE: usize = 256 << 20;

/// Complete lines that were read together, or a placeholder for a line that is too long.
#[derive(Debug, PartialEq)]
pub(super) struct Block {
    /// Line number of the block's first line, from 1.
    pub(super) first: u64,
    /// The lines with their line breaks; `None` for a single line that is too long.
    pub(super) lines: Option<Vec<u8>>,
}

/// Splits a byte stream into blocks of complete lines. A block is returned as soon as its last line is complete, so
/// that no line waits for later ones.
pub(super) struct Blocks<R> {
    input: BufReader<R>,
    max_line: usize,
    /// Line number of the line being read.
    line: u64,
    /// `true` if the line being read is too long; the rest of it is skipped.
    is_too_long: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(input: R, max_line: usize) -> Self {
        Blocks { input: BufReader::with_capacity(READ, input), max_line, line: 1, is_too_long: false }
    }

    /// Reads the next block, waiting for input; `None` at the end of the stream.
    pub(super) fn next(&mut self) -> io::Result<Option<Block>> {
        let (first, mut lines) = (self.line, Vec::new());
        loop {
            if std::mem::take(&mut self.is_too_long) {
                self.input.skip_until(b'\n')?;
                self.line += 1;
                return Ok(Some(Block { first, lines: None }));
            }
            let before = lines.len();
            // One byte more than the longest line, for its line break.
            let read = self.input.by_ref().take(self.max_line as u64 + 1).read_until(b'\n', &mut lines)?;
            self.is_too_long = read > self.max_line && !lines.ends_with(b"\n");
            let is_line = read > 0 && !self.is_too_long;
            self.line += u64::from(is_line);
            if self.is_too_long {
                lines.truncate(before);
            }
            // What is there already is taken too.
            let has_more = is_line && lines.len() < READ && memchr::memchr(b'\n', self.input.buffer()).is_some();
            // Lines before one that is too long go out first; it is reported by the next call.
            if !(has_more || self.is_too_long && lines.is_empty()) {
                return Ok((!lines.is_empty()).then_some(Block { first, lines: Some(lines) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns one of these pieces per read.
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
