//! Renders the system text, and the message with results.

use serde::Deserialize;
use serde_json::{Map, Value};
use toolgraft::outcome::Status;
use toolgraft::prompt::{Item, Listing, Options, Prompt, Round};
use toolgraft::{Call, Outcome, event};

use crate::{Mistake, ToolSet, word};

fn prompt(options: Options) -> Result<Prompt, Mistake> {
    // The index lists no parameters: the model asks for them with a built-in tool, which only an
    // agent answers.
    if options.listing == Listing::Index {
        let words = "the listing `index` needs an agent: the model asks it for the parameters of a tool";
        return Err(Mistake::Setting(words.to_owned()));
    }
    Prompt::new(options).map_err(Mistake::prompt)
}

/// Renders the system text that teaches a syntax of calls and lists the tools.
///
/// # Errors
///
/// The options contradict each other or the tools.
pub fn render(known: &ToolSet, options: Options) -> Result<String, Mistake> {
    prompt(options)?.system(&known.catalog).map_err(Mistake::prompt)
}

/// A call and its result, in JSON.
#[derive(Deserialize)]
struct AnsweredCall {
    call: Call,
    text: String,
    id: Option<String>,
    status: Option<String>,
    structured: Option<Value>,
}

/// The result of a call, or a rejected call. Owns what an [`Item`] borrows.
enum CallReply {
    Answered { id: String, server: Option<String>, tool: String, arguments: Map<String, Value>, outcome: Outcome },
    Rejected(event::Rejected),
}

impl CallReply {
    /// Reads a result if there is a `text`, otherwise a rejected call.
    fn of(item: Value, place: usize) -> Result<Self, Mistake> {
        if item.get("text").is_none() {
            return Ok(CallReply::Rejected(serde_json::from_value(item).map_err(Mistake::tool)?));
        }
        let AnsweredCall { call, text, id, status, structured } =
            serde_json::from_value(item).map_err(Mistake::tool)?;
        let Call { server, tool, arguments, .. } = call;
        let Value::Object(arguments) = arguments else {
            return Err(Mistake::Tool(format!("the arguments of {tool} are not an object")));
        };
        let status = status.map_or(Ok(Status::Result), |status| word(&status))?;
        let mut outcome = Outcome::new(status, &text);
        if let Some(structured) = structured {
            outcome = outcome.with_structured(structured);
        }
        let id = id.unwrap_or_else(|| format!("call_{}", place + 1));
        Ok(CallReply::Answered { id, server, tool, arguments, outcome })
    }

    fn item(&self) -> Item<'_> {
        match self {
            CallReply::Answered { id, server, tool, arguments, outcome } => {
                Item::Answered { id, server: server.as_deref(), tool, arguments, outcome }
            }
            CallReply::Rejected(rejected) => Item::Rejected(rejected),
        }
    }
}

/// Renders the one user message that answers the calls of the model's last message. `told` are
/// results (`call`, `text`, `id`, `status`, `structured`) and rejected calls. `request` is the
/// user's request, which is repeated to the model.
///
/// # Errors
///
/// A result cannot be read, or the options contradict each other.
pub fn results(known: &ToolSet, told: Vec<Value>, request: Option<&str>, options: Options) -> Result<String, Mistake> {
    let prompt = prompt(options)?;
    let told = told.into_iter().enumerate().map(|(place, item)| CallReply::of(item, place));
    let told = told.collect::<Result<Vec<_>, _>>()?;
    let items: Vec<Item<'_>> = told.iter().map(CallReply::item).collect();
    prompt.results(&known.catalog, &Round::new(&items).with_request(request)).map_err(Mistake::prompt)
}
