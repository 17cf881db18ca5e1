//! The two passes over a text: the parser, and the floor beside it.

use std::hint::black_box;

use toolgraft::event::Collector;
use toolgraft::message::FinishReason;
use toolgraft::{Event, Parser};

/// Cuts a text into pieces of `bytes`, each going on to the next boundary of a
/// character; `None` leaves it whole.
pub fn cut(text: &str, bytes: Option<usize>) -> Vec<&str> {
    let bytes = bytes.unwrap_or(text.len());
    let (mut rest, mut pieces) = (text, Vec::new());
    while !rest.is_empty() {
        let mut end = bytes.min(rest.len());
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// One message through the parser, every event looked at. Gives the number of
/// events. Callgrind counts what happens in here.
#[inline(never)]
pub fn parsed(parser: &mut Parser, chunks: &[&str]) -> usize {
    let mut events = 0;
    let mut sink = |event: Event<'_>| {
        events += 1;
        black_box(&event);
    };
    for chunk in chunks {
        parser.push(chunk, &mut sink);
    }
    parser.finish(&FinishReason::Stop, &mut sink);
    events
}

/// As [`parsed`], with everything put together by the library's own collector.
/// Gives the length of the content.
#[inline(never)]
pub fn parsed_and_collected(parser: &mut Parser, chunks: &[&str]) -> usize {
    let mut message = Collector::new();
    for chunk in chunks {
        parser.push(chunk, &mut |event| message.push(event));
    }
    parser.finish(&FinishReason::Stop, &mut |event| message.push(event));
    black_box(message.finish()).content.len()
}

/// The floor: a bare search for `<` in the same chunks. Gives how many there are.
#[inline(never)]
pub fn floor(chunks: &[&str]) -> usize {
    let mut found = 0;
    for chunk in chunks {
        for at in memchr::memchr_iter(b'<', chunk.as_bytes()) {
            black_box(at);
            found += 1;
        }
    }
    found
}
