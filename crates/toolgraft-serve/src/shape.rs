//! An interface of clients: how a request of it is one of Chat Completions, and how answers
//! and errors are written. What is asked, corrected and told is the same for all.

use serde::Serialize;
use serde_json::{Map, Value};

use super::fault::Fault;
use super::kept::Kept;
use super::out::{Collected, Out};

/// An interface of clients.
pub(super) trait Shape: Send + Sync {
    /// A request as one of Chat Completions, and who writes its answer, with what is kept of the client.
    ///
    /// # Errors
    /// A field is none that can be had here, or not what it must be.
    fn read(&self, body: Map<String, Value>, kept: &Kept) -> Result<Read, Fault>;

    /// The error object.
    fn error(&self, fault: &Fault) -> Value;

    /// A field of Chat Completions as this interface names it, for errors.
    fn field(&self, field: &str) -> String {
        field.to_owned()
    }

    /// What a request for the number of its tokens is answered with.
    fn count(&self, tokens: u64) -> Value {
        serde_json::json!({"input_tokens": tokens})
    }

    /// Returns `true` if an answer can say what a search of the server's own found.
    fn takes_results(&self) -> bool {
        false
    }

    /// The body of the answer to a request that only a tool of the vendor's own service could answer, with what
    /// a search of the server's own found in its place, or why it failed.
    ///
    /// # Errors
    /// The interface has an error for it.
    fn hosted(
        &self,
        hosted: &Hosted,
        _results: Option<Result<Results, String>>,
        model: &str,
        _stream: bool,
    ) -> Result<String, Fault> {
        let message = format!("Hosted tool '{}' is not supported with {model}.", hosted.kind);
        Err(Fault::field("tools", message))
    }

    /// What keeps a silent stream open: a comment, where the clients know such.
    fn busy(&self) -> &'static str {
        ": working\n\n"
    }

    /// The media type of a stream.
    fn stream_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// The answer to a body that asks nothing of a model, in interfaces that know such.
    fn at_once(&self, _body: &[u8]) -> Option<Value> {
        None
    }

    /// Whether a request is one of Chat Completions as it comes.
    fn is_chat(&self) -> bool {
        false
    }

    /// Where the endpoint takes requests of this interface that need nothing of us.
    fn passes_to(&self) -> Option<&'static str> {
        None
    }
}

/// A request that was read.
pub(super) struct Read {
    /// As one of Chat Completions.
    pub(super) chat: Map<String, Value>,
    pub(super) places: Places,
    pub(super) writer: Box<dyn Writer>,
}

/// Where messages and tools stood in the request, none where they stand as they came.
#[derive(Default)]
pub(super) struct Places {
    pub(super) messages: Vec<String>,
    pub(super) tools: Vec<String>,
}

/// A tool of the vendor's own service that a request chooses, or offers without any other tool: only that
/// service could answer it.
pub(super) struct Hosted {
    pub(super) kind: String,
    pub(super) name: String,
    /// What the user last said.
    pub(super) query: String,
    /// The types of all tools of the request that run at the service.
    pub(super) left_out: String,
}

impl Hosted {
    /// Returns `true` if it searches the web.
    pub(super) fn is_search(&self) -> bool {
        ["web_search", "googleSearch", "google_search"].iter().any(|begin| self.kind.starts_with(begin))
    }
}

/// A page that a search found.
#[derive(Debug, PartialEq)]
pub(super) struct Link {
    pub(super) title: String,
    pub(super) url: String,
}

/// What a search found.
pub(super) struct Results {
    pub(super) text: String,
    pub(super) links: Vec<Link>,
}

/// A request's messages as those of Chat Completions, each with the place that it came from.
#[derive(Default)]
pub(super) struct Messages {
    pub(super) list: Vec<Value>,
    places: Vec<String>,
}

impl Messages {
    /// Adds one that came from this place.
    pub(super) fn push(&mut self, place: &str, message: Value) {
        self.list.push(message);
        self.places.push(place.to_owned());
    }

