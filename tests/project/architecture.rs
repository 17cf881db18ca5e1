//! The allowed imports between modules, and the dependencies of each feature.
//!
//! Vocabulary ← stages ← turn ← agent: the test reads the sources, so that a wrong `use` fails at
//! once. Within a module, files and folders do not import each other in a cycle (`circles`).

mod circles;
#[path = "architecture/front.rs"]
mod front;
mod names;
mod panics;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;

/// The modules in the order of imports: a module may import those of earlier levels, and its
/// neighbours on a level without a cycle.
const FLOORS: &[&[&str]] = &[
    &["budget", "cause", "http", "json", "message", "secrets", "spans"],
    &["tools"],
    &["dialect"],
    &["event"],
    &["parse"],
    &["template"],
    &["outcome"],
    &["conversation", "wire"],
    &["constrain"],
    STAGES,
    &["transcript"],
    &["turn"],
    &["agent"],
];
/// Stages, none of which imports another.
const STAGES: &[&str] = &["prompt", "model", "validate", "route"];
/// Modules that may use a runtime or the network; all others may not.
const WITH_RUNTIME: &[&str] = &["budget", "http", "model", "route", "transcript", "agent"];

/// A source file and its top-level module.
struct Source {
    path: PathBuf,
    module: String,
    /// The code without comments and the test module.
    code: String,
}

/// The source folders of the libraries.
const LIBRARIES: [&str; 5] = [
    "src",
    "crates/toolgraft-files/src",
    "crates/toolgraft-mcp/src",
    "crates/toolgraft-protocol/src",
    "crates/toolgraft-serve/src",
];

/// Returns the sources of the library itself.
fn sources() -> Vec<Source> {
    sources_of(LIBRARIES[0])
}

fn sources_of(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > 1, "only {} source files were found", files.len());
    files
        .into_iter()
        .map(|path| {
            let inner = path.strip_prefix(&root).expect("the file was found under the root");
            let first = inner.components().next().expect("a file has a name");
            let module =
                Path::new(first.as_os_str()).file_stem().expect("a file has a stem").to_string_lossy().into_owned();
            let code = product_code(&fs::read_to_string(&path).expect("a source file can be read"));
            Source { path, module, code }
        })
        .collect()
}

/// Collects the source files of a folder and its subfolders, without those of tests.
pub(crate) fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder can be read") {
        let path = entry.expect("an entry can be read").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") && !is_test_file(&path) {
            files.push(path);
        }
    }
}

/// Returns `true` for files of `#[cfg(test)] mod tests;`.
fn is_test_file(path: &Path) -> bool {
    path.components().any(|c| c.as_os_str() == "tests" || c.as_os_str() == "tests.rs")
}

/// Returns the code without line comments (examples in the documentation are not part of the
/// module) and without the test module.
fn product_code(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    code.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line }).collect::<Vec<_>>().join("\n")
}

/// Returns the top-level modules that a file names by `crate::`, also in braces, or by
/// `toolgraft::`.
fn imports(code: &str) -> BTreeSet<String> {
    let single = Regex::new(r"\b(?:crate|toolgraft)::([a-z_]+)").expect("the pattern compiles");
    let group = Regex::new(r"\b(?:crate|toolgraft)::\{([^;]*)\}").expect("the pattern compiles");
    let first = Regex::new(r"^\s*([a-z_]+)").expect("the pattern compiles");
    let mut found: BTreeSet<String> = single.captures_iter(code).map(|c| c[1].to_owned()).collect();
    for list in group.captures_iter(code) {
        let mut depth = 0;
        let items = list[1].split(|c: char| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && depth == 0
        });
        found.extend(items.filter_map(|item| first.captures(item)).map(|c| c[1].to_owned()));
    }
    found
}

#[test]
fn imports_are_found_alone_in_braces_and_inline() {
    let code = "use crate::parse::{Parser, config};\nuse crate::{\n    call::{Call, Repair},\n    event,\n};\nfn f() { crate::turn::go() }";
    let found: Vec<_> = imports(code).into_iter().collect();
    assert_eq!(found, ["call", "event", "parse", "turn"]);
    assert!(imports(&product_code("//! crate::cli\n#[cfg(test)]\nmod tests { use crate::turn; }")).is_empty());
}

/// Returns the level of a module; `None` for the crate's root and its error.
fn floor(module: &str) -> Option<usize> {
    FLOORS.iter().position(|rooms| rooms.contains(&module))
}

#[test]
fn every_module_has_its_place() {
    let strangers: BTreeSet<_> = sources()
        .into_iter()
        .map(|s| s.module)
        .filter(|m| floor(m).is_none() && !matches!(m.as_str(), "lib" | "error" | "guide"))
        .collect();
    assert!(strangers.is_empty(), "no floor is known for {strangers:?}: name it in this test");
}

