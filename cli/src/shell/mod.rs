//! `toolgraft completions`: what the command's own definition says, for shells, and what this
//! machine has. The manual pages are written by a task, `dist/manual`.

mod values;

use clap::Command;
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};

use crate::base::{Failure, output};

/// Name of the executable, for which the shell requests completions.
const PROGRAM: &str = "toolgraft";

/// Environment variable with the shell's name, by which a shell requests completions.
const VARIABLE: &str = "TOOLGRAFT_COMPLETE";

/// Options of `toolgraft completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/completions.txt").trim_end())]
pub(crate) struct CompletionArgs {
    /// Shell to write them for
    shell: Shell,
}

/// Answers a shell's request for completions and ends the program; returns if the environment contains no such request.
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
