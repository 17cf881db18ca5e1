//! Tries native calls of a model: one call, and an answer that uses its result.

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Map, Value, json};

use super::faults::ServerFault;
use crate::message::{DeltaKind, FinishReason, Message, NativeCall};
use crate::model::{Model, ModelError, ModelEvent, NativeFault, Request};
use crate::tools::{Catalog, Tool};
use crate::wire::ToolDefinition;

/// The question of a trial.
pub const TRIAL_QUESTION: &str = "How is the weather in Oslo? Call the tool get_weather for it.";

/// The argument of the expected call, its result, and the parts of the result that the answer must contain.
const CITY: &str = "Oslo";
const RESULT: &str = "13 degrees, rain";
const SAID: [&str; 2] = ["13", "rain"];

/// Time limit for both answers: a model may have to be loaded first.
const LIMIT: Duration = Duration::from_secs(120);

/// Limit on the tokens of each answer, reasoning included.
const TOKENS: u32 = 1_024;

/// A store of trial results: the models whose native calls work, by the version of their server, so that each is tried
/// once. Both functions are called while an answer is waited for, so they must be fast.
pub trait NativeTrials: Send + Sync {
    /// Returns an earlier result: `Some(None)` if the calls work.
    fn known(&self, model: &str, version: &str) -> Option<Option<NativeFault>>;

    /// Stores a result; `None` if the calls work.
    fn keep(&self, model: &str, version: &str, fault: Option<NativeFault>);
}

/// An answer to a request that carried a tool.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct NativeAnswer {
    /// The text, without reasoning.
    pub text: String,
    /// The calls in the API's field for calls.
    pub calls: Vec<NativeCall>,
    /// The reason why the answer ended.
    pub end: FinishReason,
}

impl NativeAnswer {
    /// Requests a call of [`trial_tool`].
    ///
    /// # Errors
    /// Those of the model, and an answer that was cut off.
    pub async fn with_call(model: &(impl Model + ?Sized), name: &str, tokens: u32) -> Result<Self, ModelError> {
        ask(model, name, tokens, question()).await
    }

    /// Requests an answer after a call of [`trial_tool`] and its result.
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

    /// Returns `true` if the answer is exactly the requested call.
    pub fn is_the_call(&self) -> bool {
        let is_city = |call: &NativeCall| {
            let arguments: Result<Value, _> = serde_json::from_str(&call.arguments);
            arguments.is_ok_and(|all| all.get("city").and_then(Value::as_str).is_some_and(|city| city.contains(CITY)))
        };
        matches!(&*self.calls, [call] if call.name == "get_weather" && is_city(call))
    }

    /// Returns `true` if the answer uses the result.
    pub fn is_the_answer(&self) -> bool {
        let text = self.text.to_lowercase();
        self.calls.is_empty() && SAID.iter().any(|said| text.contains(said))
    }
}

/// Returns the tool that a trial offers.
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

/// Tries a call and its result, and returns the fault, `Some(None)` if both came. `None` if it is unclear: an answer was
/// cut off or came too late, or the endpoint failed for another reason.
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

/// Converts an error. One with another cause says nothing about tools.
fn failed(error: &ModelError) -> Option<Option<NativeFault>> {
    let is_at_tools = error.refuses_tools() || ServerFault::told_by(&error.to_string()).is_some();
    is_at_tools.then_some(Some(NativeFault::Failed))
}
