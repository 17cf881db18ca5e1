//! A client's messages, in the form of Chat Completions, to a conversation.

use std::collections::VecDeque;

use serde_json::Value;
use toolgraft::conversation::{Assistant, HistoryCall, Part, User, shape::BEGINS};
use toolgraft::dialect::{write_call, write_tool_call};
use toolgraft::message::Image;
use toolgraft::outcome::Status;
use toolgraft::wire::content::{line, make_legible};
use toolgraft::wire::past::{Matched, PastCall, matched, take_calls, take_results};
use toolgraft::wire::roles::{is_result, join_turns};
use toolgraft::wire::take_member;
use toolgraft::{Call, Catalog, Conversation, Dialect, Outcome};

use crate::Mistake;

/// The name of a file that has none.
const UNNAMED: &str = "file";

/// The system texts of a client's messages, joined, and all else as a conversation. Calls are written
/// in this dialect.
///
/// # Errors
///
/// [`Mistake::Tool`] where a message cannot be read; it names which.
pub fn read(
    messages: Vec<Value>,
    dialect: Dialect,
    catalog: &Catalog,
) -> Result<(Option<String>, Conversation), Mistake> {
    read_all(messages, dialect, catalog).map_err(Mistake::Tool)
}

fn read_all(
    messages: Vec<Value>,
    dialect: Dialect,
    catalog: &Catalog,
) -> Result<(Option<String>, Conversation), String> {
    let mut reading = Reading { dialect, catalog, system: Vec::new(), conversation: Conversation::new() };
    let mut messages = VecDeque::from(join_turns(messages));
    while let Some((at, message)) = messages.pop_front() {
        reading.message(message, &mut messages).map_err(|wrong| format!("messages[{at}]: {wrong}"))?;
    }
    let system = Some(reading.system.join("\n\n")).filter(|system| !system.is_empty());
    Ok((system, reading.conversation))
}

struct Reading<'a> {
    dialect: Dialect,
    catalog: &'a Catalog,
    system: Vec<String>,
    conversation: Conversation,
}

impl Reading<'_> {
    /// Takes a message, and of those that follow the results of its calls.
    fn message(&mut self, mut message: Value, following: &mut VecDeque<(usize, Value)>) -> Result<(), String> {
        let role = message["role"].as_str().unwrap_or_default().to_owned();
        match role.as_str() {
            "system" | "developer" if self.conversation.entries().is_empty() => {
                self.system.push(text(take_member(&mut message, "content"))?);
                Ok(())
            }
            "user" | "system" | "developer" => {
                let said = said(take_member(&mut message, "content"))?;
                self.conversation.push_user(said).map_err(|error| error.to_string())
            }
            "assistant" => self.assistant(message, following),
            _ if is_result(&message) => {
                // The call was cut out of the history.
                let mut results = vec![message];
                while following.front().is_some_and(|(_, next)| is_result(next)) {
                    results.extend(following.pop_front().map(|(_, result)| result));
                }
                self.answer(Assistant::default(), Vec::new(), results)
            }
            _ => Err(format!("no message has the role {role:?}")),
        }
    }

    fn assistant(&mut self, mut message: Value, following: &mut VecDeque<(usize, Value)>) -> Result<(), String> {
        let content = text(take_member(&mut message, "content"))?;
        let calls = message.as_object_mut().map(take_calls).transpose().map_err(|bad| bad.to_string())?;
        let calls = calls.unwrap_or_default();
        let mut said = Assistant::default();
        if !content.is_empty() {
            // A call begins its line.
            let end = if calls.is_empty() || content.ends_with('\n') { "" } else { "\n" };
            said.parts.push(Part::Text { text: content + end });
        }
        let results = if calls.is_empty() { Vec::new() } else { take_results(&calls, following) };
        match said.parts.is_empty() && calls.is_empty() {
            true => Ok(()),
            false => self.answer(said, calls, results),
        }
    }

    /// Appends a message of the model with these calls, and what became of them. A result whose call is gone
    /// is that of a call which the model's message does not show.
    fn answer(&mut self, mut said: Assistant, calls: Vec<PastCall>, results: Vec<Value>) -> Result<(), String> {
        let mut wrong = None;
        let Matched { answered, orphans, .. } = matched(calls, results, |result, text| {
            outcome(result, text).unwrap_or_else(|error| {
                wrong = Some(error);
                Outcome::result("")
            })
        });
        if let Some(wrong) = wrong {
            return Err(wrong);
        }
        let mut outcomes = Vec::new();
        let stopped = || Outcome::new(Status::Cancelled, "not run");
        let answered =
            answered.into_iter().map(|(call, outcome)| (self.written(&call), call, outcome.unwrap_or_else(stopped)));
        let orphans = orphans.into_iter().map(|(call, outcome)| (String::new(), call, outcome));
        for (raw, call, outcome) in answered.chain(orphans) {
            let id = self.conversation.fresh_id(outcomes.len());
            let made = Call::new(self.dialect, call.name, Value::Object(call.arguments));
            said.parts.push(Part::Call(HistoryCall::new(id.clone(), made, raw)));
            outcomes.push((id, outcome));
        }
        if !self.conversation.awaits_model() {
            self.conversation.push_user(BEGINS).map_err(|error| error.to_string())?;
        }
        self.conversation.push_assistant(said).map_err(|error| error.to_string())?;
        let answer = |(id, outcome): (String, Outcome)| self.conversation.answer(&id, outcome);
        outcomes.into_iter().try_for_each(answer).map_err(|error| error.to_string())
    }

    /// A call as the model would have written it.
    fn written(&self, call: &PastCall) -> String {
        match self.catalog.find(None, &call.name) {
            Ok(found) => write_tool_call(self.dialect, self.catalog, found.tool, &call.arguments),
            Err(_) => write_call(self.dialect, None, &call.name, &call.arguments),
        }
    }
}

/// What a result says. No field of Chat Completions tells how the call ended: those who know say it here.
fn outcome(result: &Value, text: String) -> Result<Outcome, String> {
    let status = match result.get("status") {
        None | Some(Value::Null) => Status::Result,
        Some(status) => status.as_str().unwrap_or_default().parse().map_err(|error| format!("status: {error}"))?,
    };
    Ok(Outcome::new(status, text))
}

/// A content's text; images in it are a mistake.
fn text(content: Value) -> Result<String, String> {
    let said = said(content)?;
    if said.images.is_empty() { Ok(said.text) } else { Err("only a user's message takes images".to_owned()) }
}

/// A content's text, files that are there as text, and images that are there as data.
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
                    (None, None, Some((_, data))) => {
                        said.with_image(Image::from_base64(data).ok_or("an image of no kind that models read")?)
                    }
                    (None, None, None) => said.with_words(&line(&part)),
                };
            }
        }
        _ => return Err("the content is no text".to_owned()),
    }
    Ok(said)
}
