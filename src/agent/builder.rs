//! What an agent can be told before it runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::asking::Asking;
use super::{Agent, Approver, CALL_TIMEOUT, Inner};
use crate::catalog::Catalog;
use crate::model::Model;
use crate::policy::Policy;
use crate::profile::Profile;
use crate::prompt::Options;
use crate::route::Toolbox;
use crate::tool::ToolsMode;
use crate::turn::{ModelChoice, TurnConfig, Voice};
use crate::validate::OutputSchema;

/// Options of an [`Agent`].
pub struct AgentBuilder {
    pub(super) inner: Inner,
    approver: Option<Arc<dyn Approver>>,
}

impl AgentBuilder {
    pub(super) fn new(model: Arc<dyn Model>, toolbox: Arc<dyn Toolbox>) -> Self {
        let inner = Inner {
            model,
            toolbox,
            config: TurnConfig::default(),
            call_timeout: Some(CALL_TIMEOUT),
            prompt: Options::default(),
            display_only: Vec::new(),
            output: None,
            voice: None,
            setup: Mutex::default(),
        };
        AgentBuilder { inner, approver: None }
    }

    /// Sets everything that depends on the model: how its text is read, where
    /// the system text goes, the temperature, dialect and language of the prompt.
    #[must_use]
    pub fn profile(mut self, profile: &Profile) -> Self {
        self.inner.config = std::mem::take(&mut self.inner.config).with_profile(profile);
        self.inner.prompt.dialect = profile.dialect;
        self.inner.prompt.lang = profile.lang;
        self
    }

    /// Sets how turns go, the policy included.
    #[must_use]
    pub fn config(mut self, config: TurnConfig) -> Self {
        self.inner.config = config;
        self
    }

    /// Sets how tools are offered to the model. Default in the prompt.
    #[must_use]
    pub fn tools_mode(mut self, mode: ToolsMode) -> Self {
        self.inner.config.tools_mode = mode;
        self
    }

    /// Sets which calls run, which are asked about, which are denied. Without
    /// one, all are denied.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.inner.config.policy = policy;
        self
    }

    /// Sets the model that answers from the second round on (a name, or a
    /// [`RoundModel`](crate::turn::RoundModel)), or a function that chooses one
    /// before each round ([`ModelChoice::new`]). Its name goes to the endpoint
    /// with the request.
    #[must_use]
    pub fn round_model(mut self, choice: impl Into<ModelChoice>) -> Self {
        self.inner.config.round_model = Some(choice.into());
        self
    }

    /// Sets what the prompt teaches and how. Tool choice and the number of calls
    /// in a message are those of the [`TurnConfig`].
    #[must_use]
    pub fn prompt(mut self, options: Options) -> Self {
        self.inner.prompt = options;
        self
    }

    /// Sets who is asked about calls that the policy does not decide about.
    /// Without one they are denied.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Makes the tools that match the pattern [display-only](crate::tool::Tool::display_only):
    /// for tools of MCP servers, which cannot mark themselves. Patterns are those
    /// of a [`Policy`].
    #[must_use]
    pub fn display_only(mut self, pattern: impl Into<String>) -> Self {
        self.inner.display_only.push(pattern.into());
        self
    }

    /// Has every answer match a schema; see [`Agent::run_with`] for one answer.
    #[must_use]
    pub fn output(mut self, schema: impl Into<Arc<OutputSchema>>) -> Self {
        self.inner.output = Some(schema.into());
        self
    }

    /// Sets how long a call may take; `None` for any time. Default [`CALL_TIMEOUT`].
    #[must_use]
    pub fn call_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.inner.call_timeout = timeout;
        self
    }

    /// Replaces the prompt's words; they are made once per catalog.
    #[must_use]
    pub fn voice(mut self, make: impl Fn(&Arc<Catalog>) -> Arc<dyn Voice> + Send + Sync + 'static) -> Self {
        self.inner.voice = Some(Box::new(make));
        self
    }

    /// The agent.
    pub fn build(self) -> Agent {
        Agent { inner: Arc::new(self.inner), asking: Arc::new(Asking::new(self.approver)) }
    }
}

impl std::fmt::Debug for AgentBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentBuilder").field("config", &self.inner.config).finish_non_exhaustive()
    }
}
