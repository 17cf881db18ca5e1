//! The manual pages: a task that writes them (`dist/manual`), and what must be in them.

use std::fs;
use std::path::{Path, PathBuf};

use clap::CommandFactory;

/// The variable that has the folder to write to.
const FOLDER: &str = "TOOLGRAFT_MANUAL";

/// Writes a page for each command.
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
