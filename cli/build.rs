//! Tells the program which commit it is built from, for `--version`: `TOOLGRAFT_COMMIT` where
//! it is set, else what cargo wrote into a packed crate, else what git says of this checkout.
//! Elsewhere it is not known, and the program says so.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=TOOLGRAFT_COMMIT");
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let set = std::env::var("TOOLGRAFT_COMMIT").ok().filter(|commit| !commit.is_empty());
    let commit = set.or_else(|| packed(&here)).or_else(|| from_git(&here)).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=TOOLGRAFT_BUILD_COMMIT={commit}");
    println!("cargo:rustc-env=TOOLGRAFT_BUILD_TARGET={}", std::env::var("TARGET").expect("cargo sets it"));
}

/// The commit of a packed crate: `{"git": {"sha1": "…"}}`.
fn packed(here: &Path) -> Option<String> {
    let text = std::fs::read_to_string(here.join(".cargo_vcs_info.json")).ok()?;
    let digits = text.split("\"sha1\"").nth(1)?.split('"').nth(1)?;
    Some(digits.get(..12)?.to_owned())
}

/// The commit that is checked out, if this folder is a part of our repository.
fn from_git(here: &Path) -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(here).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned()).filter(|text| !text.is_empty())
    };
    // A copy inside another repository has nothing to do with that one's commits.
    let root = Path::new(&git(&["rev-parse", "--show-toplevel"])?).canonicalize().ok()?;
    if root != here.parent()?.canonicalize().ok()? {
        return None;
    }
    // What changes with a commit, wherever a worktree keeps it.
    let branch = git(&["rev-parse", "--symbolic-full-name", "HEAD"]);
    for name in ["HEAD", "packed-refs"].into_iter().chain(branch.as_deref().filter(|name| name.starts_with("refs/"))) {
        if let Some(path) =
            git(&["rev-parse", "--git-path", name]).map(|path| here.join(path)).filter(|path| path.exists())
        {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let day = git(&["log", "-1", "--format=%cs"]).map(|day| format!(", {day}")).unwrap_or_default();
    Some(format!("{commit}{day}"))
}
