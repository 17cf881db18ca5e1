//! What a turn is told, what it says to do, and mistakes of whoever drives it.

use std::collections::BTreeMap;

use super::event::{AgentEvent, Approval, ApprovalRequest, Finished};
use crate::conversation::ConversationError;
use crate::message::{Delta, FinishReason, NativeCall, Usage};
use crate::model::{ContextWindow, ModelError, ModelEvent, Progress, Request, TokenChoice};
use crate::outcome::Outcome;
use crate::route::Invocation;
use crate::tools::Definition;

/// Tools that were approved once, by server and name, as they were then.
pub type Granted = BTreeMap<(Option<String>, String), Definition>;

/// What happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// What an [`Action::Probe`] found: whether requests may carry tools, as far
    /// as the endpoint says.
    Probed(Option<bool>),
    /// What an [`Action::AskContext`] found.
    ContextWindow(Option<ContextWindow>),
    /// Something happened before the message began.
    Progress(Progress),
    /// The endpoint refused a request because of its tools.
    ToolsRefused(ModelError),
    /// The endpoint refused a form of the structure that the request demanded, in these words,
    /// and answers it without.
    ConstraintRefused(String),
    /// The message is held to nothing of the structure that the request demanded.
    Unconstrained,
    /// Tokens of the text that comes next, as the request asked for.
    Tokens(Vec<TokenChoice>),
    /// A piece of the model's message came.
    Delta(Delta),
    /// No more of the message is wanted: it ends here, as if the output limit had been hit, and
    /// none of its calls runs.
    Enough,
    /// A call came in a field of its own, behind all text.
    Call(NativeCall),
    /// The endpoint said what the message cost.
    Usage(Usage),
    /// The message is over.
    ModelFinished(FinishReason),
    /// The stream broke off, or did not begin.
    ModelFailed(ModelError),
    /// The endpoint says that the prompt does not fit the model's context.
    ContextExceeded {
        /// Tokens of the prompt, as far as it says it.
        prompt: Option<usize>,
        /// Tokens that the context has, as far as it says it.
        context: Option<usize>,
        /// Its words, and what may help.
        message: String,
    },
    /// A call is over.
    Outcome {
        /// The call's id.
        id: String,
        /// What became of it.
        outcome: Outcome,
    },
    /// An [`Action::Ask`] was answered.
    Approval {
        /// The call's id.
        id: String,
        /// The answer.
        approval: Approval,
    },
    /// The turn is to end now.
    Cancel,
    /// The turn is to end without losing anything: nothing new is to begin.
    Suspend,
}

impl Input {
    /// What the next of a model's stream says to a turn; `None`, the stream's end, says that it
    /// broke off. Yields `None` for fields, which say nothing to a turn.
    pub fn of_model(next: Option<Result<ModelEvent, ModelError>>) -> Option<Input> {
        Some(match next {
            Some(Ok(ModelEvent::Fields(_))) => return None,
            Some(Ok(ModelEvent::Delta(delta))) => Input::Delta(delta),
            Some(Ok(ModelEvent::ConstraintRefused(message))) => Input::ConstraintRefused(message),
            Some(Ok(ModelEvent::Unconstrained)) => Input::Unconstrained,
            Some(Ok(ModelEvent::Tokens(tokens))) => Input::Tokens(tokens),
            Some(Ok(ModelEvent::Call(call))) => Input::Call(call),
            Some(Ok(ModelEvent::Usage(usage))) => Input::Usage(usage),
            Some(Ok(ModelEvent::Progress(progress))) => Input::Progress(progress),
            Some(Ok(ModelEvent::Finish(reason))) => Input::ModelFinished(reason),
            Some(Err(error @ ModelError::ContextExceeded { prompt, context, .. })) => {
                Input::ContextExceeded { prompt, context, message: error.to_string() }
            }
            Some(Err(error)) if error.refuses_tools() => Input::ToolsRefused(error),
            Some(Err(error)) => Input::ModelFailed(error),
            None => Input::ModelFailed(ModelError::BrokeOff),
        })
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Find out whether requests for this model may carry tools; `None` is the
    /// client's own model.
    Probe(Option<String>),
    /// Find out how long the context of this model is; `None` is the client's own model.
    AskContext(Option<String>),
    /// Send this to the model and report its stream.
    Send(Request),
    /// Cancel the stream; nothing of it is to be reported any more.
    CancelStream,
    /// Ask whether a call may run. One question at a time is open.
    Ask(ApprovalRequest),
    /// The question is withdrawn: its answer is not to be reported any more.
    Withdraw {
        /// The call's id.
        id: String,
    },
    /// Run this call, beside those that run already.
    Call(Invocation),
    /// Tell the caller.
    Emit(AgentEvent),
    /// The turn is over: drop what still runs.
    Finish(Box<Finished>),
}

/// A mistake of whoever drives the turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The conversation does not end with something to answer.
    #[error("the conversation has nothing for the model to answer: append a user message first")]
    NothingToAnswer,
    /// The turn is over.
    #[error("the turn is over: it takes no further input")]
    Over,
    /// The model's stream was reported while none was asked for, or a call while the model speaks.
    #[error("unexpected {input}: {expected}")]
    OutOfOrder {
        /// What came.
        input: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// The call does not run.
    #[error("no call {id:?} runs")]
    NotRunning {
        /// The id.
        id: String,
    },
    /// Nobody was asked about the call.
    #[error("no question about the call {id:?} is open")]
    NotAsked {
        /// The id.
        id: String,
    },
    /// The history refused an entry.
    #[error(transparent)]
    Conversation(#[from] ConversationError),
}
