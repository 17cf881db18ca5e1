//! Input from outside must not end the program: a value of an unexpected form, or a standard error
//! that cannot be written.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::{collect, product_code};

/// The source folders of everything that users run.
const PRODUCT: [&str; 8] = [
    "src",
    "crates/toolgraft-mcp/src",
    "crates/toolgraft-protocol/src",
    "crates/toolgraft-serve/src",
    "cli/src",
    "bindings/common/src",
    "bindings/python/src",
    "bindings/node/src",
];

fn product() -> Vec<(PathBuf, String)> {
    let mut files = Vec::new();
    let folders = PRODUCT.iter().map(|folder| Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    folders.filter(|folder| folder.is_dir()).for_each(|folder| collect(&folder, &mut files));
    assert!(files.len() > 300, "only {} source files were found", files.len());
    let code = |file: &PathBuf| product_code(&fs::read_to_string(file).expect("a source file can be read"));
    files.into_iter().map(|file| (file.clone(), code(&file))).collect()
}

/// Returns writes to a member by `value["key"]`, which panic if the value is not an object. A value
/// that the same function has just created with `json!({…})` is one.
fn writes(code: &str) -> Vec<String> {
    let place = r#"\b[a-z_][\w.]*(?:\([^()]*\))?(?:\[[^\[\]]*\])*\["[^"\]]*"\](?:\[[^\[\]]*\])*"#;
    let after = r"\s*(?:=[^=>]|\+=|\.(?:take|push|insert|remove|extend|\w+_mut)\()";
    let write = Regex::new(&format!("{place}{after}|&mut {place}")).expect("the pattern compiles");
    let own = Regex::new(r#"^(\w+)\["[^"\]]*"\]\s*=[^=]"#).expect("the pattern compiles");
    let found = write.find_iter(code).filter(|found| {
        let Some(own) = own.captures(found.as_str()) else { return true };
        let made = code[..found.start()].rfind(&format!("let mut {} = ", &own[1]));
        !made.is_some_and(|at| code[at..].split_once(" = ").is_some_and(|(_, value)| value.starts_with("json!({")))
    });
    found.map(|found| format!("line {}: {}", code[..found.start()].matches('\n').count() + 1, found.as_str())).collect()
}

#[test]
fn writes_by_a_key_are_found() {
    for wrong in [
        "item[\"a\"] = 1.into();",
        "let text = item[\"a\"].take();",
        "list[0][\"a\"] = x;",
        "let mut item = json!({});\nitem[\"a\"][\"b\"] = x;",
        "let mut item = json!([]);\nitem[\"a\"] = x;",
        "let mut item = other();\nitem[\"a\"] = x;",
        "self.said[\"a\"].as_array_mut()",
        "f(&mut item[\"a\"])",
    ] {
        assert_eq!(writes(wrong).len(), 1, "{wrong}");
    }
    for right in [
        "let mut item = json!({\"b\": 1});\nitem[\"a\"] = x;",
        "if item[\"a\"] == x {}",
        "match x { [\"a\"] => 1 }",
        "set_member(&mut item, \"a\", x)",
        "let a = &item[\"a\"];",
    ] {
        assert_eq!(writes(right), Vec::<String>::new(), "{right}");
    }
}

#[test]
fn no_member_of_a_foreign_value_is_written_by_its_key() {
    let wrong: Vec<_> = product()
        .iter()
        .flat_map(|(file, code)| writes(code).into_iter().map(|found| format!("{}, {found}", file.display())))
        .collect();
    assert!(wrong.is_empty(), "`toolgraft::wire::{{set_member, take_member}}` cannot panic:\n{}", wrong.join("\n"));
}

#[test]
fn the_command_prints_by_functions_that_cannot_panic() {
    let prints = Regex::new(r"\be?print(?:ln)?!|\banstream::stderr\(").expect("the pattern compiles");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/src/base/stderr.rs");
    let command = Path::new(env!("CARGO_MANIFEST_DIR")).join("cli/src");
    let wrong: Vec<_> = product()
        .iter()
        .filter(|(file, _)| file.starts_with(&command) && *file != own)
        .filter_map(|(file, code)| prints.find(code).map(|found| format!("{}: {}", file.display(), found.as_str())))
        .collect();
    assert!(wrong.is_empty(), "`base::stderr` and `base::output` print:\n{}", wrong.join("\n"));
}
