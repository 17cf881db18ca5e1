//! A question of a server to a person, who is asked, and the answer.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::form::Form;

/// What a server asks a person for. All texts in it are the server's: show them so that they
/// cannot steer a terminal or a page, and say which server asks.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InputRequest {
    /// The server, as the configuration names it.
    pub server: String,
    /// What it says to the person.
    pub message: String,
    /// What it wants.
    pub kind: InputKind,
}

/// What a server wants of a person.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputKind {
    /// Fields to be filled in.
    Form(Form),
    /// That the person opens a page and goes on there. Nothing here opens it;
    /// [`InputAnswer::Accept`] says that the person agreed, not that it is done.
    #[non_exhaustive]
    Url {
        /// The page: an `http` or `https` URL with a host, as a browser reads it (letters of other
        /// scripts and spaces by their numbers, line breaks left out).
        url: String,
        /// The host of the URL, in ASCII, without the user that may stand before it.
        host: String,
    },
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum InputAnswer {
    /// Yes, with the fields of the form by name; a page has none.
    Accept(Map<String, Value>),
    /// No.
    Decline,
    /// Neither: the question was put away.
    Cancel,
}

/// Somebody who answers the questions of servers.
///
/// While an answer is awaited the time of the server's calls stands still. Functions of a
/// request that return a future of [`InputAnswer`] are elicitors.
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
    /// Answers a question. Dropping the future withdraws it: the server has gone, has taken
    /// it back, or nobody waits for its call any more.
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
