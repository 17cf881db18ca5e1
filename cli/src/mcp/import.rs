//! `toolgraft mcp import`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::add::is_there;
use super::foreign::{self, Foreign};
use super::masked;
use super::programs::{Machine, PROGRAMS, Program};
use crate::base::{Failure, input, output};
use crate::dialog::ask::demand_consent;
use crate::screen::excerpt::names as shown_names;
use crate::screen::visible::word;
use crate::servers;
use crate::servers::config_file::{ConfigFile, checked, target};
use crate::servers::trust;
use crate::terminal::counted;
use toolgraft::secrets::Secrecy;
use toolgraft_files as files;

/// Options of `toolgraft mcp import`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-import.txt").trim_end())]
pub(super) struct ImportArgs {
    /// Source: a program such as claude-desktop, cursor or codex, or a file
    #[arg(value_name = "FROM")]
    from: Vec<String>,

    /// Import this server only; may be given several times
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,

    /// Replace servers of the same name
    #[arg(long)]
    replace: bool,

    /// Show what would be imported, without writing it
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    /// Write without asking
    #[arg(long)]
    yes: bool,

    /// File to write to [default: ~/.config/toolgraft/mcp.json]
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
}

/// A configuration file whose servers are to be imported.
struct ImportSource {
    /// The program that owns the file; `None` for a file that the user named.
    program: Option<&'static Program>,
    path: PathBuf,
}

/// The decision on importing a server.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Fate {
    New,
    Replaces,
    /// Not written, since an equal entry exists.
    Known,
    /// Not written, since a different entry has the name.
    Taken,
    /// Not written, since a server from an earlier file has the name.
    Earlier,
    /// Not written, for these reasons: it is not supported or could not start.
    Refused(Vec<String>),
    /// Not written, since `--server` names other servers.
    NotAsked,
}

/// Message after the user answered no.
const NOTHING: &str = "nothing was written";

/// Runs `toolgraft mcp import`.
pub(super) fn run(args: &ImportArgs) -> Result<(), Failure> {
    let machine = Machine::this().ok_or_else(|| Failure::usage("there is no home directory"))?;
    let target = ConfigFile::open(target(args.mcp_config.as_deref())?)?;
    let mut files = Vec::new();
    let (mut failed, mut declined) = (false, false);
    for source in sources(args, &machine)? {
        match servers_of(&source, &machine) {
            Ok(Some(servers)) => files.push((title(&source), servers)),
            Ok(None) => {
                declined = true;
                output::warn(&format!("{} is left out", source.path.display()));
            }
            // A program's file does not stop those of others.
            Err(Failure::Usage(message)) if source.program.is_some() => {
                failed = true;
                output::warn(&message);
            }
            Err(failure) => return Err(failure),
        }
    }
    let files = judged(files, args, &target)?;
    output::emit(&shown(&files))?;
    let servers = || files.iter().flat_map(|(_, servers)| servers);
    let taken: Vec<&Foreign> =
        servers().filter(|(_, fate)| matches!(fate, Fate::New | Fate::Replaces)).map(|(server, _)| server).collect();
    if taken.is_empty() {
        let refused = failed || servers().any(|(_, fate)| matches!(fate, Fate::Refused(_)));
        return match refused {
            true => Err(Failure::usage("no server was imported: the reasons are above")),
            false if declined => {
                output::note(NOTHING);
                Err(Failure::Reported)
            }
            false => {
                output::note("there is nothing to import");
                Ok(())
            }
        };
    }
    if args.dry_run {
        return Ok(());
    }
    let question = format!("Write {} to {}?", counted(taken.len(), "server"), word(&target.path.display().to_string()));
    demand_consent(&question, args.yes, NOTHING)?;
    for server in &taken {
        target.set(&server.name, &server.entry);
    }
    target.write()?;
    output::tell(&format!("imported {} into {}", counted(taken.len(), "server"), target.path.display()))?;
    advise(&taken, &target.path);
    Ok(())
}

fn sources(args: &ImportArgs, machine: &Machine) -> Result<Vec<ImportSource>, Failure> {
    let there = |programs: &'static [Program]| {
        let sources = programs.iter().flat_map(|program| {
            program.files(machine).into_iter().map(move |path| ImportSource { program: Some(program), path })
        });
        let (files, missing): (Vec<_>, Vec<_>) = sources.partition(|source| source.path.exists());
        let looked: Vec<String> = missing.iter().map(|source| source.path.display().to_string()).collect();
        if files.is_empty() { Err(looked.join("\n  ")) } else { Ok(files) }
    };
    if args.from.is_empty() {
        for file in machine.project_files() {
            let file = file.display();
            output::note(&format!("this folder has a file of its project too: `toolgraft mcp import {file}`"));
        }
        return there(&PROGRAMS.all).map_err(|looked| {
            Failure::usage(format!(
                "no other program's servers were found; name a file, or add one with `toolgraft mcp add`. Looked \
                 for:\n  {looked}"
            ))
        });
    }
    let mut files = Vec::new();
    for from in &args.from {
        match Program::named(from) {
            Some(program) => files.extend(there(std::slice::from_ref(program)).map_err(|looked| {
                Failure::usage(format!("{} has no file of servers here; looked for:\n  {looked}", program.name))
            })?),
            None if Path::new(from).exists() => files.push(ImportSource { program: None, path: from.into() }),
            None => {
                let words: Vec<&str> = PROGRAMS.all.iter().map(|program| program.id.as_str()).collect();
                return Err(Failure::usage(format!(
                    "{from:?} is neither a file nor one of these programs: {}",
                    words.join(", ")
                )));
            }
        }
    }
    Ok(files)
}

