//! Tells the program which commit it is built from, for `--version`: `TOOLGRAFT_COMMIT` where
//! it is set, else what cargo wrote into a packed crate, else what git says of this checkout.
//! Elsewhere it is not known, and the program says so.
//!
//! Makes code of the program's words, too (`src/phrases/words`).

use std::collections::BTreeSet;
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
    words(&here);
}

/// The words of all files as what `src/phrases/mod.rs` makes methods of, which says how they are
/// written.
fn words(here: &Path) {
    let folder = here.join("src/phrases/words");
    println!("cargo:rerun-if-changed={}", folder.display());
    let files = std::fs::read_dir(&folder).expect("the folder of the words is there");
    let files: BTreeSet<_> = files.map(|file| file.expect("the folder can be read").path()).collect();
    let (mut phrases, mut counts, mut pages) = (String::new(), String::new(), String::new());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let page = file.file_stem().and_then(|name| name.to_str()).filter(|name| name.ends_with("_page"));
        let mut names = Vec::new();
        let mut lines = (1..).zip(text.lines());
        while let Some((at, head)) = lines.find(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
            let [english, chinese, behind] = [(); 3].map(|()| lines.next().unwrap_or_default().1);
            let (name, values) = head.split_once(' ').unwrap_or((head, ""));
            let values: Vec<&str> = values.split_whitespace().collect();
            let wrong = [english, chinese].into_iter().find_map(|text| wrong(text, &values));
            if let Some(why) = wrong.or((!behind.is_empty()).then_some("more than three lines")) {
                panic!("{}:{at}: the entry {name} has {why}", file.display());
            }
            let texts = [english, chinese].map(|text| format!("\"{}\"", text.replace('"', "\\\""))).join(", ");
            names.push(name);
            match values[..] {
                ["+n"] => counts += &format!("    {name} = {texts};\n"),
                [] => phrases += &format!("    /// {english}\n    {name} = {texts};\n"),
                _ => phrases += &format!("    /// {english}\n    {name}({}) = {texts};\n", values.join(", ")),
            }
        }
        pages += &page.map(|page| format!("    {page}: {};\n", names.join(" "))).unwrap_or_default();
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let code = format!("phrases! {{\n{phrases}}}\n\ncounts! {{\n{counts}}}\n\npages! {{\n{pages}}}\n");
    std::fs::write(out.join("phrases.rs"), code).expect("OUT_DIR can be written to");
}

/// What is wrong in a text of an entry with these values, if anything is.
fn wrong(text: &str, values: &[&str]) -> Option<&'static str> {
    let places: BTreeSet<&str> = text.split('{').skip(1).filter_map(|place| place.split('}').next()).collect();
    let has_values = !matches!(values, [] | ["+n"]);
    let unescaped = ["\\\\", "\\n", "\\x20"].iter().fold(text.to_owned(), |text, escape| text.replace(escape, ""));
    match text {
        "" => Some("less than three lines"),
        _ if text.trim() != text => Some("a space at an end that is not written \\x20"),
        _ if unescaped.contains('\\') => Some("a backslash that is none of \\\\, \\n and \\x20"),
        _ if has_values && places != values.iter().copied().collect() => Some("other places than values"),
        _ => None,
    }
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
