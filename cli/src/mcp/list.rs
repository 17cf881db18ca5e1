//! `toolgraft mcp list`.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::masked;
use crate::base::{Failure, output};
use crate::screen::visible::plain;
use crate::servers;
use crate::servers::config_file::{ConfigFile, Entry, checked};
use crate::servers::trust::{Project, TrustStore};

/// Options of `toolgraft mcp list`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-list.txt").trim_end())]
pub(super) struct ListArgs {
    /// Print one JSON object: the files, and the servers of each
    #[arg(long)]
    json: bool,

    /// List this file instead of ./.mcp.json and ~/.config/toolgraft/mcp.json
    ///
    /// May be given several times.
    #[arg(long, value_name = "FILE")]
    mcp_config: Vec<PathBuf>,
}

/// A configuration file and its servers.
struct ListedServer {
    path: PathBuf,
    /// Reason that commands in the working directory do not use this file; `None` if they do.
    unused: Option<String>,
    servers: Vec<(String, Entry)>,
}

/// Runs `toolgraft mcp list`.
pub(super) fn run(args: &ListArgs) -> Result<(), Failure> {
    let files = match args.mcp_config.as_slice() {
        [] => usual()?,
        named => named.iter().map(|path| listed(path.clone(), None)).collect::<Result<_, _>>()?,
    };
    match args.json {
        true => output::emit_json(&as_json(&files)),
        false if files.is_empty() => {
            let own = servers::own_file().unwrap_or_default();
            output::tell(&format!(
                "no MCP servers are configured: see `toolgraft mcp add --help` and `toolgraft mcp import`; looked \
                 for: {} and {}",
                servers::LOCAL,
                own.display()
            ))
        }
        false => output::emit(&as_text(&files)),
    }
}

fn listed(path: PathBuf, unused: Option<String>) -> Result<ListedServer, Failure> {
    if !path.exists() {
        return Err(Failure::usage(format!("{} does not exist: name another file with --mcp-config", path.display())));
    }
    let file = ConfigFile::open(path.clone())?;
    Ok(ListedServer { path, unused, servers: file.entries() })
}

/// Returns the configuration files that commands use by default.
fn usual() -> Result<Vec<ListedServer>, Failure> {
    let local = PathBuf::from(servers::LOCAL);
    let mut files = Vec::new();
    let mut counts = None;
    if local.exists() {
        let project = Project::read(&local)?;
        let trusted = project.starts_nothing() || TrustStore::open().trusts(&project);
        let unused = (!trusted).then(|| "not trusted yet: `toolgraft mcp trust` shows what it starts".to_owned());
        // A project's file that is trusted takes the place of the user's own.
        counts = trusted.then(|| format!("not used in this folder: {} is", servers::LOCAL));
        files.push(listed(local, unused)?);
    }
    if let Some(own) = servers::own_file().filter(|path| path.exists()) {
        files.push(listed(own, counts)?);
    }
    Ok(files)
}

fn as_text(files: &[ListedServer]) -> String {
    let mut text = String::new();
    for (n, file) in files.iter().enumerate() {
        let unused = file.unused.as_ref().map(|why| format!("  ({why})")).unwrap_or_default();
        let _ = writeln!(text, "{}{}{unused}", if n > 0 { "\n" } else { "" }, file.path.display());
        if file.servers.is_empty() {
            let _ = writeln!(text, "  no servers");
        }
        for (name, entry) in &file.servers {
            text.push_str(&server(name, entry));
        }
    }
    text
}

/// Returns lines on a configured server: its name, command or URL, settings and problems, without secrets.
pub(super) fn server(name: &str, entry: &Entry) -> String {
    let mut text = masked::block(name, entry);
    let (problem, unset) = checked(name, entry);
    let unset = (!unset.is_empty()).then(|| format!("not set in this shell: {}", unset.join(", ")));
    for line in problem.map(|problem| format!("wrong: {problem}")).into_iter().chain(unset) {
        let _ = writeln!(text, "      {}", plain(&line));
    }
    text
}

fn as_json(files: &[ListedServer]) -> Value {
    let server = |(name, entry): &(String, Entry)| {
        let (problem, unset) = checked(name, entry);
        json!({
            "name": name,
            "shown": masked::lines(entry),
            "disabled": entry.get("disabled") == Some(&Value::Bool(true)),
            "problem": problem,
            "unset": unset,
        })
    };
    let file = |file: &ListedServer| {
        let servers: Vec<Value> = file.servers.iter().map(server).collect();
        json!({ "file": file.path, "in_use": file.unused.is_none(), "servers": servers })
    };
    json!({ "files": files.iter().map(file).collect::<Vec<_>>() })
}