#[test]
fn modules_import_only_downwards() {
    let mut wrong = Vec::new();
    for source in sources() {
        let Some(own) = floor(&source.module) else { continue };
        let stage = STAGES.contains(&source.module.as_str());
        for import in imports(&source.code).into_iter().filter(|i| *i != source.module) {
            let beside = stage && STAGES.contains(&import.as_str());
            if floor(&import).is_some_and(|other| other > own) || beside {
                wrong.push(format!("{} imports `{import}`", source.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The modules of the command that all commands use, in the order of imports. Each command is a
/// module of its own above them.
const COMMAND_FLOORS: &[&str] =
    &["terminal", "labels", "screen", "base", "dialog", "pages", "servers", "sessions", "view", "settings", "front"];

#[test]
fn rooms_of_the_command_import_only_downwards() {
    let place = |room: &str| COMMAND_FLOORS.iter().position(|floor| *floor == room);
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for source in sources_of("cli/src") {
        let Some(own) = place(&source.module) else { continue };
        seen += 1;
        for import in imports(&source.code).into_iter().filter(|import| *import != source.module) {
            // The library has modules of the same names.
            let is_ours = Regex::new(&format!(r"\bcrate::{import}\b")).expect("the pattern compiles");
            if is_ours.is_match(&source.code) && place(&import).is_none_or(|other| other > own) {
                wrong.push(format!("{} imports `{import}`", source.path.display()));
            }
        }
    }
    assert!(seen > 60, "only {seen} files were looked at");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_modules_know_no_runtime() {
    let runtime = Regex::new(r"\b(?:tokio|tokio_util|futures|reqwest|rmcp)::|\basync (?:fn|move)\b|\.await\b")
        .expect("the pattern compiles");
    let pure = |module: &str| floor(module).is_some() && !WITH_RUNTIME.contains(&module);
    let wrong: Vec<_> = sources()
        .into_iter()
        .filter(|s| pure(&s.module))
        .filter_map(|s| runtime.find(&s.code).map(|found| format!("{}: {}", s.path.display(), found.as_str())))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_protocol_knows_no_runtime_and_no_network() {
    let runtime =
        Regex::new(r"\b(?:tokio|futures|reqwest|axum|hyper)::|\basync\b|\.await\b").expect("the pattern compiles");
    let used = |source: Source| {
        runtime.find(&source.code).map(|found| format!("{}: {}", source.path.display(), found.as_str()))
    };
    let wrong: Vec<_> = sources_of("crates/toolgraft-protocol/src").into_iter().filter_map(used).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let names = tree("toolgraft-protocol", "normal", "");
    assert!(names.contains("toolgraft"), "the tree was not read: {names:?}");
    for part in ["axum", "hyper", "reqwest", "rmcp"] {
        assert!(!names.contains(part), "the protocol brings {part}");
    }
}

#[test]
fn the_library_prints_nothing_reads_no_environment_and_never_exits() {
    let effects = Regex::new(
        r"\be?print(?:ln)?!|\bdbg!|\bstd::env\b|\benv::(?:var|vars|args|current_dir)|\bprocess::(?:exit|abort)|\bio::(?:stdout|stderr|stdin)\(",
    )
    .expect("the pattern compiles");
    let wrong: Vec<_> = LIBRARIES
        .into_iter()
        .flat_map(sources_of)
        // `HubBuilder::inherit_env` reads the environment on the program's request.
        .filter(|s| !s.path.ends_with("toolgraft-mcp/src/environment.rs"))
        .filter_map(|s| effects.find(&s.code).map(|found| format!("{}: {}", s.path.display(), found.as_str())))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_have_one_writer() {
    let writes = Regex::new(r"\bOpenOptions\b|\bfs::(?:write|rename|copy)\(|\bFile::(?:create|options)")
        .expect("the pattern compiles");
    let mut files = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    LIBRARIES.iter().chain(&["cli/src"]).for_each(|folder| collect(&root.join(folder), &mut files));
    // The terminal device is opened there.
    let own = ["crates/toolgraft-files/src/lib.rs", "crates/toolgraft-files/src/lock.rs", "cli/src/terminal/tty.rs"]
        .map(|file| root.join(file));
    assert!(own.iter().all(|file| files.contains(file)));
    let wrong: Vec<_> = files
        .iter()
        .filter(|file| !own.contains(file))
        .filter_map(|file| {
            let code = product_code(&fs::read_to_string(file).expect("a source file can be read"));
            writes.find(&code).map(|found| format!("{}: {}", file.display(), found.as_str()))
        })
        .collect();
    assert!(wrong.is_empty(), "`toolgraft_files` writes files:\n{}", wrong.join("\n"));
}

#[test]
fn core_prompt_and_validate_bring_no_tokio() {
    for features in ["", "prompt", "validate", "prompt,validate"] {
        let names = tree("toolgraft", "normal", features);
        assert!(names.contains("serde_json"), "the tree of {features:?} was not read: {names:?}");
        for runtime in ["tokio", "reqwest", "rmcp"] {
            assert!(!names.contains(runtime), "the features {features:?} bring {runtime}");
        }
    }
    assert!(
        !tree("toolgraft", "normal", "agent").contains("reqwest"),
        "a program that brings its own model needs no HTTP"
    );
    assert!(
        tree("toolgraft", "normal", "agent").contains("tokio"),
        "with the agent tokio must show, or this test sees nothing"
    );
}

#[test]
fn tests_of_the_library_build_no_mcp_client_and_no_server() {
    let names = tree("toolgraft", "normal,dev", "");
    assert!(names.contains("toolgraft-testkit"), "what the tests need was not read: {names:?}");
    for part in ["axum", "rmcp", "toolgraft-mcp", "toolgraft-protocol", "toolgraft-serve"] {
        assert!(!names.contains(part), "a test of the parser builds {part}: the testkit has features");
    }
}

/// Returns the names of the packages that a package needs with these features, along these edges.
fn tree(package: &str, edges: &str, features: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "-p", package, "-e", edges, "--offline", "--locked", "--prefix", "none"])
        .args(["--features", features])
        .output()
        .expect("cargo runs, since it runs this test");
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}
