//! One task, put to the model in one way.

use std::pin::pin;
use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::{Map, Value};

use super::cell::{Cell, How};
use super::score::{CORRECTIONS, Trial};
use super::tasks::{Task, Tasks};
use super::threshold::UNLIKELY;
use crate::base::Failure;
use toolgraft::agent::{AgentBuilder, CallerWarning, Finished, StopReason};
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::{DialectSet, Profile};
use toolgraft::model::ModelErrorKind;
use toolgraft::prompt::{Options, Prompt};
use toolgraft::tools::{Decision, ToolChoice, ToolsMode};
use toolgraft::turn::{TurnConfig, call_margin};
use toolgraft::{Agent, AgentEvent, Catalog, Functions, Model, OpenAi, Outcome, Policy, Tool, route::Toolbox};

/// Maximum number of requests for one task, not counting corrections: the call, the answer and a spare one.
const ROUNDS: u32 = 3;

/// Maximum time for one task.
const TASK_LIMIT: Duration = Duration::from_secs(180);

/// The client, the tasks and the limits that all trials of a probe share.
pub(crate) struct Bench {
    pub(crate) client: OpenAi,
    pub(crate) profile: &'static Profile,
    pub(crate) tasks: Tasks,
    /// Maximum number of tokens of one answer.
    pub(crate) max_tokens: u32,
    /// Minimum logarithm of the probability with which a message counts as a call; `None` to fit it to the tasks.
    pub(crate) call_threshold: Option<f64>,
}

/// The observations from the events of a turn.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) calls: Vec<(String, Map<String, Value>)>,
    rounds: usize,
    /// Number of corrections before the first call ran.
    corrections: usize,
    pub(super) tokens: u64,
    pub(super) answer: String,
    pub(super) finished: Option<Finished>,
    /// `true` if the time limit came before the end of the turn.
    pub(super) timed_out: bool,
    /// Logarithm of the probability that the first message begins with a call; `None` if it was not measured.
    pub(super) likely: Option<f64>,
    /// Message if the endpoint lacks a feature that this way to offer tools needs (probabilities, constrained answers).
    unfit: Option<String>,
}

/// The reason that no result was obtained for a task.
pub(crate) enum Unasked {
    /// The endpoint refuses this way to offer tools; others may work.
    Way(Failure),
    /// The endpoint cannot be reached or refuses access, with every way to offer tools.
    Endpoint(Failure),
}

