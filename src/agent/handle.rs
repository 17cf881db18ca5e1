//! The agent: what runs turns, one after the other or many at once.

use std::sync::Arc;

use futures::stream::{self, StreamExt};
use tokio_util::sync::CancellationToken;

use super::approver::{Approver, Asking};
use super::driver::Driver;
use super::inner::Inner;
use super::record::TurnRecord;
use super::run::{Run, RunOptions};
use crate::conversation::Conversation;
use crate::prompt::PromptError;
use crate::transcript::Recorder;
use crate::turn::{Turn, TurnError};

/// A turn that cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The conversation has nothing to answer.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The prompt cannot be written for these tools.
    #[error(transparent)]
    Prompt(#[from] PromptError),
}

/// A model with tools. Cheap to clone; one agent serves many conversations.
#[derive(Clone)]
pub struct Agent {
    pub(super) inner: Arc<Inner>,
    pub(super) asking: Arc<Asking>,
}

impl Agent {
    /// The same agent with somebody else to ask, for one user of several or one
    /// conversation. It shares model, tools and prompt with this one, and nothing
    /// that was approved here counts as approved there.
    #[must_use]
    pub fn with_approver(&self, approver: impl Approver + 'static) -> Agent {
        Agent { inner: self.inner.clone(), asking: Arc::new(Asking::new(Some(Arc::new(approver)))) }
    }

    /// Runs one turn: the model answers what the conversation ends with. Calls
    /// that a [suspended](Run::suspend) turn left behind are dealt with first.
    ///
    /// Tools are taken as they are now; a change of the toolbox's catalog shows
    /// in the next turn.
    ///
    /// # Errors
    /// The conversation has nothing to answer, or the prompt cannot be written for
    /// the tools.
    pub fn run(&self, conversation: impl Into<Conversation>) -> Result<Run, AgentError> {
        self.run_with(conversation, RunOptions::default())
    }

    /// Runs one turn and records it: the requests and answers, the calls and
    /// what became of them. The turns of a conversation share a recorder.
    ///
    /// # Errors
    /// As for [`run`](Agent::run); a recording that cannot be written is none.
    pub fn run_recorded(&self, conversation: impl Into<Conversation>, recorder: &Recorder) -> Result<Run, AgentError> {
        self.run_with(conversation, RunOptions { recorder: Some(recorder.clone()), ..RunOptions::default() })
    }

    /// Runs one turn with options of its own.
    ///
    /// # Errors
    /// As for [`run`](Agent::run).
    pub fn run_with(&self, conversation: impl Into<Conversation>, options: RunOptions) -> Result<Run, AgentError> {
        let inner = self.inner.clone();
        let granted = self.asking.granted().clone();
        let output = options.output.or_else(|| inner.output.clone());
        let record = options.recorder.map(TurnRecord::new);
        let mut turn = Turn::with_output(inner.setup()?, conversation.into(), granted, output)?;
        if !self.asking.is_attended() {
            turn.set_unattended();
        }
        let (cancel, suspend) = (CancellationToken::new(), CancellationToken::new());
        let driver =
            Driver::new(inner, self.asking.clone(), turn, cancel.clone(), suspend.clone(), record, options.headers);
        let events = stream::unfold(driver, |mut driver| async move { Some((driver.next().await?, driver)) });
        Ok(Run { events: events.boxed(), cancel, suspend })
    }
}

crate::message::opaque_debug!(Agent, self => config: self.inner.config);
