//! How a turn goes, as data, and which model answers in which round.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::guard::MAX_SAME_RESULTS;
use crate::constrain::{Constrain, Way};
use crate::dialect::{DialectSet, Profile, SystemPlacement};
use crate::message::{CarryReasoning, FencedCalls, Reads, ReasoningCalls, ReasoningMode, TokenCounter};
use crate::parse::Limits;
use crate::tools::{Policy, ToolChoice, ToolsMode};

/// Requests in one turn, unless configured otherwise.
pub const MAX_ROUNDS: u32 = 12;

/// Corrections in a row, unless configured otherwise.
pub const MAX_CORRECTIONS: u32 = 2;

/// Times in a row that a passage may stand in a message, unless configured otherwise.
pub const MAX_REPEATS: u32 = 10;

/// Bytes that the repetitions of a passage take at least before they end a message: about a thousand
/// tokens. An empty board, a ruled table and a list of equal entries are shorter; a model in a loop
/// goes on until its context is full.
pub const REPEATED_BYTES: usize = 4 << 10;

/// The same in the arguments of a call: files and tables hold the same line again and again.
pub const REPEATED_BYTES_IN_CALL: usize = 32 << 10;

/// Tokens of reasoning that go back to the model, unless configured otherwise.
pub const CARRY_TOKENS: usize = 1_000;

/// Logarithm of the probability from which on a message is to be a call, unless configured
/// otherwise: one in seven, and less by what the request says ([`call_margin`](super::call_margin)).
pub const CALL_THRESHOLD: f64 = -2.0;

/// What happens to text after a complete call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AfterCall {
    /// The first text that is neither blank nor a call ends the message and
    /// cancels the stream; calls behind it wait for the next round. So a result
    /// that the model invents is never shown.
    #[default]
    Cancel,
    /// The message is read to its end and all its calls count.
    Drain,
}

