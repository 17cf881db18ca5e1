//! `toolgraft call`.

use serde_json::{Map, Value, json};

use super::runner::Runner;
use super::servers::{self, ServerArgs};
use super::{Failure, output};
use toolgraft::outcome::Outcome;
use toolgraft::route::mcp::Elicitation;
use toolgraft::route::{Invocation, Toolbox};

const EXAMPLES: &str = "\
Examples:
  toolgraft call time get_current_time '{\"timezone\": \"Asia/Tokyo\"}'
  toolgraft call files read_file @arguments.json --json
  echo '{\"city\": \"Oslo\"}' | toolgraft call --mcp-config my.json weather weather_query -

Exit codes: 0 the tool answered, 1 it failed, 2 wrong usage or configuration.";

/// Options of `toolgraft call`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Server, as the configuration names it
    server: String,

    /// Tool of that server; `toolgraft tools` lists them
    tool: String,

    /// Arguments: a JSON object, @FILE, or - for standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,

    /// Print one JSON object: server, tool, status, text, structured, took (ms)
    #[arg(long)]
    json: bool,

    /// Where the tool asks back for input, accept the defaults that it proposes
    ///
    /// Without this, and where a required field has no default, it is declined.
    #[arg(long)]
    accept_defaults: bool,

    #[command(flatten)]
    servers: ServerArgs,
}

/// Runs `toolgraft call`.
pub(super) fn run(args: Args) -> Result<(), Failure> {
    let arguments = arguments(&args.arguments)?;
    let config = servers::only(args.servers.load()?, &args.server)?;
    let (server, tool) = (args.server.as_str(), args.tool.as_str());
    let elicitation = if args.accept_defaults { Elicitation::Defaults } else { Elicitation::Decline };
    let outcome = Runner::start()?.with_answering_hub(&config, elicitation, |hub| async move {
        servers::demand_ready(&hub)?;
        hub.catalog().find(Some(server), tool).map_err(|not_found| {
            let known = "`toolgraft tools` lists what there is";
            Failure::usage(format!("{not_found}; {known}"))
        })?;
        let invocation = Invocation { arguments, ..Invocation::new(tool).with_server(server) };
        Ok(hub.call(invocation).await)
    })?;
    show(&outcome, args.json, &[("server", server), ("tool", tool)])
}

/// Prints an outcome; one that is no result is a failure.
pub(super) fn show(outcome: &Outcome, as_json: bool, names: &[(&str, &str)]) -> Result<(), Failure> {
    if as_json {
        let mut object: Map<String, Value> = names.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
        if let Ok(Value::Object(fields)) = serde_json::to_value(outcome) {
            object.extend(fields);
        }
        output::emit_json(&object)?;
        return if outcome.is_result() { Ok(()) } else { Err(Failure::Reported) };
    }
    match outcome.is_result() {
        true if outcome.text.ends_with('\n') => output::emit(&outcome.text),
        true => output::emit(&format!("{}\n", outcome.text)),
        false => Err(Failure::job(outcome.text.trim_end())),
    }
}

/// The arguments as an object; errors name line and column.
fn arguments(argument: &str) -> Result<Map<String, Value>, Failure> {
    let (text, source) = servers::argument_text(argument)?;
    let text = text.trim_start_matches('\u{feff}');
    let example = "write an object such as '{\"city\": \"Oslo\"}'";
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => {
            Err(Failure::usage(format!("{source}: expected a JSON object, found {}: {example}", kind(&other))))
        }
        Err(e) => {
            let what = e.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            Err(Failure::usage(format!("{source}:{}:{}: invalid JSON: {what}: {example}", e.line(), e.column())))
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
