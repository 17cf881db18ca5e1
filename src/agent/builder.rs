//! Configures an agent before it runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::approver::{Approver, ApproverState};
use super::handle::Agent;
use super::inner::AgentInner;
use crate::dialect::Profile;
use crate::model::Model;
use crate::prompt::Options;
use crate::route::Toolbox;
use crate::tools::{Catalog, Policy, ToolsMode};
use crate::turn::{KnownWays, ModelChoice, TurnConfig, Wording};
use crate::validate::OutputSchema;

/// Time that a call may take, unless configured otherwise. MCP servers have
/// shorter limits of their own.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(600);

impl Agent {
    /// Returns the options of an agent with this model and these tools.
    pub fn builder(model: impl Model + 'static, toolbox: impl Toolbox + 'static) -> AgentBuilder {
        AgentBuilder::new(Arc::new(model), Arc::new(toolbox))
    }
}

/// Options of an [`Agent`], in any order. A specific option overrides a general one: the policy, the tools mode and the
/// model of a round override a [`config`](Self::config); that and a [`prompt`](Self::prompt) override the
/// [`profile`](Self::profile).
pub struct AgentBuilder {
    pub(super) inner: AgentInner,
    approver: Option<Arc<dyn Approver>>,
    profile: Option<Profile>,
    /// `true` if the program set `inner.config` itself, so that the profile does not replace it.
    has_config: bool,
    has_prompt: bool,
    tools_mode: Option<ToolsMode>,
    policy: Option<Policy>,
    round_model: Option<ModelChoice>,
}

impl AgentBuilder {
    fn new(model: Arc<dyn Model>, toolbox: Arc<dyn Toolbox>) -> Self {
        let inner = AgentInner {
            model,
            toolbox,
            config: TurnConfig::default(),
            call_timeout: Some(CALL_TIMEOUT),
            prompt: Options::default(),
            display_only: Vec::new(),
            output: None,
            wording: None,
            ways: Arc::default(),
            setup: Mutex::default(),
        };
        AgentBuilder {
            inner,
            approver: None,
            profile: None,
            has_config: false,
            has_prompt: false,
            tools_mode: None,
            policy: None,
            round_model: None,
        }
    }

    /// Sets all options that depend on the model: how its text is read, where the system text is, the temperature, and
    /// dialect and language of the prompt. A [`config`](Self::config) or [`prompt`](Self::prompt) that is set replaces
    /// these options; create it with `for_profile` to include them.
    #[must_use]
    pub fn profile(mut self, profile: &Profile) -> Self {
        self.profile = Some(profile.clone());
        self
    }

    /// Sets the configuration of turns, whatever the profile says. It includes the policy, unless
    /// [`policy`](Self::policy) sets another.
    #[must_use]
    pub fn config(mut self, config: TurnConfig) -> Self {
        self.inner.config = config;
        self.has_config = true;
        self
    }

    /// Sets the way in which tools are offered to the model; by default in the prompt.
    #[must_use]
    pub fn tools_mode(mut self, mode: ToolsMode) -> Self {
        self.tools_mode = Some(mode);
        self
    }

    /// Sets the policy, which decides which calls run, need approval or are denied. Without a policy, all calls are
    /// denied.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Sets the model that answers from the second round on (a name, or a
    /// [`RoundModel`](crate::turn::RoundModel)), or a function that chooses one
    /// before each round ([`ModelChoice::new`]). Its name goes to the endpoint
    /// with the request.
    #[must_use]
    pub fn round_model(mut self, choice: impl Into<ModelChoice>) -> Self {
        self.round_model = Some(choice.into());
        self
    }

    /// Sets the options of the prompt, whatever the profile says. Tool choice and the number of calls in a message are
    /// those of the [`TurnConfig`].
    #[must_use]
    pub fn prompt(mut self, options: Options) -> Self {
        self.inner.prompt = options;
        self.has_prompt = true;
        self
    }

    /// Sets the approver, which decides about the calls that the policy leaves open. Without one they are denied.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Makes the tools that match the pattern [display-only](crate::tools::Tool::display_only): a call of
    /// such a tool runs nothing, and its arguments are shown to the user. MCP servers cannot mark their own
    /// tools so. Patterns are those of a [`Policy`].
    #[must_use]
    pub fn display_only(mut self, pattern: impl Into<String>) -> Self {
        self.inner.display_only.push(pattern.into());
        self
    }

