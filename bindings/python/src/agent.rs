//! The agent's loop over a model that is an endpoint or Python code, with Python functions and MCP
//! servers as tools.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use toolgraft::agent::{Approval, ApprovalRequest, Approver, Finished, RunOptions};
use toolgraft::conversation::User;
use toolgraft::dialect::{Lang, Profile};
use toolgraft::route::{IntoOutcome, Toolboxes};
use toolgraft::tools::exact_pattern;
use toolgraft::turn::TurnConfig;
use toolgraft::validate::OutputSchema;
use toolgraft::{AgentEvent, Catalog, Dialect, Functions, Model, OpenAi, Outcome};

use crate::bridge::{self, Work};
use crate::error::{PromptError, SettingError, StateError, ToolError, raised};
use crate::hub::{Servers, seconds};
use crate::model::PythonModel;
use crate::tools::Tool;
use crate::{records, settings, value};

/// The native part of an `Agent`: a model with tools, which runs turns.
#[pyclass(frozen, module = "toolgraft")]
pub(crate) struct Loop {
    agent: toolgraft::Agent,
    /// Dialect in which calls in the messages that the program passes are written for the model.
    dialect: Dialect,
    /// Language of the program's notes to the model.
    lang: Lang,
}

/// Reads the schema that an answer has to match.
pub(crate) fn output(schema: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Arc<OutputSchema>>> {
    let Some(schema) = schema.filter(|schema| !schema.is_none()) else { return Ok(None) };
    let schema: Value = value::from_python(schema).map_err(ToolError::new_err)?;
    let schema = OutputSchema::new(schema).map_err(|error| ToolError::new_err(error.to_string()))?;
    Ok(Some(Arc::new(schema)))
}

/// Reads the settings of turns, which are all settings except those of the prompt. Also returns the time limit of a
/// call; `None` for no limit.
fn config(
    mut config: TurnConfig,
    keywords: &Bound<'_, PyDict>,
    functions: &[String],
) -> PyResult<(TurnConfig, Option<Duration>)> {
    let mut policy = Map::new();
    // The program passed these functions itself to be called, so they need no approval.
    let mut allowed: Vec<Value> = functions.iter().map(|name| exact_pattern(None, name).into()).collect();
    let mut call_timeout = Some(toolgraft::agent::CALL_TIMEOUT);
    for (name, value) in keywords {
        let name = name.extract::<String>()?;
        match name.as_str() {
            "allow" => allowed.extend(value.extract::<Vec<String>>()?.into_iter().map(Value::from)),
            "ask" | "deny" => drop(policy.insert(name, value.extract::<Vec<String>>()?.into())),
            "otherwise" => drop(policy.insert(name, value.extract::<String>()?.into())),
            "untrusted" => config.untrusted = value.extract()?,
            "temperature" => config.temperature = value.extract()?,
            "max_tokens" => config.max_tokens = value.extract()?,
            "context" => config.context = value.extract()?,
            "max_rounds" => config.max_rounds = value.extract()?,
            "max_corrections" => config.max_corrections = value.extract()?,
            "tools_mode" => {
                config.tools_mode = toolgraft_bindings::word(&value.extract::<String>()?).map_err(raised)?
            }
            "call_timeout" if value.is_none() => call_timeout = None,
            "call_timeout" => call_timeout = Some(seconds(&value)?),
            _ => return Err(PyTypeError::new_err(format!("unknown setting: {name}"))),
        }
    }
    policy.insert("allow".to_owned(), allowed.into());
    let wrong = |error: serde_json::Error| SettingError::new_err(format!("the policy: {error}"));
    config.policy = serde_json::from_value(policy.into()).map_err(wrong)?;
    Ok((config, call_timeout))
}

/// Returns a toolbox of Python functions. Each of these tools that runs something has a coroutine
/// function of the name `tool/` and the tool's name, which takes its arguments.
fn functions(tools: Vec<Tool>, parallel: bool) -> Functions {
    let functions = if parallel { Functions::unnamed().parallel() } else { Functions::unnamed() };
    tools.into_iter().fold(functions, |functions, Tool(tool)| {
        if tool.display_only {
            return functions.display(tool);
        }
        let function: Arc<str> = format!("tool/{}", tool.name).into();
        functions.with(tool, move |arguments: Map<String, Value>| {
            let function = Arc::clone(&function);
            async move { Ok::<_, Infallible>(outcome(&function, arguments).await) }
        })
    })
}

async fn outcome(function: &str, arguments: Map<String, Value>) -> Outcome {
    let arguments = Python::attach(|py| Ok::<_, PyErr>((value::to_python(py, &arguments.into())?.unbind(),)));
    let said = match arguments {
        Ok(arguments) => bridge::call(function, arguments).await,
        Err(error) => Err(error),
    };
    match said.map(|said| Python::attach(|py| value::from_python(said.bind(py)))) {
        Ok(Ok(said)) => said.into_outcome(),
        Ok(Err(wrong)) => Outcome::error(format!("the result cannot be written as JSON: {wrong}")),
        Err(error) => Outcome::error(error.to_string()),
    }
}

/// Approver that calls Python's coroutine function `approve` with the request; it returns a flag that is true if the
/// call may run, and the reason for the model if not.
struct Asked;

impl Approver for Asked {
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Approval> {
        Box::pin(async move {
            let question = Python::attach(|py| fields(py, &request).map(|question| (question.unbind(),)));
            let answer = match question {
                Ok(question) => bridge::call("approve", question).await,
                Err(error) => Err(error),
            };
            let answer = answer.and_then(|answer| Python::attach(|py| answer.extract::<(bool, Option<String>)>(py)));
            match answer {
                Ok((true, _)) => Approval::Approved,
                Ok((false, reason)) => Approval::Denied { reason },
                Err(error) => Approval::Denied { reason: Some(error.to_string()) },
            }
        })
    }
}

/// Returns the JSON form of a value as a Python object.
fn fields<'py>(py: Python<'py>, of: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(of).map_err(|error| StateError::new_err(error.to_string()))?;
    value::to_python(py, &value)
}

