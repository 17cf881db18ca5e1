//! `toolgraft mcp read`.

use std::path::PathBuf;

use serde_json::json;

use crate::base::{Failure, media};
use crate::mcp::call;
use crate::servers::{self, ServerArgs, watch::Watch};
use toolgraft::Outcome;
use toolgraft::route::{Invocation, Toolbox};
use toolgraft::tools::ACCESS_RESOURCE;
use toolgraft_mcp::Hub;

/// Options of `toolgraft mcp read`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-read.txt").trim_end())]
pub(crate) struct Args {
    /// Server, as the configuration names it
    server: String,

    /// URI of the resource; `toolgraft mcp tools` lists resources and templates
    uri: String,

    /// Print one JSON object: server, uri, status, text, took (ms)
    #[arg(long)]
    json: bool,

    /// Write the resource to this file, a blob as its bytes; no file is written over
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    servers: ServerArgs,
}

/// Runs `toolgraft mcp read`.
pub(crate) fn run(args: Args) -> Result<(), Failure> {
    args.output.as_deref().map_or(Ok(()), |file| media::check_place("--output", file))?;
    let config = servers::only(args.servers.load()?, &args.server)?;
    let (server, uri) = (args.server.as_str(), args.uri.as_str());
    let hub = Hub::builder().config(config).keep_media(args.output.is_some());
    let outcome = call::with_server(hub, async |hub, watch| Ok(resource(hub, (server, uri), watch).await))?;
    call::show(outcome, (args.json, args.output.as_deref()), &[("server", server), ("uri", uri)])
}

/// Reads a resource of a server.
pub(crate) async fn resource(hub: &Hub, (server, uri): (&str, &str), watch: Watch<'_>) -> Outcome {
    let invocation = Invocation::new(ACCESS_RESOURCE).with_server(server).with_arguments(json!({ "uri": uri }));
    watch.over(hub, format!("reading {uri}"), hub.call(invocation)).await
}
