//! Damage to a valid object: if it is accepted, the value contains only text of the input, all of
//! it, and the repairs are named.
//!
//! The object's keys and texts are words that each occur once (`k1`, `v2`). The first bytes build
//! the object, the others damage its text.

#![cfg_attr(fuzzing, no_main)]

use serde_json::{Map, Value};
use toolgraft::Call;
use toolgraft::event::Repair;
use toolgraft::message::FinishReason;
use toolgraft::parse::{Config, parse};
use toolgraft_testkit::laws::{self, Input};

/// Text that is inserted.
const PIECES: &[&str] = &[
    "\"", "'", "“", "”", "‘", "’", ",", "，", ":", "：", "{", "}", "[", "]", "(", ")", "\\", "\n", " ", "//", "/*",
    "*/", "# ", "True", "None", "null", "&quot;", "&", "...", "\"\"\"", "+", "-", ".", "1", "v", "x", "\t", "\u{a0}",
    "\\\"", "\\n", "</arguments>", "```", "\", \"", "\": \"", "undefined", "ObjectId(",
];

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzz(data));

/// Tests one input.
pub(crate) fn fuzz(data: &[u8]) {
    let (shape, damage) = data.split_at(data.len().min(12));
    let mut names = 0;
    let value = build(&mut shape.iter().copied(), 3, &mut names);
    let mut text: Vec<char> = Value::Object(value).to_string().chars().collect();
    for edit in damage.chunks_exact(3).take(40) {
        let at = (usize::from(edit[0]) * text.len()) >> 8;
        match edit[1] {
            0..=99 if !text.is_empty() => drop(text.remove(at)),
            100..=119 if !text.is_empty() => {
                text[at] = PIECES[usize::from(edit[2]) % PIECES.len()].chars().next().unwrap_or('x')
            }
            _ => drop(text.splice(at..at, PIECES[usize::from(edit[2]) % PIECES.len()].chars())),
        }
    }
    let text: String = text.into_iter().collect();
    let message = call(&text);
    let config = Config::default();
    let input = Input { reasoning_field: String::new(), text: message, reason: FinishReason::Stop, config };
    let cuts = [(1..input.text.len()).step_by(7).collect(), (3..input.text.len()).step_by(13).collect()];
    match laws::check(&input, &cuts) {
        Ok(message) => message.calls().for_each(check),
        Err(broken) => panic!("{broken}\n{input:?}"),
    }
}

fn call(arguments: &str) -> String {
    format!("<use_mcp_tool><tool_name>f</tool_name><arguments>{arguments}</arguments></use_mcp_tool>")
}

fn build(bytes: &mut impl Iterator<Item = u8>, depth: usize, names: &mut usize) -> Map<String, Value> {
    let mut object = Map::new();
    for _ in 0..1 + bytes.next().unwrap_or(0) % 4 {
        let key = name('k', names);
        let value = match bytes.next().unwrap_or(0) % 8 {
            0 => Value::Null,
            1 => true.into(),
            2 => 17.into(),
            3 => vec![name('v', names), name('v', names)].into(),
            4 if depth > 0 => build(bytes, depth - 1, names).into(),
            5 => format!("{}, {} {}", name('v', names), name('v', names), name('v', names)).into(),
            _ => name('v', names).into(),
        };
        object.insert(key, value);
    }
    object
}

fn name(letter: char, names: &mut usize) -> String {
    *names += 1;
    format!("{letter}{names}")
}

fn check(call: &Call) {
    let raw = &call.raw_arguments;
    if raw.trim().is_empty() {
        // Blank arguments count as none.
        return assert_eq!(call.arguments, Value::Object(Map::new()));
    }
    let got = call.arguments.to_string();
    // The words of the value are those of the text, in order. After a backslash, this check does
    // not know where a word begins.
    if !raw.contains('\\') {
        let mut found = Vec::new();
        leaves(&call.arguments, &mut |text| found.extend(words(text).into_iter().map(str::to_owned)));
        assert_eq!(words(raw), found, "{raw} became {got}: {:?}", call.repairs);
    }
    // Every container has an opening and a closing bracket in the text.
    let count = |text: &str, marks: &[char]| text.matches(marks).count();
    let containers = containers(&call.arguments);
    assert!(containers <= count(raw, &['{', '[']) && containers <= count(raw, &['}', ']']), "{raw} became {got}");
    if serde_json::from_str::<Value>(raw).is_err() {
        assert!(!call.repairs.is_empty(), "{raw} became {got} silently");
    }
    // A repaired value needs no repair.
    let again = parse(&self::call(&got), Config::default());
    let again = again.calls().next().expect("a call that was mended");
    let precision = |repair: &Repair| *repair == Repair::NumberPrecision;
    assert!(again.arguments == call.arguments && again.repairs.iter().all(precision), "{got}: {:?}", again.repairs);
}

fn leaves(value: &Value, sink: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => sink(text),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, sink)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            sink(key);
            leaves(value, sink);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns words such as `k1` and `v2`, and the damaged ones.
fn words(text: &str) -> Vec<&str> {
    let part = |c: char| c.is_ascii_alphanumeric();
    let named = |word: &&str| word.starts_with(['k', 'v']) && word.ends_with(|c: char| c.is_ascii_digit());
    text.split(|c| !part(c)).filter(named).collect()
}

fn containers(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(containers).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(containers).sum::<usize>(),
        _ => 0,
    }
}