#[pymethods]
impl Loop {
    /// Creates an agent. `model` is `(url, name, key, headers, parameters)` of an endpoint, or `None` if the coroutine
    /// function `model` answers instead. `name` is the model's name, which selects its profile. `tools` are the tools
    /// that Python functions run, `hubs` connected MCP servers. `asks` is true if there is a function `approve`,
    /// `parallel` if the functions may run at the same time. `output` is a JSON Schema that every answer must match.
    /// `prompt` and `settings` are the settings of the prompt and of turns.
    #[new]
    #[pyo3(signature = (model, name, tools, hubs, asks, output, parallel, prompt, settings))]
    #[allow(clippy::too_many_arguments, reason = "of Python's half alone")]
    fn new(
        model: Option<Endpoint>,
        name: Option<&str>,
        tools: Vec<Tool>,
        hubs: Vec<Py<Servers>>,
        asks: bool,
        output: Option<&Bound<'_, PyAny>>,
        parallel: bool,
        prompt: &Bound<'_, PyDict>,
        settings: &Bound<'_, PyDict>,
    ) -> PyResult<Self> {
        let profile = Profile::for_model(name.unwrap_or_default());
        let options = toolgraft_bindings::options(&settings::map(Some(prompt))?).map_err(raised)?;
        let own: Vec<String> = tools.iter().map(|tool| tool.name().to_owned()).collect();
        let mut config = self::config(TurnConfig::for_profile(profile), settings, &own)?;
        (config.0.tool_choice, config.0.max_calls) = (options.tool_choice.clone(), options.max_calls);
        let functions = Toolboxes::new().with(functions(tools, parallel));
        let tools = hubs.iter().fold(functions, |tools, hub| tools.with(hub.get().toolbox()));
        let model: Arc<dyn Model> = match model {
            Some(endpoint) => Arc::new(endpoint.model(prompt.py())?),
            None => Arc::new(PythonModel),
        };
        let (dialect, lang) = (options.dialect, options.lang);
        let mut builder =
            toolgraft::Agent::builder(model, tools).config(config.0).prompt(options).call_timeout(config.1);
        if asks {
            builder = builder.approver(Asked);
        }
        if let Some(output) = self::output(output)? {
            builder = builder.output(output);
        }
        Ok(Loop { agent: builder.build(), dialect, lang })
    }

