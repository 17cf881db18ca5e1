//! Copies the corpora into `fixtures/parity`, with only the needed fields.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};
use toolgraft::Tool;
use toolgraft::message::{FinishReason, ReasoningMode};

use super::families::family_of;
use super::record::{CORPORA, Call, Outcome, Partly, Record, path};

/// Texts whose tests show by name, text or description that the output was truncated in the
/// reasoning, and have no finish reason.
const CUT_OFF: [&str; 6] = [
    "dynamo/kimi_k25/REASONING.batch.5",
    "vllm-reason/test_hy_v3_reasoning_parser.py/ONLY_OPEN_TAG",
    "vllm-reason/test_hy_v3_reasoning_parser.py/ONLY_OPEN_TAG_STREAM",
    "vllm-reason/test_minimax_m2_reasoning_parser.py/NO_END_TOKEN",
    "vllm-reason/test_qwen3_reasoning_parser.py/TRUNCATED_NO_START_TOKEN",
    "vllm-reason/test_qwen3_reasoning_parser.py/TRUNCATED_NO_START_TOKEN_STREAM",
];

/// Tests that only check something if the engine finds a call.
const ONLY_IF_CALLED: [&str; 2] = [
    "smg/tool_parser_llama.rs:test_invalid_then_valid_json",
    "smg/tool_parser_qwen_xml.rs:test_qwen_xml_malformed_xml_missing_parameter_close",
];

/// Reads the corpora in `from` and writes all files.
pub(crate) fn refresh(from: &Path) {
    for corpus in CORPORA {
        let file = from.join(format!("{corpus}.jsonl"));
        let text = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let mut lines = String::new();
        for line in text.lines() {
            let raw: Value = serde_json::from_str(line).expect("a line is JSON");
            let record = copy(corpus, &raw);
            lines += &serde_json::to_string(&record).expect("a record is JSON");
            lines.push('\n');
        }
        fs::write(path(&format!("{corpus}.jsonl")), lines).expect("the fixtures can be written");
    }
}

fn copy(corpus: &str, raw: &Value) -> Record {
    let words = |key: &str| raw[key].as_str().unwrap_or_default().to_owned();
    let id = words("id");
    let member = match corpus {
        "dynamo_parity" => format!("{}:{}", words("kind"), words("dialect")),
        "llamacpp" if words("text").contains("[THINK]") => "[THINK]".to_owned(),
        "llamacpp" => raw["dialect"].as_str().unwrap_or("none").to_owned(),
        "reasoning" => id.rsplit('/').nth(1).unwrap_or_default().replacen("test_", "", 1),
        _ => words("dialect"),
    };
    let (chunks, finish) = chunks(raw);
    let finish = finish.or_else(|| CUT_OFF.contains(&id.as_str()).then_some(FinishReason::Length));
    let engines = match corpus {
        "dynamo_parity" => engines(raw),
        "llamacpp" => BTreeMap::from([(
            "llama.cpp".to_owned(),
            outcome(raw, "expected", "expected_content", "expected_reasoning"),
        )]),
        "smg" => BTreeMap::from([("smg".to_owned(), partly(raw))]),
        _ => BTreeMap::from([("vllm".to_owned(), split(raw))]),
    };
    let mode = mode(corpus, &member, raw);
    let mut record = Record {
        source: format!("{} {}", words("source_repo"), words("path")),
        licence: words("licence"),
        family: family_of(corpus, &member).name.to_owned(),
        chunks,
        finish,
        split_only: corpus == "reasoning" || words("kind") == "reasoning",
        mode,
        tools: tools(raw, &engines),
        skip: None,
        engines: shortened(engines),
        id,
    };
    record.skip = skip(raw, &record);
    record
}

fn chunks(raw: &Value) -> (Vec<String>, Option<FinishReason>) {
    let mut finish = None;
    let pieces = match &raw["text"] {
        Value::Array(pieces) => pieces.as_slice(),
        Value::Null => &[],
        whole => std::slice::from_ref(whole),
    };
    let text = pieces.iter().map(|piece| {
        if let Some(reason) = piece["finish_reason"].as_str() {
            finish = Some(FinishReason::from(reason));
        }
        piece.as_str().or(piece["delta_text"].as_str()).unwrap_or_default().to_owned()
    });
    let text = text.collect();
    (text, finish)
}

fn engines(raw: &Value) -> BTreeMap<String, Outcome> {
    let engines = raw["expected_all"].as_object().expect("engines");
    let said = engines.iter().filter(|(_, v)| v.get("unavailable").is_none() && v.get("error").is_none());
    let outcome = |v: &Value| outcome(v, "calls", "normal_text", "reasoning_text");
    said.map(|(name, v)| (name.clone(), outcome(v))).collect()
}

fn outcome(raw: &Value, calls: &str, content: &str, reasoning: &str) -> Outcome {
    let text = |key: &str| raw[key].as_str().map(str::to_owned);
    let call =
        |v: &Value| Call { name: v["name"].as_str().unwrap_or_default().to_owned(), arguments: v["arguments"].clone() };
    Outcome {
        calls: raw[calls].as_array().map(|calls| calls.iter().map(call).collect()),
        content: text(content),
        reasoning: text(reasoning),
        partly: None,
    }
}

/// Tests of reasoning are complete: missing members are empty.
fn split(raw: &Value) -> Outcome {
    let text = |key: &str| Some(raw[key].as_str().unwrap_or_default().to_owned());
    Outcome { content: text("expected_content"), reasoning: text("expected_reasoning"), ..Outcome::default() }
}

