//! A server's question to the user, and the answer.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::form::Form;

/// A server's request for input from the user. All texts in it come from the server: show them so that they cannot
/// control a terminal or a page, and name the server that asks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InputRequest {
    /// The server's name in the configuration.
    pub server: String,
    /// The server's message to the user about the request.
    pub message: String,
    /// The kind of input: a form to fill in, or a page to open.
    pub kind: InputKind,
}

/// The kind of input that a server asks the user for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputKind {
    /// A form whose fields the user fills in.
    Form(Form),
    /// A page that the user shall open to go on there. The library does not open it. [`InputAnswer::Accept`] means that
    /// the user agreed, not that they are done.
    #[non_exhaustive]
    Url {
        /// The URL of the page: `http` or `https` with a host, normalised as by a browser (non-ASCII characters and
        /// spaces percent-encoded, line breaks removed).
        url: String,
        /// The host of the page's URL, in ASCII, without a user name.
        host: String,
    },
}

/// The user's answer to a server's request for input.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputAnswer {
    /// The user agrees; contains the values of the form's fields by name, or is empty for a page.
    Accept(Map<String, Value>),
    /// The user refuses the request for input.
    Decline,
    /// The user dismissed the request for input without an answer.
    Cancel,
}

/// A handler that answers servers' requests for input, usually by asking the user.
///
/// The deadlines of the server's calls are paused while an answer is awaited. Functions from an [`InputRequest`] to a
/// future of [`InputAnswer`] implement this trait.
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
    /// Answers a server's request for input. The future is dropped when the request is obsolete: the server has gone or
    /// has withdrawn it, or its call was cancelled.
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