    /// Begins a turn. `on` starts coroutines on the event loop. `said` is the user's text, a list of messages in the
    /// form of Chat Completions, or `None` if the last entry of `conversation` already awaits the model. `output` is a
    /// JSON Schema that the answer must match.
    fn run(
        &self,
        py: Python<'_>,
        on: Py<PyAny>,
        said: Option<&Bound<'_, PyAny>>,
        conversation: Option<&Bound<'_, Conversation>>,
        output: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Run> {
        let mut known = conversation.map(|known| known.get().0.clone()).unwrap_or_default();
        let state = |error: toolgraft::conversation::ConversationError| StateError::new_err(error.to_string());
        match said {
            None => {}
            Some(said) => match said.cast::<PyString>() {
                Ok(text) => known.push_user(User::new(text.to_cow()?)).map_err(state)?,
                Err(_) if conversation.is_some() => {
                    return Err(PyTypeError::new_err(
                        "with a conversation the input must be a text: the conversation holds the earlier messages",
                    ));
                }
                Err(_) => known = self.read(said)?,
            },
        }
        let mut options = RunOptions::default();
        options.output = self::output(output)?;
        let agent = self.agent.clone();
        let run = py.detach(move || agent.run_with(known, options));
        let run = run.map_err(|error| match error {
            toolgraft::agent::AgentError::Prompt(error) => PromptError::new_err(error.to_string()),
            error => StateError::new_err(error.to_string()),
        })?;
        Ok(Run { cancel: run.cancellation(), run: Arc::new(Mutex::new(Some(run))), on: Arc::new(on) })
    }
}

impl Loop {
    /// Reads messages in the form of Chat Completions into a conversation.
    fn read(&self, messages: &Bound<'_, PyAny>) -> PyResult<toolgraft::Conversation> {
        let messages = messages.try_iter()?.map(|message| value::from_python(&message?).map_err(ToolError::new_err));
        // A call of an earlier turn is written unchanged, even if its tool no longer exists.
        let messages = messages.collect::<PyResult<_>>()?;
        let (system, known) =
            toolgraft_bindings::read(messages, self.dialect, self.lang, &Catalog::default()).map_err(raised)?;
        match system {
            None => Ok(known),
            Some(_) => Err(ToolError::new_err(
                "messages[0]: a system message is not accepted here: set the agent's \
                `system`",
            )),
        }
    }
}

/// Parameters of an endpoint from Python: URL, model, key, headers and further request fields.
#[derive(FromPyObject)]
struct Endpoint(String, String, Option<String>, Vec<(String, String)>, Py<PyDict>);

impl Endpoint {
    fn model(self, py: Python<'_>) -> PyResult<OpenAi> {
        let Endpoint(url, name, key, headers, parameters) = self;
        let mut builder = OpenAi::builder(url, name);
        if let Some(key) = key {
            builder = builder.api_key(key);
        }
        for (name, value) in headers {
            builder = builder.header(name, value);
        }
        for (name, value) in parameters.bind(py) {
            builder =
                builder.parameter(name.extract::<String>()?, value::from_python(&value).map_err(ToolError::new_err)?);
        }
        builder.build().map_err(|error| SettingError::new_err(error.to_string()))
    }
}

/// The conversation of a finished turn, which a further turn can continue.
#[pyclass(frozen, eq, module = "toolgraft", skip_from_py_object)]
#[derive(PartialEq)]
pub(crate) struct Conversation(toolgraft::Conversation);

#[pymethods]
impl Conversation {
    /// Creates a conversation from the dict that `to_dict` returned. Raises `ToolError` if it is not a conversation.
    #[staticmethod]
    fn from_dict(conversation: &Bound<'_, PyDict>) -> PyResult<Self> {
        let value = value::from_python(conversation.as_any()).map_err(ToolError::new_err)?;
        let wrong = |error: serde_json::Error| ToolError::new_err(format!("not a conversation: {error}"));
        serde_json::from_value(value).map(Conversation).map_err(wrong)
    }

