//! There are no cycles of files or folders in the library and in the command.
//!
//! The dependencies of a file are read from its `use` lines and the paths in its code. A name that
//! a folder's `mod.rs` only re-exports (`pub use`) counts as defined by its file, and re-exporting
//! is no dependency.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use regex::Regex;

use super::{LIBRARIES, collect, product_code};

/// A module's path from the crate's root: `["parse", "json", "lexer"]`.
type Module = Vec<String>;

/// The modules of one crate.
struct Tree {
    files: BTreeMap<Module, File>,
}

struct File {
    /// The code without comments, tests and `use` declarations.
    code: String,
    /// Every `use`, with its braces expanded.
    uses: Vec<Use>,
}

struct Use {
    path: Vec<String>,
    /// The name in this file.
    name: String,
    /// `true` if it is re-exported.
    public: bool,
}

impl Tree {
    fn read(root: &Path) -> Tree {
        let mut paths = Vec::new();
        collect(root, &mut paths);
        let files = paths.into_iter().map(|path| {
            let inner = path.strip_prefix(root).expect("the file was found under the root").with_extension("");
            let mut module: Module = inner.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if module.last().is_some_and(|last| matches!(last.as_str(), "mod" | "lib" | "main")) {
                module.pop();
            }
            (module, File::read(&product_code(&fs::read_to_string(&path).expect("a source file can be read"))))
        });
        Tree { files: files.collect() }
    }

    /// Returns the modules that `module` depends on.
    fn needs(&self, module: &Module) -> BTreeSet<Module> {
        let file = &self.files[module];
        let mut found = BTreeSet::new();
        for used in &file.uses {
            // A name that is only re-exported is no dependency.
            let needed = !used.public || mentions(&file.code, &used.name);
            if needed {
                found.extend(self.resolve(module, &used.path, 0));
            }
        }
        let inline = Regex::new(r"\b[a-z_0-9]+(?:::[A-Za-z_0-9]+)+").expect("the pattern compiles");
        for path in inline.find_iter(&file.code) {
            let path: Vec<String> = path.as_str().split("::").map(str::to_owned).collect();
            // `json::read` after `use crate::parse::json` is resolved by its `use`.
            let imported = file.uses.iter().find(|used| used.name == path[0]);
            let path = match imported {
                Some(used) => [&used.path[..], &path[1..]].concat(),
                None => path,
            };
            found.extend(self.resolve(module, &path, 0));
        }
        found.remove(module);
        found
    }

    /// Returns the module that defines the target of `path`, as seen from `module`.
    fn resolve(&self, module: &Module, path: &[String], depth: usize) -> Option<Module> {
        assert!(depth < 20, "{path:?} is handed on in a circle, seen from {module:?}");
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "self" => (module.clone(), &path[1..]),
            "super" => (module[..module.len().checked_sub(1)?].to_vec(), &path[1..]),
            first => {
                let child = [&module[..], &[first.to_owned()]].concat();
                if !self.files.contains_key(&child) {
                    return None;
                }
                (module.clone(), path)
            }
        };
        while let Some(next) = rest.first() {
            if next == "super" {
                at.pop();
            } else {
                let child = [&at[..], std::slice::from_ref(next)].concat();
                if !self.files.contains_key(&child) {
                    break;
                }
                at = child;
            }
            rest = &rest[1..];
        }
        let Some(name) = rest.first() else {
            // The path is a module itself; its items are resolved where they are used.
            return None;
        };
        let handed_on = self.files.get(&at)?.uses.iter().find(|used| used.public && used.name == *name);
        match handed_on.and_then(|used| self.resolve(&at, &used.path, depth + 1)) {
            Some(definer) => Some(definer),
            None => Some(at),
        }
    }

    /// Returns groups of two or more files, or entries of one folder, that depend on each other.
    fn circles(&self) -> BTreeSet<String> {
        let needs: BTreeMap<Module, BTreeSet<Module>> = self.files.keys().map(|m| (m.clone(), self.needs(m))).collect();
        let folders: BTreeSet<Module> =
            self.files.keys().flat_map(|m| (0..m.len()).map(|depth| m[..depth].to_vec())).collect();
        let mut found = BTreeSet::new();
        for folder in folders {
            // The entries of this folder: its `mod.rs`, its files and its folders, each as a whole.
            let place = |module: &Module| {
                module.starts_with(&folder).then(|| match module.get(folder.len()) {
                    Some(name) => name.clone(),
                    None => "mod".to_owned(),
                })
            };
            let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (module, needed) in &needs {
                let Some(from) = place(module) else { continue };
                let to = needed.iter().filter_map(place).filter(|to| *to != from);
                arrows.entry(from.clone()).or_default().extend(to);
            }
            for circle in components(&arrows) {
                found.insert(format!("{}: {}", folder.join("/"), circle.into_iter().collect::<Vec<_>>().join(" ")));
            }
        }
        found
    }
}

