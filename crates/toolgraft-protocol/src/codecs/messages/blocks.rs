//! Converts content blocks to parts of Chat Completions.

use serde_json::{Value, json};
use toolgraft::wire::content::text_of;

/// Converts a content block of Anthropic's API to a part of Chat Completions. A block that cannot be read becomes a
/// line of text later.
pub(super) fn part(block: Value) -> Value {
    match block["type"].as_str() {
        Some("text") if block["text"].is_string() => json!({"type": "text", "text": block["text"]}),
        Some("image") => {
            let source = &block["source"];
            let url = match (
                source["type"].as_str(),
                source["media_type"].as_str(),
                source["data"].as_str(),
                source["url"].as_str(),
            ) {
                (Some("base64"), Some(kind), Some(data), _) => format!("data:{kind};base64,{data}"),
                (Some("url"), _, _, Some(url)) => url.to_owned(),
                // For example a file at Anthropic's service.
                _ => return block,
            };
            json!({"type": "image_url", "image_url": {"url": url}})
        }
        Some("document") => document(&block),
        Some("search_result") => file(&block, &["title", "source"], &text_of(&block["content"])),
        _ => block,
    }
}

fn text_part(lines: impl Iterator<Item = String>) -> Value {
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    json!({"type": "text", "text": lines.join("\n")})
}

/// Converts a block whose text the user did not type to a file part with that text; the block's members `about` are
/// placed before it.
fn file(block: &Value, about: &[&str], text: &str) -> Value {
    let name = block["title"].as_str().filter(|title| !title.is_empty()).unwrap_or("document");
    let about = about.iter().filter_map(|name| block[*name].as_str()).filter(|said| *said != name);
    json!({"type": "file", "file": {"filename": name, "text": text, "about": about.collect::<Vec<_>>()}})
}

/// Converts a document block to its text, or to a line that names the document if the model would have to read a
/// file.
fn document(block: &Value) -> Value {
    let source = &block["source"];
    match source["type"].as_str() {
        Some("text") => file(block, &["context"], source["data"].as_str().unwrap_or_default()),
        Some("content") => file(block, &["context"], &text_of(&source["content"])),
        _ => {
            let kind = source["media_type"].as_str().or(source["url"].as_str()).or(source["file_id"].as_str());
            // Base64 has four characters for three bytes.
            let size = source["data"].as_str().map(|data| format!(", {} bytes", data.len() / 4 * 3));
            let said = format!(
                "[document{}{}: this model cannot read it]",
                kind.map(|kind| format!(" {kind}")).unwrap_or_default(),
                size.unwrap_or_default()
            );
            let about = [&block["title"], &block["context"]].into_iter().filter_map(Value::as_str).map(str::to_owned);
            text_part(about.chain([said]))
        }
    }
}
