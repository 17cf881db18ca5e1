//! In-process async functions as a toolbox.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::{Invocation, Toolbox};
use crate::catalog::{Catalog, Server};
use crate::outcome::{Outcome, Status};
use crate::tool::Tool;

/// Tools that are functions of this program.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use serde_json::{Map, Value, json};
/// use toolgraft::route::{Functions, Invocation, Toolbox};
/// use toolgraft::tool::Tool;
///
/// let tools = Functions::new("math").with(
///     Tool::new("add").with_schema(json!({
///         "type": "object",
///         "properties": { "a": { "type": "number" }, "b": { "type": "number" } },
///         "required": ["a", "b"],
///     })),
///     |args: Map<String, Value>| async move {
///         let number = |name: &str| args[name].as_f64().ok_or(format!("{name} must be a number"));
///         Ok::<_, String>(json!(number("a")? + number("b")?))
///     },
/// );
/// let outcome = tools.call(Invocation::new("add").with_arguments(json!({ "a": 2, "b": 3 }))).await;
/// assert_eq!(outcome.text, "5.0");
/// # }
/// ```
#[derive(Default)]
pub struct Functions {
    server: Server,
    catalog: Arc<Catalog>,
    functions: HashMap<String, Function>,
}

type Function = Box<dyn Fn(Map<String, Value>) -> BoxFuture<'static, Outcome> + Send + Sync>;

/// What a function may return: a JSON value, or an [`Outcome`] as it is.
pub trait IntoOutcome {
    /// The outcome: of a JSON string its text, of any other value its JSON text
    /// and the value as the structured result.
    fn into_outcome(self) -> Outcome;
}

impl<T: Into<Value>> IntoOutcome for T {
    fn into_outcome(self) -> Outcome {
        match self.into() {
            Value::String(text) => Outcome::result(text),
            value => Outcome { structured: Some(value.clone()), ..Outcome::result(value.to_string()) },
        }
    }
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

impl Functions {
    /// No functions yet, under a server name that a model may give.
    pub fn new(server: impl Into<String>) -> Self {
        Functions { server: Server { name: Some(server.into()), ..Server::default() }, ..Functions::default() }
    }

    /// No functions yet, and no server name.
    pub fn unnamed() -> Self {
        Functions::default()
    }

    /// Sets what a model is told about these tools as a whole.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.server.instructions = Some(instructions.into());
        self.rebuild();
        self
    }

    /// Adds a tool and the function behind it; a tool of the same name is replaced.
    ///
    /// The function gets arguments that the tool's schema has accepted. What it
    /// returns becomes the outcome: a JSON string as it is, any other value as
    /// JSON text and as the structured result, an [`Outcome`] (which may carry
    /// events for the interface) as it is. An error becomes
    /// [`Status::ToolError`](crate::outcome::Status::ToolError), and so does a panic.
    #[must_use]
    pub fn with<F, Fut, T, E>(mut self, tool: Tool, function: F) -> Self
    where
        F: Fn(Map<String, Value>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: IntoOutcome,
        E: std::fmt::Display,
    {
        let run = move |args| {
            let answer = function(args);
            async move { answer.await.map_or_else(|e| Outcome::error(e.to_string()), T::into_outcome) }.boxed()
        };
        self.functions.insert(tool.name.clone(), Box::new(run));
        self.offer(tool);
        self
    }

    /// Adds a display-only tool: nothing runs, and the arguments that its schema
    /// accepts reach the caller beside the model's text. A tool of the same name
    /// is replaced.
    #[must_use]
    pub fn display(mut self, tool: Tool) -> Self {
        self.functions.remove(&tool.name);
        self.offer(tool.display_only());
        self
    }

    fn offer(&mut self, tool: Tool) {
        self.server.tools.retain(|t| t.name != tool.name);
        self.server.tools.push(tool);
        self.rebuild();
    }

    fn rebuild(&mut self) {
        self.catalog = Arc::new(Catalog::new([self.server.clone()]));
    }

    async fn run(&self, invocation: Invocation) -> Outcome {
        let found = match self.catalog.find(invocation.server.as_deref(), &invocation.tool) {
            Ok(found) => found.tool,
            Err(not_found) => return Outcome::error(not_found.to_string()),
        };
        // A turn does not call a display-only tool; whoever does has nothing to run.
        let Some(function) = self.functions.get(&found.name) else {
            return Outcome::new(Status::Displayed, format!("{} only shows its arguments", found.name));
        };
        // The closure itself may panic before its first await, so it is called inside.
        let answer = AssertUnwindSafe(async { function(invocation.arguments).await }).catch_unwind().await;
        answer.unwrap_or_else(|panic| {
            Outcome::error(format!("the tool {:?} failed inside: {}", found.name, panic_text(&*panic)))
        })
    }
}

impl Toolbox for Functions {
    fn catalog(&self) -> Arc<Catalog> {
        self.catalog.clone()
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Outcome> {
        async move {
            let started = Instant::now();
            let outcome = self.run(invocation).await;
            Outcome { took: Some(started.elapsed()), ..outcome }
        }
        .boxed()
    }
}

impl std::fmt::Debug for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Functions").field("server", &self.server).finish_non_exhaustive()
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("it panicked")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Functions {
        Functions::new("local")
            .with(Tool::new("greet"), |args| async move {
                let name = args.get("name").and_then(Value::as_str).ok_or("no name")?;
                Ok::<_, &str>(format!("hello {name}"))
            })
            .with(Tool::new("count"), |args| async move { Ok::<_, String>(json!({ "keys": args.len() })) })
            .with(Tool::new("crash"), |args| async move {
                assert!(args.contains_key("never"), "boom");
                Ok::<_, String>("unreachable")
            })
    }

