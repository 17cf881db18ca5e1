//! Messages with calls in every supported syntax, written from the input's bytes, then damaged in
//! one or a few places.
//!
//! Intact calls are found exactly, with their arguments and the prose around them. In the damaged
//! message no call runs with arguments that a careful reader would not accept (`reader`); one that
//! is truncated runs only with all intended arguments. A new dialect is included automatically, as
//! written by `write_call`; its other spellings are added to `spellings`.
//!
//! A second message has calls in places where they must not run (quoted, in another role's turn, or
//! in the reasoning) and calls next to them that must run (`placed`).
//!
//! A third message is a call whose text contains another one, with damage between the two
//! (`nested`).

#![cfg_attr(fuzzing, no_main)]

mod bytes;
mod call;
#[cfg(fuzzing)]
#[path = "../cuts.rs"]
mod cuts;
mod damage;
mod meant;
mod nested;
mod placed;
mod places;
mod reader;
mod spellings;
mod syntax;

use bytes::Bytes;
use call::CATALOG;
use meant::Meant;
use nested::Nested;
use placed::Placed;
use toolgraft::event::Assembled;
use toolgraft::message::FinishReason;
use toolgraft::parse::Config;
use toolgraft_testkit::laws::{self, Input};

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz(data));

/// Tests one input.
pub(crate) fn fuzz(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let meant = Meant::write(&mut bytes);
    let cuts = bytes.cuts(meant.text.len());
    let found = parse(&meant.text, FinishReason::Stop, &cuts);
    intact(&meant, &found);

    let damaged = damage::damage(&meant, &mut bytes);
    let reason = if bytes.one_in(4) { FinishReason::Length } else { FinishReason::Stop };
    let found = parse(&damaged.text, reason, &cuts);
    if let Err(why) = reader::accepts(&meant, &damaged, &found) {
        panic!("{why}\n  meant: {meant:?}\ndamaged: {damaged:?}\n  found: {found:?}");
    }

    // From the other end, so that the earlier choices remain unchanged.
    let backwards: Vec<u8> = data.iter().rev().copied().collect();
    let mut bytes = Bytes::new(&backwards);
    let placed = Placed::write(&mut bytes);
    let cuts = bytes.cuts(placed.meant.text.len());
    let found = parse(&placed.meant.text, FinishReason::Stop, &cuts);
    if let Err(why) = placed.check(&found) {
        panic!("{why}\n placed: {placed:?}\n  found: {found:?}");
    }

    // The third message begins at the middle of the input.
    fuzz_nested(&data[data.len() / 2..]);
}

pub(crate) fn fuzz_nested(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let Some(nested) = Nested::write(&mut bytes) else { return };
    let cuts = bytes.cuts(nested.0.len());
    let found = parse(&nested.0, FinishReason::Stop, &cuts);
    if let Err(why) = nested.check(&found) {
        panic!("{why}\n nested: {nested:?}\n  found: {found:?}");
    }
}

fn parse(text: &str, reason: FinishReason, cuts: &[usize]) -> Assembled {
    let config = Config::default().with_catalog(CATALOG.clone());
    let input = Input { reasoning_field: String::new(), text: text.to_owned(), reason, config };
    laws::check(&input, &[cuts.to_vec()]).unwrap_or_else(|broken| panic!("{broken}\n{text:?}"))
}

fn intact(meant: &Meant, found: &Assembled) {
    let calls: Vec<_> = found.calls().collect();
    let same = calls.len() == meant.calls.len()
        && calls.iter().zip(&meant.calls).all(|(found, meant)| meant.is(found))
        && found.rejected().next().is_none()
        && without_space(&found.content) == without_space(&meant.prose);
    assert!(same, "an intact message is not read as it was meant\n{meant:?}\n{found:?}");
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}
