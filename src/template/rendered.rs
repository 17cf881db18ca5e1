//! Finds the dialect of calls that a template wrote: a known one that reads them, or a derived one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::derive;
use super::render::{self, KEY, OTHER_KEY, OTHER_VALUE, RenderedCalls, TOOL, VALUE, arguments};
use crate::dialect::{Dialect, DialectSet, write_call};
use crate::event::Collector;
use crate::message::FinishReason;
use crate::parse::{Config, Parser};
use crate::tools::{Catalog, Tool};

/// Returns the dialect that reads the template's calls, `Some(None)` if none does; `None` if it cannot be rendered with
/// calls.
pub(super) fn dialect(template: &str) -> Option<Option<Dialect>> {
    let written = render::written(template)?;
    let known = Dialect::ALL.iter().copied().find(|dialect| reads_at_every_cut(*dialect, &written));
    Some(known.or_else(|| derived(&written)))
}

fn derived(written: &RenderedCalls) -> Option<Dialect> {
    let mut hash = DefaultHasher::new();
    // Named after its content: two templates get two dialects, and one template the same again.
    derive::file(written, "template")?.hash(&mut hash);
    let file = derive::file(written, &format!("template_{:x}", hash.finish()))?;
    let dialect = Dialect::from_json(&file).ok()?;
    let own = write_call(dialect, None, TOOL, &arguments(&[(KEY, VALUE)]));
    let is_read = reads_at_every_cut(dialect, written) && reads(dialect, &own, &[one()], &every_cut(&own));
    is_read.then_some(dialect)
}

fn one() -> Map<String, Value> {
    arguments(&[(KEY, VALUE)])
}

fn reads_at_every_cut(dialect: Dialect, written: &RenderedCalls) -> bool {
    let two = written.two_calls.as_ref().map(|text| (text, vec![one(), arguments(&[(KEY, OTHER_VALUE)])]));
    let calls = [
        (&written.one, vec![one()]),
        (&written.two_arguments, vec![arguments(&[(KEY, VALUE), (OTHER_KEY, OTHER_VALUE)])]),
    ];
    // The first call alone rules out most dialects.
    reads(dialect, &written.one, &[one()], &[0])
        && calls.iter().chain(&two).all(|(text, calls)| reads(dialect, text, calls, &every_cut(text)))
}

fn every_cut(text: &str) -> Vec<usize> {
    text.char_indices().map(|(at, _)| at).collect()
}

/// Returns `true` if a parser of this dialect alone finds exactly these calls, wherever the text is split at one of
/// `cuts`.
fn reads(dialect: Dialect, text: &str, calls: &[Map<String, Value>], cuts: &[usize]) -> bool {
    let schema = json!({"type": "object", "properties": {KEY: {"type": "string"}, OTHER_KEY: {"type": "string"}}});
    let catalog = Arc::new(Catalog::from_tools([Tool::new(TOOL).with_schema(schema)]));
    let config = Config::default().with_dialects(DialectSet::from(dialect)).with_catalog(Some(catalog));
    let parser = Parser::new(config);
    cuts.iter().all(|cut| {
        let (mut parser, mut collector) = (parser.fork(), Collector::new());
        let (first, second) = text.split_at(*cut);
        for piece in [first, second] {
            parser.push(piece, &mut |event| collector.push(event));
        }
        parser.finish(&FinishReason::Stop, &mut |event| collector.push(event));
        let message = collector.finish();
        let found = message.calls().map(|call| (call.tool.as_str(), call.arguments.as_object()));
        found.eq(calls.iter().map(|arguments| (TOOL, Some(arguments))))
    })
}
