//! Compares the strict lexer with serde_json.
//!
//! The text is a call's arguments, alone between tags and as a member of a larger object. If
//! serde_json can read it, the call has exactly that value, ends at its end, and emits its text as
//! the preview; otherwise a call has a repair. The first byte is the seed of the cuts.

#![cfg_attr(fuzzing, no_main)]

use serde_json::Value;
use toolgraft::dialect::DialectSet;
use toolgraft::event::{Assembled, Collector, RejectedKind, Repair};
use toolgraft::message::FinishReason;
use toolgraft::parse::{Config, MAX_DEPTH};
use toolgraft::{Dialect, Parser};

/// Longer inputs only cost the fuzzer time.
const LONGEST: usize = 4 << 10;

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz(data));

/// Tests one input.
pub(crate) fn fuzz(data: &[u8]) {
    let [seed, text @ ..] = data else { return };
    let text = String::from_utf8_lossy(&text[..text.len().min(LONGEST)]).into_owned();
    let element = format!("<use_mcp_tool><tool_name>f</tool_name><arguments>{text}</arguments></use_mcp_tool>");
    check(&text, &read(&element, Dialect::UseMcpTool, *seed));
    let member = format!("TYPE: MCP\n{{\"tool_name\": \"f\", \"parameters\": {text}}}");
    if serde_json::from_str::<Value>(&text).is_ok() {
        check(&text, &read(&member, Dialect::TypeMarker, *seed));
    }
}

/// Parses the message as a whole, and checks that chunks give the same.
fn read(message: &str, dialect: Dialect, seed: u8) -> Assembled {
    let dialects = DialectSet::NONE.with(dialect);
    let mut parser = Parser::new(Config::default().with_dialects(dialects));
    let whole = run(&mut parser, message, usize::MAX);
    for size in [1, 2 + usize::from(seed % 61)] {
        parser.reset();
        assert_eq!(run(&mut parser, message, size), whole, "in pieces of {size}");
    }
    whole
}

fn run(parser: &mut Parser, message: &str, size: usize) -> Assembled {
    let mut collector = Collector::new();
    let mut rest = message;
    while !rest.is_empty() {
        let end = (size.min(rest.len())..rest.len()).find(|at| rest.is_char_boundary(*at)).unwrap_or(rest.len());
        parser.push(&rest[..end], &mut |event| collector.push(event));
        rest = &rest[end..];
    }
    parser.finish(&FinishReason::Stop, &mut |event| collector.push(event));
    collector.finish()
}

fn check(text: &str, message: &Assembled) {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        // Blank arguments count as none, which is no repair.
        let named = |repairs: &[Repair]| !repairs.is_empty() || text.trim().is_empty();
        assert!(message.calls().all(|call| named(&call.repairs) || call.raw_arguments != text), "{message:#?}");
        return;
    };
    let [entry] = message.entries.as_slice() else { panic!("not one call: {message:#?}") };
    let json = text.trim_matches([' ', '\t', '\r', '\n']);
    match &entry.result {
        Ok(call) => {
            assert_eq!((&call.arguments, call.raw_arguments.trim_ascii()), (&value, json));
            assert_eq!((entry.deltas.as_str(), message.content.as_str()), (json, ""));
            assert!(call.repairs.iter().all(|r| *r == Repair::NumberPrecision || *r == Repair::MissingClose));
        }
        Err(rejected) if rejected.kind == RejectedKind::Limit => assert!(depth(&value) > MAX_DEPTH, "{rejected:?}"),
        Err(rejected) => assert!(rejected.message.contains("is given twice"), "{rejected:?}"),
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
