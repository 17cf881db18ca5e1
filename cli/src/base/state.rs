//! Files that the program keeps for itself: `toolgraft` in the user's directory for state.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolgraft_files::{self as files, Lock, Mode};

use crate::base::output;

/// Returns the path of a file in the program's state directory, `$XDG_STATE_HOME/toolgraft` or else
/// `~/.local/state/toolgraft`; `None` if there is no home directory.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    // The XDG specification says that a relative path is ignored.
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(std::env::home_dir()?.join(".local/state")))?;
    Some(state.join("toolgraft").join(name))
}

/// Warns if other users can write to the program's configuration or state directories, where they could insert
/// conversations, logins and permissions.
pub(crate) fn warn_of_others() {
    let own = std::env::home_dir().map(|home| home.join(".config/toolgraft"));
    // `join("")` leaves a slash at the end; without it the path in the warning reads as the others do.
    let state = file("").map(|state| state.components().collect::<PathBuf>());
    let sessions = file("sessions");
    for folder in own.iter().chain(&state).chain(&sessions).filter(|folder| files::others_may_write(folder)) {
        let folder = folder.display();
        output::warn(&format!("other users can write to {folder} and change its files: chmod go-w {folder}"));
    }
}

/// Reads a JSON file of the state directory whose loss is harmless; the default value if it cannot be read.
pub(crate) fn read<T: DeserializeOwned + Default>(name: &str) -> T {
    let text = file(name).and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Changes a JSON file of the state directory under a lock; it is written if `change` returns `true`. Errors are
/// ignored.
pub(crate) fn change<T: Serialize + DeserializeOwned + Default>(name: &str, change: impl FnOnce(&mut T) -> bool) {
    let Some(path) = file(name) else { return };
    let Some(folder) = path.parent().filter(|folder| std::fs::create_dir_all(folder).is_ok()) else { return };
    let Ok(_lock) = Lock::wait(&folder.join(name).with_extension("lock")) else { return };
    let mut content = read(name);
    if change(&mut content)
        && let Ok(text) = serde_json::to_vec(&content)
    {
        let _ = files::replace(&path, &text, Mode::Private);
    }
}

/// The content of a state file with the version of its format; unlike other state files, one that cannot be read is
/// reported.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    toolgraft: u32,
    #[serde(flatten)]
    content: T,
}

/// The only version of the format of state files so far.
const VERSION: u32 = 1;

/// Reads a state file with a format version; the default value if the file does not exist.
///
/// # Errors
/// The file cannot be read or has another version: a message with its path and the reason.
pub(crate) fn read_versioned<T: DeserializeOwned + Default>(path: &Path) -> Result<T, String> {
    let cannot = |why: String| format!("cannot read {}: {why}", path.display());
    let file: Versioned<T> = match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| cannot(error.to_string()))?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(cannot(error.to_string())),
    };
    match file.toolgraft {
        VERSION => Ok(file.content),
        other => Err(cannot(format!("its format {other} needs a newer toolgraft"))),
    }
}

/// Reads a state file with a format version. If it cannot be read, returns `None` and warns, with the `consequence` in
/// the warning; without a path, returns the default value.
pub(crate) fn read_or_warn<T: DeserializeOwned + Default>(path: Option<&Path>, consequence: &str) -> Option<T> {
    let read = path.map_or_else(|| Ok(T::default()), read_versioned);
    read.inspect_err(|problem| output::warn(&format!("{problem}: {consequence}"))).ok()
}

/// Writes a state file with a format version atomically; only its owner may read it.
///
/// # Errors
/// The file cannot be written: a message with its path and the reason.
pub(crate) fn write_versioned<T: Serialize>(path: &Path, content: &T) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let text = serde_json::to_string_pretty(&Versioned { toolgraft: VERSION, content });
    let text = text.map_err(|error| failed(error.into()))?;
    files::replace(path, format!("{text}\n").as_bytes(), Mode::Private).map_err(failed)
}
