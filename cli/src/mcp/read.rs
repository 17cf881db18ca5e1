//! `toolgraft mcp read`.

use serde_json::json;

use super::call::ResultArgs;
use crate::base::Failure;
use crate::front::Terminal;
use toolgraft::Outcome;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::tools::ACCESS_RESOURCE;
use toolgraft_mcp::Hub;

/// Options of `toolgraft mcp read`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-read.txt").trim_end())]
pub(crate) struct ReadArgs {
    /// Server, as the configuration names it
    server: String,

    /// URI of the resource; `toolgraft mcp tools` lists resources and templates
    uri: String,

    #[command(flatten)]
    result: ResultArgs,
}

/// Runs `toolgraft mcp read`.
pub(crate) fn run(args: ReadArgs) -> Result<(), Failure> {
    let (server, uri) = (args.server.as_str(), args.uri.as_str());
    let read = async |hub: &Hub, terminal: &Terminal| Ok(resource(hub, (server, uri), Some(terminal)).await);
    args.result.run(server, ("uri", uri), read)
}

/// Reads a resource of a server, with progress shown at `terminal` if given.
pub(crate) async fn resource(hub: &Hub, (server, uri): (&str, &str), terminal: Option<&Terminal>) -> Outcome {
    let invocation = Invocation::new(ACCESS_RESOURCE).with_server(server).with_arguments(json!({ "uri": uri }));
    match terminal {
        Some(terminal) => terminal.watch(hub, format!("reading {uri}"), hub.call(invocation)).await,
        None => hub.call(invocation).await,
    }
}