impl File {
    fn read(code: &str) -> File {
        let declaration = Regex::new(r"(?m)^[ \t]*(pub(?:\([^)]*\))? )?use ([^;]*);").expect("the pattern compiles");
        let mut uses = Vec::new();
        for found in declaration.captures_iter(code) {
            expand(&found[2], &[], found.get(1).is_some(), &mut uses);
        }
        File { code: declaration.replace_all(code, "").into_owned(), uses }
    }
}

/// Expands the braces of a `use` into one entry for each name.
fn expand(tree: &str, before: &[String], public: bool, uses: &mut Vec<Use>) {
    let tree = tree.trim();
    if let Some(open) = tree.find('{') {
        let mut path = before.to_vec();
        path.extend(tree[..open].split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned));
        let inner = tree[open + 1..].strip_suffix('}').unwrap_or_default();
        let mut depth = 0;
        for item in inner.split(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        }) {
            if !item.trim().is_empty() {
                expand(item, &path, public, uses);
            }
        }
        return;
    }
    let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
    let mut path: Vec<String> = [before, &path.split("::").map(|p| p.trim().to_owned()).collect::<Vec<_>>()].concat();
    if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
        path.pop();
    }
    let name = if name.is_empty() { path.last().cloned().unwrap_or_default() } else { name.trim().to_owned() };
    uses.push(Use { path, name, public });
}

fn mentions(code: &str, name: &str) -> bool {
    Regex::new(&format!(r"\b{}\b", regex::escape(name))).expect("the pattern compiles").is_match(code)
}

/// Returns the strongly connected components with two or more members.
fn components(arrows: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<BTreeSet<String>> {
    let reach = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&String> = arrows.get(from).into_iter().flatten().collect();
        while let Some(at) = next.pop() {
            if seen.insert(at.clone()) {
                next.extend(arrows.get(at).into_iter().flatten());
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = arrows.keys().map(|from| (from, reach(from))).collect();
    let circle = |from: &String| {
        let back = |to: &&String| reached.get(*to).is_some_and(|seen| seen.contains(from));
        reached[from].iter().filter(back).cloned().collect::<BTreeSet<_>>()
    };
    arrows.keys().map(circle).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn a_circle_is_seen_through_a_page_and_through_a_path() {
    let file = |code: &str| File::read(code);
    let name = |path: &str| path.split('/').filter(|p| !p.is_empty()).map(str::to_owned).collect::<Module>();
    let tree = |files: &[(&str, &str)]| Tree { files: files.iter().map(|(p, c)| (name(p), file(c))).collect() };
    let handed_on = [("", "mod room;"), ("room", "mod a;\nmod b;\npub use a::{A, other as O};")];
    let with = |more: &[(&str, &str)]| tree(&[&handed_on[..], more].concat()).circles();
    let circle = BTreeSet::from(["room: a b".to_owned()]);
    assert_eq!(with(&[("room/a", "use super::b::B;"), ("room/b", "use crate::room::A;")]), circle);
    assert_eq!(
        with(&[("room/a", "use super::b;\nfn f() { b::g() }"), ("room/b", "fn g() { super::A::new() }")]),
        circle
    );
    assert_eq!(with(&[("room/a", "struct A;"), ("room/b", "use super::A;")]), BTreeSet::new());
}

#[test]
fn no_files_and_no_folders_import_each_other_in_a_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut circles = Vec::new();
    for folder in LIBRARIES.iter().chain(&["cli/src"]) {
        circles.extend(Tree::read(&root.join(folder)).circles().into_iter().map(|c| format!("{folder} {c}")));
    }
    assert!(circles.is_empty(), "{circles:#?}");
}
