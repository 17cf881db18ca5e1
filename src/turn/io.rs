//! The inputs and actions of a turn, and the mistakes of its driver.

use std::collections::BTreeMap;

use super::event::{AgentEvent, Approval, ApprovalRequest, Finished};
use crate::conversation::ConversationError;
use crate::model::{ContextWindow, ModelError, ModelEvent, Request};
use crate::outcome::Outcome;
use crate::route::Invocation;
use crate::tools::Definition;

/// Tools that were approved once for all, by server and name, with their definitions at that time.
pub type Granted = BTreeMap<(Option<String>, String), Definition>;

/// An event that the driver reports.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// The result of an [`Action::Probe`]: whether requests may carry tools, if the endpoint reports it.
    Probed(Option<bool>),
    /// The result of an [`Action::AskContext`].
    ContextWindow(Option<ContextWindow>),
    /// An event of the model's stream.
    Model(ModelEvent),
    /// The endpoint refused a request because of its tools.
    ToolsRefused(ModelError),
    /// The rest of the message is not wanted: it ends here, as if the output limit had been reached, and none of its
    /// calls runs.
    Enough,
    /// The stream was cut off, or did not begin.
    ModelFailed(ModelError),
    /// The endpoint says that the prompt does not fit the model's context.
    ContextExceeded {
        /// Tokens of the prompt, if the endpoint reports them.
        prompt: Option<usize>,
        /// Tokens of the context, if the endpoint reports them.
        context: Option<usize>,
        /// The endpoint's message and possible remedies.
        message: String,
    },
    /// A call has its outcome.
    Outcome {
        /// The call's id.
        id: String,
        /// The outcome.
        outcome: Outcome,
    },
    /// An [`Action::Ask`] was answered.
    Approval {
        /// The call's id.
        id: String,
        /// The answer.
        approval: Approval,
    },
    /// The turn must end now.
    Cancel,
    /// The turn must end without losing anything: nothing new may begin.
    Suspend,
}

impl Input {
    /// Converts the next item of a model's stream; `None`, the end of the stream, means that it was cut off.
    pub fn of_model(next: Option<Result<ModelEvent, ModelError>>) -> Input {
        match next {
            Some(Ok(event)) => Input::Model(event),
            Some(Err(error @ ModelError::ContextExceeded { prompt, context, .. })) => {
                Input::ContextExceeded { prompt, context, message: error.to_string() }
            }
            Some(Err(error)) if error.refuses_tools() => Input::ToolsRefused(error),
            Some(Err(error)) => Input::ModelFailed(error),
            None => Input::ModelFailed(ModelError::BrokeOff),
        }
    }
}

/// An action that the driver must carry out.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Find out whether requests to this model may carry tools; `None` is the client's own model.
    Probe(Option<String>),
    /// Find out the length of this model's context; `None` is the client's own model.
    AskContext(Option<String>),
    /// Send this to the model and report its stream.
    Send(Request),
    /// Cancel the stream; no further part of it may be reported.
    CancelStream,
    /// Ask whether a call may run. At most one question is open.
    Ask(ApprovalRequest),
    /// The question is withdrawn: its answer may no longer be reported.
    Withdraw {
        /// The call's id.
        id: String,
    },
    /// Run this call, concurrently with those that are running.
    Call(Invocation),
    /// Report this event to the caller.
    Emit(AgentEvent),
    /// The turn has ended: drop everything that still runs.
    Finish(Box<Finished>),
}

/// A mistake of the turn's driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The conversation does not end with something to answer.
    #[error("the conversation has nothing for the model to answer: append a user message first")]
    NothingToAnswer,
    /// The turn has ended.
    #[error("the turn is over: it takes no further input")]
    Over,
    /// A part of the model's stream was reported without a request, or a call's outcome while the model streams.
    #[error("unexpected {input}: {expected}")]
    OutOfOrder {
        /// The input.
        input: &'static str,
        /// The expected input.
        expected: &'static str,
    },
    /// The call is not running.
    #[error("no call {id:?} runs")]
    NotRunning {
        /// The id.
        id: String,
    },
    /// There is no open question about the call.
    #[error("no question about the call {id:?} is open")]
    NotAsked {
        /// The id.
        id: String,
    },
    /// The history refused an entry.
    #[error(transparent)]
    Conversation(#[from] ConversationError),
}
