//! Answers after a correct call: counts those that contain the value of the result.
//!
//! The questions, tools and calls are those of `probe` that need one call; the results
//! (`results.json`) were written for this test. The call is given, the answer comes from the model
//! under the best conditions. The count is only printed, since it depends on the model.

use std::convert::Infallible;
use std::io::{Write, stderr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::stream::BoxStream;
use serde::Deserialize;
use serde_json::{Map, Value};
use toolgraft::agent::{Finished, StopReason};
use toolgraft::constrain::Constrain;
use toolgraft::dialect::{PromptStyle, write_call};
use toolgraft::model::{ModelError, ModelEvent, Request};
use toolgraft::prompt::Options;
use toolgraft::tools::{Decision, ToolChoice};
use toolgraft::transcript::{Recorded, Round};
use toolgraft::turn::TurnConfig;
use toolgraft::{Agent, Dialect, Functions, Model, OpenAi, Policy, Tool};

use crate::server::{shared, wanted};

/// Number of tools that are offered with each question, as in `probe`.
const OFFERED: usize = 3;

#[derive(Deserialize)]
struct Tasks {
    tools: Vec<Tool>,
    call: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    question: String,
    tool: String,
    arguments: Map<String, Value>,
}

/// The result of a question's call.
#[derive(Deserialize)]
struct Told {
    question: String,
    result: String,
    /// The part of the result that an answer has to contain.
    value: String,
}

/// A model that writes the call, and then is the real model.
struct CallFirst(Recorded, OpenAi, AtomicUsize);

impl Model for CallFirst {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<ModelEvent, ModelError>> {
        match self.2.fetch_add(1, Ordering::SeqCst) {
            0 => self.0.stream(request),
            _ => self.1.stream(request),
        }
    }

    fn constrains(&self) -> bool {
        true
    }
}

/// Runs a question with its correct call and this result, up to the answer.
async fn answered(tasks: &Tasks, task: &Task, result: &str) -> Finished {
    let dialect = Dialect::UseMcpTool;
    let right = tasks.tools.iter().position(|tool| tool.name == task.tool).unwrap();
    let offered = (0..OFFERED).map(|further| &tasks.tools[(right + further) % tasks.tools.len()]);
    let result: Arc<str> = result.into();
    let tools = offered.fold(Functions::unnamed(), |tools, tool| {
        let result = result.clone();
        tools.with(tool.clone(), move |_| {
            let result = result.to_string();
            async move { Ok::<_, Infallible>(result) }
        })
    });
    let mut config = TurnConfig::default().with_policy(Policy::new(Decision::Allow));
    (config.temperature, config.max_tokens) = (Some(0.0), Some(128));
    (config.max_rounds, config.max_corrections, config.max_calls) = (3, 0, Some(1));
    (config.tool_choice, config.constrain) = (ToolChoice::Required, Constrain::Require);
    let call = write_call(dialect, None, &task.tool, &task.arguments);
    let real = OpenAi::new(shared().url(), "smollm2").unwrap();
    let model = CallFirst(Recorded::new([Round::text(call)]), real, AtomicUsize::new(0));
    let options = Options::default().with_dialect(dialect).with_style(PromptStyle::Compact);
    Agent::builder(model, tools)
        .config(config)
        .prompt(options)
        .build()
        .run(task.question.as_str())
        .unwrap()
        .finish()
        .await
}

#[test]
fn answers_that_use_a_result_are_counted() {
    if !wanted("answers_that_use_a_result_are_counted") {
        return;
    }
    let tasks: Tasks = serde_json::from_str(include_str!("../../cli/src/probe/tasks.json")).unwrap();
    let told: Vec<Told> = serde_json::from_str(include_str!("results.json")).unwrap();
    assert_eq!(tasks.call.len(), told.len());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut used, mut unused) = (0, Vec::new());
    for (task, told) in tasks.call.iter().zip(&told) {
        assert_eq!(task.question, told.question);
        let is_known = task.question.to_lowercase().contains(&told.value.to_lowercase());
        assert!(told.result.contains(&told.value) && !is_known, "{}", told.question);
        let finished = runtime.block_on(answered(&tasks, task, &told.result));
        // The model answered, or wrote up to a limit.
        let well = matches!(
            finished.reason,
            StopReason::Answered
                | StopReason::EmptyAnswer
                | StopReason::OutputLimit
                | StopReason::Repetition { .. }
                | StopReason::SameCalls { .. }
                | StopReason::CorrectionsUsedUp { .. }
                | StopReason::MaxRounds { .. }
        );
        assert!(well, "{}: {:?}", task.question, finished.reason);
        match finished.answer.to_lowercase().contains(&told.value.to_lowercase()) {
            true => used += 1,
            false => unused.push(format!("{}\n  {}\n  {}", task.question, told.result, finished.answer.trim())),
        }
    }
    // Written directly, so that the test harness does not capture it.
    let _ = writeln!(stderr(), "note: {used} of {} answers hold the value of the result", told.len());
    eprintln!("not these:\n{}", unused.join("\n"));
}
