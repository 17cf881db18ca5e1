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

/// Most columns of a tool's name in a question.
pub(crate) const NAME: usize = 60;

/// A call that somebody is asked about. Nothing in it steers a terminal or is hidden: whoever draws it draws
/// it as it is, and takes a yes only once all of it was on screen.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The call's id.
    pub(crate) id: String,
    /// The tool's full name, bounded; the body has all of a longer one.
    pub(crate) name: String,
    /// The reason that it is asked about, in a sentence.
    pub(crate) why: String,
    /// The changes of the tool, and the arguments as a user reads them, with the changes of a
    /// file; folded to the room that there is.
    pub(crate) body: Folded,
    /// The arguments in one line.
    pub(crate) line: String,
    /// No answer holds for later calls: this one may be a draft or an example, or repeats one that ran.
    pub(crate) is_doubtful: bool,
    /// A hash of the tool's definition: an answer is one to this definition alone.
    pub(crate) definition: String,
}

/// An answer of the user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Once,
    /// This call, and each later one of the tool in this conversation.
    Always,
    /// Not; the model is told why, where that is said.
    No(Option<String>),
}

/// Returns the elicitor that asks at this front.
pub(crate) fn elicitor(front: Arc<dyn Frontend>) -> impl Elicitor {
    move |request: InputRequest| {
        let front = front.clone();
        async move { front.fill(&request).await }
    }
}

/// Where turns are shown, and where the user is asked.
pub(crate) trait Frontend: Send + Sync {
    /// Shows an event of a turn.
    fn event(&self, event: AgentEvent) -> Result<(), Failure>;

    /// Returns the columns and rows that there are for the body of a question; `None` if nobody can be asked.
    fn room(&self) -> Option<(usize, usize)>;

    /// Asks about a call. It never ends where the turn is to end instead.
    fn approve<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;

    /// Asks what a server wants to know. Where this is dropped the question is withdrawn.
    fn fill<'a>(&'a self, request: &'a InputRequest) -> BoxFuture<'a, InputAnswer>;

    /// Asks which of these models is meant, and returns its index; `None` if the user chooses none, or cannot.
    fn choose<'a>(&'a self, _: &'a str, _: &'a [String]) -> BoxFuture<'a, Result<Option<usize>, Failure>> {
        Box::pin(async { Ok(None) })
    }
}
