//! Which project files are trusted: `trusted.json` in the program's folder for state.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::Project;
use crate::base::state;

#[derive(Debug, Default, Clone, Serialize, Deserialize)]
struct KeptTrust {
    /// Trusted files by their path.
    files: BTreeMap<PathBuf, TrustedFile>,
}

/// A configuration file that was trusted, and its content at that time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TrustedFile {
    /// SHA-256 hash of the file's bytes, in hexadecimal digits.
    pub(crate) sha256: String,
    /// Time at which the file was trusted, in seconds since 1970.
    pub(crate) trusted_at: u64,
    /// Lines on the servers that the file started when it was trusted, to show later changes.
    starts: Vec<String>,
}

/// The store of the configuration files that the user trusts.
#[derive(Debug)]
pub(crate) struct TrustStore {
    /// Path of the store; `None` if there is no home directory.
    file: Option<PathBuf>,
    kept: KeptTrust,
}

/// The differences between a trusted configuration file and its present content.
pub(super) struct Changes {
    pub(super) since: String,
    /// Removed lines as `- LINE` and added ones as `+ LINE`; empty if only other content changed.
    pub(super) lines: Vec<String>,
}

impl TrustStore {
    /// Reads this user's store of trusted files. An unreadable store counts as empty, with a warning.
    pub(crate) fn open() -> Self {
        TrustStore::at(state::file("trusted.json"))
    }

    fn at(file: Option<PathBuf>) -> Self {
        let kept = state::read_or_warn(file.as_deref(), "no project file is trusted").unwrap_or_default();
        TrustStore { file, kept }
    }

    /// Returns `true` if a file is trusted with its present content.
    pub(crate) fn trusts(&self, project: &Project) -> bool {
        self.kept.files.get(&project.path).is_some_and(|entry| entry.sha256 == project.hash)
    }

    /// Returns the changes in a file since it was trusted; `None` if it never was or is unchanged.
    pub(super) fn changes(&self, project: &Project) -> Option<Changes> {
        let entry = self.kept.files.get(&project.path).filter(|entry| entry.sha256 != project.hash)?;
        let (before, now) = (&entry.starts, project.starts());
        let gone = before.iter().filter(|line| !now.contains(line)).map(|line| format!("- {line}"));
        let new = now.iter().filter(|line| !before.contains(line)).map(|line| format!("+ {line}"));
        Some(Changes { since: date(entry.trusted_at), lines: gone.chain(new).collect() })
    }

    /// Marks a file as trusted with its present content, and writes the store.
    ///
    /// # Errors
    /// The store cannot be written; the message gives the reason.
    pub(crate) fn add(&mut self, project: &Project) -> Result<(), String> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let entry = TrustedFile { sha256: project.hash.clone(), trusted_at: since.as_secs(), starts: project.starts() };
        self.kept.files.insert(project.path.clone(), entry);
        self.write()
    }

    /// Removes a file from the trusted ones. Returns `true` if it was among them.
    ///
    /// # Errors
    /// The store cannot be written; the message gives the reason.
    pub(crate) fn remove(&mut self, path: &Path) -> Result<bool, String> {
        let was = self.kept.files.remove(path).is_some();
        if was { self.write().map(|()| true) } else { Ok(false) }
    }

    /// Returns the trusted files with their paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&Path, &TrustedFile)> {
        self.kept.files.iter().map(|(path, entry)| (path.as_path(), entry))
    }

    fn write(&self) -> Result<(), String> {
        let file = self.file.as_deref().ok_or("there is no home directory to keep the answer in")?;
        state::write_versioned(file, &self.kept)
    }
}

/// Returns the date of a time given in seconds since 1970, such as `22 Nov 2026`.
pub(crate) fn date(seconds: u64) -> String {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    // `Sun, 22 Nov 2026 11:10:45 GMT`
    let text = time.map(httpdate::fmt_http_date).unwrap_or_default();
    text.split(' ').skip(1).take(3).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn project(folder: &Path, command: &str) -> Project {
        let file = folder.join(".mcp.json");
        fs::write(&file, format!("{{\"mcpServers\": {{\"s\": {{\"command\": \"{command}\", \"timeout\": 9}}}}}}"))
            .unwrap();
        Project::read(&file).unwrap()
    }

    #[test]
    fn trust_is_bound_to_path_and_content_and_can_be_taken_back() {
        let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = here.path().join("state/toolgraft/trusted.json");
        let mut store = TrustStore::at(Some(file.clone()));
        let first = project(here.path(), "one");
        assert!(!store.trusts(&first) && store.changes(&first).is_none());
        store.add(&first).unwrap();
        let store = TrustStore::at(Some(file.clone()));
        assert!(store.trusts(&first));
        assert!(!store.trusts(&project(there.path(), "one")), "another path");
        let changed = project(here.path(), "two");
        assert!(!store.trusts(&changed));
        assert_eq!(store.changes(&changed).unwrap().lines, ["- s: one", "+ s: two"]);
        let mut store = TrustStore::at(Some(file));
        assert!(store.remove(&first.path).unwrap());
        assert!(!store.remove(&first.path).unwrap());
        assert!(!store.trusts(&first));
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_may_read_the_store() {
        use std::os::unix::fs::PermissionsExt;
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("state/toolgraft/trusted.json");
        TrustStore::at(Some(file.clone())).add(&project(here.path(), "one")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn a_store_that_cannot_be_read_trusts_nothing() {
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("trusted.json");
        for text in ["{", "{\"toolgraft\": 2, \"files\": {}}"] {
            fs::write(&file, text).unwrap();
            assert_eq!(TrustStore::at(Some(file.clone())).files().count(), 0);
        }
    }

    #[test]
    fn a_day_is_written_out() {
        assert_eq!(date(1_795_345_845), "22 Nov 2026");
    }
}