impl Bench {
    /// Runs a task with one way to offer tools. Returns `None` if `left`, the remaining time of the whole probe, ended
    /// first, so that there is no result.
    ///
    /// # Errors
    /// The endpoint cannot be reached, or refuses the request.
    pub(crate) async fn trial(
        &self,
        cell: Cell,
        task: &Task,
        left: Option<Duration>,
    ) -> Result<Option<Trial>, Unasked> {
        let begun = Instant::now();
        let limit = left.unwrap_or(TASK_LIMIT).min(TASK_LIMIT);
        // Where the call is all that is asked for, the rest is not waited for, nor is a call that nobody wants.
        let is_measured = |seen: &Seen| cell.how() == How::Measured && seen.likely.is_some();
        let is_enough = |seen: &Seen| seen.unfit.is_some() || task.wanted.is_empty() && is_measured(seen);
        let agent = self.task_agent(cell, task);
        let mut seen = ask(&agent, (&task.question, task.answer.is_none()), limit, is_enough).await?;
        if let Some(unfit) = seen.unfit.take() {
            return Err(Unasked::Way(Failure::Job(unfit)));
        }
        if seen.timed_out && limit < TASK_LIMIT {
            return Ok(None);
        }
        let mut trial = judge(task, &seen);
        (trial.tokens, trial.corrections) = (seen.tokens, seen.corrections);
        trial.threshold = self.threshold(cell, task);
        // The distance from the threshold counts, which is lower for some requests. Above zero no call is made.
        let margin = call_margin(&task.question, self.tasks.tools.iter());
        let likely = seen.likely.filter(|_| cell.how() == How::Measured);
        trial.likely = likely.map(|likely| if likely > UNLIKELY { (likely + margin).min(0.0) } else { likely });
        trial.ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Some(trial))
    }

    /// Returns a text of all that the results depend on besides way, model and endpoint: tasks, profile, limits and
    /// prompts. Stored results with another text are not reused.
    pub(crate) fn conditions(&self) -> String {
        let mut text = format!("{}\n{}\n{}", self.tasks.source, self.profile.name, self.max_tokens);
        text.push_str(&format!("\n{CORRECTIONS}"));
        let catalog = Catalog::from_tools(self.tasks.tools.iter().cloned());
        for cell in Cell::any() {
            let composed = Prompt::new(self.options(cell)).and_then(|prompt| prompt.compose(&catalog, &[]));
            text.push_str(&composed.map(|system| system.text).unwrap_or_default());
        }
        text
    }

    /// Returns the call threshold if it affects the course of a trial of this task, and not only its evaluation.
    pub(crate) fn threshold(&self, cell: Cell, task: &Task) -> Option<f64> {
        self.call_threshold.filter(|_| cell.how() == How::Measured && task.answer.is_some())
    }

    /// Returns an agent for one way to offer tools, whose policy allows all calls, since the tools are made up.
    pub(super) fn agent(
        &self,
        cell: Cell,
        config: TurnConfig,
        (model, tools): (impl Model + 'static, impl Toolbox + 'static),
    ) -> AgentBuilder {
        Agent::builder(model, tools).config(config).prompt(self.options(cell)).policy(Policy::new(Decision::Allow))
    }

    fn options(&self, cell: Cell) -> Options {
        let options = Options::for_profile(self.profile);
        match cell {
            Cell::Native | Cell::ToolCalls => options,
            Cell::Prompt { dialect, style, listing, .. } => {
                options.with_dialect(dialect).with_style(style).with_listing(listing)
            }
        }
    }

    /// Returns the turn configuration for all tasks with one way to offer tools.
    pub(super) fn config(&self, cell: Cell) -> TurnConfig {
        let mut config = TurnConfig::for_profile(self.profile);
        config.temperature = Some(0.0);
        config.max_tokens = Some(self.max_tokens);
        config.max_corrections = CORRECTIONS as u32;
        config.constrain = Constrain::Off;
        config.tools_mode = ToolsMode::Native;
        match cell {
            Cell::Native => {}
            // Nothing of this program is to help.
            Cell::ToolCalls => (config.dialects, config.max_corrections) = (DialectSet::NONE, 0),
            Cell::Prompt { .. } => config.tools_mode = ToolsMode::Prompt,
        }
        config
    }

    fn task_agent(&self, cell: Cell, task: &Task) -> Agent {
        let answer = task.answer.as_ref();
        let mut config = self.config(cell);
        config.max_rounds = ROUNDS + config.max_corrections;
        match cell.how() {
            How::Free => {}
            How::Told => {
                // An endpoint that takes no form would be asked without one, and its figures be
                // those of the way that is free.
                config.constrain = Constrain::Require;
                config.tool_choice = ToolChoice::Required;
                // A weak model that is held to calls finds no end by itself.
                config.max_calls = Some(task.wanted.len().max(1));
            }
            How::Measured => {
                // Whatever the probability, the call is asked for: which of them count is decided
                // once a threshold is set. After a result it has to answer some time.
                (config.constrain, config.way) = (Constrain::Auto, Way::Measured);
                config.call_threshold = match answer {
                    None => Some(f64::NEG_INFINITY),
                    Some(_) => self.threshold(cell, task),
                };
            }
        }
        let tools = self.tasks.tools.iter();
        let answer = answer.map_or("Done.", |answer| answer.result.as_str());
        let tools = tools.fold(Functions::unnamed(), |tools, tool: &Tool| {
            let answer = answer.to_owned();
            tools.with(tool.clone(), move |_| {
                let answer = answer.clone();
                async move { Ok::<_, std::convert::Infallible>(Outcome::result(answer)) }
            })
        });
        self.agent(cell, config, (self.client.clone(), tools)).build()
    }
}

