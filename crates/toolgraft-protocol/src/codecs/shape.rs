//! The trait of client interfaces: converts a request to one of Chat Completions, and writes
//! answers and errors. Everything between these is the same for all interfaces.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::fault::Fault;
use crate::out::{Finish, Out};
use crate::store::ClientStore;
use toolgraft::wire::set_member;

/// A client API (wire format): converts requests to Chat Completions, and makes the writer for answers.
pub trait Shape: Send + Sync {
    /// Converts the body of a client's request to Chat Completions, and makes the writer for its answer. `kept` is
    /// the client's part of the store.
    ///
    /// # Errors
    /// Fails if a field is not supported or has the wrong type.
    fn read(&self, body: Map<String, Value>, kept: &ClientStore) -> Result<Read, Fault>;

    /// Returns the error object for a fault, by default in OpenAI's form; it is also used for a failure in the middle
    /// of a stream.
    fn error(&self, fault: &Fault) -> Value {
        serde_json::json!({"error": {
            "message": fault.message, "type": error_type(fault.status), "param": fault.param, "code": fault.code,
        }})
    }

    /// Returns the client API's name for a field of Chat Completions, for error messages.
    fn field(&self, field: &str) -> String {
        field.to_owned()
    }

    /// Returns the body of the answer to a request to count tokens, with this number.
    fn count(&self, tokens: u64) -> Value {
        serde_json::json!({"input_tokens": tokens})
    }

    /// Returns `true` if answers of the client API can hold the results of a search that this server ran.
    fn takes_results(&self) -> bool {
        false
    }

    /// Returns the body of the answer to a request that only a tool of the API vendor's service could answer: with
    /// the results of a search that this server ran instead, or with the reason for which the search failed.
    ///
    /// # Errors
    /// Fails if the interface reports such requests as errors.
    fn hosted(&self, hosted: &Hosted, _results: Option<Result<Results, String>>) -> Result<String, Fault> {
        Err(Fault::field("tools", format!("Hosted tool '{}' is not supported with {}.", hosted.kind, hosted.model)))
    }

    /// Returns an entry for a model of the endpoint in the client API's list of models; `None` for OpenAI's form.
    fn model(&self, _name: &str) -> Option<Value> {
        None
    }

    /// Returns the body of the answer that lists these models.
    fn models(&self, models: Vec<Value>) -> Value {
        serde_json::json!({"models": models})
    }

    /// Returns the text that keeps a silent stream alive: a comment, where the API's clients accept comments.
    fn busy(&self) -> &'static str {
        ": working\n\n"
    }

    /// Returns the media type (`Content-Type`) of a streamed answer.
    fn stream_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// Returns the answer to a request that needs no model, such as Ollama's request to load one; `None` for any
    /// other request.
    fn at_once(&self, _body: &[u8]) -> Option<Value> {
        None
    }

    /// Returns the endpoint's path, below its base URL, to which requests of this API can be passed through; `None`
    /// for all APIs but Chat Completions.
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

/// A client's request, converted to Chat Completions.
pub struct Read {
    /// The body of the request in the form of Chat Completions.
    pub chat: Map<String, Value>,
    /// Places of the request's tools in the original body, for error messages.
    pub places: Places,
    /// Writer of the answer in the client's format.
    pub writer: Box<dyn Writer>,
}

/// Places of the converted tools in the original request, such as `tools[0]`, for error messages; empty if the tools
/// are not converted.
#[derive(Default)]
pub struct Places(pub(crate) Vec<String>);

/// A tool of the API vendor's own service that a request chooses, or offers without any other tool: only that service
/// could answer the request.
pub struct Hosted {
    /// Type of the tool, such as `web_search`.
    pub kind: String,
    /// Name of the tool.
    pub name: String,
    /// Text of the user's last message, with which a search runs.
    pub query: String,
    /// Types, separated by commas, of all tools of the request that only the vendor's service can run.
    pub left_out: String,
    /// Name of the model at the endpoint.
    pub model: String,
    /// `true` if the client wants a stream.
    pub stream: bool,
}

impl Hosted {
    /// Returns `true` if the tool searches the web.
    pub fn is_search(&self) -> bool {
        ["web_search", "googleSearch", "google_search"].iter().any(|begin| self.kind.starts_with(begin))
    }
}

