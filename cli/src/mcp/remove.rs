//! `toolgraft mcp remove`.

use std::path::PathBuf;

use crate::base::{Failure, input, output};
use crate::dialog::ask::demand_consent;
use crate::screen::excerpt::names;
use crate::servers::config_file::{ConfigFile, target};

/// Options of `toolgraft mcp remove`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-remove.txt").trim_end())]
pub(super) struct RemoveArgs {
    /// Servers to remove
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,

    /// File to write to [default: ~/.config/toolgraft/mcp.json]
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,

    /// Remove them without asking
    #[arg(long)]
    yes: bool,
}

/// Runs `toolgraft mcp remove`. If one of the servers does not exist, none is removed.
pub(super) fn run(args: &RemoveArgs) -> Result<(), Failure> {
    let path = target(args.mcp_config.as_deref())?;
    if !path.exists() {
        return Err(Failure::usage(format!(
            "{} does not exist: `toolgraft mcp list` shows the files that do",
            path.display()
        )));
    }
    let file = ConfigFile::open(path)?;
    let shown = input::shown(&file.path);
    let there = file.names();
    if let Some(name) = args.names.iter().find(|name| !there.contains(name)) {
        let there = if there.is_empty() { "it has none".to_owned() } else { format!("there are: {}", names(&there)) };
        return Err(Failure::usage(format!("{shown} has no server {name:?}; {there}")));
    }
    let removed = names(args.names.iter().map(|name| format!("{name:?}")));
    demand_consent(&format!("Remove {removed} from {shown}, for good?"), args.yes, "nothing is removed")?;
    for name in &args.names {
        file.remove(name);
    }
    file.write()?;
    output::tell(&format!("removed {removed} from {shown}"))
}
