//! The trait of client interfaces: converts a request to one of Chat Completions, and writes
//! answers and errors. Everything between these is the same for all interfaces.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::out::{Finish, Out};
use crate::store::ClientStore;
use toolgraft::wire::set_member;

/// An interface of clients.
pub trait Shape: Send + Sync {
    /// Converts a request to one of Chat Completions, and makes the writer for its answer. `kept`
    /// is the client's store.
    ///
    /// # Errors
    /// Fails if a field is not supported or has the wrong type.
    fn read(&self, body: Map<String, Value>, kept: &ClientStore) -> Result<Read, Fault>;

    /// Returns the error object for a fault, by default in OpenAI's form; also used for a failure in mid-stream.
    fn error(&self, fault: &Fault) -> Value {
        serde_json::json!({"error": {
            "message": fault.message, "type": error_type(fault.status), "param": fault.param, "code": fault.code,
        }})
    }

    /// Returns this interface's name for a field of Chat Completions, for errors.
    fn field(&self, field: &str) -> String {
        field.to_owned()
    }

    /// Returns the answer to a request to count tokens.
    fn count(&self, tokens: u64) -> Value {
        serde_json::json!({"input_tokens": tokens})
    }

    /// Returns `true` if an answer can hold the results of a search that this server ran.
    fn takes_results(&self) -> bool {
        false
    }

    /// Returns the body of the answer to a request that only a tool of the vendor's own service
    /// could answer: with the results of this server's search in its place, or with the reason for
    /// which that failed.
    ///
    /// # Errors
    /// Fails if the interface reports such requests as errors.
    fn hosted(&self, hosted: &Hosted, _results: Option<Result<Results, String>>) -> Result<String, Fault> {
        Err(Fault::field("tools", format!("Hosted tool '{}' is not supported with {}.", hosted.kind, hosted.model)))
    }

    /// Returns a model of the endpoint in the form of this interface's list; `None` for OpenAI's form.
    fn model(&self, _name: &str) -> Option<Value> {
        None
    }

    /// Returns the list of these models.
    fn models(&self, models: Vec<Value>) -> Value {
        serde_json::json!({"models": models})
    }

    /// Returns the text that keeps a silent stream open: a comment, where the clients accept
    /// comments.
    fn busy(&self) -> &'static str {
        ": working\n\n"
    }

    /// Returns the media type of a stream.
    fn stream_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// Returns the answer to a body that asks nothing of a model, in interfaces that have such
    /// requests.
    fn at_once(&self, _body: &[u8]) -> Option<Value> {
        None
    }

    /// Returns the endpoint's path for requests that can be passed through, if it has this
    /// interface: Chat Completions.
    fn passes_to(&self) -> Option<&'static str> {
        None
    }
}

