//! `toolgraft read`.

use serde_json::json;

use super::runner::Runner;
use super::servers::{self, ServerArgs};
use super::{Failure, call};
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::tool::ACCESS_RESOURCE;

const EXAMPLES: &str = "\
Examples:
  toolgraft read memory memory://knowledge-graph
  toolgraft read --mcp-config my.json notes 'note://today' --json

Exit codes: 0 the resource was read, 1 it was not, 2 wrong usage or configuration.";

/// Options of `toolgraft read`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Server, as the configuration names it
    server: String,

    /// URI of the resource; `toolgraft tools` lists resources and templates
    uri: String,

    /// Print one JSON object: server, uri, status, text, took (ms)
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    servers: ServerArgs,
}

/// Runs `toolgraft read`.
pub(super) fn run(args: Args) -> Result<(), Failure> {
    let config = servers::only(args.servers.load()?, &args.server)?;
    let (server, uri) = (args.server.as_str(), args.uri.as_str());
    let outcome = Runner::start()?.with_hub(&config, |hub| async move {
        servers::demand_ready(&hub)?;
        let invocation = Invocation::new(ACCESS_RESOURCE).with_server(server).with_arguments(json!({ "uri": uri }));
        Ok(hub.call(invocation).await)
    })?;
    call::show(&outcome, args.json, &[("server", server), ("uri", uri)])
}
