//! Contents of messages in Chat Completions.

use serde_json::{Value, json};

pub use crate::message::chunk::texts_of;

/// Types of parts besides text that endpoints accept; the member of the same name has the content.
const TAKEN: [&str; 5] = ["image_url", "input_audio", "audio_url", "video_url", "file"];

/// Members of a part that identify it (`NAMED`) and that have its text (`SAID`); the first one found is used.
const NAMED: [&str; 8] = ["tool_name", "name", "filename", "displayName", "file_id", "fileUri", "url", "title"];
const SAID: [&str; 6] = ["query", "url", "transcript", "revised_prompt", "code", "output"];

/// Limit on the characters of a part's text.
const LINE: usize = 500;

/// Returns the text of a content; for a list, the joined texts of its parts.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Returns an answer from its first non-blank line on, with that line's indentation. A single space is not kept: models
/// write it before a word.
///
/// ```
/// use toolgraft::wire::content::without_blank_lines;
///
/// assert_eq!(without_blank_lines("\n  \n    let x = 1;"), "    let x = 1;");
/// assert_eq!(without_blank_lines(" Yes."), "Yes.");
/// ```
pub fn without_blank_lines(text: &str) -> &str {
    let start = text.len() - text.trim_start().len();
    let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
    if &text[line..start] == " " { &text[start..] } else { &text[line..] }
}

/// Replaces each part of a content that endpoints do not accept by a line of text: otherwise they would refuse the
/// history, and the client could not continue.
///
/// ```
/// use serde_json::json;
/// use toolgraft::wire::content::make_legible;
///
/// let mut content = json!([{"type": "text", "text": "See:"}, {"type": "file", "file": {"file_id": "file-7"}}]);
/// make_legible(&mut content);
/// assert_eq!(content[1], json!({"type": "text", "text": "[file: file-7]"}));
/// ```
pub fn make_legible(content: &mut Value) {
    for part in content.as_array_mut().into_iter().flatten().filter(|part| !is_legible(part)) {
        *part = json!({"type": "text", "text": line(part)});
    }
}

fn is_legible(part: &Value) -> bool {
    match part["type"].as_str() {
        _ if part["text"].is_string() => true,
        Some("file") => part["file"]["file_data"].is_string() || part["file"]["text"].is_string(),
        Some(kind) => TAKEN.contains(&kind) && part.get(kind).is_some_and(|said| !said.is_null()),
        None => false,
    }
}

/// Describes a part in a line: its type, its name, and its text.
pub fn line(part: &Value) -> String {
    if let Some(said) = part.as_str().or(part["refusal"].as_str()) {
        return said.to_owned();
    }
    let kind = part["type"].as_str().unwrap_or("part");
    // The name may be in a member with the type's name, as in a file, or in the call's arguments.
    let first = |names: &[&str]| {
        let inside = [part, &part[kind], &part["input"], &part["action"]];
        let found = names.iter().find_map(|name| inside.iter().find_map(|value| value[*name].as_str()));
        found.map(|text| text.chars().take(LINE).collect::<String>())
    };
    let (named, said) = (first(&NAMED), first(&SAID));
    let said = said.filter(|said| named.as_ref() != Some(said));
    let mut line: Vec<String> = [Some(kind.to_owned()), named, said].into_iter().flatten().collect();
    // The results of a service's web search.
    let found = part["content"].as_array().into_iter().flatten();
    line.extend(found.filter_map(|found| Some(format!("{} {}", found["title"].as_str()?, found["url"].as_str()?))));
    format!("[{}]", line.join(": "))
}
