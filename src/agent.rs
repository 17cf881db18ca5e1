//! Drives a [`turn`](crate::turn) with a model and a toolbox.
//!
//! [`Agent::run`] gives the events of one turn as a stream that owns all it
//! needs: it may move to another task, and dropping it cancels the model's
//! stream and every call that runs. Nothing happens between two polls, and no
//! task is spawned. `docs/agent.md` is the guide.
//!
//! ```
//! use toolgraft::agent::{Agent, StopReason};
//! use toolgraft::model::{Recorded, Round};
//! use toolgraft::route::Functions;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder(Recorded::new([Round::text("Hello!")]), Functions::unnamed()).build();
//! let finished = agent.run("Hi")?.finish().await;
//! assert_eq!((finished.reason, finished.answer.as_str()), (StopReason::Answered, "Hello!"));
//! # Ok(())
//! # }
//! ```

mod asking;
mod builder;
mod driver;
mod record;
mod run;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::conversation::Conversation;
use crate::model::Model;
use crate::policy;
use crate::prompt::{Options, PromptError};
use crate::route::Toolbox;
use crate::transcript::Recorder;
use crate::turn::{PromptVoice, Setup, Turn, TurnConfig, TurnError, Voice};
use crate::validate::{OutputSchema, Validator};
use asking::Asking;
use driver::Driver;
use record::TurnRecord;

pub use builder::AgentBuilder;
pub use run::{Run, RunOptions};

pub use crate::turn::{
    AgentEvent, Approval, ApprovalRequest, AskReason, DecodeError, DisplayCall, Finished, Notice, OutputError,
    StopReason,
};

/// Time that a call may take, unless configured otherwise. MCP servers have
/// shorter limits of their own.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(600);

/// Somebody who says whether a call may run.
///
/// The answer may come at any time; the rest of the turn's calls run meanwhile.
/// Functions of a request that return a future of `bool` or [`Approval`] are approvers.
pub trait Approver: Send + Sync {
    /// Says whether the call may run. Dropping the future withdraws the question.
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Approval>;
}

impl<F, Answer> Approver for F
where
    F: Fn(ApprovalRequest) -> Answer + Send + Sync,
    Answer: Future + Send + 'static,
    Answer::Output: Into<Approval>,
{
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Approval> {
        let answer = self(request);
        Box::pin(async move { answer.await.into() })
    }
}

/// Makes the words of turns with the tools of a catalog.
type MakeVoice = Box<dyn Fn(&Arc<Catalog>) -> Arc<dyn Voice> + Send + Sync>;

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
    inner: Arc<Inner>,
    asking: Arc<Asking>,
}

struct Inner {
    model: Arc<dyn Model>,
    toolbox: Arc<dyn Toolbox>,
    config: TurnConfig,
    call_timeout: Option<Duration>,
    prompt: Options,
    /// Patterns of tools that are display-only beside those marked so.
    display_only: Vec<String>,
    /// The schema that answers have to match.
    output: Option<Arc<OutputSchema>>,
    /// Words that replace the prompt's.
    voice: Option<MakeVoice>,
    /// The setup of the last turn, for as long as the tools stay the same.
    setup: Mutex<Option<(Arc<Catalog>, Arc<Setup>)>>,
}

impl Agent {
    /// Options of an agent with this model and these tools.
    pub fn builder(model: impl Model + 'static, toolbox: impl Toolbox + 'static) -> AgentBuilder {
        AgentBuilder::new(Arc::new(model), Arc::new(toolbox))
    }

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
        let turn = Turn::with_output(inner.setup()?, conversation.into(), granted, output)?;
        let (cancel, suspend) = (CancellationToken::new(), CancellationToken::new());
        let driver = Driver::new(inner, self.asking.clone(), turn, cancel.clone(), suspend.clone(), record);
        let events = stream::unfold(driver, |mut driver| async move { Some((driver.next().await?, driver)) });
        Ok(Run { events: events.boxed(), cancel, suspend })
    }
}

impl Inner {
    fn setup(&self) -> Result<Arc<Setup>, PromptError> {
        let offered = self.toolbox.catalog();
        let mut last = self.setup.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, setup)) = &*last
            && Arc::ptr_eq(known, &offered)
        {
            return Ok(setup.clone());
        }
        let catalog = self.prompt.callable(self.marked(offered.clone()));
        let voice: Arc<dyn Voice> = match &self.voice {
            Some(make) => make(&catalog),
            None => Arc::new(PromptVoice::new(catalog.clone(), &self.prompt, &self.config)?),
        };
        let validator = Arc::new(Validator::new(catalog));
        let setup = Arc::new(Setup::new(self.config.clone(), validator, voice));
        *last = Some((offered, setup.clone()));
        Ok(setup)
    }

    /// The catalog with its display-only tools marked.
    fn marked(&self, catalog: Arc<Catalog>) -> Arc<Catalog> {
        if self.display_only.is_empty() {
            return catalog;
        }
        let mut servers = catalog.servers().to_vec();
        for tool in servers.iter_mut().flat_map(|server| &mut server.tools) {
            let shown = |pattern: &String| policy::matches(pattern, tool.server.as_deref(), &tool.name);
            tool.display_only |= self.display_only.iter().any(shown);
        }
        Arc::new(Catalog::new(servers))
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("config", &self.inner.config).finish_non_exhaustive()
    }
}

/// The guide's examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/agent.md")]
struct Guide;
#[cfg(doctest)]
#[doc = include_str!("../docs/embedding.md")]
struct Embedding;

#[cfg(test)]
mod tests;
