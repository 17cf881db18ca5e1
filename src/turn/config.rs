//! The configuration of a turn, and the choice of the model in each round.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::guard::MAX_SAME_RESULTS;
use crate::constrain::{Constrain, Way};
use crate::dialect::{DialectSet, Profile, SystemPlacement};
use crate::message::{CarryReasoning, FencedCalls, Reads, ReasoningCalls, ReasoningMode, TokenCounter};
use crate::parse::Limits;
use crate::tools::{Policy, ToolChoice, ToolsMode};

/// Limit on the requests in one turn, unless configured otherwise.
pub const MAX_ROUNDS: u32 = 12;

/// Limit on consecutive corrections, unless configured otherwise.
pub const MAX_CORRECTIONS: u32 = 2;

/// Limit on consecutive repetitions of a passage in a message, unless configured otherwise.
pub const MAX_REPEATS: u32 = 10;

/// Bytes that the repetitions of a passage must have before they end a message: about a thousand tokens. An empty
/// board, a ruled table and a list of equal entries are shorter; a model in a loop continues until its context is full.
pub const REPEATED_BYTES: usize = 4 << 10;

/// Bytes that the repetitions of a passage must have before they end a message, inside the arguments of a call; more
/// than [`REPEATED_BYTES`], since files and tables often repeat a line.
pub const REPEATED_BYTES_IN_CALL: usize = 32 << 10;

/// Limit on the tokens of the model's earlier reasoning in a request, unless configured otherwise.
pub const CARRY_TOKENS: usize = 1_000;

/// Natural logarithm of the probability of a call from which on a message must be a call, unless configured otherwise:
/// one in seven. For some requests the threshold is lower ([`call_margin`](super::call_margin)).
pub const CALL_THRESHOLD: f64 = -2.0;

/// The treatment of text after a complete call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AfterCall {
    /// The first text that is neither blank nor a call ends the message and cancels the stream; the model has to make
    /// later calls in the next round. So a result that the model invents is never shown.
    #[default]
    Cancel,
    /// The message is read to its end, and all its calls are valid.
    Drain,
}

