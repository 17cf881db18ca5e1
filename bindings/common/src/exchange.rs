//! The exchange of `toolgraft serve` without HTTP, for programs that send the requests themselves.

use serde_json::{Map, Value};
use toolgraft::constrain::{Constrain, Way};
use toolgraft::dialect::Profile;
use toolgraft::tools::ToolsMode;
use toolgraft_protocol::{Adapter, Embedded, Refusal, Settings};

use crate::history::{NO_TEXT, status};
use crate::{Mistake, settings};

/// Names of prompt settings that are refused, since each request contains them itself, or `toolgraft serve` does not
/// use them.
const OF_THE_REQUEST: [&str; 4] = ["system", "tool_choice", "max_calls", "description_chars"];

/// Creates a server without HTTP. Its settings are those of [`options`](crate::options), except those that each
/// request contains itself, and `max_corrections`: the maximum number of requests in a row that only correct a
/// mistake.
///
/// # Errors
///
/// Fails if a setting does not exist, or has a value that is not allowed.
pub fn embedded(mut settings: Map<String, Value>) -> Result<Embedded, Mistake> {
    if let Some(name) = OF_THE_REQUEST.iter().find(|name| settings.contains_key(**name)) {
        return Err(Mistake::Type(format!("the setting `{name}` is not one here: the request decides")));
    }
    // Nothing is known of the endpoint, and it gets texts alone.
    let (tools_mode, constrain, way) = (ToolsMode::Prompt, Constrain::Off, Way::Free);
    let mut asked = Settings { tools_mode, constrain, way, ..Settings::default() };
    if let Some(model) = settings::model(&settings)? {
        asked.profile = Some(Profile::for_model(&model));
        settings.shift_remove("model");
    }
    if let Some(corrections) = settings.shift_remove("max_corrections").filter(|given| !given.is_null()) {
        asked.max_corrections = settings::typed("max_corrections", &corrections)?;
    }
    let options = settings::options(&settings)?;
    let given = |name: &str| settings.contains_key(name);
    asked.dialect = given("dialect").then_some(options.dialect);
    asked.lang = given("lang").then_some(options.lang);
    asked.style = given("style").then_some(options.style);
    asked.prompt = options;
    Embedded::new(asked).map_err(|error| Mistake::Setting(error.to_string()))
}

/// Begins a turn: returns the exchange for a request to Chat Completions, whose messages must not even have the
/// mistakes that a server accepts.
///
/// # Errors
///
/// [`Mistake::Tool`] if the request cannot be answered; the error names what is wrong.
pub fn turn(server: &Embedded, body: &str) -> Result<Adapter, Mistake> {
    let request: Value = serde_json::from_str(body).map_err(Mistake::tool)?;
    for (at, message) in request["messages"].as_array().into_iter().flatten().enumerate() {
        let has_text = matches!(message["content"], Value::Null | Value::String(_) | Value::Array(_));
        let checked = if has_text { status(message).map(drop) } else { Err(NO_TEXT.to_owned()) };
        checked.map_err(|wrong| Mistake::Tool(format!("messages[{at}]: {wrong}")))?;
    }
    let begun = server.begin("/v1/chat/completions", body.as_bytes(), false);
    let begun = begun.map_err(|refusal| Mistake::Tool(placed(&refusal)))?;
    begun.ok_or_else(|| Mistake::Tool("the request needs no exchange".to_owned()))
}

/// Returns the message of a refusal with the field that is wrong before it.
pub fn placed(Refusal { param, message, .. }: &Refusal) -> String {
    param.as_ref().map_or_else(|| message.clone(), |param| format!("{param}: {message}"))
}
