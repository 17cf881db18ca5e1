//! A terminal for somebody who wants no colours (no-color.org): headings stay bold, rows can be taken back.

use std::io::{self, Write};

/// A writer that leaves colours out of what goes through it, and no other escape sequences.
pub(crate) struct Uncoloured<W> {
    out: W,
    /// An escape sequence that is not whole yet.
    open: Vec<u8>,
}

impl<W: Write> Uncoloured<W> {
    pub(crate) fn new(out: W) -> Self {
        Uncoloured { out, open: Vec::new() }
    }

    /// Takes a byte of an escape sequence; writes it once it is whole.
    fn go_on(&mut self, byte: u8) -> io::Result<()> {
        self.open.push(byte);
        match self.open.as_slice() {
            [_, b'['] | [_, b'[', .., b' '..=b'?'] => Ok(()),
            [_, b'[', params @ .., b'm'] => {
                let kept = without_colours(params);
                self.open.clear();
                if kept.is_empty() { Ok(()) } else { write!(self.out, "\x1b[{kept}m") }
            }
            whole => {
                let done = self.out.write_all(whole);
                self.open.clear();
                done
            }
        }
    }
}

impl<W: Write> Write for Uncoloured<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            if !self.open.is_empty() {
                self.go_on(*first)?;
                rest = &rest[1..];
                continue;
            }
            let plain = rest.iter().position(|byte| *byte == 0x1b).unwrap_or(rest.len());
            self.out.write_all(&rest[..plain])?;
            rest = &rest[plain..];
            if !rest.is_empty() {
                self.open.push(0x1b);
                rest = &rest[1..];
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// The parameters of a style (SGR) that are no colours; none at all reset the style.
fn without_colours(params: &[u8]) -> String {
    let text = String::from_utf8_lossy(params);
    if text.is_empty() {
        return "0".to_owned();
    }
    let (mut kept, mut params) = (Vec::new(), text.split(';'));
    while let Some(param) = params.next() {
        match param.parse::<u8>() {
            // What follows says which colour: one of 256, or three parts.
            Ok(38 | 48 | 58) => {
                let parts = if params.next() == Some("2") { 3 } else { 1 };
                params.by_ref().take(parts).for_each(drop);
            }
            Ok(30..=37 | 39..=47 | 49 | 59 | 90..=97 | 100..=107) => {}
            _ => kept.push(param),
        }
    }
    kept.join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_left_out_and_nothing_else() {
        for (text, left) in [
            ("a\x1b[31mb\x1b[0mc", "ab\x1b[0mc"),
            ("\x1b[1;38;5;208mx\x1b[m", "\x1b[1mx\x1b[0m"),
            ("\x1b[38;2;1;2;3;4mx", "\x1b[4mx"),
            ("\x1b[2K\x1b[3A\x1b[?25l\x1b7x", "\x1b[2K\x1b[3A\x1b[?25l\x1b7x"),
            ("é\x1b[97;44mü", "éü"),
        ] {
            let mut whole = Uncoloured::new(Vec::new());
            whole.write_all(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(whole.out).unwrap(), left, "{text:?}");
            let mut by_byte = Uncoloured::new(Vec::new());
            text.bytes().for_each(|byte| by_byte.write_all(&[byte]).unwrap());
            assert_eq!(String::from_utf8(by_byte.out).unwrap(), left, "{text:?}");
        }
    }
}
