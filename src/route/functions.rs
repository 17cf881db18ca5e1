//! In-process async functions as a toolbox.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::{Invocation, Toolbox};
#[cfg(feature = "typed")]
use crate::event::decode_arguments;
use crate::outcome::{Outcome, Status};
use crate::tools::{Catalog, Server, Tool};

/// A toolbox whose tools are functions of this program.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use serde_json::{Map, Value, json};
/// use toolgraft::{Functions, Tool};
/// use toolgraft::route::{Invocation, Toolbox};
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
    functions: HashMap<String, BoxedFunction>,
}

type BoxedFunction = Box<dyn Fn(Map<String, Value>) -> BoxFuture<'static, Outcome> + Send + Sync>;

/// A value that a function may return: a JSON value, or an [`Outcome`], which is used as it is.
pub trait IntoOutcome {
    /// Converts the value into an outcome. A JSON string becomes its text; any other value becomes its JSON text and
    /// the structured result.
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
    /// Creates a toolbox without functions yet, with a server name that a model may use in calls.
    pub fn new(server: impl Into<String>) -> Self {
        Functions { server: Server { name: Some(server.into()), ..Server::default() }, ..Functions::default() }
    }

    /// Creates a toolbox without functions yet and without a server name.
    pub fn unnamed() -> Self {
        Functions::default()
    }

