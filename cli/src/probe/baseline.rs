//! What others do, for comparison: it is asked by hand, past everything that this program does.

use futures::StreamExt;
use regex::Regex;
use serde_json::{Map, Value, json};
use toolgraft::constrain::Constraint;
use toolgraft::message::DeltaKind;
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::{Message, Model, OpenAi, Tool};

use super::cell::Baseline;
use super::tasks::Answer;

/// Calls of a message: tools, and their arguments.
pub(super) type Calls = Vec<(String, Map<String, Value>)>;

/// What a model said.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The calls of its first message that has any.
    pub(super) calls: Calls,
    pub(super) texts: Vec<String>,
    /// What it said where it called nothing.
    pub(super) answer: String,
    pub(super) tokens: u64,
}

/// Puts a question to a model as a baseline does. Where an answer is wanted, calls are answered
/// with its result, up to `rounds` requests; else its first message is all.
///
/// # Errors
/// The endpoint cannot be reached, or refuses the request.
pub(super) async fn ask(
    client: &OpenAi,
    (baseline, tools): (Baseline, &[&Tool]),
    (question, answer): (&str, Option<&Answer>),
    (max_tokens, rounds): (u32, u32),
) -> Result<Said, ModelError> {
    let mut said = Said::default();
    let mut messages = vec![Message::system(system(baseline, tools)), Message::user(question)];
    for _ in 0..rounds {
        let mut request = Request::new(messages.clone());
        (request.temperature, request.max_tokens) = (Some(0.0), Some(max_tokens));
        if baseline == Baseline::Union {
            request.constraint = Some(Constraint::answer(union(tools)).require().into());
        }
        let (text, tokens) = read(client, request).await?;
        said.tokens += tokens;
        let calls = calls(baseline, &text);
        said.texts.push(text.clone());
        match answer {
            Some(answer) if !calls.is_empty() => {
                messages.extend([Message::assistant(text), Message::user(format!("Tool result: {}", answer.result))]);
                if said.calls.is_empty() {
                    said.calls = calls;
                }
            }
            _ => {
                if said.calls.is_empty() {
                    said.calls = calls;
                }
                said.answer = answer_of(baseline, text);
                break;
            }
        }
    }
    Ok(said)
}

/// The whole text of an answer, and what it cost.
async fn read(client: &OpenAi, request: Request) -> Result<(String, u64), ModelError> {
    let mut events = client.stream(request);
    let (mut text, mut tokens) = (String::new(), 0);
    while let Some(event) = events.next().await {
        match event? {
            ModelEvent::Delta(delta) if delta.kind == DeltaKind::Content => text.push_str(&delta.text),
            ModelEvent::Usage(usage) => tokens = usage.prompt_tokens + usage.completion_tokens,
            _ => {}
        }
    }
    Ok((text, tokens))
}

fn described(tools: &[&Tool]) -> Value {
    let one =
        |tool: &&Tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.input_schema});
    tools.iter().map(one).collect()
}

fn system(baseline: Baseline, tools: &[&Tool]) -> String {
    let tools = described(tools);
    match baseline {
        Baseline::Union => format!(
            "You can use these tools:\n{tools}\n\nAnswer with one JSON object: {{\"tool\": NAME, \"arguments\": {{…}}}} \
             to use a tool, or {{\"answer\": TEXT}} where none is needed."
        ),
        Baseline::Shim => format!(
            "You have access to these tools:\n{tools}\n\nTo use a tool, write this and nothing else, once for each \
             call:\n<tool_call>\n{{\"name\": NAME, \"arguments\": {{…}}}}\n</tool_call>\nWhere no tool is needed, \
             answer as usual."
        ),
    }
}

/// A schema that a call of each tool fits, or an answer.
fn union(tools: &[&Tool]) -> Value {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let call = |tool: &&Tool| {
        let arguments = tool.input_schema.clone().unwrap_or_else(|| json!({"type": "object"}));
        object(json!({"tool": {"const": tool.name}, "arguments": arguments}), json!(["tool", "arguments"]))
    };
    let answer = object(json!({"answer": {"type": "string"}}), json!(["answer"]));
    json!({"anyOf": tools.iter().map(call).chain([answer]).collect::<Vec<_>>()})
}

fn calls(baseline: Baseline, text: &str) -> Calls {
    let read = |text: &str, name: &str| -> Option<(String, Map<String, Value>)> {
        let mut call: Map<String, Value> = serde_json::from_str(text).ok()?;
        let arguments = call.remove("arguments").and_then(|arguments| arguments.as_object().cloned());
        Some((call.get(name)?.as_str()?.to_owned(), arguments.unwrap_or_default()))
    };
    match baseline {
        Baseline::Union => read(text, "tool").into_iter().collect(),
        Baseline::Shim => {
            let Ok(block) = Regex::new(r"(?s)<tool_call>\s*(\{.*?\})\s*</tool_call>") else { return Vec::new() };
            let tagged: Calls = block.captures_iter(text).filter_map(|found| read(&found[1], "name")).collect();
            // A small model leaves the tag out.
            if tagged.is_empty() { read(text.trim(), "name").into_iter().collect() } else { tagged }
        }
    }
}

fn answer_of(baseline: Baseline, text: String) -> String {
    let inner = || serde_json::from_str::<Value>(&text).ok()?.get("answer")?.as_str().map(str::to_owned);
    match baseline {
        Baseline::Union => inner().unwrap_or(text),
        Baseline::Shim => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_answers_are_read_as_each_baseline_has_them() {
        let arguments = json!({"city": "Oslo"}).as_object().cloned().unwrap();
        let call = ("get_weather".to_owned(), arguments);
        let union = r#"{"tool": "get_weather", "arguments": {"city": "Oslo"}}"#;
        assert_eq!(calls(Baseline::Union, union), std::slice::from_ref(&call));
        assert_eq!(answer_of(Baseline::Union, r#"{"answer": "Hi."}"#.to_owned()), "Hi.");
        let shim = "<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\"}}\n</tool_call>";
        assert_eq!(calls(Baseline::Shim, &format!("{shim}\n{shim}")), [call.clone(), call]);
        let bare = r#"{"name": "get_weather", "arguments": {"city": "Oslo"}}"#;
        assert_eq!(calls(Baseline::Shim, bare).len(), 1);
        assert!(calls(Baseline::Shim, "Hi.").is_empty() && calls(Baseline::Union, r#"{"answer": "Hi."}"#).is_empty());
    }
}
