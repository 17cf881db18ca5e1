//! `toolgraft completions` and `toolgraft man`: what the command's own definition says, for
//! shells and for `man`, and what this machine has.

mod values;

use std::path::PathBuf;

use clap::Command;
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};

use crate::base::{Failure, output};

/// The program's name, by which a shell calls it.
const PROGRAM: &str = "toolgraft";

/// The variable that says which shell asks.
const VARIABLE: &str = "TOOLGRAFT_COMPLETE";

/// Options of `toolgraft completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/en/completions.txt").trim_end())]
pub(crate) struct CompletionArgs {
    /// Shell to write them for
    shell: Shell,
}

/// Options of `toolgraft man`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/en/man.txt").trim_end())]
pub(crate) struct ManArgs {
    /// Folder to write a page for each command to; without it, the first page is printed
    folder: Option<PathBuf>,
}

/// Answers a shell that asks what comes next, as the script of `toolgraft completions` has it ask; then the
/// program ends.
pub(crate) fn complete(command: fn() -> Command) {
    CompleteEnv::with_factory(move || values::of(command())).var(VARIABLE).complete();
}

/// Runs `toolgraft completions`.
pub(crate) fn completions(args: &CompletionArgs) -> Result<(), Failure> {
    let shells = Shells::builtins();
    let name = args.shell.to_string();
    let shell = shells.completer(&name).ok_or_else(|| Failure::usage(format!("{name} is not completed")))?;
    let mut text = Vec::new();
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut text).map_err(Failure::job)?;
    output::emit(&String::from_utf8_lossy(&text))
}

/// Runs `toolgraft man`.
pub(crate) fn man(args: &ManArgs, command: Command) -> Result<(), Failure> {
    // The lines on the build are no part of a page.
    let command = command.long_version(None::<&'static str>);
    let Some(folder) = &args.folder else {
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text).map_err(Failure::job)?;
        return output::emit(&String::from_utf8_lossy(&text));
    };
    let written = std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
    written.map_err(|e| Failure::job(format!("cannot write to {}: {e}", folder.display())))?;
    output::tell(&format!("a page for each command is in {}", folder.display()))
}