/// The configuration of a turn. The serialized form has all fields except the token counter and the choice of a model,
/// which are functions; a missing field has its default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnConfig {
    /// Dialects that are parsed; default all.
    pub dialects: DialectSet,
    /// Rule that finds the start of reasoning in the model's text.
    pub reasoning: ReasoningMode,
    /// Treatment of calls that the model writes inside its reasoning.
    pub reasoning_calls: ReasoningCalls,
    /// Openers of the delimiters that the model is known to write around its reasoning, besides think tags.
    pub reasoning_marks: Vec<String>,
    /// The treatment of calls in a code fence that begins a message and is followed by prose.
    pub fenced_calls: FencedCalls,
    /// Stop strings of each request. If one removes a call's closing tag, the call is still complete, because the
    /// parser knows the strings. A reasoning model that mentions one in its reasoning ends the message there.
    pub stop: Vec<String>,
    /// `Some(true)` if the model is known to reason; `None` if nothing is known.
    pub reasons: Option<bool>,
    /// Limits of the parser on one message of the model.
    pub limits: Limits,
    /// Role and position of the message with the system text.
    pub placement: SystemPlacement,
    /// Sampling temperature; `None` leaves it to the endpoint.
    pub temperature: Option<f64>,
    /// Limit on the tokens of one message; `None` leaves it to the endpoint.
    pub max_tokens: Option<u32>,
    /// The way in which tools are offered; default in the prompt.
    pub tools_mode: ToolsMode,
    /// `true` if the model's native calls are known to work, for [`ToolsMode::Auto`].
    pub native_tools: Option<bool>,
    /// Tool choice: the rule for whether the model may or must call tools. A required call is required once in a turn.
    pub tool_choice: ToolChoice,
    /// The option that decides whether an answer is constrained if it must have a structure: for a required or named
    /// tool, an answer that must match a schema, the round that corrects a rejected call.
    pub constrain: Constrain,
    /// Strategy for deciding whether to call, if the model may also answer and the prompt describes the tools; with
    /// [`Constrain::Off`] always [`Way::Free`].
    pub way: Way,
    /// Natural logarithm of the probability that a message begins with a call, from which on it must be one, for
    /// [`Way::Measured`]; `None` for [`CALL_THRESHOLD`]. It is lower by [`call_margin`](super::call_margin) for some
    /// requests; above zero no message must be a call.
    pub call_threshold: Option<f64>,
    /// Limit on the calls of one message that run; `None` leaves it to the parser's limit.
    pub max_calls: Option<usize>,
    /// The treatment of text after a complete call.
    pub after_call: AfterCall,
    /// Limit on the requests in one turn; default [`MAX_ROUNDS`]. The calls of the last round do not run, since no
    /// request would follow with their results.
    pub max_rounds: u32,
    /// Limit on consecutive rounds that only correct a mistake; default [`MAX_CORRECTIONS`].
    pub max_corrections: u32,
    /// Limit on the consecutive repetitions of a passage in a message; default [`MAX_REPEATS`], 0 for no limit. A
    /// passage that is repeated as often ends the message once its repetitions have [`REPEATED_BYTES`], in the
    /// arguments of a call [`REPEATED_BYTES_IN_CALL`]; the text before them is valid. Passages of more than 4,000 bytes
    /// are not detected.
    pub max_repeats: u32,
    /// Limit on consecutive equal calls of a tool marked read-only that return the same result, with nothing but such
    /// calls between them; default [`MAX_SAME_RESULTS`], 0 for no limit. The next such call does not run, and the model
    /// is told why.
    pub max_same_results: u32,
    /// Counts tokens, with the model's tokenizer or a similar one. With a counter, numbers that the endpoint does not
    /// report are counted, and a prompt that the endpoint cuts is noticed.
    #[serde(skip)]
    pub tokens: Option<TokenCounter>,
    /// Tokens of the model's context, prompt and reply together; `None` cuts nothing. A history that does not fit is
    /// shortened in the request, the oldest rounds first ([`Trim`](crate::conversation::Trim)). Tokens are counted by
    /// `tokens`, or by an estimate.
    pub context: Option<usize>,
    /// Advice on how to get a longer context, for messages to the user, such as "start llama-server with a longer
    /// context (-c)"; `None` if the model reports it ([`Model::context_window`](crate::Model::context_window)).
    pub context_remedy: Option<String>,
    /// Part of the model's earlier reasoning that later requests contain.
    pub carry_reasoning: CarryReasoning,
    /// Limit on the tokens of earlier reasoning in a request; default [`CARRY_TOKENS`]. They are counted as for
    /// `context`. A longer text keeps its end and a little of its beginning.
    pub carry_tokens: usize,
    /// Chooses the model of each round; `None` for the client's own in all rounds.
    #[serde(skip)]
    pub round_model: Option<ModelChoice>,
    /// Decides which calls run, need approval or are denied.
    pub policy: Policy,
    /// Names of servers whose text is untrusted, such as pages of the web or mail: their results, and their
    /// instructions and descriptions if the prompt has any. Once such text is in the conversation, each call needs
    /// approval, except calls of tools that the policy allows by name, and of other servers' tools that are marked
    /// read-only.
    pub untrusted: Vec<String>,
    /// `true` if there is no approver. A call that may be an example ([`Provenance`](crate::event::Provenance)) must
    /// then be written once more, alone at the start of a line, or stays text. An [`Agent`](crate::Agent) without an
    /// approver sets it.
    pub unattended: bool,
    /// Media of results that the model is known to read besides text; by default none. Other media are replaced by
    /// notes in the text.
    pub reads: Reads,
    /// `true` if calls of tools without a server do not run here but are passed to a client, which asks for approval
    /// itself. A call with a marker is then valid even if it does not begin its line, since the templates of some
    /// families (DeepSeek, Kimi) put a call directly after prose.
    pub hands_out: bool,
}

impl Default for TurnConfig {
    fn default() -> Self {
        TurnConfig {
            dialects: DialectSet::AUTO,
            reasoning: ReasoningMode::Auto,
            reasoning_calls: ReasoningCalls::Ignore,
            reasoning_marks: Vec::new(),
            fenced_calls: FencedCalls::Ignore,
            stop: Vec::new(),
            reasons: None,
            limits: Limits::default(),
            placement: SystemPlacement::System,
            temperature: None,
            max_tokens: None,
            tools_mode: ToolsMode::default(),
            native_tools: None,
            tool_choice: ToolChoice::Auto,
            constrain: Constrain::Auto,
            way: Way::Free,
            call_threshold: None,
            max_calls: None,
            after_call: AfterCall::Cancel,
            max_rounds: MAX_ROUNDS,
            max_corrections: MAX_CORRECTIONS,
            max_repeats: MAX_REPEATS,
            max_same_results: MAX_SAME_RESULTS,
            tokens: None,
            context: None,
            context_remedy: None,
            carry_reasoning: CarryReasoning::None,
            carry_tokens: CARRY_TOKENS,
            round_model: None,
            policy: Policy::default(),
            untrusted: Vec::new(),
            unattended: false,
            reads: Reads::default(),
            hands_out: false,
        }
    }
}

