//! How a turn goes, as data.

use serde::{Deserialize, Serialize};

use super::round_model::ModelChoice;
use crate::dialect::DialectSet;
use crate::parse::Limits;
use crate::policy::Policy;
use crate::profile::{Profile, SystemPlacement};
use crate::reasoning::{CarryReasoning, ReasoningCalls, ReasoningMode};
use crate::tokens::TokenCounter;
use crate::tool::{ToolChoice, ToolsMode};

/// Requests in one turn, unless configured otherwise.
pub const MAX_ROUNDS: u32 = 12;

/// Corrections in a row, unless configured otherwise.
pub const MAX_CORRECTIONS: u32 = 2;

/// Tokens of reasoning that go back to the model, unless configured otherwise.
pub const CARRY_TOKENS: usize = 1_000;

/// What happens to text after a complete call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AfterCall {
    /// The first text that is neither blank nor a call ends the message and
    /// cancels the stream; calls behind it wait for the next round. So a result
    /// that the model invents is never shown.
    #[default]
    Cancel,
    /// The message is read to its end and all its calls count.
    Drain,
}

/// How a turn goes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnConfig {
    /// Dialects that are read; default all.
    pub dialects: DialectSet,
    /// Where reasoning starts.
    pub reasoning: ReasoningMode,
    /// What becomes of calls in the reasoning.
    pub reasoning_calls: ReasoningCalls,
    /// Whether the model is known to reason; `None` where nothing is known.
    pub reasons: Option<bool>,
    /// Limits on one message.
    pub limits: Limits,
    /// Where the system text goes.
    pub placement: SystemPlacement,
    /// Sampling temperature; `None` leaves it to the endpoint.
    pub temperature: Option<f64>,
    /// Most tokens of one message; `None` leaves it to the endpoint.
    pub max_tokens: Option<u32>,
    /// How tools are offered; default in the prompt.
    pub tools_mode: ToolsMode,
    /// Whether the model's native calls are known to work, for [`ToolsMode::Auto`].
    pub native_tools: Option<bool>,
    /// Whether calls may, must or must not be made. A required call is due once
    /// in a turn.
    pub tool_choice: ToolChoice,
    /// Most calls of one message that run; `None` leaves it to the parser's limit.
    pub max_calls: Option<usize>,
    /// What happens to text after a complete call.
    pub after_call: AfterCall,
    /// Requests in one turn; default [`MAX_ROUNDS`]. The calls of the last
    /// round do not run: nobody would read their results.
    pub max_rounds: u32,
    /// Rounds in a row that only correct a mistake; default [`MAX_CORRECTIONS`].
    pub max_corrections: u32,
    /// Counts tokens, in the model's tokeniser or near it. With one, numbers that
    /// the endpoint does not report are counted, and a prompt that it cuts is
    /// noticed.
    pub tokens: Option<TokenCounter>,
    /// Tokens that the model's context has, prompt and reply together; `None` cuts
    /// nothing. A history that does not fit is cut in the request, the oldest
    /// rounds first ([`Trim`](crate::conversation::Trim)). Counted by `tokens`, or
    /// by an estimate.
    pub context: Option<usize>,
    /// Whether the model is told again what it thought.
    pub carry_reasoning: CarryReasoning,
    /// Most tokens of that in a request; default [`CARRY_TOKENS`]. Counted as for
    /// `context`. A longer thought keeps its end and a little of its beginning.
    pub carry_tokens: usize,
    /// Which model answers in which round; `None` for the client's own in all.
    pub round_model: Option<ModelChoice>,
    /// Which calls run, which are asked about, which are denied.
    pub policy: Policy,
}

impl Default for TurnConfig {
    fn default() -> Self {
        TurnConfig {
            dialects: DialectSet::AUTO,
            reasoning: ReasoningMode::Auto,
            reasoning_calls: ReasoningCalls::Ignore,
            reasons: None,
            limits: Limits::default(),
            placement: SystemPlacement::System,
            temperature: None,
            max_tokens: None,
            tools_mode: ToolsMode::default(),
            native_tools: None,
            tool_choice: ToolChoice::Auto,
            max_calls: None,
            after_call: AfterCall::Cancel,
            max_rounds: MAX_ROUNDS,
            max_corrections: MAX_CORRECTIONS,
            tokens: None,
            context: None,
            carry_reasoning: CarryReasoning::None,
            carry_tokens: CARRY_TOKENS,
            round_model: None,
            policy: Policy::default(),
        }
    }
}

impl TurnConfig {
    /// How a turn goes with a model of this profile; the rest is the default.
    pub fn for_profile(profile: &Profile) -> Self {
        TurnConfig::default().with_profile(profile)
    }

    /// Sets what depends on the model.
    #[must_use]
    pub fn with_profile(self, profile: &Profile) -> Self {
        TurnConfig {
            reasoning: profile.reasoning,
            reasoning_calls: profile.reasoning_calls,
            reasons: profile.reasons,
            placement: profile.system,
            temperature: profile.temperature,
            native_tools: profile.native_tools,
            ..self
        }
    }

    /// Sets the policy.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }
}
