//! One request of a client with tools, to a model that has none: what to send, what comes of it.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use serde_json::Value;
use toolgraft::agent::{Approval, Finished, StopReason};
use toolgraft::constrain::Constrain;
use toolgraft::dialect::{DialectSet, Profile};
use toolgraft::event::{Region, RejectedKind};
use toolgraft::message::{Delta, FinishReason};
use toolgraft::model::Request;
use toolgraft::outcome::restore_tokens;
use toolgraft::route::Invocation;
use toolgraft::tools::DefaultDecision;
use toolgraft::turn::{Action, Granted, Input, PromptWording, Setup, TurnConfig};
use toolgraft::{AgentEvent, Policy};

use crate::error::{PromptError, SettingError, StateError, ToolError};
use crate::tools::Catalog;
use crate::{agent, history, model, settings, value};

/// A model without tools, asked as if it had some: requests to send in, and text and calls out.
///
/// `messages` are those of a request to Chat Completions. `request` is what to send to the model,
/// texts alone; `push`, `push_reasoning` and `finish` take what it answers. A mistake of the model's is
/// corrected by a further `request`. In the end there are `calls` or a `content`.
///
/// Settings are those of `render_prompt`, but `system`; `output`, a JSON Schema that the answer has to
/// match; and `max_corrections`, requests in a row that may only correct.
#[pyclass(module = "toolgraft")]
pub(crate) struct Turn {
    turn: toolgraft::turn::Turn,
    request: Option<Request>,
    /// An answer is awaited.
    streams: bool,
    has_output: bool,
    corrects: bool,
    /// The round's text is not told before it is known to be the answer.
    holds: bool,
    /// Nor is its reasoning: the round only corrects.
    hides: bool,
    /// What was told, in all rounds, and white space that text may follow.
    told: String,
    blank: String,
    thought: String,
    out: Vec<(&'static str, String)>,
    calls: Vec<Invocation>,
    finished: Option<Box<Finished>>,
}

impl Turn {
    fn handle(&mut self, input: Input) -> PyResult<()> {
        self.turn.handle(input).map_err(|error| StateError::new_err(error.to_string()))?;
        self.act()
    }

    /// Does what the turn wants.
    fn act(&mut self) -> PyResult<()> {
        while let Some(action) = self.turn.action() {
            match action {
                Action::Emit(event) => self.event(event),
                Action::Send(request) => (self.request, self.streams) = (Some(request), true),
                Action::CancelStream => self.streams = false,
                Action::Probe(_) => self.handle(Input::Probed(Some(false)))?,
                Action::AskContext(_) => self.handle(Input::ContextWindow(None))?,
                // Whether a call runs is for the client to decide.
                Action::Ask(asked) => self.handle(Input::Approval { id: asked.id, approval: Approval::Approved })?,
                Action::Call(call) => {
                    self.streams = false;
                    self.calls.push(call);
                }
                Action::Finish(finished) => self.finished(finished),
                _ => {}
            }
        }
        Ok(())
    }

    fn event(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::RoundStarted { .. } => {
                self.hides = std::mem::take(&mut self.corrects);
                self.holds = self.has_output || self.hides;
                self.blank.clear();
            }
            AgentEvent::Text { text } => self.text(&text),
            AgentEvent::CallRejected { rejected, .. } if rejected.in_text => self.text(&restore_tokens(&rejected.raw)),
            AgentEvent::Reasoning { text } => self.think(text),
            AgentEvent::CallRejected { rejected, .. } if rejected.kind == RejectedKind::InReasoning => {
                self.think(restore_tokens(&rejected.raw).into_owned());
            }
            AgentEvent::Reclassified { to: Region::Reasoning } => {
                self.thought.push_str(&std::mem::take(&mut self.told));
                self.blank.clear();
            }
            AgentEvent::Reclassified { .. } => {
                let text = std::mem::take(&mut self.thought);
                self.text(&text);
            }
            AgentEvent::Correcting { .. } => self.corrects = true,
            AgentEvent::RoundFinished { .. } => self.streams = false,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.holds {
            return;
        }
        let all = std::mem::take(&mut self.blank) + text;
        let end = all.trim_end().len();
        self.blank = all[end..].to_owned();
        let start = if self.told.is_empty() { end - all[..end].trim_start().len() } else { 0 };
        if start < end {
            self.tell(&all[start..end]);
        }
    }

    fn think(&mut self, text: String) {
        if !self.hides {
            self.thought.push_str(&text);
            self.out.push(("reasoning", text));
        }
    }

    fn tell(&mut self, text: &str) {
        self.told.push_str(text);
        self.out.push(("text", text.to_owned()));
    }

    fn finished(&mut self, finished: Box<Finished>) {
        self.streams = false;
        let answer = match &finished.output {
            Some(value) => value.to_string(),
            None => finished.answer.clone(),
        };
        // What is told already is the answer's beginning, or stood before a mistake.
        match answer.strip_prefix(self.told.as_str()) {
            Some(rest) => self.tell(rest),
            None if self.told.trim_end().ends_with(answer.trim()) => {}
            None => self.tell(&format!("\n\n{answer}")),
        }
        self.out.retain(|(_, text)| !text.is_empty());
        self.finished = Some(finished);
    }

