//! All fixtures of the parser.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use toolgraft_testkit::fixture::Expectation;
use toolgraft_testkit::laws::Input;

/// A fixture: its text and settings, and its expectation.
pub(crate) struct Fixture {
    /// Path below `fixtures/parse`, without the extension.
    pub(crate) name: String,
    pub(crate) input: Input,
    /// The text of the expectation.
    pub(crate) stated: String,
}

/// All fixtures, by their paths.
pub(crate) static FIXTURES: LazyLock<Vec<Fixture>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/parse");
    let mut paths = Vec::new();
    texts(&root, &mut paths);
    paths.sort();
    assert!(paths.len() > 1_000, "{}", paths.len());
    paths.iter().map(|path| read(&root, path)).collect()
});

fn texts(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            texts(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "txt") {
            found.push(entry);
        }
    }
}

fn read(root: &Path, path: &Path) -> Fixture {
    let name = path.strip_prefix(root).unwrap().with_extension("");
    let name: Vec<_> = name.iter().map(|part| part.to_str().unwrap()).collect();
    let stated = std::fs::read_to_string(path.with_extension("expect.json")).unwrap();
    let expectation = Expectation::read(&stated).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    Fixture { name: name.join("/"), input: expectation.input(text).unwrap(), stated }
}
