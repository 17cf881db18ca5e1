//! All released packages have the same version, wherever it is written.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::Path;

use regex::Regex;
use serde_json::Value;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Returns the first match of a pattern in a file.
fn first(path: &str, pattern: &str) -> String {
    let text = read(path);
    let found = Regex::new(pattern).unwrap().captures(&text);
    found.unwrap_or_else(|| panic!("{path} says no version")).get(1).unwrap().as_str().to_owned()
}

#[test]
fn everything_that_is_released_has_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    for package in [
        ".", "crates/toolgraft-files", "crates/toolgraft-mcp", "cli", "bindings/common", "bindings/python",
        "bindings/node",
    ] {
        let path = format!("{package}/Cargo.toml");
        assert_eq!(first(&path, r#"(?m)^version = "([^"]*)""#), version, "{path}");
    }
    let lock = read("bindings/node/Cargo.lock") + &read("bindings/python/Cargo.lock");
    let locked = Regex::new(r#"name = "toolgraft[^"]*"\nversion = "([^"]*)""#).unwrap();
    assert!(locked.captures_iter(&lock).all(|found| &found[1] == version));
    assert!(locked.captures_iter(&lock).count() >= 6);
    let node: Value = serde_json::from_str(&read("bindings/node/package.json")).unwrap();
    assert_eq!(node["version"], version);
    for (name, wanted) in node["optionalDependencies"].as_object().unwrap() {
        assert_eq!(wanted, version, "{name}");
    }
    assert_eq!(first("CHANGELOG.md", r"(?m)^## ([0-9.]+)"), version);
}