fn partly(raw: &Value) -> Outcome {
    let said = &raw["expected_partial"];
    let names: Vec<String> = serde_json::from_value(said["names"].clone()).expect("names");
    let checks: Vec<(String, String)> = serde_json::from_value(said["args_checks"].clone()).expect("checks");
    let arguments: Map<String, Value> =
        checks.into_iter().map(|(key, json)| (key, serde_json::from_str(&json).expect("a check is JSON"))).collect();
    let count = said["count"].as_u64().map(|n| n as usize);
    // A text of the test's source code, with its escapes.
    let content = raw["expected_content"].as_str().map(|text| text.replace("\\n", "\n").replace("\\\"", "\""));
    let partly = Partly { count, names, arguments };
    Outcome { content, partly: (partly != Partly::default()).then_some(partly), ..Outcome::default() }
}

/// Merges equal results into one entry.
fn shortened(engines: BTreeMap<String, Outcome>) -> BTreeMap<String, Outcome> {
    let mut outcomes = engines.values();
    match outcomes.next() {
        Some(first) if engines.len() > 1 && outcomes.all(|o| o == first) => {
            let names = engines.keys().cloned().collect::<Vec<_>>().join("+");
            BTreeMap::from([(names, first.clone())])
        }
        _ => engines,
    }
}

fn words(text: &Value) -> &str {
    text.as_str().unwrap_or_default()
}

fn mode(corpus: &str, member: &str, raw: &Value) -> Option<ReasoningMode> {
    let flags: Vec<&str> = raw["flags"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let has = |word: &str| flags.iter().any(|flag| flag.contains(word));
    match corpus {
        "dynamo_parity" if raw["force_reasoning"] == true || member == "reasoning:deepseek_r1" => {
            Some(ReasoningMode::Open)
        }
        "llamacpp" if !has("reasoning_format=") || has("REASONING_FORMAT_NONE") => Some(ReasoningMode::Off),
        // The chat template writes the opening tag.
        "llamacpp" if has("enable_thinking=true") && !words(&raw["text"]).contains("<think>") => {
            Some(ReasoningMode::Open)
        }
        "reasoning" => vllm_mode(member, raw["id"].as_str().unwrap_or_default()),
        _ => None,
    }
}

/// These parsers assume that the text begins in the reasoning, unless configured otherwise.
fn vllm_mode(member: &str, id: &str) -> Option<ReasoningMode> {
    let open = ["deepseekr1", "ernie45", "glm4_moe", "holo2", "minimax_m2_reasoning", "qwen3", "step3p5"];
    if id.contains("THINKING_DISABLED") {
        Some(ReasoningMode::Off)
    } else if open.iter().any(|name| member.starts_with(name)) || id.contains("hy_v3") && id.contains("ONLY_OPEN_TAG") {
        Some(ReasoningMode::Open)
    } else {
        None
    }
}

/// Returns the record's tools, or else those that it expects to be called.
fn tools(raw: &Value, engines: &BTreeMap<String, Outcome>) -> Option<Vec<Tool>> {
    let mut tools: Vec<Tool> = Vec::new();
    let mut add = |tool: Tool| {
        if !tools.iter().any(|t| t.name == tool.name) {
            tools.push(tool);
        }
    };
    if let Some(stated) = raw["tools"].as_array() {
        for tool in stated {
            let name = tool["name"].as_str().unwrap_or_default();
            let known = Tool::new(name);
            add(match tool.get("parameters") {
                Some(schema) => known.with_schema(schema.clone()),
                None => known,
            });
        }
        return Some(tools);
    }
    for outcome in engines.values() {
        outcome.calls.iter().flatten().for_each(|call| add(Tool::new(&call.name)));
        outcome.partly.iter().flat_map(|p| &p.names).for_each(|name| add(Tool::new(name)));
    }
    if tools.is_empty() && engines.values().any(|o| o.partly.is_some()) {
        named(raw["text"].as_str().unwrap_or_default()).for_each(|name| tools.push(Tool::new(name)));
    }
    (!tools.is_empty()).then_some(tools)
}

/// Returns the names in calls whose test only counts them.
fn named(text: &str) -> impl Iterator<Item = &str> {
    let object = text.split("\"name\": \"").skip(1).filter_map(|rest| rest.split('"').next());
    let python = text.split_once('[').and_then(|(_, rest)| rest.split_once('(')).map(|(name, _)| name);
    let word = |name: &&str| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    object.chain(python).filter(word).take(1)
}

fn skip(raw: &Value, record: &Record) -> Option<String> {
    let flags = raw["flags"].to_string();
    let empty = |o: &Outcome| *o == Outcome::default();
    let why = if flags.contains("continue_final_message") {
        "continues a message whose beginning is not in the text"
    } else if flags.contains("json_schema") {
        "the answer is JSON by a schema that the engine was given"
    } else if flags.contains("is_partial") {
        "what the engine shows in the middle of a stream"
    } else if record.id.ends_with("MULTI_TURN_PROMPT_CONTENT") {
        "the text is a prompt"
    } else if raw["resolved"] == false
        || ONLY_IF_CALLED.contains(&record.id.as_str())
        || record.engines.values().all(empty)
    {
        "states no expectation"
    } else if flags.contains("REASONING_FORMAT_NONE") && !record.text().contains("<think>") {
        "the engine adds the `<think>` of its chat template"
    } else {
        return None;
    };
    Some(why.to_owned())
}
