//! `toolgraft mcp trust`.

use std::path::{Path, PathBuf};

use super::foreign;
use super::programs::Machine;
use crate::base::{Failure, output};
use crate::dialog::ask::Asker;
use crate::phrases::Phrases;
use crate::screen::visible::word;
use crate::servers;
use crate::servers::trust::{self, Project, Store, date};
use toolgraft::dialect::Lang;

/// Options of `toolgraft mcp trust`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/en/mcp-trust.txt").trim_end())]
pub(super) struct Args {
    /// Configuration file of a project
    #[arg(default_value = servers::LOCAL, conflicts_with = "list")]
    file: PathBuf,

    /// Say yes without being asked
    #[arg(long, conflicts_with_all = ["list", "revoke"])]
    yes: bool,

    /// List the trusted files
    #[arg(long, conflicts_with = "revoke")]
    list: bool,

    /// Take the trust in FILE back
    #[arg(long)]
    revoke: bool,
}

/// Runs `toolgraft mcp trust`.
pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let mut store = Store::open();
    match () {
        () if args.list => output::emit(&list(&store)),
        () if args.revoke => revoke(&mut store, &args.file),
        () => say_yes(&mut store, &args.file, args.yes),
    }
}

fn say_yes(store: &mut Store, file: &Path, yes: bool) -> Result<(), Failure> {
    let (project, say) = (project(file)?, Phrases::of_user(None));
    let shown = word(&file.display().to_string());
    if project.starts_nothing() {
        return output::tell(&say.nothing_to_trust(shown));
    }
    if store.trusts(&project) {
        return output::tell(&say.is_trusted_already(shown));
    }
    if yes {
        output::tell_stderr(trust::question(file, &project, store, say));
    } else {
        let Some(asker) = Asker::at_terminal(say) else {
            return Err(Failure::usage(format!(
                "{}nobody is at a terminal to say yes: look at it, then say --yes",
                trust::question(file, &project, store, Phrases::of(Lang::En))
            )));
        };
        if !trust::ask(&asker, file, &project, store)? {
            // What somebody wanted so is no error, though nothing was done.
            output::note(&say.is_not_trusted(shown));
            return Err(Failure::Reported);
        }
    }
    store.add(&project).map_err(Failure::job)?;
    output::tell(&say.is_trusted_now(shown))
}

/// A project's file, of this program or of one whose servers can be imported.
fn project(file: &Path) -> Result<Project, Failure> {
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

fn revoke(store: &mut Store, file: &Path) -> Result<(), Failure> {
    // A file that is gone may still be trusted, and come back.
    let path = trust::place(file).or_else(|_| std::path::absolute(file)).unwrap_or_else(|_| file.to_owned());
    let shown = word(&path.display().to_string());
    match store.remove(&path).map_err(Failure::job)? {
        true => output::tell(&Phrases::of_user(None).is_trusted_no_more(shown)),
        false => Err(Failure::usage(format!("{shown} was not trusted: --list shows what is"))),
    }
}

fn list(store: &Store) -> String {
    let say = Phrases::of_user(None);
    let lines = store.files().map(|(path, entry)| {
        let now = match project(path) {
            Ok(project) if store.trusts(&project) => "",
            Ok(_) => say.but_has_changed(),
            Err(_) => say.but_is_gone(),
        };
        format!("{}  {}{now}\n", word(&path.display().to_string()), say.trusted_since(date(entry.trusted_at)))
    });
    let lines: String = lines.collect();
    if lines.is_empty() { format!("{}\n", say.nothing_is_trusted()) } else { lines }
}
