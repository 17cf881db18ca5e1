//! The name of a type stands for one thing in a crate: a reader who meets it need not ask in which file they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use super::{collect, product_code};

/// The source folders of all crates.
const CRATES: [&str; 11] = [
    "src",
    "cli/src",
    "crates/toolgraft-files/src",
    "crates/toolgraft-mcp/src",
    "crates/toolgraft-protocol/src",
    "crates/toolgraft-raster/src",
    "crates/toolgraft-serve/src",
    "crates/toolgraft-testkit/src",
    "bindings/common/src",
    "bindings/python/src",
    "bindings/node/src",
];

/// Returns the names of the types that code declares outside functions and macros.
fn declared(code: &str) -> Vec<String> {
    let declaration =
        Regex::new(r"(?m)^(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|type) (\w+)").expect("the pattern compiles");
    declaration.captures_iter(code).map(|found| found[1].to_owned()).collect()
}

#[test]
fn declarations_are_found() {
    let code =
        "pub(in crate::a) struct A<T> {\n    B,\n}\ntype C = A<u8>;\npub enum D {}\ntrait E {}\n    struct F;\nuse G;";
    assert_eq!(declared(code), ["A", "C", "D", "E"]);
}

#[test]
fn the_name_of_a_type_stands_for_one_thing_in_a_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut twice, mut types) = (Vec::new(), 0);
    // Packages without the bindings have fewer folders.
    for folder in CRATES.iter().map(|folder| root.join(folder)).filter(|folder| folder.is_dir()) {
        let mut files = Vec::new();
        collect(&folder, &mut files);
        let mut known: BTreeMap<String, PathBuf> = BTreeMap::new();
        for file in files {
            let code = product_code(&fs::read_to_string(&file).expect("a source file can be read"));
            for name in declared(&code) {
                types += 1;
                if let Some(other) = known.insert(name.clone(), file.clone()) {
                    twice.push(format!("{name}: {} and {}", other.display(), file.display()));
                }
            }
        }
    }
    assert!(types > 1_000, "only {types} types were found");
    assert!(twice.is_empty(), "{}", twice.join("\n"));
}
