//! A model's text read again, by `replay` and `extract`: the options, and a message in the form that both write.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde_json::Value;

use crate::base::{Failure, lock, output};
use crate::settings::profiles::{dialect_file, profile_of};
use crate::settings::{Reader, Settings, Source, set_args::SetArgs};
use toolgraft::Dialect;
use toolgraft::dialect::{DialectSet, Profile};
use toolgraft::event::{Assembled, Provenance, Rejected, RejectedKind, Repair};
use toolgraft::message::{ReasoningCalls, ReasoningMode};
use toolgraft::parse::Config;
use toolgraft::validate::Validator;

/// Maximum number of warnings on invalid schemas in one run.
const MAX_PROBLEMS: usize = 50;

/// The options for reading texts.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadingArgs {
    /// Call syntaxes to read: auto for all, or names joined by commas
    #[arg(long, value_name = "NAMES")]
    dialect: Option<DialectSet>,

    /// File with a call syntax of your own to read, too (docs/dialects.md); may be given several times
    #[arg(long, value_name = "FILE", value_parser = dialect_file, hide_short_help = true)]
    dialect_file: Vec<Dialect>,

    /// Calls in the reasoning: ignore, last_resort, allow; the profile's, else ignore
    #[arg(long, value_name = "POLICY", hide_short_help = true)]
    reasoning_calls: Option<ReasoningCalls>,

    /// Read texts with this model profile, or that of this model: where its reasoning starts and
    /// what it writes around it
    #[arg(long, value_name = "NAME|MODEL", value_parser = profile_of, hide_short_help = true)]
    pub(crate) profile: Option<&'static Profile>,

    #[command(flatten)]
    set: SetArgs,

    /// The settings of `--set`.
    #[arg(skip)]
    said: Settings,

    /// The profile of a text that names neither one nor a model.
    #[arg(skip)]
    pub(crate) usual: Option<&'static Profile>,
}

impl ReadingArgs {
    /// Reads the settings of `--set`, which may only have keys of these readers, and the profile of the other sources.
    pub(crate) fn resolve(&mut self, readers: &[Reader]) -> Result<(), Failure> {
        self.said = self.set.under(Settings::default(), readers)?;
        self.usual = Settings::default().resolve(&Source::EVERYWHERE)?.profile;
        Ok(())
    }

    /// Returns the parser's configuration. The arguments provide dialects and treatment of reasoning where no option
    /// sets them.
    pub(crate) fn config(
        &self,
        dialects: Option<DialectSet>,
        profile: Option<&Profile>,
        (reasoning, reasoning_calls): (Option<ReasoningMode>, Option<ReasoningCalls>),
    ) -> Config {
        let dialects = self.dialect.or(dialects).unwrap_or_default();
        Config::default()
            .with_dialects(self.dialect_file.iter().fold(dialects, |set, dialect| set.with(*dialect)))
            .with_reasoning(self.said.reasoning.or(reasoning).unwrap_or_default())
            .with_reasoning_calls(self.reasoning_calls.or(reasoning_calls).unwrap_or_default())
            .with_reasoning_marks(profile.map(Profile::marks).unwrap_or_default())
            .with_fenced_calls(self.said.fenced_calls.unwrap_or_default())
            .with_stop(self.said.stop.clone())
    }
}

/// A parsed message as written to the output.
#[derive(Serialize)]
pub(crate) struct Message<'a> {
    content: &'a str,
    reasoning: &'a str,
    calls: Vec<CallOut<'a>>,
    rejected: Vec<RejectedOut<'a>>,
}

#[derive(Serialize)]
struct CallOut<'a> {
    server: Option<&'a str>,
    tool: &'a str,
    arguments: &'a Value,
    dialect: &'static str,
    provenance: Provenance,
    repairs: &'a [Repair],
}

#[derive(Serialize)]
struct RejectedOut<'a> {
    kind: RejectedKind,
    raw: &'a str,
    message: Cow<'a, str>,
}

impl<'a> Message<'a> {
    /// Converts an assembled message for output. `correct` returns an example of a valid call, for a call whose
    /// arguments are invalid.
    pub(crate) fn of(assembled: &'a Assembled, correct: impl Fn(&Rejected) -> Option<String>) -> Self {
        let calls = assembled.calls().map(|call| CallOut {
            server: call.server.as_deref(),
            tool: &call.tool,
            arguments: &call.arguments,
            dialect: call.dialect.name(),
            provenance: call.provenance,
            repairs: &call.repairs,
        });
        let rejected = assembled.rejected().map(|rejected| {
            let correct = correct(rejected).filter(|_| rejected.kind == RejectedKind::InvalidArguments);
            let message = match correct {
                Some(correct) => Cow::Owned(format!("{}. A correct call: {correct}", rejected.message)),
                None => Cow::Borrowed(rejected.message.as_str()),
            };
            RejectedOut { kind: rejected.kind, raw: &rejected.raw, message }
        });
        let (calls, rejected) = (calls.collect(), rejected.collect());
        Message { content: &assembled.content, reasoning: &assembled.reasoning, calls, rejected }
    }
}

/// The warnings on invalid schemas that were already printed, shared by all threads.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems(Arc<Mutex<HashSet<String>>>);

impl Problems {
    /// Warns of invalid schemas of the tools that a message calls, each once.
    pub(crate) fn report(&self, validator: &Validator, assembled: &Assembled) {
        for entry in &assembled.entries {
            let (server, tool) = match &entry.result {
                Ok(call) => (call.server.as_deref(), Some(call.tool.as_str())),
                Err(rejected) if rejected.kind == RejectedKind::InvalidArguments => {
                    (rejected.server.as_deref(), rejected.tool.as_deref())
                }
                Err(_) => continue,
            };
            let Some(problem) = tool.and_then(|tool| validator.problem(server, tool)) else { continue };
            let mut printed = lock(&self.0);
            let text = problem.to_string();
            if printed.len() < MAX_PROBLEMS && !printed.contains(&text) {
                output::warn(&text);
                printed.insert(text);
            }
        }
    }
}
