//! The manual pages: a task that writes them (`dist/manual`), and what must be in them; the command lines of all pages.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap::error::{ContextKind, ErrorKind};

use command_lines::{command_lines, files, pages};

#[path = "../tests/command/command_lines.rs"]
mod command_lines;

/// Name of the environment variable with the directory to write to.
const FOLDER: &str = "TOOLGRAFT_MANUAL";

/// Writes a manual page for each command to this directory.
fn write(folder: &Path) {
    // The lines on the build are no part of a page.
    let command = crate::Cli::command().long_version(None::<&'static str>);
    fs::create_dir_all(folder).unwrap();
    clap_mangen::generate_to(command, folder).unwrap();
}

#[test]
#[ignore = "a task: dist/manual"]
fn write_the_manual_pages() {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    write(&folder.expect("dist/manual names the folder"));
}

#[test]
fn every_command_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages: Vec<String> = names.collect();
    for page in ["toolgraft.1", "toolgraft-chat.1", "toolgraft-mcp-import.1"] {
        assert!(pages.iter().any(|name| name == page), "{page}: {pages:?}");
    }
    assert!(!pages.iter().any(|name| name.contains("demo-server") || name.contains("help")), "{pages:?}");
    let page = fs::read_to_string(folder.path().join("toolgraft-mcp-import.1")).unwrap();
    for part in [".TH toolgraft-mcp-import", "Claude", "dry\\-run", "Exit codes"] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[test]
fn every_command_line_of_the_pages_and_of_help_is_one_that_the_program_takes() {
    let pages = pages().into_iter().map(|file| (file, false));
    let (mut checked, mut wrong) = (0, Vec::new());
    for (file, is_help) in pages.chain(files("cli/src/help", ".txt").into_iter().map(|file| (file, true))) {
        for (line, is_whole) in command_lines(&fs::read_to_string(&file).unwrap(), is_help) {
            let words = shlex::split(&line).unwrap_or_else(|| panic!("{}: {line}", file.display()));
            let is_end = |word: &String| ["|", ">", ">>", "<", "&&", "2>", ";"].contains(&word.as_str());
            let words: Vec<_> = words.into_iter().take_while(|word| !is_end(word)).map(Into::into).collect();
            checked += 1;
            let Err(error) = crate::help::parsed::<crate::Cli>(words) else { continue };
            let is_right = match error.kind() {
                ErrorKind::MissingRequiredArgument | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => !is_whole,
                // A word in capitals stands for any.
                ErrorKind::InvalidValue => {
                    let value = error.get(ContextKind::InvalidValue).map(ToString::to_string).unwrap_or_default();
                    !is_whole && !value.is_empty() && value == value.to_uppercase()
                }
                ErrorKind::ValueValidation => error.to_string().contains(": cannot read "),
                _ => !error.use_stderr(),
            };
            if !is_right {
                wrong.push(format!("{}: {line}: {error}", file.display()));
            }
        }
    }
    assert!(checked > 200 && wrong.is_empty(), "{checked}:\n{}", wrong.join("\n"));
}
