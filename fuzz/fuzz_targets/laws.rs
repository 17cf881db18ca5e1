//! Any text, cut anywhere, with any configuration: the parser's laws hold.
//!
//! The first four bytes are the configuration and the seed of the cuts, the rest is the text, so
//! that a fixture after four bytes is a seed. A byte 0x1f in the text separates a reasoning field
//! from the answer if the configuration has one.

#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
mod cuts;

use std::sync::{Arc, LazyLock};

use crate::cuts::Cuts;
use toolgraft::dialect::DialectSet;
use toolgraft::message::{FencedCalls, FinishReason, ReasoningCalls, ReasoningMode};
use toolgraft::parse::{Config, Limits};
use toolgraft::{Catalog, Dialect};
use toolgraft_testkit::laws::{self, Input};

/// Longer inputs only cost the fuzzer time.
const LONGEST: usize = 8 << 10;

/// The tool lists of the fixtures.
static CATALOGS: LazyLock<Vec<Arc<Catalog>>> = LazyLock::new(|| {
    [
        include_str!("../../fixtures/parse/tools/coding.json"),
        include_str!("../../fixtures/parse/tools/daily.json"),
        include_str!("../../fixtures/parse/tools/market.json"),
    ]
    .iter()
    .map(|list| Arc::new(Catalog::from_tools(serde_json::from_str::<Vec<_>>(list).expect("a fixture's tool list"))))
    .collect()
});

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz(data));

/// Tests one input.
pub(crate) fn fuzz(data: &[u8]) {
    let [what, how, small, seed, text @ ..] = data else { return };
    let text = String::from_utf8_lossy(&text[..text.len().min(LONGEST)]);
    let (reasoning_field, text) = match text.split_once('\u{1f}') {
        Some((field, text)) if how & 0x40 != 0 => (field.to_owned(), text.to_owned()),
        _ => (String::new(), text.into_owned()),
    };
    let reason = if how & 0x80 == 0 { FinishReason::Stop } else { FinishReason::Length };
    let cuts = cuts(*seed, reasoning_field.len().max(text.len()));
    let input = Input { reasoning_field, text, reason, config: config(*what, *how, *small) };
    if let Err(broken) = laws::check(&input, &cuts) {
        panic!("{broken}\n{input:?}");
    }
    // With a delimiter of reasoning, a reasoning field or a truncated answer, the modes differ on
    // purpose.
    if !laws::may_tell_reasoning(&input.text) && input.reasoning_field.is_empty() && input.reason.is_normal() {
        laws::is_answer_in_open(&input).unwrap_or_else(|broken| panic!("{broken}\n{input:?}"));
    }
}

fn config(what: u8, how: u8, small: u8) -> Config {
    let dialects = match what & 7 {
        0..=2 => DialectSet::AUTO,
        3 => Dialect::ALL[usize::from(small) % Dialect::ALL.len()].into(),
        4 => Dialect::UseMcpTool.into(),
        5 => Dialect::ToolTag.into(),
        6 => Dialect::TypeMarker.into(),
        _ => DialectSet::from(Dialect::ToolTag).with(Dialect::TypeMarker),
    };
    let catalog = match usize::from(what >> 3 & 3) {
        0 => None,
        n => CATALOGS.get(n - 1).cloned(),
    };
    let reasoning = match how & 3 {
        0 | 1 => ReasoningMode::Auto,
        2 => ReasoningMode::Open,
        _ => ReasoningMode::Off,
    };
    let reasoning_calls = match how >> 2 & 3 {
        0 | 1 => ReasoningCalls::Ignore,
        2 => ReasoningCalls::LastResort,
        _ => ReasoningCalls::Allow,
    };
    let limits = match small {
        0..=0x7f => Limits::default(),
        _ => Limits::default()
            .with_call_bytes(2 * usize::from(small & 0x7f))
            .with_depth(1 + usize::from(what >> 5 & 3))
            .with_calls(1 + usize::from(small & 3)),
    };
    let fenced_calls = if how & 16 == 0 { FencedCalls::Ignore } else { FencedCalls::LastResort };
    let stop: &[&str] =
        if how & 32 == 0 { &[] } else { &["</use_mcp_tool>", "</tool_call>", "</function>", "</inv", "</f"] };
    let marks: &[&str] = if what & 128 == 0 { &[] } else { &["<thought>", "[THINK]", "◁think▷"] };
    Config::default()
        .with_dialects(dialects)
        .with_catalog(catalog)
        .with_reasoning(reasoning)
        .with_reasoning_calls(reasoning_calls)
        .with_reasoning_marks(marks.iter().map(|open| (*open).to_owned()).collect::<Vec<_>>())
        .with_fenced_calls(fenced_calls)
        .with_stop(stop.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        .with_limits(limits)
}

/// Returns three sets of cuts: coarse, medium, fine.
fn cuts(seed: u8, length: usize) -> Vec<Vec<usize>> {
    let mut cuts = Cuts::new(seed);
    [64, 16, 4].map(|widest| cuts.of(length, widest)).to_vec()
}
