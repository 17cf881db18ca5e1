//! The comparison of a replay with the recorded calls.

use serde_json::{Value, json};

use toolgraft::Call;
use toolgraft::event::{Assembled, Rejected};
use toolgraft::transcript::Round;

/// The calls and rejected calls of a round, reduced to the fields that are compared.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Calls {
    calls: Vec<Value>,
    rejected: Vec<Value>,
}

impl Calls {
    fn of<'a>(calls: impl Iterator<Item = &'a Call>, rejected: impl Iterator<Item = &'a Rejected>) -> Self {
        let calls = calls.map(|call| json!({ "server": call.server, "tool": call.tool, "arguments": call.arguments }));
        let rejected = rejected.map(|rejected| json!({ "kind": rejected.kind }));
        Calls { calls: calls.collect(), rejected: rejected.collect() }
    }

    pub(super) fn recorded(round: &Round) -> Self {
        let results = || round.calls.iter().map(|call| call.result.as_ref());
        Calls::of(results().filter_map(Result::ok), results().filter_map(Result::err))
    }

    pub(super) fn found(assembled: &Assembled) -> Self {
        Calls::of(assembled.calls(), assembled.rejected())
    }
}

/// Returns the differences between the recorded calls of each round and those that were found.
pub(super) fn differences(recorded: &[Calls], found: &[Calls]) -> Vec<String> {
    let mut differences = Vec::new();
    for (n, (recorded, found)) in recorded.iter().zip(found).enumerate() {
        for (what, recorded, found) in
            [("call", &recorded.calls, &found.calls), ("rejected", &recorded.rejected, &found.rejected)]
        {
            for at in 0..recorded.len().max(found.len()) {
                let (recorded, found) = (recorded.get(at), found.get(at));
                if recorded != found {
                    let shown = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
                    let place = format!("round {}, {what} {}", n + 1, at + 1);
                    differences.push(format!("{place}:\n  expected {}\n  found    {}", shown(recorded), shown(found)));
                }
            }
        }
    }
    differences
}
