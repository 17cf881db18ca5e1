//! Allocations, by an allocator that counts. It is linked here and nowhere else.

use std::hint::black_box;

use toolgraft::message::FinishReason;
use toolgraft_benches::case::Case;
use toolgraft_benches::corpus;
use toolgraft_benches::pass::cut;

/// Allocations of one pass, for each chunk. The parser is made before.
pub(crate) fn per_chunk(case: &Case, bytes: Option<usize>) -> f64 {
    let (text, mut parser) = (case.text(), case.parser());
    let chunks = cut(&text, bytes);
    let info = allocation_counter::measure(|| {
        black_box((case.pass)(&mut parser, &chunks));
    });
    info.count_total as f64 / chunks.len() as f64
}

/// Most bytes that were allocated at once while 100 MB of prose streamed through
/// in chunks of 16 bytes. The stream is one piece of text again and again, so
/// that the input itself takes no part.
pub(crate) fn peak_of_a_long_stream() -> u64 {
    let text = corpus::prose(1 << 20);
    let chunks = cut(&text, Some(16));
    let info = allocation_counter::measure(|| {
        let mut parser = Case::named("prose").expect("prose is a case").parser();
        for _ in 0..100 {
            for chunk in &chunks {
                parser.push(chunk, &mut |event| {
                    black_box(&event);
                });
            }
        }
        parser.finish(&FinishReason::Stop, &mut |event| {
            black_box(&event);
        });
    });
    info.bytes_max
}
