//! The public API keeps the guarantees that programs rely on.

use std::collections::BTreeSet;

use regex::Regex;

use super::{Source, sources};

/// Names that a first program needs. Each is public at the root, and nowhere else.
const ROOT: &[&str] = &[
    "Agent", "AgentEvent", "Call", "Catalog", "Conversation", "Dialect", "Error", "Event", "Functions", "Message",
    "Model", "OpenAi", "Outcome", "Parser", "Policy", "Tool",
];

/// Enums that are exhaustive on purpose: another value would be a different concept.
const CLOSED: &[&str] = &[
    // A message's text is content or reasoning.
    "Region", // A history consists of messages of the user and of the model.
    "Shown",
    // A program that drives a turn must handle all variants: a missing one would be waited for
    // without end, or lose a part of the answer.
    "Action", "ClientEnd", "ClientPiece", // The same of a message that was read.
    "Piece",       // Data of the dialects, which is not a part of the interface.
    "Shape", "ChildRole", "Announcer", "NamedArguments", "HeaderPiece", "BlockForm",
];

/// Returns `true` if the public items of a file are part of the API.
fn is_public(source: &Source) -> bool {
    !source.code.contains("#![doc(hidden)]")
}

/// Returns the `pub` items of the sources, without `pub(crate)` and `pub(super)`.
fn found(pattern: &str) -> Vec<(String, String)> {
    let pattern = Regex::new(pattern).expect("the pattern compiles");
    let mut found = Vec::new();
    for source in sources().iter().filter(|source| is_public(source)) {
        for item in pattern.captures_iter(&source.code) {
            let text = item[0].split_whitespace().collect::<Vec<_>>().join(" ");
            found.push((source.path.display().to_string(), text));
        }
    }
    found
}

#[test]
fn the_roots_names_stand_at_the_root_alone() {
    let root = sources().into_iter().find(|s| s.path.ends_with("src/lib.rs")).expect("the crate has a root");
    let exported = Regex::new(r"(?m)^pub use [a-z_:]+::(\w+);").expect("the pattern compiles");
    let names: BTreeSet<String> = exported.captures_iter(&root.code).map(|c| c[1].to_owned()).collect();
    let expected: BTreeSet<String> = ROOT.iter().chain(&["Cause"]).map(|name| (*name).to_owned()).collect();
    assert_eq!(names, expected);
    // A module that re-exports or defines the name gives it a second path.
    let handed_on = Regex::new(r"(?m)^pub use ([^;]*);").expect("the pattern compiles");
    let mut twice = Vec::new();
    for source in sources().into_iter().filter(|s| !s.path.ends_with("src/lib.rs")) {
        for list in handed_on.captures_iter(&source.code) {
            let words: BTreeSet<&str> = list[1].split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            twice.extend(ROOT.iter().filter(|name| words.contains(*name)).map(|name| (source.path.clone(), *name)));
        }
        // A definition in a module's `mod.rs` has that module's path.
        if source.path.ends_with(format!("src/{}/mod.rs", source.module)) {
            let defined = |name: &str| {
                ["struct", "enum", "trait"].iter().any(|kind| {
                    let line = format!("pub {kind} {name}");
                    source
                        .code
                        .lines()
                        .any(|l| l.strip_prefix(&line).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
                })
            };
            twice.extend(ROOT.iter().filter(|name| defined(name)).map(|name| (source.path.clone(), *name)));
        }
    }
    assert!(twice.is_empty(), "{twice:?}");
}

#[test]
fn no_public_function_fails_with_a_text() {
    let wrong: Vec<_> = found(r"(?s)(?:^|\n)\s*pub (?:async )?fn \w+[^{;]*?-> [^{;]*[{;]")
        .into_iter()
        .filter(|(_, text)| text.contains(", String>") && text.contains("Result<"))
        .chain(found(r"type Err(?:or)? = String;"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_public_enum_may_grow_or_is_closed_on_purpose() {
    let all = found(r"(?m)((?:^[ \t]*#\[[^\n]*\]\n)*)^pub enum \w+");
    assert!(all.len() > 40, "only {} enums were found", all.len());
    let name = |text: &str| text.rsplit(' ').next().unwrap_or_default().to_owned();
    let closed = all.iter().filter(|(_, text)| !text.contains("#[non_exhaustive]"));
    let wrong: Vec<_> = closed.clone().filter(|(_, text)| !CLOSED.contains(&name(text).as_str())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let named: BTreeSet<String> = closed.map(|(_, text)| name(text)).collect();
    let left: Vec<_> = CLOSED.iter().filter(|name| !named.contains(**name)).collect();
    assert!(left.is_empty(), "these are closed no more, take them off the list: {left:?}");
}

/// Structs with public fields that are exhaustive on purpose: programs construct them, and another
/// field would be a different concept.
const CLOSED_STRUCTS: &[&str] = &[
    // Data of the dialects, which is not part of the API.
    "Spec", "Child", "MarkedJson", "CallKeys", "Wrapper", "Named", "NamedCall", "React", "ReactHead", "Group",
    "LineMarker", // A call, which a server constructs.
    "NativeCall",
];

#[test]
fn every_public_struct_of_plain_fields_may_grow_or_is_closed_on_purpose() {
    let structs =
        Regex::new(r"(?ms)^((?:[ \t]*#\[[^\n]*\]\n)*)pub struct (\w+)[^;({]*\{(.*?)^\}").expect("the pattern compiles");
    let field = Regex::new(r"(?m)^    (pub )?(?:pub\([^)]*\) )?\w+: ").expect("the pattern compiles");
    let (mut seen, mut wrong, mut named) = (0, Vec::new(), BTreeSet::new());
    for source in sources().iter().filter(|source| is_public(source)) {
        for item in structs.captures_iter(&source.code) {
            let (marks, name, body) = (&item[1], &item[2], &item[3]);
            let mut fields = field.captures_iter(body).map(|field| field.get(1).is_some()).peekable();
            // A struct with a private field can only be constructed by this crate.
            if fields.peek().is_none() || !fields.all(|public| public) {
                continue;
            }
            seen += 1;
            if !marks.contains("#[non_exhaustive]") {
                named.insert(name.to_owned());
                if !CLOSED_STRUCTS.contains(&name) {
                    wrong.push(format!("{}: {name}", source.path.display()));
                }
            }
        }
    }
    assert!(seen > 80, "only {seen} structs were found");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let left: Vec<_> = CLOSED_STRUCTS.iter().filter(|name| !named.contains(**name)).collect();
    assert!(left.is_empty(), "these are closed no more, take them off the list: {left:?}");
}

/// Options of other programs, and texts of endpoints.
const NOT_OURS: &[&str] = &[
    "--max-model-len", "--context-length", "--jinja", "--enable-auto-tool-choice", "--tool-call-parser",
    "--chat-template-file",
];

#[test]
fn the_librarys_messages_name_no_option_of_the_command() {
    let option = Regex::new(r"--[a-z][a-z-]+").expect("the pattern compiles");
    let mut wrong = Vec::new();
    for source in sources() {
        for found in option.find_iter(&source.code).filter(|found| !NOT_OURS.contains(&found.as_str())) {
            wrong.push(format!("{}: {}", source.path.display(), found.as_str()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