/// Returns the `type` of an error in OpenAI's interfaces for an HTTP status.
pub(crate) fn error_type(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

/// A converted request.
pub struct Read {
    /// The request in the form of Chat Completions.
    pub chat: Map<String, Value>,
    /// The places of its tools.
    pub places: Places,
    /// The writer for its answer.
    pub writer: Box<dyn Writer>,
}

/// The places of tools in the original request; empty if they are unchanged.
#[derive(Default)]
pub struct Places(pub(crate) Vec<String>);

/// A tool of the vendor's own service that a request chooses, or offers without any other tool:
/// only that service could answer it.
pub struct Hosted {
    /// The type of the tool.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// The user's last message.
    pub query: String,
    /// The types of all tools of the request that run at the service.
    pub left_out: String,
    /// The model by its name at the endpoint.
    pub model: String,
    /// `true` if the client wants a stream.
    pub stream: bool,
}

impl Hosted {
    /// Returns `true` if it searches the web.
    pub fn is_search(&self) -> bool {
        ["web_search", "googleSearch", "google_search"].iter().any(|begin| self.kind.starts_with(begin))
    }
}

/// A page that a search found.
#[derive(Debug, PartialEq)]
pub struct Link {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
}

/// The results of a search.
pub struct Results {
    /// The result as text.
    pub text: String,
    /// The pages.
    pub links: Vec<Link>,
}

/// Makes a message with these parts, joined with `between` if all are texts, and with these calls; `None` if there are
/// neither.
pub(crate) fn said(role: &str, parts: Vec<Value>, calls: Vec<Value>, between: &str) -> Option<Value> {
    if parts.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = serde_json::json!({"role": role, "content": content_of(parts, role == "user", between)});
    if !calls.is_empty() {
        set_member(&mut message, "tool_calls", calls);
    }
    Some(message)
}

/// Returns the role of a message, which must be one that the interface has.
pub(crate) fn role_of(message: &Value, known: &[&'static str], place: &str) -> Result<&'static str, Fault> {
    let role = known.iter().find(|known| message["role"] == **known).copied();
    role.ok_or_else(|| Fault::field(format!("{place}.role"), format!("expected one of: {}", known.join(", "))))
}

/// Makes a call. Arguments that are text already stay as they are: some clients send them as in
/// OpenAI's interface.
pub(crate) fn call(id: impl Into<Value>, name: impl Into<Value>, arguments: Value) -> Value {
    let arguments = match arguments {
        Value::Null => "{}".to_owned(),
        Value::String(text) => text,
        arguments => arguments.to_string(),
    };
    let function = serde_json::json!({"name": name.into(), "arguments": arguments});
    serde_json::json!({"id": id.into(), "type": "function", "function": function})
}

/// The `reasoning_effort` of a request whose client wants no reasoning.
pub(crate) const NO_THINKING: &str = "none";

/// The member of a tool that defers its listing.
pub(crate) const DEFERRED: &str = "defer_loading";

/// Reads an optional boolean field.
pub(crate) fn flag(body: &Map<String, Value>, field: &str) -> Result<Option<bool>, Fault> {
    match body.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(Fault::field(field, format!("'{field}' must be true or false"))),
    }
}

/// Removes a field and returns its value if it is not null.
pub(crate) fn given(body: &mut Map<String, Value>, field: &str) -> Option<Value> {
    body.shift_remove(field).filter(|value| !value.is_null())
}

/// Sets a field if there is a value.
pub(crate) fn set(body: &mut Map<String, Value>, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(field.to_owned(), value.into());
    }
}

/// Returns the content for a message's parts: one text, joined with `between`, if all parts are
/// texts. Several texts of a user stay parts, since it is still to be decided which are the
/// person's own words.
pub(crate) fn content_of(parts: Vec<Value>, is_user: bool, between: &str) -> Value {
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    match texts {
        Some(texts) if texts.len() == 1 || !is_user => Value::String(texts.join(between)),
        _ => Value::Array(parts),
    }
}

impl Places {
    /// Translates a fault's field from Chat Completions to the names and places of this interface.
    pub fn translate(&self, shape: &dyn Shape, mut fault: Fault) -> Fault {
        if let Some(param) = &fault.param {
            let place = self.of(param).map(|(place, rest)| format!("{place}{}", shape.field(rest)));
            let place = place.unwrap_or_else(|| shape.field(param));
            fault.message = fault.message.replace(&format!("'{param}'"), &format!("'{place}'"));
            fault.param = Some(place);
        }
        fault
    }

    /// Returns the original place of a tool, and the rest of the field inside it.
    fn of<'f>(&self, field: &'f str) -> Option<(&String, &'f str)> {
        let (at, rest) = field.strip_prefix("tools[")?.split_once(']')?;
        Some((self.0.get(at.parse::<usize>().ok()?)?, rest))
    }
}

/// Writes one answer.
pub trait Writer: Send + Sync {
    /// Sets the model that answers, and the tokens of its prompt by our own count. Called first.
    fn begin(&mut self, model: &str, prompt_tokens: u64);

    /// Appends the text of this piece to a stream.
    fn write(&mut self, out: Out, to: &mut String);

    /// Returns a whole answer: the fold of the stream's pieces, of which neighbouring texts are one, and its end.
    fn whole(&mut self, pieces: Vec<Out>, finish: Finish) -> Value;
}

/// Appends an event with a name, which is also its data's `type`.
pub(crate) fn event(to: &mut String, name: &str, data: Value) {
    let mut object = serde_json::json!({"type": name});
    if let (Value::Object(object), Value::Object(data)) = (&mut object, data) {
        object.extend(data);
    }
    to.push_str(&format!("event: {name}\ndata: {object}\n\n"));
}

/// Appends an event without a name.
pub(crate) fn data(to: &mut String, value: &impl Serialize) {
    to.push_str("data: ");
    to.push_str(&json_text(value));
    to.push_str("\n\n");
}

/// Serializes a value of this program as JSON.
pub(crate) fn json_text(value: &(impl Serialize + ?Sized)) -> String {
    // Cannot fail: such values consist of texts, numbers, and tables with text keys.
    serde_json::to_string(value).unwrap_or_default()
}