/// Runs a question until the turn ends, the time limit is reached, or nothing more is needed: with `only_call`, after
/// the calls of the first message; or as soon as `is_enough` returns `true`.
///
/// # Errors
/// The endpoint cannot be reached, or refuses the request.
pub(super) async fn ask(
    agent: &Agent,
    (question, only_call): (&str, bool),
    limit: Duration,
    is_enough: impl Fn(&Seen) -> bool,
) -> Result<Seen, Unasked> {
    let mut seen = Seen::default();
    let mut run = agent.run(question).map_err(|e| Unasked::Way(Failure::job(e)))?;
    let mut over = pin!(tokio::time::sleep(limit));
    while !seen.timed_out {
        let event = tokio::select! {
            // An event that is there counts, also in the moment in which the time is over.
            biased;
            event = run.next() => event,
            () = &mut over => {
                seen.timed_out = true;
                continue;
            }
        };
        if event.is_none_or(|event| seen.note(event, only_call)) || is_enough(&seen) {
            break;
        }
    }
    let unasked = seen.finished.as_ref().and_then(|finished| unasked(&finished.reason));
    unasked.map_or(Ok(seen), Err)
}

impl Seen {
    /// Records an event of a turn; returns `true` if no further events are needed.
    fn note(&mut self, event: AgentEvent, only_call: bool) -> bool {
        match event {
            // The first decision is measured; those after a result are made in the same way.
            AgentEvent::Decided { likely, .. } if self.rounds <= 1 => {
                self.likely.get_or_insert(likely.unwrap_or(UNLIKELY));
            }
            AgentEvent::Notice { notice: notice @ (CallerWarning::NoProbabilities | CallerWarning::NoStructure) } => {
                self.unfit = Some(notice.to_string());
            }
            AgentEvent::RoundStarted { .. } => {
                if only_call && !self.calls.is_empty() {
                    return true;
                }
                self.rounds += 1;
            }
            AgentEvent::Correcting { .. } if self.calls.is_empty() => self.corrections += 1,
            AgentEvent::RoundFinished { usage: Some(usage), .. } => {
                self.tokens += usage.prompt_tokens + usage.completion_tokens;
            }
            AgentEvent::CallRunning { tool, arguments, .. } => self.calls.push((tool, arguments)),
            AgentEvent::Finished(finished) => {
                self.answer.clone_from(&finished.answer);
                self.finished = Some(*finished);
                return true;
            }
            _ => {}
        }
        false
    }
}

/// Returns the failure if a turn that ended for this reason yields no result about the model; `None` if it yields one.
fn unasked(reason: &StopReason) -> Option<Unasked> {
    match reason {
        // Without a right key no way is taken.
        StopReason::ModelFailed(failure)
            if failure.error == ModelErrorKind::Unreachable || matches!(failure.status, Some(401..=403)) =>
        {
            Some(Unasked::Endpoint(Failure::job(reason)))
        }
        StopReason::ModelFailed(_) | StopReason::PromptFailed { .. } | StopReason::ContextTooSmall { .. } => {
            Some(Unasked::Way(Failure::job(reason)))
        }
        _ => None,
    }
}

/// Returns the result of a task from the observations of its turn.
fn judge(task: &Task, seen: &Seen) -> Trial {
    let mut trial = Trial { task: task.id, kind: task.kind(), accepted: !seen.calls.is_empty(), ..Trial::default() };
    match task.wanted.is_empty() {
        true => trial.right = !trial.accepted,
        false => judge_calls(task, seen, &mut trial),
    }
    // An answer that names the value without having called invented it.
    trial.used = trial.accepted && task.answer.as_ref().is_some_and(|answer| answer.is_in(&seen.answer));
    if seen.timed_out {
        (trial.right, trial.used) = (false, false);
    }
    trial
}