    /// Puts the messages into a request, and tools with their places, if there are some; where all were.
    pub(super) fn fill(self, chat: &mut Map<String, Value>, (tools, places): (Vec<Value>, Vec<String>)) -> Places {
        chat.insert("messages".to_owned(), Value::Array(self.list));
        set(chat, "tools", Some(tools).filter(|tools| !tools.is_empty()));
        Places { messages: self.places, tools: places }
    }
}

/// The role of a message, one of those that its interface knows.
pub(super) fn role_of(message: &Value, known: &[&'static str], place: &str) -> Result<&'static str, Fault> {
    let role = known.iter().find(|known| message["role"] == **known).copied();
    role.ok_or_else(|| Fault::field(format!("{place}.role"), format!("expected one of: {}", known.join(", "))))
}

/// A call. Some clients keep its arguments as text, as OpenAI's interface has them.
pub(super) fn call(id: impl Into<Value>, name: impl Into<Value>, arguments: Value) -> Value {
    let arguments = match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text,
        arguments => arguments.to_string(),
    };
    let function = serde_json::json!({"name": name.into(), "arguments": arguments});
    serde_json::json!({"id": id.into(), "type": "function", "function": function})
}

/// What a field says, if it says something. It is taken out.
pub(super) fn given(body: &mut Map<String, Value>, field: &str) -> Option<Value> {
    body.shift_remove(field).filter(|value| !value.is_null())
}

/// Sets a field, where there is something to be said.
pub(super) fn set(body: &mut Map<String, Value>, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(field.to_owned(), value.into());
    }
}

/// Parts of a message as its content: one text, with this between several, where all of them are
/// texts. Which of several texts of a user are the person's own words is still to be told, so these
/// stay parts.
pub(super) fn content_of(parts: Vec<Value>, is_user: bool, between: &str) -> Value {
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    match texts {
        Some(texts) if texts.len() == 1 || !is_user => Value::String(texts.join(between)),
        _ => Value::Array(parts),
    }
}

impl Places {
    /// A fault of the request as Chat Completions, in this interface's own words.
    pub(super) fn translate(&self, shape: &dyn Shape, mut fault: Fault) -> Fault {
        if let Some(param) = &fault.param {
            // What is inside a message may have stood elsewhere.
            let message = place(param, "messages[", &self.messages).map(|(place, _)| place.clone());
            let tool = place(param, "tools[", &self.tools);
            let place = message.or_else(|| tool.map(|(place, rest)| format!("{place}{}", shape.field(rest))));
            fault.param = Some(place.unwrap_or_else(|| shape.field(param)));
        }
        fault
    }
}

/// Where an item of a list stood, and what of the field is inside it.
fn place<'a>(field: &'a str, list: &str, places: &'a [String]) -> Option<(&'a String, &'a str)> {
    let (at, rest) = field.strip_prefix(list)?.split_once(']')?;
    Some((places.get(at.parse::<usize>().ok()?)?, rest))
}

/// Writes one answer.
pub(super) trait Writer: Send {
    /// The model that answers, and the tokens of its prompt by our own count: comes first.
    fn begin(&mut self, model: &str, prompt_tokens: u64);

    /// Appends what this piece of a stream is on the wire.
    fn write(&mut self, out: Out, to: &mut String);

    /// A whole answer.
    fn whole(&mut self, answer: Collected) -> Value;
}

/// Appends an event with a name, which stands in its data too.
pub(super) fn event(to: &mut String, name: &str, data: Value) {
    let mut object = serde_json::json!({"type": name});
    if let (Value::Object(object), Value::Object(data)) = (&mut object, data) {
        object.extend(data);
    }
    to.push_str(&format!("event: {name}\ndata: {object}\n\n"));
}

/// Appends an event without a name.
pub(super) fn data(to: &mut String, value: &impl Serialize) {
    to.push_str("data: ");
    to.push_str(&json_text(value));
    to.push_str("\n\n");
}

/// A value of ours as JSON text.
pub(super) fn json_text(value: &(impl Serialize + ?Sized)) -> String {
    // Texts, numbers and tables with texts for keys can always be written.
    serde_json::to_string(value).unwrap_or_default()
}
