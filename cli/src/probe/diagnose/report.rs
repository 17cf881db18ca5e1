//! The report of a diagnosis, as JSON and as text.

use serde::Serialize;
use toolgraft::dialect::Profile;
use toolgraft::model::{ModelInfo, ServerFault};
use toolgraft::secrets::shown_url;
use toolgraft::tools::ToolsMode;
use toolgraft_serve::Learned;

use super::trial::{Came, DiagnosisTrial, DiagnosisTrials};
use crate::chat::Endpoint;
use crate::screen::boxes::clean;
use crate::settings::{learned, saved_profiles::SavedProfile};

/// Context size in tokens below which the advice says how to lengthen the server's context.
const SHORT_CONTEXT: u64 = 8_192;

/// Width of the first column of the report, in terminal columns.
const COLUMN: usize = 24;

/// A known fault of the server that a failed request revealed.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    remedy: &'static str,
    source: &'static str,
}

/// The report of `probe --diagnose` on an endpoint and its model.
#[derive(Debug, Serialize)]
pub(super) struct Diagnosis {
    endpoint: String,
    model: String,
    server: Option<String>,
    version: Option<String>,
    context: Option<u64>,
    profile: &'static str,
    /// The call syntax that the model's chat template writes; `None` if unknown.
    template: Option<&'static str>,
    /// `true` if the endpoint reports that the model supports tools; `None` if it reports nothing about it.
    says_tools: Option<bool>,
    trials: DiagnosisTrials,
    faults: Vec<Finding>,
    /// Request features that are omitted because the endpoint refused them.
    does_without: Vec<&'static str>,
    /// The results that `serve` and `chat` saved about native calls of this model at this endpoint.
    learned: Vec<Learned>,
    /// The way of offering tools (native, prompt, auto) that an earlier probe saved for this model.
    saved: Option<ToolsMode>,
    /// The way of offering tools (native, prompt, auto) that the diagnosis recommends.
    tools_mode: ToolsMode,
    advice: Vec<String>,
}

impl Diagnosis {
    pub(super) fn new(
        endpoint: &Endpoint,
        (profile, saved): (&'static Profile, Option<&SavedProfile>),
        trials: DiagnosisTrials,
        does_without: Vec<&'static str>,
    ) -> Self {
        let mut faults: Vec<Finding> = Vec::new();
        for trial in [&trials.native, &trials.history, &trials.prompt] {
            if let Came::Failed { message } = &trial.outcome
                && let Some(ServerFault { what, remedy, source, .. }) = ServerFault::told_by(message)
                // Several trials may fail by one fault.
                && !faults.iter().any(|fault| fault.source == *source)
            {
                faults.push(Finding { what, remedy, source });
            }
        }
        let saved = saved.and_then(|saved| saved.tools_mode);
        let mut learned = learned::at(&endpoint.url);
        learned.retain(|learned| learned.model == endpoint.model);
        let info = &endpoint.info;
        let (tools_mode, advice) = advice(&trials, info, saved);
        Diagnosis {
            endpoint: shown_url(&endpoint.url),
            model: clean(&endpoint.model),
            server: info.server.map(|server| server.to_string()),
            version: info.version.as_deref().map(clean),
            context: info.context,
            profile: profile.name,
            template: info.dialect.map(|dialect| dialect.name()),
            says_tools: info.tools,
            trials,
            faults,
            does_without,
            learned,
            saved,
            tools_mode,
            advice,
        }
    }

    /// Returns an error message if no request led to a call; `None` if native tools or the prompt led to one.
    pub(super) fn fault(&self) -> Option<&'static str> {
        match comes(&self.trials.native) || comes(&self.trials.prompt) {
            true => None,
            false if self.trials.are_answered() => {
                Some("no call came, neither with tools in the request nor with tools in the prompt")
            }
            false => Some("the endpoint answered no request"),
        }
    }

