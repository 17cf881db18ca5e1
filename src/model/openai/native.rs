//! Tries native calls of a model: one call, and an answer that uses its result.

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Map, Value, json};

use super::faults::ServerFault;
use crate::message::{DeltaKind, FinishReason, Message, NativeCall};
use crate::model::{Model, ModelError, ModelEvent, NativeFault, Request};
use crate::tools::{Catalog, Tool};
use crate::wire::ToolDefinition;

/// The user's question in a trial of native calls.
pub const TRIAL_QUESTION: &str = "How is the weather in Oslo? Call the tool get_weather for it.";

/// The argument of the expected call. `RESULT` is its result, `SAID` the parts of the result one of which the answer
/// must contain.
const CITY: &str = "Oslo";
const RESULT: &str = "13 degrees, rain";
const SAID: [&str; 2] = ["13", "rain"];

/// Time limit of a trial, for both answers: a model may have to be loaded first.
const LIMIT: Duration = Duration::from_secs(120);

/// Maximum number of tokens of each answer, reasoning included.
const TOKENS: u32 = 1_024;

/// A store of trial results by model and version of its server, so that each pair is tried once. Both functions are
/// called while an answer is waited for, so they must be fast.
pub trait NativeTrials: Send + Sync {
    /// Returns a stored result: `Some(None)` if native calls work, `Some(fault)` if not, `None` if none is stored.
    fn known(&self, model: &str, version: &str) -> Option<Option<NativeFault>>;

    /// Stores a trial result: `None` if native calls work, else the fault.
    fn keep(&self, model: &str, version: &str, fault: Option<NativeFault>);
}

/// A model's answer to a request of a trial, which carried a tool.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct NativeAnswer {
    /// The text of the answer, without reasoning.
    pub text: String,
    /// The native calls of the answer.
    pub calls: Vec<NativeCall>,
    /// The reason why the answer ended.
    pub end: FinishReason,
}

impl NativeAnswer {
    /// Sends a request whose answer should be a call of [`trial_tool`].
    ///
    /// # Errors
    /// Those of the model, and an answer that was cut off.
    pub async fn with_call(model: &(impl Model + ?Sized), name: &str, tokens: u32) -> Result<Self, ModelError> {
        ask(model, name, tokens, question()).await
    }

    /// Sends a request that contains a call of [`trial_tool`] and its result, and returns the answer.
    ///
    /// # Errors
    /// Those of the model, and an answer that was cut off.
    pub async fn with_result(model: &(impl Model + ?Sized), name: &str, tokens: u32) -> Result<Self, ModelError> {
        let mut arguments = Map::new();
        arguments.insert("city".to_owned(), CITY.into());
        let call = NativeCall::new("call_1", "get_weather", &arguments);
        let mut messages = question();
        messages.extend([Message::assistant("").with_calls(vec![call]), Message::tool("call_1", RESULT)]);
        ask(model, name, tokens, messages).await
    }

    /// Returns `true` if the answer is exactly the expected call.
    pub fn is_the_call(&self) -> bool {
        let is_city = |call: &NativeCall| {
            let arguments: Result<Value, _> = serde_json::from_str(&call.arguments);
            arguments.is_ok_and(|all| all.get("city").and_then(Value::as_str).is_some_and(|city| city.contains(CITY)))
        };
        matches!(&*self.calls, [call] if call.name == "get_weather" && is_city(call))
    }

    /// Returns `true` if the answer uses the result of the call.
    pub fn is_the_answer(&self) -> bool {
        let text = self.text.to_lowercase();
        self.calls.is_empty() && SAID.iter().any(|said| text.contains(said))
    }
}

/// Returns the tool that a trial of native calls offers.
pub fn trial_tool() -> Tool {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    Tool::new("get_weather").with_description("Tells the weather of a city.").with_schema(schema)
}

fn question() -> Vec<Message> {
    vec![Message::system("You help with the weather."), Message::user(TRIAL_QUESTION)]
}

async fn ask(
    model: &(impl Model + ?Sized),
    name: &str,
    tokens: u32,
    messages: Vec<Message>,
) -> Result<NativeAnswer, ModelError> {
    let mut request = Request::new(messages);
    request.model = Some(name.to_owned()).filter(|name| !name.is_empty());
    request.tools = ToolDefinition::all(&Catalog::from_tools([trial_tool()]));
    request.max_tokens = Some(tokens);
    // A request that failed because of its tools would fail again.
    request.by_prompt = true;
    let (mut answer, mut is_over) = (NativeAnswer::default(), false);
    let mut events = model.stream(request);
    while let Some(event) = events.next().await {
        match event? {
            ModelEvent::Delta(delta) if delta.kind == DeltaKind::Content => answer.text.push_str(&delta.text),
            ModelEvent::Call(call) => answer.calls.push(call),
            ModelEvent::Finish(reason) => (answer.end, is_over) = (reason, true),
            _ => {}
        }
    }
    // An incomplete answer says nothing about tools.
    if is_over { Ok(answer) } else { Err(ModelError::cut_off("the answer was cut off")) }
}

/// Tries a call and an answer to its result. Returns the fault, `Some(None)` if both worked, `None` if that is unclear:
/// an answer was cut off or came too late, or the endpoint failed for another reason.
pub(super) async fn tried(model: &(impl Model + ?Sized), name: &str) -> Option<Option<NativeFault>> {
    tokio::time::timeout(LIMIT, both(model, name)).await.unwrap_or(None)
}

async fn both(model: &(impl Model + ?Sized), name: &str) -> Option<Option<NativeFault>> {
    match NativeAnswer::with_call(model, name, TOKENS).await {
        Err(error) => return failed(&error),
        Ok(answer) if answer.is_the_call() => {}
        // Reasoning may have used up the tokens, which says nothing of calls.
        Ok(answer) if !answer.end.is_normal() => return None,
        Ok(_) => return Some(Some(NativeFault::Missing)),
    }
    match NativeAnswer::with_result(model, name, TOKENS).await {
        Err(error) => failed(&error),
        Ok(answer) if answer.is_the_answer() => Some(None),
        Ok(answer) if !answer.end.is_normal() => None,
        Ok(_) => Some(Some(NativeFault::Unanswered)),
    }
}

/// Returns [`NativeFault::Failed`] if the error is about tools, `None` if it has another cause.
fn failed(error: &ModelError) -> Option<Option<NativeFault>> {
    let is_at_tools = error.refuses_tools() || ServerFault::told_by(&error.to_string()).is_some();
    is_at_tools.then_some(Some(NativeFault::Failed))
}
