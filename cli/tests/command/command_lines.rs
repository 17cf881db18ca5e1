//! The command lines of the pages and of help.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files in a folder of the repository that end so.
pub(crate) fn files(folder: &str, end: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let found = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    found.filter(|path| path.to_str().unwrap().ends_with(end)).collect()
}

/// Returns the pages that have command lines.
pub(crate) fn pages() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/appendix", "crates/toolgraft-mcp", "crates/toolgraft-serve", "fixtures"];
    folders.iter().flat_map(|folder| files(folder, ".md")).collect()
}

/// Returns the command lines of a page, each `true` if it is whole: those of its blocks and of help are, one in a
/// sentence may only name the command.
pub(crate) fn command_lines(text: &str, is_help: bool) -> Vec<(String, bool)> {
    let (mut lines, mut block) = (Vec::new(), is_help.then_some("sh"));
    let text = text.replace(" \\\n", " ");
    for line in text.lines() {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            block = if block.is_some() { None } else { Some(language) };
            continue;
        }
        let command = |line: &str| line.find("toolgraft ").map(|at| line[at..].to_owned());
        match block {
            Some(language @ ("sh" | "console")) => {
                let typed = line.trim_start();
                let Some(typed) = typed.strip_prefix("$ ").or((language == "sh").then_some(typed)) else { continue };
                let begins = typed.starts_with("toolgraft ") || !is_help && typed.contains("| toolgraft ");
                // In help the explanation follows at a distance.
                let typed = if is_help { typed.split("   ").next().unwrap_or_default() } else { typed };
                lines.extend(command(typed).filter(|_| begins).map(|line| (line, true)));
            }
            Some(_) => {}
            None => {
                let code = line.split('`').skip(1).step_by(2).filter(|code| code.starts_with("toolgraft "));
                let code = code.filter(|code| !code.contains(['…', '[']));
                lines.extend(code.map(|code| (code.to_owned(), false)));
            }
        }
    }
    lines
}