impl TurnConfig {
    /// Creates the configuration for a model with this profile; the rest is the default.
    pub fn for_profile(profile: &Profile) -> Self {
        TurnConfig::default().with_profile(profile)
    }

    /// Sets the fields that depend on the model, from its profile.
    #[must_use]
    pub fn with_profile(self, profile: &Profile) -> Self {
        TurnConfig {
            reasoning: profile.reasoning,
            reasoning_calls: profile.reasoning_calls,
            reasoning_marks: profile.marks(),
            reasons: profile.reasons,
            placement: profile.system,
            temperature: profile.temperature,
            native_tools: profile.native_tools,
            ..self
        }
    }

    /// Sets the policy that decides which calls run, need approval or are denied.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }
}

/// Model of one round, with the settings that depend on it. The dialect and language of the prompt are the same in
/// the whole turn: a history in two call syntaxes would teach neither.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RoundModel {
    /// The model's name, as the endpoint spells it; `None` for the client's own model.
    pub name: Option<String>,
    /// Rule for the start of the model's reasoning.
    pub reasoning: ReasoningMode,
    /// Treatment of calls that the model writes inside its reasoning.
    pub reasoning_calls: ReasoningCalls,
    /// Openers of the delimiters that the model is known to write around its reasoning, besides think tags.
    pub reasoning_marks: Vec<String>,
    /// `Some(true)` if the model is known to reason; `None` if nothing is known.
    pub reasons: Option<bool>,
    /// Role and position of the message with the system text.
    pub placement: SystemPlacement,
    /// Sampling temperature; `None` leaves it to the endpoint.
    pub temperature: Option<f64>,
    /// `Some(true)` if the model's native calls are known to work.
    pub native_tools: Option<bool>,
    /// Kinds of input that the model is known to read besides text.
    #[serde(default)]
    pub reads: Reads,
}

impl RoundModel {
    /// Creates the model of a round with this name and the profile for the name.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        let profile = Profile::for_model(&name);
        RoundModel::with_profile(name, profile)
    }

    /// Creates the model of a round with this name and this profile.
    pub fn with_profile(name: impl Into<String>, profile: &Profile) -> Self {
        RoundModel { name: Some(name.into()), ..RoundModel::own(&TurnConfig::for_profile(profile)) }
    }

    /// Creates the client's own model, with the model settings of this configuration.
    pub fn own(config: &TurnConfig) -> Self {
        RoundModel {
            name: None,
            reasoning: config.reasoning,
            reasoning_calls: config.reasoning_calls,
            reasoning_marks: config.reasoning_marks.clone(),
            reasons: config.reasons,
            placement: config.placement,
            temperature: config.temperature,
            native_tools: config.native_tools,
            reads: config.reads,
        }
    }

    /// Returns `true` if requests may carry the tools: by the endpoint's report `said`, or without one by the profile.
    pub fn takes_tools(&self, said: Option<bool>) -> bool {
        said.unwrap_or(self.native_tools == Some(true))
    }

    /// Returns `true` if the text of both models is parsed with the same settings.
    pub(super) fn reads_like(&self, other: &RoundModel) -> bool {
        (self.reasoning, self.reasoning_calls, &self.reasoning_marks)
            == (other.reasoning, other.reasoning_calls, &other.reasoning_marks)
    }
}

/// Information from which the model of a round is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundInfo {
    /// Number of the round in its turn, from 1.
    pub round: u32,
    /// Number of calls of this turn that ran.
    pub calls: u32,
    /// Number of consecutive rounds, up to this one, that only correct a mistake.
    pub corrections: u32,
}

type Choose = dyn Fn(RoundInfo) -> Option<RoundModel> + Send + Sync;

/// Chooses the model of each round. Cheap to clone; two choices are equal if they are clones of each other.
///
/// A name selects that model from the second round on: one model plans, a smaller one reads the results.
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
    /// Creates a choice that calls this function before each round; `None` is the client's own model.
    pub fn new(choose: impl Fn(RoundInfo) -> Option<RoundModel> + Send + Sync + 'static) -> Self {
        ModelChoice(Arc::new(choose))
    }

    /// Returns the model that is chosen for a round; `None` for the client's own.
    pub fn of(&self, round: RoundInfo) -> Option<RoundModel> {
        (self.0)(round)
    }
}

/// Chooses this model from the second round on.
impl From<RoundModel> for ModelChoice {
    fn from(model: RoundModel) -> Self {
        ModelChoice::new(move |round| (round.round > 1).then(|| model.clone()))
    }
}

/// Chooses the model of this name from the second round on.
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
