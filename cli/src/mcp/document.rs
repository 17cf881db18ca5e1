//! `toolgraft mcp client-document`.

use crate::base::{Failure, output};
use toolgraft_mcp::client_document;

const EXAMPLES: &str = "\
Examples:
  toolgraft mcp client-document https://example.com/toolgraft.json > toolgraft.json
  toolgraft mcp client-document https://example.com/toolgraft.json --port 8765

Publish the document at that URL, as application/json, and name the URL as \"clientId\"
under \"oauth\" in a server's entry: an authorization server that reads such documents needs
no registration then. Others get one at each login, as without it.

Exit codes: 0 it was printed, 2 no authorization server would take such a URL.";

/// Options of `toolgraft mcp client-document`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
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
