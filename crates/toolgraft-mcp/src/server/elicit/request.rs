//! A server's question to the user, and the answer.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::form::Form;

/// A server's question to the user. All texts in it come from the server: show them so that they
/// cannot control a terminal or a page, and name the server that asks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InputRequest {
    /// The server's name in the configuration.
    pub server: String,
    /// The server's message to the user.
    pub message: String,
    /// The kind of question.
    pub kind: InputKind,
}

/// The kind of a server's question.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputKind {
    /// Fields to be filled in.
    Form(Form),
    /// A page that the user shall open to go on there. Nothing here opens it.
    /// [`InputAnswer::Accept`] means that the user agreed, not that they are done.
    #[non_exhaustive]
    Url {
        /// The page: an `http` or `https` URL with a host, normalised as by a browser (non-ASCII
        /// characters and spaces percent-encoded, line breaks removed).
        url: String,
        /// The host of the URL, in ASCII, without a user name.
        host: String,
    },
}

/// The user's answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputAnswer {
    /// Yes, with the fields of the form by name; empty for a page.
    Accept(Map<String, Value>),
    /// No.
    Decline,
    /// Neither: the user dismissed the question.
    Cancel,
}

/// Answers the questions of servers, usually by asking the user.
///
/// The deadlines of the server's calls are paused while an answer is awaited. Functions from a
/// request to a future of [`InputAnswer`] implement this trait.
///
/// ```
/// use toolgraft_mcp::{Hub, InputAnswer, InputKind, InputRequest};
///
/// let builder = Hub::builder().elicitor(|request: InputRequest| async move {
///     let InputKind::Form(form) = request.kind else { return InputAnswer::Decline };
///     let mut content = serde_json::Map::new();
///     for field in &form.fields {
///         // What somebody typed, as the field wants it; an error says what is wrong with it.
///         match field.read("Ada") {
///             Ok(value) => content.extend(value.map(|value| (field.name.clone(), value))),
///             Err(_) => return InputAnswer::Cancel,
///         }
///     }
///     InputAnswer::Accept(content)
/// });
/// ```
pub trait Elicitor: Send + Sync {
    /// Answers a question. The future is dropped when the question is obsolete: the server has gone
    /// or has withdrawn it, or its call was cancelled.
    fn elicit(&self, request: InputRequest) -> BoxFuture<'static, InputAnswer>;
}

impl<F, Answer> Elicitor for F
where
    F: Fn(InputRequest) -> Answer + Send + Sync,
    Answer: Future<Output = InputAnswer> + Send + 'static,
{
    fn elicit(&self, request: InputRequest) -> BoxFuture<'static, InputAnswer> {
        Box::pin(self(request))
    }
}
