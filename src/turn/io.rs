//! The inputs and actions of a turn, and the mistakes of its driver.

use std::collections::BTreeMap;

use super::event::{AgentEvent, Approval, ApprovalRequest, Finished};
use crate::conversation::ConversationError;
use crate::model::{ContextWindow, ModelError, ModelEvent, Request};
use crate::outcome::Outcome;
use crate::route::Invocation;
use crate::tools::Definition;

/// Tools whose approval also applies to later calls, by server and name, with their definitions at that time.
pub type Granted = BTreeMap<(Option<String>, String), Definition>;

/// Input that the driver of a turn reports to it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Input {
    /// The result of an [`Action::Probe`]: whether requests may carry tools, if the endpoint reports it.
    Probed(Option<bool>),
    /// The result of an [`Action::AskContext`]: the length of the model's context; `None` if the endpoint reports none.
    ContextWindow(Option<ContextWindow>),
    /// An event of the model's stream.
    Model(ModelEvent),
    /// The endpoint refused a request because of its tools.
    ToolsRefused(ModelError),
    /// The rest of the streaming message is not wanted: it ends here, as if the output limit had been reached, and none
    /// of its calls runs.
    Enough,
    /// The model's stream was cut off, or did not begin.
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
    /// A call that was run has its outcome.
    Outcome {
        /// The call's id.
        id: String,
        /// Outcome of the call.
        outcome: Outcome,
    },
    /// The user answered an [`Action::Ask`].
    Approval {
        /// The call's id.
        id: String,
        /// The user's answer: the call may run, or it may not.
        approval: Approval,
    },
    /// Cancellation: the turn must end now.
    Cancel,
    /// Suspension: the turn must end without losing results, so running calls are waited for and no new one begins.
    Suspend,
}

impl Input {
    /// Converts the next item of a model's stream into an input; `None`, the end of the stream, means that it was cut
    /// off.
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
    /// Send this request to the model and report the events of its stream.
    Send(Request),
    /// Cancel the model's stream; no further event of it may be reported.
    CancelStream,
    /// Ask the user whether a call may run. At most one such question is unanswered at a time.
    Ask(ApprovalRequest),
    /// Withdraw the question whether a call may run: its answer may no longer be reported.
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

/// Error for a mistake of the turn's driver.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TurnError {
    /// The conversation does not end with a message or result that the model can answer.
    #[error("the conversation has nothing for the model to answer: append a user message first")]
    NothingToAnswer,
    /// An input was reported after the end of the turn.
    #[error("the turn is over: it takes no further input")]
    Over,
    /// A part of the model's stream was reported without a request, or a call's outcome while the model streams.
    #[error("unexpected {input}: {expected}")]
    OutOfOrder {
        /// Description of the unexpected input.
        input: &'static str,
        /// Description of the turn's state, or of the input that it expects.
        expected: &'static str,
    },
    /// An outcome was reported for a call that is not running.
    #[error("no call {id:?} runs")]
    NotRunning {
        /// Id of the call.
        id: String,
    },
    /// An approval was reported for a call about which no question is open.
    #[error("no question about the call {id:?} is open")]
    NotAsked {
        /// Id of the call.
        id: String,
    },
    /// The conversation rejected a new entry.
    #[error(transparent)]
    Conversation(#[from] ConversationError),
}