    /// Returns the report as text: a line with name and value for each finding.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![("endpoint", self.endpoint.clone()), ("model", self.model.clone())];
        let server = [self.server.as_deref(), self.version.as_deref()].into_iter().flatten().collect::<Vec<_>>();
        if !server.is_empty() {
            lines.push(("server", server.join(" ")));
        }
        lines.extend(self.context.map(|context| ("context", format!("{context} tokens"))));
        lines.push(("profile", self.profile.to_owned()));
        lines.extend(self.template.map(|dialect| ("template writes", dialect.to_owned())));
        let says = match self.says_tools {
            Some(true) => "yes",
            Some(false) => "no",
            None => "does not say",
        };
        lines.push(("says it takes tools", says.to_owned()));
        lines.push(("tools in the request", came(&self.trials.native)));
        lines.push(("… with a result", came(&self.trials.history)));
        lines.push(("tools in the prompt", came(&self.trials.prompt)));
        for fault in &self.faults {
            lines.push(("known fault", format!("{} ({})", fault.what, fault.source)));
            if !fault.remedy.is_empty() {
                lines.push(("at the server", fault.remedy.to_owned()));
            }
        }
        if !self.does_without.is_empty() {
            lines.push(("learned", format!("requests go without {}", self.does_without.join(", "))));
        }
        for Learned { version, fault, .. } in &self.learned {
            lines.push(match fault {
                Some(fault) => ("learned", format!("native calls fail at {version} ({fault}): tools go by prompt")),
                None => ("learned", format!("native calls work at {version}")),
            });
        }
        lines.extend(self.saved.map(|mode| ("saved by probe", format!("--set tools_mode={mode}"))));
        lines.extend(self.advice.iter().map(|advice| ("advice", advice.clone())));
        let line = |(name, value): &(&str, String)| {
            let width = unicode_width::UnicodeWidthStr::width(*name);
            format!("{name}{}{}\n", " ".repeat(COLUMN.saturating_sub(width).max(1)), clean(value))
        };
        lines.iter().map(line).collect()
    }
}

/// Returns `true` if the model called the tool, in the field `tool_calls` or in its text.
fn comes(trial: &DiagnosisTrial) -> bool {
    matches!(trial.outcome, Came::Called | Came::InText { .. })
}

/// Returns the recommended way of offering tools (native, prompt, auto) and the sentences of advice.
fn advice(trials: &DiagnosisTrials, info: &ModelInfo, saved: Option<ToolsMode>) -> (ToolsMode, Vec<String>) {
    let (mode, first) = match (trials.native_works, comes(&trials.prompt)) {
        (true, _) if info.tools == Some(true) => (
            ToolsMode::Auto,
            "tools are sent in the request automatically (tools_mode=auto, the default of chat and serve)",
        ),
        // An endpoint that does not say that it takes tools would be sent none.
        (true, _) => {
            (ToolsMode::Native, "--set tools_mode=native: native calls work, but the endpoint does not say so")
        }
        (false, true) => (
            ToolsMode::Prompt,
            "tools are listed in the prompt: auto, the default of chat and serve, needs two requests to find out, \
             and --set tools_mode=prompt needs none",
        ),
        (false, false) if !trials.are_answered() => {
            (ToolsMode::Auto, "no request was answered: fix what the first failure reports, then diagnose again")
        }
        (false, false) => (ToolsMode::Auto, "neither way led to a call: `toolgraft probe` measures further ones"),
    };
    let mut advice = vec![first.to_owned()];
    // `auto` contradicts neither of the others: it tries both ways by itself.
    if saved.is_some_and(|saved| saved != ToolsMode::Auto && saved != mode && mode != ToolsMode::Auto) {
        advice.push("the saved profile differs: `toolgraft probe --yes` measures again".to_owned());
    }
    if let (Some(context), Some(server)) = (info.context, info.server)
        && context < SHORT_CONTEXT
    {
        advice.push(format!("the context is short for tools: {}", server.longer_context()));
    }
    (mode, advice)
}

/// Returns a description of a trial's outcome and its duration in seconds.
fn came(trial: &DiagnosisTrial) -> String {
    let said = match &trial.outcome {
        Came::Called => "a right call".to_owned(),
        Came::InText { dialect } => format!("a call in the text ({dialect}), which toolgraft reads"),
        Came::Damaged { arguments } => format!("a call with malformed arguments: {arguments}"),
        Came::Empty { finish } => format!("nothing, with the finish reason {finish}"),
        Came::Answered => "an answer without a call".to_owned(),
        Came::Failed { message } => format!("failed: {message}"),
    };
    format!("{said}, {} s", trial.seconds)
}
