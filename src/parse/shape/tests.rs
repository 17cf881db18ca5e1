//! The smallest shapes, which no dialect has: each shows what a further one needs.

pub(super) mod smallest;
pub(super) mod smallest_bare;

use crate::event::{Assembled, Collector};
use crate::message::FinishReason;
use crate::parse::{Config, Parser};

/// Returns the parsed message, after asserting that it is the same however the text is cut.
fn read(text: &str) -> Assembled {
    let whole = of_chunks([text]);
    for (at, _) in text.char_indices() {
        assert_eq!(of_chunks([&text[..at], &text[at..]]), whole, "{at}");
    }
    assert_eq!(of_chunks(text.split_inclusive(|_: char| true)), whole);
    whole
}

fn of_chunks<'t>(chunks: impl IntoIterator<Item = &'t str>) -> Assembled {
    let mut parser = Parser::new(Config::default());
    let mut collector = Collector::new();
    chunks.into_iter().for_each(|chunk| parser.push(chunk, &mut |event| collector.push(event)));
    parser.finish(&FinishReason::Stop, &mut |event| collector.push(event));
    collector.finish()
}
