//! `toolgraft mcp call`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::base::{Failure, media, output};
use crate::dialog::ask::Asker;
use crate::front::{Terminal, elicitor};
use crate::servers::{self, ServerArgs, app::App, given::Given};
use toolgraft::Outcome;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft_mcp::{Hub, MEDIA_EVENT};

/// Options of `toolgraft mcp call`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-call.txt").trim_end())]
pub(crate) struct CallToolArgs {
    /// Server, as the configuration names it
    server: String,

    /// Tool of that server; `toolgraft mcp tools` lists them
    tool: String,

    /// Arguments: NAME=VALUE words; or one JSON object, @FILE, or - for standard input
    #[arg(value_name = "NAME=VALUE|JSON")]
    arguments: Vec<String>,

    #[command(flatten)]
    result: ResultArgs,
}

/// The output of a command with a result of one server.
#[derive(Debug, clap::Args)]
pub(super) struct ResultArgs {
    /// Print one JSON object: what was asked for, status, text, structured, took (ms)
    #[arg(long)]
    json: bool,

    /// Write the images, audio and blobs of the result to this file; the text, if there are none
    ///
    /// The second of several becomes NAME-2, and so on. No file is written over.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    servers: ServerArgs,
}

impl ResultArgs {
    /// Requests a result from a server and prints it. `asked` is the key and value that name the requested item in the
    /// JSON output.
    pub(super) fn run(
        &self,
        server: &str,
        asked: (&str, &str),
        job: impl AsyncFnOnce(&Hub, &Terminal) -> Result<Outcome, Failure>,
    ) -> Result<(), Failure> {
        self.output.as_deref().map_or(Ok(()), |file| media::check_place("--output", file))?;
        let outcome = with_server(&self.servers, (server, self.output.is_some()), job)?;
        show(outcome, (self.json, self.output.as_deref()), &[("server", server), asked])
    }
}

/// Runs `toolgraft mcp call`.
pub(crate) fn run(args: CallToolArgs) -> Result<(), Failure> {
    let given = Given::read(&args.arguments)?;
    let (server, tool) = (args.server.as_str(), args.tool.as_str());
    args.result.run(server, ("tool", tool), async |hub, terminal| called(hub, (server, tool), given, terminal).await)
}

/// Calls a tool of a server with arguments from the command line.
async fn called(
    hub: &Hub,
    (server, tool): (&str, &str),
    given: Given,
    terminal: &Terminal,
) -> Result<Outcome, Failure> {
    let catalog = hub.catalog();
    let found = catalog.find(Some(server), tool).map_err(|not_found| {
        let known = "`toolgraft mcp tools` lists what there is";
        Failure::usage(format!("{not_found}; {known}"))
    })?;
    let arguments = given.of_tool(found.tool)?;
    let invocation = Invocation::new(tool).with_server(server).with_arguments(arguments);
    Ok(terminal.watch(hub, format!("running {server}.{tool}"), hub.call(invocation)).await)
}

/// Runs a function with one server, once that is ready. Its requests for input are shown at the terminal.
pub(super) fn with_server<T>(
    servers: &ServerArgs,
    (server, keeps_media): (&str, bool),
    job: impl AsyncFnOnce(&Hub, &Terminal) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let hub = Hub::builder().config(servers::only(servers.load()?, server)?).keep_media(keeps_media);
    let app = App::start(Asker::at_terminal())?;
    let terminal = Arc::new(Terminal::without_turns(app.asker.clone()));
    let hub = hub.elicitor(elicitor(terminal.clone()));
    app.with_hub_within(Duration::MAX, hub, async move |hub| {
        servers::demand_ready(&hub)?;
        job(&hub, &terminal).await
    })
}

/// Prints an outcome, as text or JSON, and writes its media, or else its text, to `file` if one is named. An outcome
/// that is not a result is a failure.
fn show(mut outcome: Outcome, (as_json, file): (bool, Option<&Path>), names: &[(&str, &str)]) -> Result<(), Failure> {
    // Before `write`, which takes the media out of the outcome.
    let is_text = outcome.events.iter().all(|event| event.kind != MEDIA_EVENT);
    let files = file.filter(|_| outcome.is_result()).map(|file| media::write(&mut outcome, file)).transpose()?;
    if as_json {
        let mut object: Map<String, Value> = names.iter().map(|(k, v)| ((*k).to_owned(), json!(v))).collect();
        if let Ok(Value::Object(fields)) = serde_json::to_value(&outcome) {
            object.extend(fields);
        }
        object.extend(files.map(|files| ("files".to_owned(), json!(files))));
        output::emit_json(&object)?;
        return if outcome.is_result() { Ok(()) } else { Err(Failure::Reported) };
    }
    match outcome.is_result() {
        // It is in the file.
        true if files.is_some() && is_text => Ok(()),
        true if outcome.text.ends_with('\n') => output::emit(&outcome.text),
        true => output::emit(&format!("{}\n", outcome.text)),
        // The further lines of an error belong to the first.
        false => Err(Failure::job(outcome.text.trim_end().replace('\n', "\n  "))),
    }
}