/// How a turn goes. Its stored form has all but the counter of tokens and the choice of a
/// model, which are functions; what is missing there is the default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnConfig {
    /// Dialects that are read; default all.
    pub dialects: DialectSet,
    /// Where reasoning starts.
    pub reasoning: ReasoningMode,
    /// What becomes of calls in the reasoning.
    pub reasoning_calls: ReasoningCalls,
    /// Openers of the marks that the model is known to write around its reasoning, beside the
    /// think tags.
    pub reasoning_marks: Vec<String>,
    /// What becomes of calls in a code fence that a message begins with and that prose follows.
    pub fenced_calls: FencedCalls,
    /// Stop strings that go with each request. One that takes a call's closing tag leaves the
    /// call whole: the parser knows them. Where a model reasons, one that its reasoning mentions
    /// ends the message there.
    pub stop: Vec<String>,
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
    /// Whether answers are held to a structure where one is due: for a required or named
    /// tool, an answer after a schema, the round that corrects a rejected call.
    pub constrain: Constrain,
    /// How it comes to a call where the model may as well answer and the prompt describes the
    /// tools; with [`Constrain::Off`] always [`Way::Free`].
    pub way: Way,
    /// Natural logarithm of the probability that a message begins with a call from which on it is
    /// to be one, for [`Way::Measured`]; `None` for [`CALL_THRESHOLD`]. At a question it is lower by
    /// [`QUESTION_MARGIN`]; above zero no message is.
    pub call_threshold: Option<f64>,
    /// Most calls of one message that run; `None` leaves it to the parser's limit.
    pub max_calls: Option<usize>,
    /// What happens to text after a complete call.
    pub after_call: AfterCall,
    /// Requests in one turn; default [`MAX_ROUNDS`]. The calls of the last
    /// round do not run: nobody would read their results.
    pub max_rounds: u32,
    /// Rounds in a row that only correct a mistake; default [`MAX_CORRECTIONS`].
    pub max_corrections: u32,
    /// Times in a row that the same passage may stand in a message; default
    /// [`MAX_REPEATS`], 0 for any number. A passage that is repeated as often ends the message
    /// once its repetitions take [`REPEATED_BYTES`], in the arguments of a call
    /// [`REPEATED_BYTES_IN_CALL`], and what came before counts. A passage of more than 4,000
    /// bytes is not seen.
    pub max_repeats: u32,
    /// Times in a row that equal calls of a tool that calls itself read-only may return the same
    /// result, with nothing but such calls between them; default [`MAX_SAME_RESULTS`], 0 for any
    /// number. The next one does not run, and the model is told so.
    pub max_same_results: u32,
    /// Counts tokens, in the model's tokeniser or near it. With one, numbers that
    /// the endpoint does not report are counted, and a prompt that it cuts is
    /// noticed.
    #[serde(skip)]
    pub tokens: Option<TokenCounter>,
    /// Tokens that the model's context has, prompt and reply together; `None` cuts
    /// nothing. A history that does not fit is cut in the request, the oldest
    /// rounds first ([`Trim`](crate::conversation::Trim)). Counted by `tokens`, or
    /// by an estimate.
    pub context: Option<usize>,
    /// How the context gets longer, for messages, such as "start llama-server with a longer
    /// context (-c)"; `None` where the model says it ([`Model::context_window`](crate::Model::context_window)).
    pub context_remedy: Option<String>,
    /// Whether the model is told again what it thought.
    pub carry_reasoning: CarryReasoning,
    /// Most tokens of that in a request; default [`CARRY_TOKENS`]. Counted as for
    /// `context`. A longer thought keeps its end and a little of its beginning.
    pub carry_tokens: usize,
    /// Which model answers in which round; `None` for the client's own in all.
    #[serde(skip)]
    pub round_model: Option<ModelChoice>,
    /// Which calls run, which are asked about, which are denied.
    pub policy: Policy,
    /// Servers whose words may be anybody's, such as pages of the web or mail: their results, and
    /// their instructions and descriptions where the prompt has any. From the first of them on, for the
    /// rest of the conversation, each call is asked about, but those of tools that the policy allows by
    /// name, and those of other servers' tools that call themselves read-only.
    pub untrusted: Vec<String>,
    /// Nobody can be asked about a call. One that may be an example
    /// ([`Provenance`](crate::event::Provenance)) is then written once more, alone at the start of
    /// a line, or stays text. An [`Agent`](crate::Agent) without an approver sets it.
    pub unattended: bool,
    /// What the model is known to read beside text of what tools give; by default nothing. What
    /// it cannot read stands as a note in the text.
    pub reads: Reads,
    /// Calls of tools without a server do not run here: they are handed to a client, who asks for
    /// itself. A marked one that only does not begin its line is then taken as meant, since the templates
    /// of some families (DeepSeek, Kimi) glue a call to the prose before it.
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
            reasoning_marks: profile.marks(),
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

/// A model as one round talks to it. Dialect and language of the prompt are the
/// turn's: a history in two call syntaxes would teach neither.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RoundModel {
    /// Its name, as the endpoint spells it; `None` for the client's own model.
    pub name: Option<String>,
    /// Where its reasoning starts.
    pub reasoning: ReasoningMode,
    /// What becomes of calls in its reasoning.
    pub reasoning_calls: ReasoningCalls,
    /// Openers of the marks that it is known to write around its reasoning.
    pub reasoning_marks: Vec<String>,
    /// Whether it is known to reason; `None` where nothing is known.
    pub reasons: Option<bool>,
    /// Where the system text goes.
    pub placement: SystemPlacement,
    /// Sampling temperature; `None` leaves it to the endpoint.
    pub temperature: Option<f64>,
    /// Whether its native calls are known to work.
    pub native_tools: Option<bool>,
    /// What it is known to read beside text.
    #[serde(default)]
    pub reads: Reads,
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
            reasoning_marks: config.reasoning_marks.clone(),
            reasons: config.reasons,
            placement: config.placement,
            temperature: config.temperature,
            native_tools: config.native_tools,
            reads: config.reads,
        }
    }

    /// Whether requests carry the tools, by what the endpoint says; where it says nothing, the
    /// profile decides.
    pub fn takes_tools(&self, said: Option<bool>) -> bool {
        said.unwrap_or(self.native_tools == Some(true))
    }

    /// Whether the text of both is read alike.
    pub(super) fn reads_like(&self, other: &RoundModel) -> bool {
        (self.reasoning, self.reasoning_calls, &self.reasoning_marks)
            == (other.reasoning, other.reasoning_calls, &other.reasoning_marks)
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
