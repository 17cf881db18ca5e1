//! The licences of all dependencies of the library and the command.

use std::process::Command;

use serde_json::Value;

/// Licences that only require a notice. A dependency with another one needs a decision, and then a
/// line here.
const ALLOWED: &[&str] =
    &["Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "IJG", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Zlib"];

/// Returns `true` if an SPDX expression can be satisfied with the licences above. Older crates
/// write `/` for `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any(&mut words);
    met && words.next().is_none()
}

type Words<'a, 'w> = &'a mut std::iter::Peekable<std::str::SplitWhitespace<'w>>;

fn any(words: Words<'_, '_>) -> bool {
    let mut met = all(words);
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words);
    }
    met
}

fn all(words: Words<'_, '_>) -> bool {
    let mut met = one(words);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words);
    }
    met
}

fn one(words: Words<'_, '_>) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let met = any(words);
        return words.next_if_eq(&")").is_some() && met;
    }
    let met = words.next().is_some_and(|name| ALLOWED.contains(&name));
    // An exception only permits more.
    if words.next_if_eq(&"WITH").is_some() {
        words.next();
    }
    met
}

#[test]
fn an_expression_is_met_by_one_side_of_or_and_by_both_of_and() {
    for expression in
        ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR MIT", "(GPL-3.0 OR ISC) AND MIT", "Apache-2.0 WITH LLVM-exception"]
    {
        assert!(is_allowed(expression), "{expression}");
    }
    for expression in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT OR ISC) AND (GPL-3.0)", "MIT MIT", "(MIT"] {
        assert!(!is_allowed(expression), "{expression}");
    }
}

/// Returns the output of cargo, offline.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(arguments)
        .output()
        .expect("cargo runs, since it runs this test");
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn every_dependency_has_a_licence_that_asks_for_no_more_than_a_notice() {
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo names its host");
    // Crates for other systems may be missing while the machine is offline.
    let metadata =
        ["metadata", "--format-version=1", "--offline", "--locked", "--all-features", "--filter-platform", host];
    let metadata: Value = serde_json::from_str(&cargo(&metadata)).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    assert!(packages.len() > 100, "only {} packages were read", packages.len());
    let wrong: Vec<_> = packages
        .iter()
        .filter(|package| !is_allowed(package["license"].as_str().unwrap_or_default()))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