    /// Sets the instructions that a model reads about these tools as a whole.
    #[must_use]
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.server.instructions = Some(instructions.into());
        self.rebuild();
        self
    }

    /// Lets the calls of one message to these tools run concurrently. By default they run one after another in the
    /// order written; only calls of tools marked read-only run concurrently with each other.
    #[must_use]
    pub fn parallel(mut self) -> Self {
        self.server.parallel = true;
        self.rebuild();
        self
    }

    /// Adds a tool and its function; a tool of the same name is replaced.
    ///
    /// The function gets arguments that the tool's schema has accepted. Its return value becomes the outcome: a JSON
    /// string as it is, any other value as JSON text and as the structured result, an [`Outcome`] (which may carry
    /// events for the user interface) as it is. An error becomes
    /// [`Status::ToolError`](crate::outcome::Status::ToolError), and so does a panic.
    ///
    /// The function runs where the turn is polled, so it must not block: see
    /// [`blocking`](Functions::blocking).
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

    /// Adds a tool whose function blocks: it reads files, computes for long, or calls a library without `async`. It
    /// runs on one of tokio's threads for blocking work, so neither the turn's stream nor other calls wait for it;
    /// outside of a runtime it runs on the calling thread. Otherwise as [`with`](Functions::with).
    ///
    /// Such a function cannot be stopped: if its call is cancelled or times out, the turn goes on, and the function
    /// runs to its end with its result dropped.
    #[must_use]
    pub fn blocking<F, T, E>(self, tool: Tool, function: F) -> Self
    where
        F: Fn(Map<String, Value>) -> Result<T, E> + Send + Sync + 'static,
        T: IntoOutcome,
        E: std::fmt::Display,
    {
        let function = Arc::new(function);
        self.with(tool, move |arguments| {
            let function = function.clone();
            let run = move || match function(arguments) {
                Ok(answer) => answer.into_outcome(),
                Err(error) => Outcome::error(error.to_string()),
            };
            async move {
                let outcome = match tokio::runtime::Handle::try_current() {
                    Ok(runtime) => match runtime.spawn_blocking(run).await {
                        Ok(outcome) => outcome,
                        // A panic is handled as in a function that does not block: `run` names the tool.
                        Err(failed) => match failed.try_into_panic() {
                            Ok(panic) => std::panic::resume_unwind(panic),
                            Err(stopped) => Outcome::error(stopped.to_string()),
                        },
                    },
                    Err(_) => run(),
                };
                Ok::<_, std::convert::Infallible>(outcome)
            }
        })
    }

    /// Adds a tool whose arguments are a type of the program: the type gives the tool's schema, and the function gets a
    /// value of it. The function's return value is serialized and becomes the outcome as for [`with`](Functions::with).
    ///
    /// A doc comment on the type describes the tool, one on a field the parameter, unless the tool has a description or
    /// a schema already. Arguments that the schema accepts and the type does not are an error that the model reads and
    /// that names the field.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    /// use serde_json::json;
    /// use toolgraft::{Functions, Tool};
    /// use toolgraft::route::{Invocation, Toolbox};
    ///
    /// /// Weather of the next days.
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Forecast {
    ///     /// City, in English.
    ///     city: String,
    ///     days: Option<u8>,
    /// }
    ///
    /// #[derive(Serialize)]
    /// struct Day { celsius: i32 }
    ///
    /// let tools = Functions::new("weather").typed(Tool::new("forecast"), |asked: Forecast| async move {
    ///     if asked.city.is_empty() { Err("which city?") } else { Ok(vec![Day { celsius: 21 }]) }
    /// });
    /// let catalog = tools.catalog();
    /// let tool = catalog.tools().next().unwrap();
    /// assert_eq!(tool.description.as_deref(), Some("Weather of the next days."));
    /// assert_eq!(tool.parameters().next().unwrap().name, "city");
    /// let call = Invocation::new("forecast").with_arguments(json!({ "city": "Oslo" }));
    /// assert_eq!(tools.call(call).await.text, r#"[{"celsius":21}]"#);
    /// # }
    /// ```
    #[cfg(feature = "typed")]
    #[must_use]
    pub fn typed<A, F, Fut, T, E>(self, tool: Tool, function: F) -> Self
    where
        A: serde::de::DeserializeOwned + schemars::JsonSchema,
        F: Fn(A) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, E>> + Send + 'static,
        T: serde::Serialize,
        E: std::fmt::Display,
    {
        let tool = tool.with_arguments_of::<A>();
        let name = tool.name.clone();
        let function = Arc::new(function);
        self.with(tool, move |arguments: Map<String, Value>| {
            let running = decode_arguments::<A>(&name, &arguments).map(|arguments| function(arguments));
            async move {
                let answer = running.map_err(|error| error.to_string())?.await.map_err(|error| error.to_string())?;
                serde_json::to_value(answer).map_err(|error| format!("the result cannot be written as JSON: {error}"))
            }
        })
    }

    /// Adds a display-only tool: nothing runs, and arguments that its schema accepts are reported to the caller in
    /// addition to the model's text. A tool of the same name is replaced.
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
        // A turn does not call a display-only tool; for any other caller there is nothing to run.
        let Some(function) = self.functions.get(&found.name) else {
            return Outcome::new(Status::Displayed, format!("{} only shows its arguments", found.name));
        };
        // The closure itself may panic before its first await, so it is called inside the caught future.
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

crate::message::opaque_debug!(Functions, self => server: self.server);

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
    async fn a_function_that_blocks_holds_no_other_call_back() {
        let (send, receive) = std::sync::mpsc::channel::<u32>();
        let receive = std::sync::Mutex::new(receive);
        let tools = Functions::new("local")
            .blocking(Tool::new("wait"), move |_| {
                receive.lock().unwrap().recv_timeout(std::time::Duration::from_secs(60))
            })
            .with(Tool::new("send"), move |_| std::future::ready(send.send(7).map(|()| "sent")));
        // One thread: were the first call to block it, the second could never begin.
        let (waited, sent) = tokio::join!(tools.call(Invocation::new("wait")), tools.call(Invocation::new("send")));
        assert_eq!((waited.text.as_str(), sent.text.as_str()), ("7", "sent"));
    }

    #[tokio::test]
    async fn a_blocking_function_fails_as_others_do() {
        let tools = Functions::new("local").blocking(Tool::new("fail"), |_| Err::<String, _>("no luck")).blocking(
            Tool::new("crash"),
            |arguments| {
                assert!(arguments.contains_key("never"), "boom");
                Ok::<_, String>("unreachable")
            },
        );
        assert_eq!(tools.call(Invocation::new("fail")).await.text, "no luck");
        let crashed = tools.call(Invocation::new("crash")).await;
        assert_eq!(crashed.text, "the tool \"crash\" failed inside: boom");
    }

    #[test]
    fn a_blocking_function_needs_no_runtime() {
        let tools = Functions::unnamed().blocking(Tool::new("f"), |_| Ok::<_, String>("done"));
        let outcome = tools.call(Invocation::new("f")).now_or_never().unwrap();
        assert_eq!(outcome.text, "done");
    }

    #[cfg(feature = "typed")]
    #[tokio::test]
    async fn a_typed_functions_schema_and_arguments_are_its_types() {
        /// Plans a trip.
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        struct Plan {
            /// The destination.
            stops: Vec<Stop>,
            note: Option<String>,
        }
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        struct Stop {
            city: String,
            days: u8,
        }
        let plan = |plan: Plan| async move {
            let days: u32 = plan.stops.iter().map(|stop| u32::from(stop.days)).sum();
            let first = plan.stops.first().map(|stop| stop.city.clone());
            first.map(|first| (first, days, plan.note)).ok_or("no stops")
        };
        let tools = Functions::new("trips").typed(Tool::new("plan"), plan);
        let catalog = tools.catalog();
        let tool = catalog.find(None, "plan").unwrap().tool;
        assert_eq!(tool.description.as_deref(), Some("Plans a trip."));
        let parameters: Vec<_> = tool.parameters().map(|p| (p.name, p.required)).collect();
        assert_eq!(parameters, [("stops", true), ("note", false)]);
        let schema = tool.input_schema.as_ref().unwrap();
        assert_eq!((schema.get("$schema"), schema.get("title")), (None, None));
        assert_eq!(schema["properties"]["stops"]["description"], "The destination.");

        let call = |arguments| tools.call(Invocation::new("plan").with_arguments(arguments));
        let outcome = call(json!({ "stops": [{ "city": "Oslo", "days": 2 }] })).await;
        assert_eq!(outcome.structured, Some(json!(["Oslo", 2, null])));
        assert_eq!(call(json!({ "stops": [] })).await.text, "no stops");
        let wrong = call(json!({ "stops": [{ "city": "Oslo", "days": 300 }] })).await;
        assert_eq!(wrong.status, Status::ToolError);
        assert!(wrong.text.contains("`stops[0].days`") && wrong.text.contains("plan"), "{}", wrong.text);

        let own = Functions::unnamed().typed(Tool::new("plan").with_description("Mine.").with_schema(json!({})), plan);
        let catalog = own.catalog();
        let tool = catalog.tools().next().unwrap();
        assert_eq!((tool.description.as_deref(), &tool.input_schema), (Some("Mine."), &Some(json!({}))));
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