/// Reads the servers of a file; `None` if it belongs to a project that the user does not trust.
fn servers_of(source: &ImportSource, machine: &Machine) -> Result<Option<Vec<Foreign>>, Failure> {
    let ImportSource { program, path } = source;
    // The user's own files are trusted; one of a project came with whatever else is in it.
    if program.is_some() || !machine.is_projects(path) {
        return foreign::read(&input::read_text(path)?, path, *program, None, machine).map(Some);
    }
    let folder = machine.project_of(path);
    let project = foreign::project(path, machine)?;
    let remedy = format!("read it, then run `toolgraft mcp trust {} --yes` once", path.display());
    match trust::demand_of(path, project, &remedy)? {
        Some(text) => foreign::read(&text, path, None, Some(&folder), machine).map(Some),
        None => Ok(None),
    }
}

fn title(source: &ImportSource) -> String {
    let path = source.path.display();
    source.program.map_or_else(|| path.to_string(), |program| format!("{}: {path}", program.name))
}

/// Title of a file, and its servers with the decision on each.
type Judged = (String, Vec<(Foreign, Fate)>);

/// Decides for each server whether it is imported; an error if a server named by `--server` does not exist.
fn judged(files: Vec<(String, Vec<Foreign>)>, args: &ImportArgs, target: &ConfigFile) -> Result<Vec<Judged>, Failure> {
    let mut seen: Vec<Foreign> = Vec::new();
    let mut all = Vec::new();
    for (title, servers) in files {
        let mut judged = Vec::new();
        for server in servers {
            let earlier = seen.iter().find(|earlier| earlier.name == server.name);
            let refused = match server.refused.is_empty() {
                true => cannot_start(&server),
                false => server.refused.clone(),
            };
            let fate = match (target.entry(&server.name), earlier) {
                _ if !args.server.is_empty() && !args.server.contains(&server.name) => Fate::NotAsked,
                // One that is there already is left as it is, though it may not start now.
                (Some(entry), _) if entry == server.entry && server.refused.is_empty() => Fate::Known,
                _ if !refused.is_empty() => Fate::Refused(refused),
                (_, Some(earlier)) if earlier.entry == server.entry => Fate::Known,
                (_, Some(_)) => Fate::Earlier,
                (Some(_), _) if args.replace => Fate::Replaces,
                (Some(_), _) => Fate::Taken,
                (None, _) => Fate::New,
            };
            // Another file's server may have the name of one that is refused. One that `--server` names is
            // seen all the same: it is there, and its error is another.
            if !matches!(fate, Fate::Refused(_)) || !args.server.is_empty() {
                seen.push(server.clone());
            }
            judged.push((server, fate));
        }
        all.push((title, judged));
    }
    match args.server.iter().find(|name| !seen.iter().any(|server| server.name == **name)) {
        Some(missing) => {
            let names: Vec<&str> = seen.iter().map(|server| server.name.as_str()).collect();
            Err(Failure::usage(format!("no server {missing:?} there; there are: {}", shown_names(names))))
        }
        None => Ok(all),
    }
}

/// Returns the reasons that a server could not start, such as unset variables; a disabled one is not checked for these.
fn cannot_start(server: &Foreign) -> Vec<String> {
    let (problem, unset) = checked(&server.name, &server.entry);
    if problem.is_some() || server.entry.get("disabled") == Some(&true.into()) {
        return problem.into_iter().collect();
    }
    let text = |key: &str| server.entry.get(key).and_then(Value::as_str);
    let mut why: Vec<String> =
        unset.iter().map(|name| format!("the variable {name} is not set: set it, and import again")).collect();
    let cwd = text("cwd").filter(|cwd| !cwd.contains("${"));
    if let Some(cwd) = cwd.filter(|cwd| !Path::new(cwd).is_dir()) {
        why.push(format!("there is no folder {cwd:?} to work in: create it, or correct \"cwd\""));
    } else if let Some(program) = text("command").filter(|program| !is_there(program, cwd)) {
        why.push(format!("the program {program:?} is not found: install it, or name its full path"));
    }
    why
}

fn shown(files: &[Judged]) -> String {
    let mut text = String::new();
    for (title, servers) in files {
        let _ = writeln!(text, "{title}");
        if servers.is_empty() {
            text.push_str("  no servers\n");
        }
        for (server, fate) in servers {
            let why = match fate {
                Fate::NotAsked => continue,
                Fate::New => Vec::new(),
                Fate::Refused(why) => why.iter().map(|why| format!("not imported: {why}")).collect(),
                Fate::Replaces => vec!["replaces the server of this name".to_owned()],
                Fate::Known => vec!["exists already".to_owned()],
                Fate::Taken => vec!["left out: another server has this name; --replace replaces it".to_owned()],
                Fate::Earlier => vec!["left out: a file above has a server of this name".to_owned()],
            };
            text.push_str(&masked::block(&server.name, &server.entry));
            for line in why.iter().chain(&server.notes) {
                let _ = writeln!(text, "      ({})", word(line));
            }
        }
    }
    text
}

fn advise(taken: &[&Foreign], file: &Path) {
    let secrets: usize = taken.iter().map(|server| Secrecy::of(&server.entry).count()).sum();
    if secrets > 0 {
        let readers = match files::others_may_read(file) {
            true => "other users can read, too: chmod 600 it",
            false => "only you can read",
        };
        let values = counted(secrets, "value");
        output::note(&format!("{values} that may be secret were imported, into a file that {readers}"));
    }
    servers::note_shadowed(file);
}
