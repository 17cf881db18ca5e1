//! Programs as a shell finds them.

use std::path::{Path, PathBuf};

/// Returns the path of the program with this name in `PATH`; `None` if there is none.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    let endings = match cfg!(windows) {
        true => &["", ".exe", ".cmd", ".bat"][..],
        false => &[""],
    };
    let folders = std::env::var_os("PATH")?;
    let names: Vec<String> = endings.iter().map(|ending| format!("{program}{ending}")).collect();
    std::env::split_paths(&folders)
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|path| is_program(path))
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}
