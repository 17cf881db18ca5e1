//! The documents: their links resolve, and their excerpts of other files are up to date.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new("`+[^`]*`+").unwrap());
static LINK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\]\(([^()\s]+(?:\([^()\s]*\))?)(?:\s+"[^"]*")?\)|(?m)^\[[^\]]+\]:\s*(\S+)"#).unwrap()
});
static HEADING_LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\[([^\]]*)\]\([^)]*\)").unwrap());

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Collects the Markdown files of a folder and its subfolders, except for built and downloaded
/// ones.
fn documents(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let path = entry.path();
        // A symlinked page of a package has its links in `docs`.
        if entry.file_type().unwrap().is_symlink() {
            continue;
        }
        let is_foreign =
            ["target", "node_modules", "corpus", "artifacts"].contains(&name.as_str()) || name.starts_with("venv");
        if path.is_dir() && !is_foreign && !name.starts_with('.') {
            documents(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// Removes fenced code, in which brackets are not links.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let kept = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_fence && !is_code
    });
    kept.map(|line| CODE.replace_all(line, "") + "\n").collect()
}

/// Returns the targets of the document's links.
fn links(text: &str) -> Vec<String> {
    let target = |link: regex::Captures<'_>| link.get(1).or(link.get(2)).unwrap().as_str().to_owned();
    LINK.captures_iter(&prose(text)).map(target).collect()
}

/// Returns the anchors of a document's headings, in GitHub's form.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) else { continue };
        let heading = HEADING_LINK.replace_all(heading.trim_start_matches('#'), "$1");
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let slug: String = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let same = anchors.iter().filter(|anchor| **anchor == slug).count();
        anchors.push(if same == 0 { slug } else { format!("{slug}-{same}") });
    }
    anchors
}

#[test]
fn links_and_anchors_are_found() {
    let text = "[a](b.md#c \"t\") `[no](x.md)`\n```\n[no](y.md)\n```\n[d]: e.md\n";
    assert_eq!(links(text), ["b.md#c", "e.md"]);
    assert_eq!(anchors("# A `b`: c\n## [D](d.md)\n## d\n```\n# no\n```\n## 中文\n"), ["a-b-c", "d", "d-1", "中文"]);
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let mut found = Vec::new();
    documents(root(), &mut found);
    assert!(found.len() > 20, "{found:?}");
    let mut dead = Vec::new();
    for document in found {
        let text = fs::read_to_string(&document).unwrap();
        for link in links(&text).iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { document.clone() } else { document.parent().unwrap().join(path) };
            let is_dead = match fs::read_to_string(&target) {
                Ok(text) if !anchor.is_empty() && target.extension().is_some_and(|e| e == "md") => {
                    !anchors(&text).iter().any(|found| found == anchor)
                }
                _ => !target.exists(),
            };
            if is_dead {
                dead.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

#[test]
fn the_balancers_that_are_shown_are_those_that_are_tested() {
    let shown = fs::read_to_string(root().join("docs/deploy.md")).unwrap();
    for (language, file) in [("haproxy", "haproxy.cfg"), ("nginx", "nginx.conf")] {
        let tested = fs::read_to_string(root().join("e2e/deploy").join(file)).unwrap();
        let tested = tested.split_once('\n').unwrap().1;
        assert!(shown.contains(&format!("```{language}\n{tested}```")), "docs/deploy.md shows another {file}");
    }
}

/// Returns the targets of `make` with their descriptions, as printed by `make help`.
fn targets() -> Vec<(String, String)> {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let (_, rest) = makefile.split_once("define HELP\n").unwrap();
    let mut targets: Vec<(String, String)> = Vec::new();
    for line in rest.split_once("\nendef").unwrap().0.lines() {
        match (line.strip_prefix("  "), targets.last_mut()) {
            (Some(more), Some((_, said))) => said.extend([" ", more.trim_start()]),
            _ => {
                let (name, said) = line.split_once(' ').unwrap();
                targets.push((name.to_owned(), said.trim_start().to_owned()));
            }
        }
    }
    targets
}

#[test]
fn every_target_of_make_is_in_one_short_table() {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap().replace("\\\n", "");
    let phony = makefile.lines().find_map(|line| line.strip_prefix(".PHONY: ")).unwrap();
    let targets = targets();
    assert_eq!(phony.split_whitespace().collect::<Vec<_>>(), targets.iter().map(|(name, _)| name).collect::<Vec<_>>());
    assert!(targets.len() <= 25, "{} targets", targets.len());
    let rules = makefile.lines().filter_map(|line| {
        let (name, rest) = line.split_once(':')?;
        (!rest.starts_with('=') && !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
            .then_some(name)
    });
    for rule in rules {
        assert!(targets.iter().any(|(name, _)| name == rule), "`make help` does not name `{rule}`");
    }
    let contributing = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let rows: String = targets.iter().map(|(name, said)| format!("| `{name}` | {said} |\n")).collect();
    assert!(contributing.contains(&rows), "CONTRIBUTING.md has another table than `make help`:\n{rows}");
}

#[test]
fn documents_name_only_targets_that_make_has() {
    let targets = targets();
    let mut unknown = Vec::new();
    let mut pages = Vec::new();
    documents(root(), &mut pages);
    for document in pages {
        let text = fs::read_to_string(&document).unwrap();
        for named in text.split("`make ").skip(1) {
            let name: String = named.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            if !targets.iter().any(|(target, _)| *target == name) {
                unknown.push(format!("{}: make {name}", document.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

/// Collects the texts of all Rust files of a folder and its subfolders, except for built and
/// downloaded ones.
fn rust(folder: &Path, texts: &mut String) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy();
        if path.is_dir() && !["target", "node_modules"].contains(&&*name) && !name.starts_with("venv") {
            rust(&path, texts);
        } else if name.ends_with(".rs") {
            texts.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn the_tests_that_hold_a_promise_are_there() {
    let page = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let name = Regex::new(r"`([a-z]+(?:_[a-z0-9]+){3,})`").unwrap();
    let named: std::collections::BTreeSet<_> = name.captures_iter(&page).map(|found| found[1].to_owned()).collect();
    assert!(named.len() > 20, "{named:?}");
    let mut texts = String::new();
    for folder in ["src", "cli", "crates", "tests"] {
        rust(&root().join(folder), &mut texts);
    }
    let missing: Vec<_> = named.iter().filter(|name| !texts.contains(&format!("fn {name}()"))).collect();
    assert!(missing.is_empty(), "docs/security.md names tests that are not there: {missing:?}");
}