    fn take(&mut self, delta: Delta) -> PyResult<Vec<(&'static str, String)>> {
        if self.request.is_some() || !self.streams {
            return Err(StateError::new_err(
                "no answer is awaited: `request` is to be sent first, or the turn is over",
            ));
        }
        self.handle(Input::Delta(delta))?;
        Ok(std::mem::take(&mut self.out))
    }
}

#[pymethods]
impl Turn {
    #[new]
    #[pyo3(signature = (tools, messages, *, output = None, max_corrections = None, **settings))]
    fn new(
        tools: &Bound<'_, PyAny>,
        messages: &Bound<'_, PyAny>,
        output: Option<&Bound<'_, PyAny>>,
        max_corrections: Option<u32>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = tools.py();
        let mut options = settings::options(settings)?;
        if options.system.is_some() {
            return Err(SettingError::new_err("the system text is the first of `messages`, and no setting"));
        }
        let model = settings.map(|settings| settings.get_item("model")).transpose()?.flatten();
        let model = model.filter(|model| !model.is_none()).map(|model| model.extract::<String>()).transpose()?;
        let profile = model.as_deref().map(Profile::for_model);
        let catalog = Catalog::given(py, Some(tools))?;
        let (known, validator) = (Arc::clone(&catalog.get().known), Arc::clone(&catalog.get().validator));
        let messages = messages.try_iter()?.map(|message| value::from_python(&message?).map_err(ToolError::new_err));
        let (system, conversation) =
            history::read(messages.collect::<PyResult<_>>()?, options.dialect, &known).map_err(ToolError::new_err)?;
        options.system = system;
        let output = agent::output(output)?;
        let mut config = profile.map_or_else(TurnConfig::default, TurnConfig::for_profile);
        config.tool_choice = options.tool_choice.clone();
        config.max_calls = options.max_calls;
        config.max_corrections = max_corrections.unwrap_or(config.max_corrections);
        (config.constrain, config.policy) = (Constrain::Off, Policy::new(DefaultDecision::Allow));
        (config.unattended, config.hands_out) = (true, true);
        // Without tools a call in the text is none.
        if known.is_empty() {
            config.dialects = DialectSet::NONE;
        }
        let wording = PromptWording::new(Arc::clone(&known), &options, &config)
            .map_err(|error| PromptError::new_err(error.to_string()))?;
        let has_output = output.is_some();
        let turn = py.detach(|| {
            let setup = Arc::new(Setup::new(config, validator, Arc::new(wording)));
            toolgraft::turn::Turn::with_output(setup, conversation, Granted::default(), output)
        });
        let mut turn = Turn {
            turn: turn.map_err(|error| StateError::new_err(error.to_string()))?,
            request: None,
            streams: false,
            has_output,
            corrects: false,
            holds: false,
            hides: false,
            told: String::new(),
            blank: String::new(),
            thought: String::new(),
            out: Vec::new(),
            calls: Vec::new(),
            finished: None,
        };
        turn.act()?;
        Ok(turn)
    }

    /// Takes the messages that are to be sent now, in the form of Chat Completions; `None` where
    /// nothing is: the turn is over, or an answer is awaited.
    fn request<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let Some(request) = self.request.take() else { return Ok(None) };
        model::messages(py, &request).map(Some)
    }

    /// Takes the next piece of the answer's text, and gives what the client is told now: pairs of
    /// `text` or `reasoning` and the text.
    #[pyo3(signature = (chunk, /))]
    fn push(&mut self, chunk: &Bound<'_, PyString>) -> PyResult<Vec<(&'static str, String)>> {
        self.take(Delta::content(chunk.to_cow()?))
    }

    /// Takes the next piece of a separate reasoning field.
    #[pyo3(signature = (chunk, /))]
    fn push_reasoning(&mut self, chunk: &Bound<'_, PyString>) -> PyResult<Vec<(&'static str, String)>> {
        self.take(Delta::reasoning(chunk.to_cow()?))
    }

    /// Ends the answer, by the endpoint's word for why it ended.
    #[pyo3(signature = (reason = "stop"))]
    fn finish(&mut self, py: Python<'_>, reason: &str) -> PyResult<Vec<(&'static str, String)>> {
        if self.request.is_some() || !self.streams {
            return Err(StateError::new_err(
                "no answer is awaited: `request` is to be sent first, or the turn is over",
            ));
        }
        let input = Input::ModelFinished(FinishReason::from(reason));
        py.detach(|| self.handle(input))?;
        Ok(std::mem::take(&mut self.out))
    }

    /// Whether more of the model's answer is wanted; once it is not, the stream can be closed.
    #[getter]
    fn is_streaming(&self) -> bool {
        self.streams && self.request.is_none()
    }

    /// Calls for the client to run: identifier within the conversation, tool, arguments.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, String, Bound<'py, PyAny>)>> {
        let call = |call: &Invocation| {
            let arguments = value::to_python(py, &Value::Object(call.arguments.clone()))?;
            Ok((call.id.clone(), call.tool.clone(), arguments))
        };
        self.calls.iter().map(call).collect()
    }

    /// What the answer says so far.
    #[getter]
    fn content(&self) -> &str {
        &self.told
    }

    /// What the model thought so far.
    #[getter]
    fn reasoning(&self) -> &str {
        &self.thought
    }

    /// Why the answer ended, in the words of Chat Completions; `None` before that.
    #[getter]
    fn finish_reason(&self) -> Option<&'static str> {
        if !self.calls.is_empty() {
            return Some("tool_calls");
        }
        self.finished.as_ref().map(|finished| match finished.reason {
            StopReason::OutputLimit | StopReason::ContextFull { .. } => "length",
            StopReason::Filtered => "content_filter",
            _ => "stop",
        })
    }

    /// What is wrong with the answer, in words for people, where it is not what was asked for.
    #[getter]
    fn problem(&self) -> Option<String> {
        let finished = self.finished.as_ref().filter(|finished| !finished.reason.is_answer());
        finished.map(|finished| finished.reason.to_string())
    }

    fn __repr__(&self) -> String {
        let state = if self.calls.is_empty() && self.finished.is_none() { "open" } else { "over" };
        format!("<toolgraft.Turn, {state}>")
    }
}
