//! The agent: runs turns, one after the other or many at once.

use std::sync::Arc;

use futures::stream::{self, FuturesUnordered, StreamExt};
use tokio_util::sync::CancellationToken;

use super::approver::{Approver, ApproverState};
use super::driver::Driver;
use super::inner::AgentInner;
use super::record::TurnRecord;
use super::run::{Run, RunOptions};
use crate::conversation::Conversation;
use crate::prompt::PromptError;
use crate::spans;
use crate::transcript::Recorder;
use crate::turn::{Turn, TurnError, TurnStart};

/// The reason why a turn cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The conversation has no message that the model can answer.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The prompt cannot be written for these tools.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

/// A model with tools. Cheap to clone; one agent serves many conversations.
#[derive(Clone)]
pub struct Agent {
    pub(super) inner: Arc<AgentInner>,
    pub(super) asking: Arc<ApproverState>,
}

impl Agent {
    /// Returns the same agent with another approver, for one user of several or for one conversation. It shares model,
    /// tools and prompt with this one. Approvals that this agent's approver gave do not count for the new agent.
    #[must_use]
    pub fn with_approver(&self, approver: impl Approver + 'static) -> Agent {
        Agent { inner: self.inner.clone(), asking: Arc::new(ApproverState::new(Some(Arc::new(approver)))) }
    }

    /// Runs one turn: the model answers the last message of the conversation. Calls that a [suspended](Run::suspend)
    /// turn left pending are dealt with first.
    ///
    /// The tools are those that the toolbox has now; a later change of its catalog takes effect in the next turn.
    ///
    /// # Errors
    /// The conversation has nothing to answer, or the prompt cannot be written for
    /// the tools.
    pub fn run(&self, conversation: impl Into<Conversation>) -> Result<Run, AgentError> {
        self.run_with(conversation, RunOptions::default())
    }

    /// Runs one turn and records its requests, answers, calls and outcomes. The turns of a conversation share a
    /// recorder.
    ///
    /// # Errors
    /// As for [`run`](Agent::run). A recording that cannot be written is not an error.
    pub fn run_recorded(&self, conversation: impl Into<Conversation>, recorder: &Recorder) -> Result<Run, AgentError> {
        self.run_with(conversation, RunOptions { recorder: Some(recorder.clone()), ..RunOptions::default() })
    }

    /// Runs one turn with these options.
    ///
    /// # Errors
    /// As for [`run`](Agent::run).
    pub fn run_with(&self, conversation: impl Into<Conversation>, options: RunOptions) -> Result<Run, AgentError> {
        let inner = self.inner.clone();
        let granted = self.asking.granted().clone();
        let output = options.output.or_else(|| inner.output.clone());
        let record = options.recorder.map(TurnRecord::new);
        let start = TurnStart { granted, ..TurnStart::default() };
        let mut turn = Turn::begin(inner.setup()?, conversation.into(), output, start)?;
        if !self.asking.is_attended() {
            turn.set_unattended();
        }
        let (cancel, suspend) = (CancellationToken::new(), CancellationToken::new());
        let driver = Driver {
            agent: inner,
            asking: self.asking.clone(),
            turn,
            cancel: cancel.clone(),
            suspend: Some(suspend.clone()),
            message: None,
            calls: FuturesUnordered::new(),
            question: None,
            over: false,
            record,
            headers: options.headers,
            span: spans::turn(),
        };
        let events = stream::unfold(driver, |mut driver| async move { Some((driver.next().await?, driver)) });
        Ok(Run { events: events.boxed(), cancel, suspend })
    }
}

crate::message::opaque_debug!(Agent, self => config: self.inner.config);
