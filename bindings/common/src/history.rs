//! Reads a client's messages, in the form of Chat Completions, into a conversation.

use serde_json::Value;
use toolgraft::conversation::{Assistant, HistoryCall, Part, User, shape::BEGINS};
use toolgraft::dialect::Lang;
use toolgraft::message::Image;
use toolgraft::outcome::Status;
use toolgraft::turn::ModelNote;
use toolgraft::wire::content::{line, make_legible};
use toolgraft::wire::past::{self, PastMessage};
use toolgraft::{Call, Catalog, Conversation, Dialect, Outcome};

use crate::Mistake;

/// Name of an attached file for which the client sends none.
const UNNAMED: &str = "file";

/// Error message for a content that is neither text nor a list of parts.
pub(crate) const NO_TEXT: &str = "the content is not text";

/// Returns the joined system texts of a client's messages, and the rest as a conversation. Calls
/// are written in `dialect`; for a call without a result, the model gets a note in the language
/// `lang`.
///
/// # Errors
///
/// [`Mistake::Tool`] if a message cannot be read; the error names it.
pub fn read(
    messages: Vec<Value>,
    dialect: Dialect,
    lang: Lang,
    catalog: &Catalog,
) -> Result<(Option<String>, Conversation), Mistake> {
    let mut reading = HistoryReader { dialect, lang, catalog, system: Vec::new(), conversation: Conversation::new() };
    for entry in past::read(messages, outcome).map_err(Mistake::tool)? {
        let at = entry.at;
        reading.entry(entry).map_err(|wrong| Mistake::Tool(format!("messages[{at}]: {wrong}")))?;
    }
    let system = Some(reading.system.join("\n\n")).filter(|system| !system.is_empty());
    Ok((system, reading.conversation))
}

struct HistoryReader<'a> {
    dialect: Dialect,
    lang: Lang,
    catalog: &'a Catalog,
    system: Vec<String>,
    conversation: Conversation,
}

impl HistoryReader<'_> {
    fn entry(&mut self, mut entry: PastMessage) -> Result<(), String> {
        let content = entry.message.as_mut().and_then(|message| message.shift_remove("content")).unwrap_or_default();
        match entry.role() {
            "system" | "developer" if self.conversation.entries().is_empty() => {
                self.system.push(text(content)?);
                Ok(())
            }
            "user" | "system" | "developer" => {
                let said = said(content)?;
                self.conversation.push_user(said).map_err(|error| error.to_string())
            }
            _ => self.assistant(text(content)?, entry),
        }
    }

    /// Appends a message of the model to the conversation, with its calls and their results. A result without a call
    /// becomes the result of a call whose text is empty.
    fn assistant(&mut self, content: String, entry: PastMessage) -> Result<(), String> {
        let PastMessage { calls, orphans, .. } = entry;
        let mut said = Assistant::default();
        if !content.is_empty() {
            // A call must begin on a line of its own.
            let end = if calls.is_empty() || content.ends_with('\n') { "" } else { "\n" };
            said.parts.push(Part::Text { text: content + end });
        }
        let mut outcomes = Vec::new();
        let calls = calls.into_iter().map(|call| (call.written(self.dialect, self.catalog), call));
        for (raw, call) in calls.chain(orphans.into_iter().map(|call| (String::new(), call))) {
            let id = self.conversation.fresh_id(outcomes.len());
            let made = Call::new(self.dialect, call.name, Value::Object(call.arguments));
            said.parts.push(Part::Call(HistoryCall::new(id.clone(), made, raw)));
            let stopped = || Outcome::new(Status::Cancelled, ModelNote::Cancelled.text(self.lang));
            outcomes.push((id, call.outcome.unwrap_or_else(stopped)));
        }
        if said.parts.is_empty() {
            return Ok(());
        }
        // An answer that comes first, or after another one, has no message that it answers.
        if !self.conversation.awaits_model() {
            self.conversation.push_user(BEGINS).map_err(|error| error.to_string())?;
        }
        self.conversation.push_assistant(said).map_err(|error| error.to_string())?;
        let answer = |(id, outcome): (String, Outcome)| self.conversation.answer(&id, outcome);
        outcomes.into_iter().try_for_each(answer).map_err(|error| error.to_string())
    }
}

/// Reads the outcome of a call from a message with its result. Chat Completions has no field for the status of a
/// call; a client that knows it adds `status`.
fn outcome(result: &Value, text: String) -> Result<Outcome, String> {
    Ok(Outcome::new(status(result)?, text))
}

/// Returns the status that a message with a result states in `status`, by default success; fails if it is unknown.
pub(crate) fn status(result: &Value) -> Result<Status, String> {
    match result.get("status") {
        None | Some(Value::Null) => Ok(Status::Result),
        Some(status) => status.as_str().unwrap_or_default().parse().map_err(|error| format!("status: {error}")),
    }
}

/// Returns the text of a message's content; fails if it has an image.
fn text(content: Value) -> Result<String, String> {
    let said = said(content)?;
    if said.images.is_empty() { Ok(said.text) } else { Err("only a user message can have images".to_owned()) }
}

/// Reads a message's content: its text, embedded text files, and embedded images.
fn said(mut content: Value) -> Result<User, String> {
    make_legible(&mut content);
    let mut said = User::default();
    match content {
        Value::Null => {}
        Value::String(text) => said.text = text,
        Value::Array(parts) => {
            for part in parts {
                let url = part["image_url"]["url"].as_str().and_then(|url| url.split_once(";base64,"));
                let file = &part["file"];
                said = match (part["text"].as_str(), file["text"].as_str(), url) {
                    (Some(words), ..) => said.with_words(words),
                    (None, Some(text), _) => said.with_file(file["filename"].as_str().unwrap_or(UNNAMED), text),
                    (None, None, Some((_, data))) => said.with_image(
                        Image::from_base64(data).ok_or("unsupported image format: expected PNG, JPEG, GIF or WebP")?,
                    ),
                    (None, None, None) => said.with_words(&line(&part)),
                };
            }
        }
        _ => return Err(NO_TEXT.to_owned()),
    }
    Ok(said)
}