    /// Returns the conversation in its JSON form, as a dict that can be stored.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        fields(py, &self.0)
    }

    fn __repr__(&self) -> String {
        format!("<toolgraft.Conversation of {} entries>", self.0.entries().len())
    }
}

/// A turn of an agent in progress, from which the caller reads events.
#[pyclass(frozen, module = "toolgraft")]
pub(crate) struct Run {
    run: Arc<Mutex<Option<toolgraft::agent::Run>>>,
    cancel: CancellationToken,
    on: Arc<Py<PyAny>>,
}

#[pymethods]
impl Run {
    /// Starts to wait for the turn's next event. `done` is called with an exception or `None`, and with the event as a
    /// dict in its JSON form, or `None` after the last event. Returns the work, which can be cancelled.
    fn next(&self, done: Py<PyAny>) -> PyResult<Work> {
        let run = Arc::clone(&self.run);
        let next = bridge::on(&self.on, async move {
            let mut run = run.lock().await;
            let event = match &mut *run {
                Some(run) => run.next().await,
                None => None,
            };
            // Frees what the turn holds; a further call returns `None` as well.
            if event.is_none() {
                *run = None;
            }
            Python::attach(|py| match event {
                None => Ok(py.None()),
                Some(event) => Ok(told(py, event)?.unbind()),
            })
        });
        bridge::begin(done, next)
    }

    /// Cancels the turn. Its last events, up to `finished`, still follow and report the cancellation.
    fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Ends the turn and all calls that run for it, without further events. `done` is called at the end. Returns the
    /// work, which can be cancelled.
    fn close(&self, done: Py<PyAny>) -> PyResult<Work> {
        let run = Arc::clone(&self.run);
        bridge::begin(done, async move {
            run.lock().await.take();
            Python::attach(|py| Ok(py.None()))
        })
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        bridge::discard(Arc::clone(&self.run));
    }
}

/// Converts an event of an agent to a Python dict in its JSON form, with records for calls and the parts of the last
/// event.
fn told<'py>(py: Python<'py>, event: AgentEvent) -> PyResult<Bound<'py, PyAny>> {
    match event {
        AgentEvent::CallEnded { index, id, call } => {
            let dict = fields(py, &json!({"type": "call_ended", "index": index, "id": id}))?;
            dict.set_item("call", Bound::new(py, records::call(py, *call)?)?)?;
            Ok(dict)
        }
        AgentEvent::CallRejected { index, rejected } => {
            let dict = fields(py, &json!({"type": "call_rejected", "index": index}))?;
            dict.set_item("rejected", Bound::new(py, records::rejected(py, *rejected)?)?)?;
            Ok(dict)
        }
        AgentEvent::Finished(finished) => self::finished(py, *finished),
        event => fields(py, &event),
    }
}

fn finished(py: Python<'_>, finished: Finished) -> PyResult<Bound<'_, PyAny>> {
    let Finished { reason, answer, output, repairs, rounds, calls, usage, conversation, .. } = finished;
    let dict = fields(
        py,
        &json!({
            "type": "finished", "reason": reason, "answer": answer, "output": output, "repairs": repairs,
            "rounds": rounds, "calls": calls, "usage": usage,
        }),
    )?;
    dict.set_item("problem", (!reason.is_answer()).then(|| reason.to_string()))?;
    dict.set_item("conversation", Bound::new(py, Conversation(conversation))?)?;
    Ok(dict)
}
