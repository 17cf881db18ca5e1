//! Renders the system text, and the message with results.

use serde::Deserialize;
use serde_json::Value;
use toolgraft::conversation::{Answered, Replies};
use toolgraft::event::Rejected;
use toolgraft::outcome::Status;
use toolgraft::prompt::{Listing, Options, Prompt};
use toolgraft::{Call, Outcome};

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

/// Renders the system text of the prompt, which teaches a syntax of calls and lists the tools.
///
/// # Errors
///
/// Fails if the options contradict each other or the tools.
pub fn render(known: &ToolSet, options: Options) -> Result<String, Mistake> {
    prompt(options)?.system(&known.catalog).map_err(Mistake::prompt)
}

/// A call and its result, as they are parsed from JSON.
#[derive(Deserialize)]
struct AnsweredCall {
    call: Call,
    text: String,
    id: Option<String>,
    status: Option<String>,
    structured: Option<Value>,
}

/// A call with its identifier and its outcome.
struct CallReply {
    id: String,
    call: Call,
    outcome: Outcome,
}

impl CallReply {
    fn of(item: Value, place: usize) -> Result<Self, Mistake> {
        let AnsweredCall { call, text, id, status, structured } =
            serde_json::from_value(item).map_err(Mistake::tool)?;
        if !call.arguments.is_object() {
            return Err(Mistake::Tool(format!("the arguments of {} are not an object", call.tool)));
        }
        let status = status.map_or(Ok(Status::Result), |status| word(&status))?;
        let mut outcome = Outcome::new(status, &text);
        if let Some(structured) = structured {
            outcome = outcome.with_structured(structured);
        }
        Ok(CallReply { id: id.unwrap_or_else(|| format!("call_{}", place + 1)), call, outcome })
    }
}

/// Renders the one user message that answers the calls of the model's last message. `told` are
/// results (`call`, `text`, `id`, `status`, `structured`) and rejected calls. `request` is the
/// user's request, which is repeated to the model.
///
/// # Errors
///
/// Fails if a result cannot be read, or if the options contradict each other.
pub fn results(known: &ToolSet, told: Vec<Value>, request: Option<&str>, options: Options) -> Result<String, Mistake> {
    let prompt = prompt(options)?;
    let (mut answered, mut rejected) = (Vec::new(), Vec::<Rejected>::new());
    for (place, item) in told.into_iter().enumerate() {
        // A result has a text, a rejected call has none.
        match item.get("text") {
            Some(_) => answered.push(CallReply::of(item, place)?),
            None => rejected.push(serde_json::from_value(item).map_err(Mistake::tool)?),
        }
    }
    let mut replies = Replies::default();
    replies.answered = answered.iter().map(|reply| Answered::new(&reply.id, &reply.call, &reply.outcome)).collect();
    replies.rejected = rejected.iter().collect();
    replies.request = request;
    prompt.results(&known.catalog, &replies).map_err(Mistake::prompt)
}