/// A web page that a search found.
#[derive(Debug, PartialEq)]
pub struct Link {
    /// Title of the page.
    pub title: String,
    /// URL of the page.
    pub url: String,
}

/// The results of a web search.
pub struct Results {
    /// Text of the search tool's result.
    pub text: String,
    /// Pages that the search found.
    pub links: Vec<Link>,
}

/// Makes a message of Chat Completions with these parts and calls; `None` if there are neither. Parts that are all
/// text are joined with `between`, except several of a user.
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

/// Returns the role of a message; fails if it is none of the `known` roles of the API.
pub(crate) fn role_of(message: &Value, known: &[&'static str], place: &str) -> Result<&'static str, Fault> {
    let role = known.iter().find(|known| message["role"] == **known).copied();
    role.ok_or_else(|| Fault::field(format!("{place}.role"), format!("expected one of: {}", known.join(", "))))
}

/// Makes an entry of `tool_calls` of Chat Completions. Arguments that are a string already stay as they are, since
/// some clients send them as in OpenAI's API.
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

/// Name of the member of a tool with which a client defers the listing of the tool until it is needed.
pub(crate) const DEFERRED: &str = "defer_loading";

/// Reads an optional boolean field of a request; `None` if it is missing or null.
pub(crate) fn flag(body: &Map<String, Value>, field: &str) -> Result<Option<bool>, Fault> {
    match body.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(Fault::field(field, format!("'{field}' must be true or false"))),
    }
}

/// Removes a field of a request, and returns its value if it is not null.
pub(crate) fn given(body: &mut Map<String, Value>, field: &str) -> Option<Value> {
    body.shift_remove(field).filter(|value| !value.is_null())
}

/// Sets a field of a request if there is a value for it.
pub(crate) fn set(body: &mut Map<String, Value>, field: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(field.to_owned(), value.into());
    }
}

/// Returns the content for a message's parts: one text, joined with `between`, if all parts are texts. Several texts
/// of a user stay parts, since it is decided later which are the user's own words.
pub(crate) fn content_of(parts: Vec<Value>, is_user: bool, between: &str) -> Value {
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    match texts {
        Some(texts) if texts.len() == 1 || !is_user => Value::String(texts.join(between)),
        _ => Value::Array(parts),
    }
}

impl Places {
    /// Translates the field that a fault names, and its place, from Chat Completions to those of the client's API.
    pub fn translate(&self, shape: &dyn Shape, mut fault: Fault) -> Fault {
        if let Some(param) = &fault.param {
            let place = self.of(param).map(|(place, rest)| format!("{place}{}", shape.field(rest)));
            let place = place.unwrap_or_else(|| shape.field(param));
            fault.message = fault.message.replace(&format!("'{param}'"), &format!("'{place}'"));
            fault.param = Some(place);
        }
        fault
    }

    /// Returns the place of a tool in the original request, and the rest of the field's path after `tools[N]`; `None`
    /// for any other field.
    fn of<'f>(&self, field: &'f str) -> Option<(&String, &'f str)> {
        let (at, rest) = field.strip_prefix("tools[")?.split_once(']')?;
        Some((self.0.get(at.parse::<usize>().ok()?)?, rest))
    }
}

/// Writes one answer in the format of a client's API, streamed or whole.
pub trait Writer: Send + Sync {
    /// Sets the model that answers, and the estimated tokens of its prompt. Called before all other methods.
    fn begin(&mut self, model: &str, prompt_tokens: u64);

    /// Appends a piece of the answer to the text of the stream.
    fn write(&mut self, out: Out, to: &mut String);

    /// Returns a whole answer, which is not streamed, made of all its pieces and its end; neighbouring texts are one
    /// piece.
    fn whole(&mut self, pieces: Vec<Out>, finish: Finish) -> Value;
}

/// Appends an SSE event with this name, which is also the `type` in its data.
pub(crate) fn event(to: &mut String, name: &str, data: Value) {
    let mut object = serde_json::json!({"type": name});
    if let (Value::Object(object), Value::Object(data)) = (&mut object, data) {
        object.extend(data);
    }
    to.push_str(&format!("event: {name}\ndata: {object}\n\n"));
}

/// Appends an SSE event without a name, with this value as its data.
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