    /// Requires every answer to match a schema; see [`Agent::run_with`] for a single answer.
    #[must_use]
    pub fn output(mut self, schema: impl Into<Arc<OutputSchema>>) -> Self {
        self.inner.output = Some(schema.into());
        self
    }

    /// Sets the time limit of a call; `None` for no limit. Default [`CALL_TIMEOUT`].
    #[must_use]
    pub fn call_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.inner.call_timeout = timeout;
        self
    }

    /// Sets the features that the model's endpoint is known not to support. The agent adds those that it finds missing.
    /// By default none is known.
    #[must_use]
    pub fn known_ways(mut self, ways: KnownWays) -> Self {
        self.inner.ways = Arc::new(ways);
        self
    }

    /// Replaces the turn's texts for the model. `make` creates them for a catalog and is called once per catalog.
    #[must_use]
    pub fn wording(mut self, make: impl Fn(&Arc<Catalog>) -> Arc<dyn Wording> + Send + Sync + 'static) -> Self {
        self.inner.wording = Some(Box::new(make));
        self
    }

    /// Builds the agent with these options.
    pub fn build(self) -> Agent {
        let AgentBuilder { mut inner, profile, tools_mode, policy, round_model, .. } = self;
        if let Some(profile) = profile {
            if !self.has_config {
                inner.config = inner.config.with_profile(&profile);
            }
            if !self.has_prompt {
                (inner.prompt.dialect, inner.prompt.lang) = (profile.dialect, profile.lang);
            }
        }
        inner.config.tools_mode = tools_mode.unwrap_or(inner.config.tools_mode);
        inner.config.round_model = round_model.or(inner.config.round_model);
        if let Some(policy) = policy {
            inner.config.policy = policy;
        }
        Agent { inner: Arc::new(inner), asking: Arc::new(ApproverState::new(self.approver)) }
    }
}

crate::message::opaque_debug!(AgentBuilder, self => config: self.inner.config);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Functions;
    use crate::tools::Decision;
    use crate::transcript::{Recorded, Round};

    type Set = fn(AgentBuilder) -> AgentBuilder;

    fn config() -> TurnConfig {
        TurnConfig { max_rounds: 3, policy: Policy::new(Decision::Deny), ..TurnConfig::default() }
    }

    #[test]
    fn the_order_of_a_builders_options_changes_nothing() {
        let sets: [Set; 6] = [
            |b| b.profile(Profile::for_model("deepseek-reasoner")),
            |b| b.config(config()),
            |b| b.prompt(Options { system: Some("Be brief.".into()), ..Options::default() }),
            |b| b.policy(Policy::new(Decision::Allow)),
            |b| b.tools_mode(ToolsMode::Native),
            |b| b.round_model("small"),
        ];
        let built = |order: &mut dyn Iterator<Item = &Set>| {
            let begun = Agent::builder(Recorded::new([Round::text("Hi")]), Functions::unnamed());
            let agent = order.fold(begun, |builder, set| set(builder)).build();
            (agent.inner.config.clone(), format!("{:?}", agent.inner.prompt))
        };
        let (config, prompt) = built(&mut sets.iter());
        assert_eq!((config.max_rounds, config.tools_mode), (3, ToolsMode::Native));
        assert!(config.policy == Policy::new(Decision::Allow) && config.round_model.is_some());
        assert!(prompt.contains("Be brief."));
        for first in 0..sets.len() {
            let turned = || sets[first..].iter().chain(&sets[..first]);
            for other in [built(&mut turned()), built(&mut turned().rev())] {
                assert_eq!(format!("{:?}", other.0), format!("{config:?}"));
                assert_eq!(other.1, prompt);
            }
        }
    }

    #[test]
    fn a_profile_counts_where_nothing_else_is_said() {
        let profile = Profile::for_model("deepseek-reasoner");
        let agent = Agent::builder(Recorded::new([Round::text("Hi")]), Functions::unnamed()).profile(profile).build();
        assert_eq!(agent.inner.config.placement, profile.system);
        assert_eq!(agent.inner.prompt.dialect, profile.dialect);
    }
}
