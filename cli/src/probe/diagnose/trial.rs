//! A call asked for in each way.

use std::time::{Duration, Instant};

use crate::probe::trial::{Unasked, ask};
use serde::Serialize;
use serde_json::Value;
use toolgraft::agent::{Finished, StopReason};
use toolgraft::dialect::Profile;
use toolgraft::event::Collector;
use toolgraft::message::FinishReason;
use toolgraft::model::{ModelError, NativeAnswer, TRIAL_QUESTION, trial_tool};
use toolgraft::parse;
use toolgraft::prompt::Options;
use toolgraft::tools::{Decision, ToolsMode};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, Catalog, Functions, OpenAi, Outcome, Parser, Policy};

/// Maximum number of tokens of an answer: the first for usual models, the second for models that reason.
const TOKENS: (u32, u32) = (512, 4_096);

/// Maximum time to wait for one answer.
const LIMIT: Duration = Duration::from_secs(180);

/// The outcome of a diagnostic request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub(super) enum Came {
    /// A call in the API field `tool_calls`, or with tools in the prompt a call that ran.
    Called,
    /// With tools in the request, a call in the text of the answer, which the parser can read.
    InText {
        /// Name of the dialect in which the call is written.
        dialect: &'static str,
    },
    /// A call whose arguments are not a JSON object.
    Damaged {
        /// The arguments as the model wrote them.
        arguments: String,
    },
    /// Neither text nor a call, or the finish reason `tool_calls` without a call.
    Empty {
        /// The finish reason that the endpoint sent.
        finish: String,
    },
    /// The model answered with text without a call.
    Answered,
    /// The request or its turn failed, or took too long.
    Failed {
        /// Message of the failure.
        message: String,
    },
}

/// The outcome of a diagnostic request and its duration.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DiagnosisTrial {
    #[serde(flatten)]
    pub(super) outcome: Came,
    pub(super) seconds: f64,
}

/// The three requests of a diagnosis and their outcomes.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DiagnosisTrials {
    /// Request with the tool in the field `tools`.
    pub(super) native: DiagnosisTrial,
    /// Request with the tool in the field `tools` and with a call and its result in the history.
    pub(super) history: DiagnosisTrial,
    /// Request with the tool in the system prompt.
    pub(super) prompt: DiagnosisTrial,
    /// `true` if the native request led to the expected call and the one with a result to the expected answer; `auto`
    /// would then use native tools.
    #[serde(skip)]
    pub(super) native_works: bool,
}

impl DiagnosisTrials {
    pub(super) async fn run(client: &OpenAi, profile: &Profile) -> Self {
        let tokens = if profile.reasons == Some(true) { TOKENS.1 } else { TOKENS.0 };
        let (mut called, mut answered) = (false, false);
        let native = timed(async {
            let answer = NativeAnswer::with_call(client, "", tokens).await;
            called = answer.as_ref().is_ok_and(NativeAnswer::is_the_call);
            came(answer)
        });
        let native = native.await;
        let history = timed(async {
            let answer = NativeAnswer::with_result(client, "", tokens).await;
            answered = answer.as_ref().is_ok_and(NativeAnswer::is_the_answer);
            came(answer)
        });
        let history = history.await;
        let prompt = timed(asks_by_prompt(client, profile, tokens)).await;
        DiagnosisTrials { native, history, prompt, native_works: called && answered }
    }

    /// Returns `true` if at least one of the three requests did not fail.
    pub(super) fn are_answered(&self) -> bool {
        [&self.native, &self.history, &self.prompt].iter().any(|t| !matches!(t.outcome, Came::Failed { .. }))
    }
}

async fn timed(trial: impl Future<Output = Came>) -> DiagnosisTrial {
    let begun = Instant::now();
    let late = || Came::Failed { message: format!("no answer within {} seconds", LIMIT.as_secs()) };
    let outcome = tokio::time::timeout(LIMIT, trial).await.unwrap_or_else(|_| late());
    DiagnosisTrial { outcome, seconds: (begun.elapsed().as_secs_f64() * 100.0).round() / 100.0 }
}

/// Returns the outcome of a request with native tools, from its answer or error.
fn came(answer: Result<NativeAnswer, ModelError>) -> Came {
    let NativeAnswer { text, calls, end, .. } = match answer {
        Ok(answer) => answer,
        Err(error) => return Came::Failed { message: error.to_string() },
    };
    if let Some(call) = calls.first() {
        return match serde_json::from_str::<Value>(&call.arguments) {
            Ok(Value::Object(_)) => Came::Called,
            _ => Came::Damaged { arguments: call.arguments.clone() },
        };
    }
    match in_text(&text, &end) {
        Some(dialect) => Came::InText { dialect },
        None if text.trim().is_empty() || end == FinishReason::ToolCalls => {
            Came::Empty { finish: end.as_str().to_owned() }
        }
        None => Came::Answered,
    }
}

/// Returns the name of the dialect of the first call in a text; `None` if the text contains no call.
fn in_text(text: &str, end: &FinishReason) -> Option<&'static str> {
    let mut config = parse::Config::default();
    config.catalog = Some(Catalog::from_tools([trial_tool()]).into());
    let (mut parser, mut message) = (Parser::new(config), Collector::new());
    parser.push(text, &mut |event| message.push(event));
    parser.finish(end, &mut |event| message.push(event));
    let message = message.finish();
    message.calls().next().map(|call| call.dialect.name())
}

/// Runs the trial with the tool in the system prompt and returns its outcome.
async fn asks_by_prompt(client: &OpenAi, profile: &Profile, tokens: u32) -> Came {
    let mut config = TurnConfig::for_profile(profile);
    config.tools_mode = ToolsMode::Prompt;
    config.max_tokens = Some(tokens);
    config.max_corrections = 1;
    let answer = |_| async { Ok::<_, std::convert::Infallible>(Outcome::result("13 degrees, rain")) };
    let agent = Agent::builder(client.clone(), Functions::unnamed().with(trial_tool(), answer))
        .config(config)
        .prompt(Options::for_profile(profile))
        .policy(Policy::new(Decision::Allow))
        .build();
    let seen = match ask(&agent, (TRIAL_QUESTION, true), Duration::MAX, |seen| !seen.calls.is_empty()).await {
        Ok(seen) => seen,
        Err(Unasked::Way(failure) | Unasked::Endpoint(failure)) => {
            return Came::Failed { message: failure.message().to_owned() };
        }
    };
    match seen.finished {
        _ if !seen.calls.is_empty() => Came::Called,
        Some(Finished { reason: StopReason::Answered, answer, .. }) if !answer.trim().is_empty() => Came::Answered,
        None | Some(Finished { reason: StopReason::Answered, .. }) => Came::Empty { finish: "stop".to_owned() },
        Some(Finished { reason, .. }) => Came::Failed { message: reason.to_string() },
    }
}
