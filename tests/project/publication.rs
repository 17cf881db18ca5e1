//! The packages as a registry shows them: their manifests, licences and first page.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

/// The published packages, each after those that it needs, with the page that docs.rs or the registry shows first.
const PUBLISHED: [(&str, &str); 7] = [
    (".", "src/lib.rs"),
    ("crates/toolgraft-files", "README.md"),
    ("crates/toolgraft-raster", "README.md"),
    ("crates/toolgraft-mcp", "src/lib.rs"),
    ("crates/toolgraft-protocol", "src/lib.rs"),
    ("crates/toolgraft-serve", "src/lib.rs"),
    ("cli", "../README.md"),
];
/// Lines of a page before which its first program begins.
const INTRODUCTION: usize = 16;

fn path(package: &str, file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(package).join(file)
}

fn read(package: &str, file: &str) -> String {
    fs::read_to_string(path(package, file)).unwrap()
}

/// Returns the value of a field of a manifest.
fn field(manifest: &str, name: &str) -> Option<String> {
    let found = Regex::new(&format!(r"(?ms)^{name} = (\[.*?\]|[^\n]+)$")).unwrap().captures(manifest)?;
    Some(found[1].to_owned())
}

#[test]
fn every_package_has_what_a_registry_shows() {
    let fields = ["description", "license", "repository", "documentation", "readme", "rust-version", "include"];
    for (package, _) in PUBLISHED {
        let manifest = read(package, "Cargo.toml");
        let value = |name: &str| field(&manifest, name).unwrap_or_else(|| panic!("{package} has no {name}"));
        fields.iter().for_each(|name| drop(value(name)));
        assert!(path(package, value("readme").trim_matches('"')).is_file(), "{package}");
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(path(package, licence).is_file() && value("include").contains("LICENSE-*"), "{package}: {licence}");
        }
        // crates.io takes five keywords of at most 20 characters, and five categories.
        for (list, longest) in [("keywords", 20), ("categories", 60)] {
            let value = value(list);
            let names: Vec<&str> = value.split('"').skip(1).step_by(2).collect();
            let fits = |name: &&str| (1..=longest).contains(&name.len());
            assert!((1..=5).contains(&names.len()) && names.iter().all(fits), "{package}: {list} {names:?}");
        }
    }
}

#[test]
fn a_release_publishes_each_package_after_those_that_it_needs() {
    let name = |package: &str| field(&read(package, "Cargo.toml"), "name").unwrap().trim_matches('"').to_owned();
    let names = PUBLISHED.map(|(package, _)| name(package));
    // `make crates` packs and builds the same ones before.
    for (folder, file, command) in
        [(".github", "workflows/release.yml", "cargo publish"), (".", "Makefile", "(CARGO) package")]
    {
        let text = read(folder, file);
        let line = text.lines().find(|line| line.contains(command)).unwrap();
        let packages: Vec<&str> = line.split(" -p ").skip(1).filter_map(|part| part.split(' ').next()).collect();
        assert_eq!(packages, names, "{file}");
    }
}

#[test]
fn the_first_page_of_each_package_begins_with_a_program() {
    for (package, page) in PUBLISHED {
        let text = read(package, page);
        let begins = text.lines().position(|line| line.contains("```"));
        assert!(begins.is_some_and(|line| line <= INTRODUCTION), "{package}: {begins:?}");
    }
}