/// Judges the calls of a task that wants some: sets `right_tool` and `right`.
fn judge_calls(task: &Task, seen: &Seen, trial: &mut Trial) {
    let mut open: Vec<_> = task.wanted.iter().collect();
    let mut has_wrong = false;
    for (tool, arguments) in &seen.calls {
        match open.iter().position(|call| call.is(tool, arguments)) {
            Some(at) => drop(open.remove(at)),
            // The same call once more, as a loop has it where an answer is wanted, is no other call.
            None if task.wanted.iter().any(|call| call.is(tool, arguments)) && task.answer.is_some() => {}
            None => has_wrong = true,
        }
    }
    let is_wanted = |tool: &String| task.wanted.iter().any(|call| call.tool == *tool);
    trial.right_tool = trial.accepted && seen.calls.iter().all(|(tool, _)| is_wanted(tool));
    trial.right = open.is_empty() && !has_wrong;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::probe::score::TaskKind;
    use crate::probe::tasks::{Expected, ExpectedAnswer};

    fn seen(calls: &[(&str, Value)], answer: Option<&str>) -> Seen {
        Seen {
            calls: calls.iter().map(|(tool, args)| ((*tool).to_owned(), args.as_object().cloned().unwrap())).collect(),
            answer: answer.unwrap_or_default().to_owned(),
            ..Seen::default()
        }
    }

    #[test]
    fn a_trial_is_right_only_with_the_right_call_alone() {
        let arguments = json!({"city": "Oslo"}).as_object().cloned().unwrap();
        let expected = Expected { tool: "get_weather".to_owned(), arguments };
        let task = |wanted, answer| Task { id: 3, question: String::new(), wanted, answer };
        let call = task(vec![expected.clone()], None);
        let right = ("get_weather", json!({"city": "oslo"}));
        let marks = |trial: Trial| (trial.accepted, trial.right_tool, trial.right);
        assert_eq!(marks(judge(&call, &seen(std::slice::from_ref(&right), None))), (true, true, true));
        let wrong = ("get_weather", json!({"city": "Lima"}));
        assert_eq!(marks(judge(&call, &seen(std::slice::from_ref(&wrong), None))), (true, true, false));
        assert_eq!(marks(judge(&call, &seen(&[right.clone(), wrong], None))), (true, true, false));
        assert_eq!(marks(judge(&call, &seen(&[("x", json!({}))], None))), (true, false, false));
        assert_eq!(marks(judge(&call, &seen(&[], None))), (false, false, false));

        let lima = Expected { arguments: json!({"city": "Lima"}).as_object().cloned().unwrap(), ..expected.clone() };
        let both = task(vec![lima, expected.clone()], None);
        let other = ("get_weather", json!({"city": "Lima"}));
        assert_eq!(marks(judge(&both, &seen(&[right.clone(), other], None))), (true, true, true));
        let half = judge(&both, &seen(std::slice::from_ref(&right), None));
        assert!(!half.right && half.kind == TaskKind::Calls);

        let unwanted = task(Vec::new(), None);
        assert!(judge(&unwanted, &seen(&[], None)).right);
        assert_eq!(marks(judge(&unwanted, &seen(std::slice::from_ref(&right), None))), (true, false, false));

        let answer = ExpectedAnswer { result: "Oslo: 13".to_owned(), value: "13".to_owned() };
        let result = task(vec![expected], Some(answer));
        assert!(judge(&result, &seen(std::slice::from_ref(&right), Some("It is 13 degrees."))).used);
        let unused = judge(&result, &seen(&[right], Some("It is warm.")));
        assert!(unused.right && !unused.used);
        assert!(!judge(&result, &seen(&[], Some("13"))).used);
    }

    #[test]
    fn an_answer_that_does_not_end_is_not_right_even_where_no_call_was_wanted() {
        let task = Task { id: 3, question: String::new(), wanted: Vec::new(), answer: None };
        let trial = judge(&task, &Seen { timed_out: true, ..Seen::default() });
        assert!(!trial.right);
    }
}
