//! A client's messages, in the form of Chat Completions, to a conversation.

use serde_json::{Map, Value};
use toolgraft::conversation::{Assistant, HistoryCall, Part, User};
use toolgraft::dialect::{write_call, write_tool_call};
use toolgraft::message::Image;
use toolgraft::outcome::Status;
use toolgraft::parse::find_values;
use toolgraft::wire::roles::join_turns;
use toolgraft::{Call, Catalog, Conversation, Dialect, Outcome};

use crate::Mistake;

/// What stands for a person's message in front of an answer that nothing precedes.
const BEGINS: &str = "Begin.";

/// The name of a result whose call is not in the history.
const ORPHAN: &str = "result of an earlier call";

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
    let mut reading = Reading { dialect, catalog, system: Vec::new(), conversation: Conversation::new(), open: vec![] };
    for (at, message) in join_turns(messages) {
        reading.message(message).map_err(|wrong| format!("messages[{at}]: {wrong}"))?;
    }
    reading.stop_open()?;
    let system = Some(reading.system.join("\n\n")).filter(|system| !system.is_empty());
    Ok((system, reading.conversation))
}

struct Reading<'a> {
    dialect: Dialect,
    catalog: &'a Catalog,
    system: Vec<String>,
    conversation: Conversation,
    /// Calls without a result so far: the identifier that the client knows, and the one in the
    /// conversation, where each has its own.
    open: Vec<(String, String)>,
}

impl Reading<'_> {
    fn message(&mut self, message: Value) -> Result<(), String> {
        let content = &message["content"];
        match message["role"].as_str() {
            Some("system" | "developer") if self.conversation.entries().is_empty() => self.system.push(text(content)?),
            Some("user" | "system" | "developer") => {
                self.stop_open()?;
                self.conversation.push_user(said(content)?).map_err(|error| error.to_string())?;
            }
            Some("assistant") => self.assistant(&message)?,
            Some("tool") => self.result(&message)?,
            role => return Err(format!("no message has the role {role:?}")),
        }
        Ok(())
    }

    fn assistant(&mut self, message: &Value) -> Result<(), String> {
        self.stop_open()?;
        let content = text(&message["content"])?;
        let mut answer = Assistant::default();
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        if !content.is_empty() {
            // A call begins its line.
            let end = if calls.is_empty() || content.ends_with('\n') { "" } else { "\n" };
            answer.parts.push(Part::Text { text: content + end });
        }
        for call in calls {
            let function = &call["function"];
            let name = function["name"].as_str().ok_or("a call names a function")?;
            let arguments = arguments(&function["arguments"]);
            let raw = match self.catalog.find(None, name) {
                Ok(found) => write_tool_call(self.dialect, self.catalog, found.tool, &arguments),
                Err(_) => write_call(self.dialect, None, name, &arguments),
            };
            let id = self.conversation.fresh_id(self.open.len());
            let made = Call::new(self.dialect, name, Value::Object(arguments));
            self.open.push((call["id"].as_str().unwrap_or_default().to_owned(), id.clone()));
            answer.parts.push(Part::Call(HistoryCall::new(id, made, raw)));
        }
        if answer.parts.is_empty() {
            return Ok(());
        }
        if !self.conversation.awaits_model() {
            self.conversation.push_user(BEGINS).map_err(|error| error.to_string())?;
        }
        self.conversation.push_assistant(answer).map_err(|error| error.to_string())
    }

    fn result(&mut self, message: &Value) -> Result<(), String> {
        let (given, content) = (message["tool_call_id"].as_str().unwrap_or_default(), text(&message["content"])?);
        // No field of Chat Completions: those who know how the call ended say it here.
        let status = match message.get("status") {
            None | Some(Value::Null) => Status::Result,
            Some(status) => status.as_str().unwrap_or_default().parse().map_err(|error| format!("status: {error}"))?,
        };
        match self.open.iter().position(|(known, _)| known == given) {
            Some(at) => {
                let (_, id) = self.open.remove(at);
                self.conversation.answer(&id, Outcome::new(status, content)).map_err(|error| error.to_string())
            }
            // The call was cut out of the history.
            None => {
                self.stop_open()?;
                let said = User::default().with_file(ORPHAN, &content);
                self.conversation.push_user(said).map_err(|error| error.to_string())
            }
        }
    }

    /// Calls that the client did not answer were not run.
    fn stop_open(&mut self) -> Result<(), String> {
        for (_, id) in self.open.drain(..) {
            let outcome = Outcome::new(Status::Cancelled, "not run");
            self.conversation.answer(&id, outcome).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}

/// A content's text; parts of it that are no text are a mistake.
fn text(content: &Value) -> Result<String, String> {
    let said = said(content)?;
    if said.images.is_empty() { Ok(said.text) } else { Err("only a user's message takes images".to_owned()) }
}

/// A content's text, files that are there as text, and images that are there as data.
fn said(content: &Value) -> Result<User, String> {
    let mut said = User::default();
    match content {
        Value::Null => {}
        Value::String(text) => said.text.push_str(text),
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
                    (None, None, None) => {
                        return Err(format!("a part is no text and no image as data: {}", part["type"]));
                    }
                };
            }
        }
        _ => return Err("the content is no text".to_owned()),
    }
    Ok(said)
}

/// The arguments of a call that was made, mended where they were written badly: nobody can mend
/// them now.
fn arguments(value: &Value) -> Map<String, Value> {
    let text = match value {
        Value::Object(object) => return object.clone(),
        Value::String(text) => text,
        _ => return Map::new(),
    };
    match find_values(text).values.into_iter().next().map(|found| found.value) {
        Some(Value::Object(object)) => object,
        _ => Map::new(),
    }
}
