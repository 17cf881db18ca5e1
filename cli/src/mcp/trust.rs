//! `toolgraft mcp trust`.

use std::path::{Path, PathBuf};

use super::foreign;
use super::programs::Machine;
use crate::base::{Failure, output};
use crate::dialog::ask::Asker;
use crate::screen::visible::word;
use crate::servers;
use crate::servers::trust::{self, Project, TrustStore, date};

/// Options of `toolgraft mcp trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/mcp-trust.txt").trim_end())]
pub(super) struct TrustServerArgs {
    /// Configuration file of a project
    #[arg(default_value = servers::LOCAL, conflicts_with = "list")]
    file: PathBuf,

    /// Trust the file without asking
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    yes: bool,

    /// List the trusted files
    #[arg(long, conflicts_with = "revoke")]
    list: bool,

    /// Revoke the trust in FILE
    #[arg(long)]
    revoke: bool,
}

/// Runs `toolgraft mcp trust`.
pub(super) fn run(args: &TrustServerArgs) -> Result<(), Failure> {
    let mut store = TrustStore::open();
    match () {
        () if args.list => output::emit(&list(&store)),
        () if args.revoke => revoke(&mut store, &args.file),
        () => say_yes(&mut store, &args.file, args.yes),
    }
}

fn say_yes(store: &mut TrustStore, file: &Path, yes: bool) -> Result<(), Failure> {
    let project = project(file)?;
    let shown = word(&file.display().to_string());
    if project.starts_nothing() {
        return output::tell(&format!("{shown} starts no program: there is nothing to trust"));
    }
    if store.trusts(&project) {
        return output::tell(&format!("{shown} is trusted already"));
    }
    // What is trusted without a question is shown all the same, as in a script's log.
    if yes {
        output::tell_stderr(trust::question(file, &project, store));
    } else {
        let Some(asker) = Asker::at_terminal() else {
            return Err(Failure::usage(format!(
                "{}there is no terminal to ask on: read it, then add --yes",
                trust::question(file, &project, store)
            )));
        };
        if !trust::ask(&asker, file, &project, store)? {
            // What somebody wanted so is no error, though nothing was done.
            output::note(&format!("{shown} is not trusted"));
            return Err(Failure::Reported);
        }
    }
    store.add(&project).map_err(Failure::job)?;
    output::tell(&format!("{shown} is trusted in its present form; --revoke undoes that"))
}

/// Reads a project's configuration file, of this program or of one whose servers can be imported.
fn project(file: &Path) -> Result<Project, Failure> {
    // This program reads `.mcp.json` itself.
    let other = |machine: &Machine| machine.is_projects(file) && !file.ends_with(".mcp.json");
    if !file.exists() {
        return Err(Failure::usage(format!(
            "there is no {}: go to the project's folder, or name its configuration file, as in: toolgraft mcp trust FILE",
            file.display()
        )));
    }
    match Machine::this().filter(other) {
        Some(machine) => foreign::project(file, &machine),
        None => Project::read(file),
    }
}

fn revoke(store: &mut TrustStore, file: &Path) -> Result<(), Failure> {
    // A file that is gone may still be trusted, and come back.
    let path = trust::place(file).or_else(|_| std::path::absolute(file)).unwrap_or_else(|_| file.to_owned());
    let shown = word(&path.display().to_string());
    match store.remove(&path).map_err(Failure::job)? {
        true => output::tell(&format!("{shown} is no longer trusted")),
        false => Err(Failure::usage(format!("{shown} was not trusted: --list shows the trusted files"))),
    }
}

fn list(store: &TrustStore) -> String {
    let lines = store.files().map(|(path, entry)| {
        let now = match project(path) {
            Ok(project) if store.trusts(&project) => "",
            Ok(_) => "; the file has changed since, so you will be asked again",
            Err(_) => "; the file does not exist, or cannot be read",
        };
        format!("{}  since {}{now}\n", word(&path.display().to_string()), date(entry.trusted_at))
    });
    let lines: String = lines.collect();
    if lines.is_empty() { "no project file is trusted\n".to_owned() } else { lines }
}
