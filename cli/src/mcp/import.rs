//! `toolgraft mcp import`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::add::warn_unset;
use super::foreign::{self, Foreign};
use super::list;
use super::places::{Machine, Program};
use crate::base::{Failure, input, output};
use crate::dialog::ask::Asker;
use crate::screen::{excerpt::names as shown_names, visible::word};
use crate::servers;
use crate::servers::config_file::{ConfigFile, checked, target};
use crate::servers::trust;
use crate::terminal::counted;
use toolgraft::secrets::Secrecy;
use toolgraft_files as files;

/// Options of `toolgraft mcp import`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-import.txt").trim_end())]
pub(super) struct Args {
    /// Where from: claude-desktop, claude-code, cursor, vscode, or a file
    #[arg(value_name = "FROM")]
    from: Vec<String>,

    /// Take over this server only; may be given several times
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,

    /// Replace servers of the same name
    #[arg(long)]
    replace: bool,

    /// Show what would be taken over, and write nothing
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,

    /// Write without being asked
    #[arg(long)]
    yes: bool,

    /// File to write to [default: ~/.config/toolgraft/mcp.json]
    #[arg(long, value_name = "FILE")]
    mcp_config: Option<PathBuf>,
}

/// A file to read from.
struct Source {
    /// What it is called: the program, or nothing for a file that was named.
    program: Option<Program>,
    path: PathBuf,
}

/// The servers of a file, and what becomes of each.
struct Found {
    title: String,
    servers: Vec<(Foreign, Fate)>,
}

/// What becomes of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    New,
    Replaces,
    /// The same entry is there.
    Known,
    /// Another entry has the name.
    Taken,
    /// An earlier file has a server of the name.
    Earlier,
    /// It has keys for which there is nothing here.
    Refused,
    /// `--server` does not name it.
    NotAsked,
}

/// Runs `toolgraft mcp import`.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let machine = Machine::this().ok_or_else(|| Failure::usage("there is no home directory"))?;
    let target = ConfigFile::open(target(args.mcp_config.as_deref())?)?;
    let mut all = Vec::new();
    let mut refused = false;
    for source in sources(args, &machine)? {
        let read = servers_of(&source, &machine);
        match read {
            Ok(Some(servers)) => all.push((title(&source), servers)),
            Ok(None) => {
                refused = true;
                output::warn(&format!("{} is left out", source.path.display()));
            }
            // One that was looked for by itself does not stop the others.
            Err(Failure::Usage(message)) if source.program.is_some() => output::warn(&message),
            Err(failure) => return Err(failure),
        }
    }
    let found = judged(all, args, &target)?;
    output::emit(&shown(&found))?;
    let taken: Vec<&Foreign> = taken(&found).collect();
    if taken.is_empty() && refused {
        return said_no();
    }
    if taken.is_empty() {
        output::note("there is nothing to take over");
        return Ok(());
    }
    if args.dry_run {
        return Ok(());
    }
    confirm(args, taken.len(), target.path())?;
    for server in &taken {
        target.set(&server.name, &server.entry);
    }
    target.write()?;
    output::tell(&format!("took over {} into {}", counted(taken.len(), "server"), target.path().display()))?;
    advise(&taken, target.path());
    Ok(())
}

fn sources(args: &Args, machine: &Machine) -> Result<Vec<Source>, Failure> {
    let all = Program::value_variants();
    let of =
        |program: Program| program.files(machine).into_iter().map(move |path| Source { program: Some(program), path });
    if args.from.is_empty() {
        let files: Vec<Source> = all.iter().copied().flat_map(of).filter(|source| source.path.exists()).collect();
        for file in machine.project_files() {
            output::note(&format!(
                "this folder has a file of its project too: `toolgraft mcp import {}`",
                file.display()
            ));
        }
        return match files.is_empty() {
            false => Ok(files),
            true => {
                let looked: Vec<String> =
                    all.iter().copied().flat_map(of).map(|s| s.path.display().to_string()).collect();
                Err(Failure::usage(format!(
                    "no other program's servers were found; name a file, or add one with `toolgraft mcp add`. \
                     Looked for:\n  {}",
                    looked.join("\n  ")
                )))
            }
        };
    }
    let mut files = Vec::new();
    for from in &args.from {
        match Program::from_str(from, false) {
            Ok(program) => {
                let there: Vec<Source> = of(program).filter(|source| source.path.exists()).collect();
                if there.is_empty() {
                    let looked: Vec<String> = of(program).map(|source| source.path.display().to_string()).collect();
                    return Err(Failure::usage(format!(
                        "{} has no file of servers here; looked for {}",
                        program.name(),
                        looked.join(" and ")
                    )));
                }
                files.extend(there);
            }
            Err(_) if Path::new(from).exists() => files.push(Source { program: None, path: from.into() }),
            Err(_) => {
                let words: Vec<_> = all.iter().filter_map(Program::to_possible_value).collect();
                let words: Vec<_> = words.iter().map(PossibleValue::get_name).collect();
                return Err(Failure::usage(format!("{from:?} is neither a file nor one of {}", words.join(", "))));
            }
        }
    }
    Ok(files)
}

