//! Contents of messages in Chat Completions.

use serde_json::{Value, json};

/// Types of content parts, besides text, that endpoints accept; the member with the same name has the content.
const TAKEN: [&str; 5] = ["image_url", "input_audio", "audio_url", "video_url", "file"];

/// Members of a content part that have no meaning for a model.
const SILENT: [&str; 9] = ["type", "id", "status", "role", "language", "data", "signature", "mimeType", "media_type"];

/// Maximum length in characters of the line that describes a content part.
const LINE: usize = 4_000;

/// Minimum length in bytes of a text in the characters of base64 that counts as binary data.
const DATA: usize = 200;

/// Returns the text of a message's content; for a list, the texts of its parts, joined by line breaks.
pub fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Returns the text of an answer from its first non-blank line on, with that line's indentation. A single leading space
/// is removed, since models write it before a word.
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

/// Replaces each content part that endpoints do not accept by a part with a line of text. Without this, endpoints would
/// refuse the history, and the client could not continue.
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
        Some("text") => part["text"].is_string(),
        Some("file") => part["file"]["file_data"].is_string() || part["file"]["text"].is_string(),
        Some(kind) => {
            let is_given = |said: &Value| said.is_string() || said["url"].is_string() || said["data"].is_string();
            TAKEN.contains(&kind) && is_given(&part[kind])
        }
        None => false,
    }
}

/// Returns a description of a content part in one line: its text, or its type and the texts of all its members, such as
/// a name, arguments and a result.
pub fn line(part: &Value) -> String {
    if let Some(said) = part.as_str().or(part["text"].as_str()).or(part["refusal"].as_str()) {
        return said.to_owned();
    }
    let mut texts = vec![part["type"].as_str().unwrap_or("part").to_owned()];
    // In bytes, of which a character has at most four.
    add_texts("", part, &mut texts, &mut (LINE * 4));
    let line = texts.join(": ");
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("[{} …]", &line[..end]),
        None => format!("[{line}]"),
    }
}

/// Adds the texts of a member to `texts`, without repetitions, until `left` bytes are used; numbers and booleans are
/// added with the member's name.
fn add_texts(name: &str, value: &Value, texts: &mut Vec<String>, left: &mut usize) {
    let text = match value {
        Value::Object(members) => {
            let told = members.iter().filter(|(name, _)| !is_silent(name));
            return told.for_each(|(name, value)| add_texts(name, value, texts, left));
        }
        Value::Array(values) => return values.iter().for_each(|value| add_texts(name, value, texts, left)),
        Value::String(text) if !is_data(text) => text.trim().to_owned(),
        Value::Number(_) | Value::Bool(_) => format!("{name}={value}"),
        Value::String(_) | Value::Null => return,
    };
    if *left > 0 && !text.is_empty() && !texts.contains(&text) {
        *left = left.saturating_sub(text.len() + ": ".len());
        texts.push(text);
    }
}

fn is_silent(name: &str) -> bool {
    // Opaque identifiers and encrypted data mean nothing to a model; a `file_id` names a file.
    SILENT.contains(&name) || name.starts_with("encrypted") || name.ends_with("_id") && name != "file_id"
}

fn is_data(text: &str) -> bool {
    let (_, data) = text.split_once(";base64,").unwrap_or(("", text));
    text.len() >= DATA && data.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_.".contains(&byte))
}
