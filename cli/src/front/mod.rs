//! The fronts of a conversation: where its turns are shown, and where its user is asked.
//!
//! [`Terminal`] is also the front of a pipe, where nobody can be asked; that of the page is in `up`.

mod display;
mod summary;
pub(crate) mod terminal;

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::base::Failure;
use crate::screen::Folded;
use toolgraft::AgentEvent;
use toolgraft_mcp::{Elicitor, InputAnswer, InputRequest};

pub(crate) use display::{Display, Shelf};
pub(crate) use terminal::Terminal;

/// Maximum width in columns of a tool's name in a question.
pub(crate) const NAME: usize = 60;

/// A question to the user about a call. Its texts contain no control characters and can be drawn as they are; the user
/// interface must accept a yes only after all of the text was shown.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// Id of the call that the question is about.
    pub(crate) id: String,
    /// Full name of the tool, shortened if it is long; the body then contains the whole name.
    pub(crate) name: String,
    /// The reason for the question, as a sentence.
    pub(crate) why: String,
    /// The changes in the tool and the arguments as text, with a diff of a changed file; the middle is hidden if it
    /// does not fit the screen.
    pub(crate) body: Folded,
    /// The arguments of the call in one line.
    pub(crate) line: String,
    /// `true` if an answer must not apply to later calls, since this one may be a draft or an example, or repeats one
    /// that ran.
    pub(crate) is_doubtful: bool,
    /// Hash of the tool's definition, to which alone the answer applies.
    pub(crate) definition: String,
}

/// The user's answer to a question about a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Once,
    /// Approve this call, and each later one of the tool in this conversation.
    Always,
    /// Deny this call, with a reason for the model if the user gave one.
    No(Option<String>),
}

/// Returns an elicitor that shows servers' requests for input at this user interface.
pub(crate) fn elicitor(front: Arc<dyn Frontend>) -> impl Elicitor {
    move |request: InputRequest| {
        let front = front.clone();
        async move { front.fill(&request).await }
    }
}

/// A user interface that shows turns and asks the user questions.
pub(crate) trait Frontend: Send + Sync {
    /// Shows an event of a turn.
    fn event(&self, event: AgentEvent) -> Result<(), Failure>;

    /// Returns the columns and rows available for the body of a question; `None` if there is no user to ask.
    fn room(&self) -> Option<(usize, usize)>;

    /// Asks the user about a call. Never completes if the user cancels the turn instead.
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;

    /// Shows a server's request for input and returns the user's answer. If the future is dropped, the question is
    /// withdrawn.
    fn fill<'a>(&'a self, request: &'a InputRequest) -> BoxFuture<'a, InputAnswer>;

    /// Asks the user to choose one of these models, and returns its index; `None` if the user chooses none or there is
    /// no user to ask.
    fn choose<'a>(&'a self, _: &'a str, _: &'a [String]) -> BoxFuture<'a, Result<Option<usize>, Failure>> {
        Box::pin(async { Ok(None) })
    }
}
