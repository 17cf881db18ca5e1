//! Which model answers in which round.

use std::fmt;
use std::sync::Arc;

use super::config::TurnConfig;
use crate::profile::{Profile, SystemPlacement};
use crate::reasoning::{ReasoningCalls, ReasoningMode};

/// A model as one round talks to it. Dialect and language of the prompt are the
/// turn's: a history in two call syntaxes would teach neither.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RoundModel {
    /// Its name, as the endpoint spells it; `None` for the client's own model.
    pub name: Option<String>,
    /// Where its reasoning starts.
    pub reasoning: ReasoningMode,
    /// What becomes of calls in its reasoning.
    pub reasoning_calls: ReasoningCalls,
    /// Whether it is known to reason; `None` where nothing is known.
    pub reasons: Option<bool>,
    /// Where the system text goes.
    pub placement: SystemPlacement,
    /// Sampling temperature; `None` leaves it to the endpoint.
    pub temperature: Option<f64>,
    /// Whether its native calls are known to work.
    pub native_tools: Option<bool>,
}

impl RoundModel {
    /// The model of this name, talked to as the profile for its name says.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        let profile = Profile::for_model(&name);
        RoundModel::with_profile(name, profile)
    }

    /// The model of this name, talked to as this profile says.
    pub fn with_profile(name: impl Into<String>, profile: &Profile) -> Self {
        RoundModel { name: Some(name.into()), ..RoundModel::own(&TurnConfig::for_profile(profile)) }
    }

    /// The client's own model, as this configuration talks to it.
    pub fn own(config: &TurnConfig) -> Self {
        RoundModel {
            name: None,
            reasoning: config.reasoning,
            reasoning_calls: config.reasoning_calls,
            reasons: config.reasons,
            placement: config.placement,
            temperature: config.temperature,
            native_tools: config.native_tools,
        }
    }

    /// Whether the text of both is read alike.
    pub(super) fn reads_like(&self, other: &RoundModel) -> bool {
        (self.reasoning, self.reasoning_calls) == (other.reasoning, other.reasoning_calls)
    }
}

/// What the model of a round is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundInfo {
    /// Round of this turn, from 1.
    pub round: u32,
    /// Calls of this turn that ran.
    pub calls: u32,
    /// Rounds in a row, up to this one, that were asked for only to correct a mistake.
    pub corrections: u32,
}

type Choose = dyn Fn(RoundInfo) -> Option<RoundModel> + Send + Sync;

/// Chooses the model of each round. Cheap to clone; two are equal if they are
/// clones of one.
///
/// A name stands for that model from the second round on: one model plans, a
/// smaller one reads the results.
///
/// ```
/// use toolgraft::turn::{ModelChoice, RoundModel};
///
/// let small_later = ModelChoice::from("qwen3:8b");
/// let large_after_a_mistake = ModelChoice::new(|round| {
///     (round.corrections > 0).then(|| RoundModel::named("deepseek-r1:70b"))
/// });
/// assert_ne!(small_later, large_after_a_mistake);
/// ```
#[derive(Clone)]
pub struct ModelChoice(Arc<Choose>);

impl ModelChoice {
    /// Asks this function before each round; `None` is the client's own model.
    pub fn new(choose: impl Fn(RoundInfo) -> Option<RoundModel> + Send + Sync + 'static) -> Self {
        ModelChoice(Arc::new(choose))
    }

    /// The model of a round; `None` for the client's own.
    pub fn of(&self, round: RoundInfo) -> Option<RoundModel> {
        (self.0)(round)
    }
}

/// This model from the second round on.
impl From<RoundModel> for ModelChoice {
    fn from(model: RoundModel) -> Self {
        ModelChoice::new(move |round| (round.round > 1).then(|| model.clone()))
    }
}

/// The model of this name from the second round on.
impl From<&str> for ModelChoice {
    fn from(name: &str) -> Self {
        RoundModel::named(name).into()
    }
}

impl fmt::Debug for ModelChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelChoice(..)")
    }
}

impl PartialEq for ModelChoice {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