    #[tokio::test]
    async fn a_text_answer_is_the_outcomes_text() {
        let outcome = tools().call(Invocation::new("greet").with_arguments(json!({ "name": "Ada" }))).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::Result, "hello Ada"));
        assert!(outcome.structured.is_none());
        assert!(outcome.took.is_some());
    }

    #[tokio::test]
    async fn a_value_is_kept_as_the_structured_result() {
        let outcome = tools().call(Invocation::new("count").with_server("local")).await;
        assert_eq!(outcome.text, r#"{"keys":0}"#);
        assert_eq!(outcome.structured, Some(json!({ "keys": 0 })));
    }

    #[tokio::test]
    async fn an_outcome_is_taken_as_it_is() {
        let tools = tools().with(Tool::new("draw"), |_| async {
            Ok::<_, String>(Outcome::result("drawn").with_event("chart", json!({ "points": [1, 2] })))
        });
        let outcome = tools.call(Invocation::new("draw")).await;
        assert_eq!((outcome.text.as_str(), outcome.structured.as_ref()), ("drawn", None));
        assert_eq!(outcome.events[0].data, json!({ "points": [1, 2] }));
    }

    #[tokio::test]
    async fn a_display_tool_has_nothing_to_run() {
        let tools = tools().display(Tool::new("greet"));
        assert!(tools.catalog().find(None, "greet").unwrap().tool.display_only);
        assert_eq!(tools.call(Invocation::new("greet")).await.status, Status::Displayed);
    }

    #[tokio::test]
    async fn errors_and_panics_are_tool_errors() {
        let outcome = tools().call(Invocation::new("greet")).await;
        assert_eq!((outcome.status, outcome.text.as_str()), (Status::ToolError, "no name"));
        let outcome = tools().call(Invocation::new("crash")).await;
        assert_eq!(outcome.status, Status::ToolError);
        assert_eq!(outcome.text, "the tool \"crash\" failed inside: boom");
    }

    #[tokio::test]
    async fn an_unknown_tool_is_answered_with_the_nearest_name() {
        let outcome = tools().call(Invocation::new("gret")).await;
        assert_eq!(outcome.status, Status::ToolError);
        assert!(outcome.text.contains("nearest: greet"), "{}", outcome.text);
    }

    #[test]
    fn a_tool_of_the_same_name_is_replaced() {
        let tools =
            tools().with(Tool::new("greet").with_description("new"), |_| async { Ok::<_, String>(Value::Null) });
        let catalog = tools.catalog();
        let greets: Vec<_> = catalog.tools().filter(|t| t.name == "greet").collect();
        assert_eq!(greets.len(), 1);
        assert_eq!(greets[0].description.as_deref(), Some("new"));
        assert_eq!(greets[0].server.as_deref(), Some("local"));
    }
}
