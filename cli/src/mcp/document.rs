//! `toolgraft mcp client-document`.

use crate::base::{Failure, output};
use toolgraft_mcp::client_document;

/// Options of `toolgraft mcp client-document`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/en/mcp-document.txt").trim_end())]
pub(super) struct Args {
    /// Where the document will be: an https URL with a path
    url: String,

    /// The "callbackPort" of the entries that name it, for an authorization server that compares ports
    #[arg(long)]
    port: Option<u16>,
}

/// Runs `toolgraft mcp client-document`.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let document = client_document(&args.url, args.port).map_err(Failure::usage)?;
    output::emit(&format!("{}\n", serde_json::to_string_pretty(&document).map_err(Failure::job)?))
}
