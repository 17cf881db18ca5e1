//! `toolgraft completions` and `toolgraft man`: what the command's own definition says, for
//! shells and for `man`.

use std::path::PathBuf;

use clap::Command;
use clap_complete::Shell;

use crate::base::Failure;
use crate::base::output;

const COMPLETIONS: &str = "\
Examples:
  toolgraft completions bash > ~/.local/share/bash-completion/completions/toolgraft
  toolgraft completions zsh > ~/.zfunc/_toolgraft        (a folder of your fpath)
  toolgraft completions fish > ~/.config/fish/completions/toolgraft.fish
  toolgraft completions powershell >> $PROFILE

Exit codes: 0 done, 2 wrong usage.";

const MAN: &str = "\
Examples:
  toolgraft man ~/.local/share/man/man1
  toolgraft man | man -l -

Exit codes: 0 done, 1 a page cannot be written, 2 wrong usage.";

/// Options of `toolgraft completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS)]
pub(crate) struct CompletionArgs {
    /// Shell to write them for
    shell: Shell,
}

/// Options of `toolgraft man`.
#[derive(Debug, clap::Args)]
#[command(after_help = MAN)]
pub(crate) struct ManArgs {
    /// Folder to write a page for each command to; without it, the first page is printed
    folder: Option<PathBuf>,
}

/// Runs `toolgraft completions`.
pub(crate) fn completions(args: &CompletionArgs, mut command: Command) -> Result<(), Failure> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "toolgraft", &mut text);
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