/// The servers of a file; `None` where it is a project's and nobody trusts it.
fn servers_of(source: &Source, machine: &Machine) -> Result<Option<Vec<Foreign>>, Failure> {
    if source.program.is_some() || !machine.is_projects(&source.path) {
        return foreign::read(&input::read_text(&source.path)?, &source.path, None, machine).map(Some);
    }
    let folder = machine.project_of(&source.path);
    let project = foreign::project(&source.path, machine)?;
    let remedy = format!("look at it, then run `toolgraft mcp trust {} --yes` once", source.path.display());
    match trust::demand_of(&source.path, project, &remedy)? {
        Some(text) => foreign::read(&text, &source.path, Some(&folder), machine).map(Some),
        None => Ok(None),
    }
}

fn title(source: &Source) -> String {
    let path = source.path.display();
    source.program.map_or_else(|| path.to_string(), |program| format!("{}: {path}", program.name()))
}

/// Says what becomes of each server.
fn judged(all: Vec<(String, Vec<Foreign>)>, args: &Args, target: &ConfigFile) -> Result<Vec<Found>, Failure> {
    let mut seen: Vec<Foreign> = Vec::new();
    let mut found = Vec::new();
    for (title, servers) in all {
        let mut judged = Vec::new();
        for server in servers {
            let earlier = seen.iter().find(|earlier| earlier.name == server.name);
            let fate = match (target.entry(&server.name), earlier) {
                _ if !args.server.is_empty() && !args.server.contains(&server.name) => Fate::NotAsked,
                _ if !server.refused.is_empty() => Fate::Refused,
                (_, Some(earlier)) if earlier.entry == server.entry => Fate::Known,
                (_, Some(_)) => Fate::Earlier,
                (Some(entry), _) if entry == server.entry => Fate::Known,
                (Some(_), _) if args.replace => Fate::Replaces,
                (Some(_), _) => Fate::Taken,
                (None, _) => Fate::New,
            };
            // Another file's server may have the name of one that is refused.
            if fate != Fate::Refused || !args.server.is_empty() {
                seen.push(server.clone());
            }
            judged.push((server, fate));
        }
        found.push(Found { title, servers: judged });
    }
    match args.server.iter().find(|name| !seen.iter().any(|server| server.name == **name)) {
        Some(missing) => {
            let names: Vec<&str> = seen.iter().map(|server| server.name.as_str()).collect();
            Err(Failure::usage(format!("no server {missing:?} there; there are: {}", shown_names(names))))
        }
        None => Ok(found),
    }
}

fn taken(found: &[Found]) -> impl Iterator<Item = &Foreign> {
    let servers = found.iter().flat_map(|file| &file.servers);
    servers.filter(|(_, fate)| matches!(fate, Fate::New | Fate::Replaces)).map(|(server, _)| server)
}

fn shown(found: &[Found]) -> String {
    let mut text = String::new();
    for file in found {
        let _ = writeln!(text, "{}", file.title);
        if file.servers.is_empty() {
            let _ = writeln!(text, "  no servers");
        }
        for (server, fate) in &file.servers {
            let why = match fate {
                Fate::NotAsked => continue,
                Fate::New => None,
                Fate::Refused => Some(format!(
                    "left out: there is nothing here like {}; add it by hand (`toolgraft mcp add`)",
                    server.refused.join(", ")
                )),
                Fate::Replaces => Some("replaces the server of this name".to_owned()),
                Fate::Known => Some("is there already".to_owned()),
                Fate::Taken => Some("left out: another server has this name; --replace takes this one".to_owned()),
                Fate::Earlier => Some("left out: a file above has a server of this name".to_owned()),
            };
            text.push_str(&list::server(&server.name, &server.entry));
            for line in why.into_iter().chain(server.notes.iter().map(|note| note.text())) {
                let _ = writeln!(text, "      {}", word(&format!("({line})")));
            }
        }
    }
    text
}

fn confirm(args: &Args, servers: usize, target: &Path) -> Result<(), Failure> {
    if args.yes {
        return Ok(());
    }
    let Some(asker) = Asker::at_terminal() else {
        return Err(Failure::usage("nobody is at a terminal to say yes: look at it, then say --yes"));
    };
    let question = format!("Write {} to {}? [y/n] ", counted(servers, "server"), word(&target.display().to_string()));
    match asker.agrees(&question, &mut |_| None) {
        true => Ok(()),
        false => said_no(),
    }
}

/// What somebody wanted so is no error, though nothing was done.
fn said_no() -> Result<(), Failure> {
    output::note("nothing was written");
    Err(Failure::Reported)
}

fn advise(taken: &[&Foreign], file: &Path) {
    let secrets: usize = taken.iter().map(|server| Secrecy::of(&server.entry).count()).sum();
    if secrets > 0 {
        let values = counted(secrets, "value");
        output::note(&match files::others_may_read(file) {
            true => format!(
                "{values} that may be secret came with them, into a file that others can read too: chmod 600 it"
            ),
            false => format!("{values} that may be secret came with them, into a file that only you can read"),
        });
    }
    let mut unset: Vec<String> = taken.iter().flat_map(|server| checked(&server.name, &server.entry).1).collect();
    unset.sort();
    unset.dedup();
    warn_unset(&unset);
    servers::note_shadowed(file);
}
