//! Files that the program keeps for itself: `toolgraft` in the user's directory for state.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolgraft_files::{self as files, Lock, Mode};

use crate::base::output;

/// Returns a file of that name below `$XDG_STATE_HOME/toolgraft`, else `~/.local/state/toolgraft`;
/// `None` where there is no home.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    // The XDG specification says that a relative path is ignored.
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(std::env::home_dir()?.join(".local/state")))?;
    Some(state.join("toolgraft").join(name))
}

/// Warns where others can write to a folder that the program keeps something in: they could put conversations, logins and
/// permissions there.
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

/// Returns the content of a file that costs nobody anything when it is lost: one that cannot be read is as good
/// as none.
pub(crate) fn read<T: DeserializeOwned + Default>(name: &str) -> T {
    let text = file(name).and_then(|path| std::fs::read(path).ok()).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Changes what such a file holds, one program after the other; `change` says whether it is to be
/// written. What cannot be written is lost.
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

/// A file with the version of its format: one that cannot be read is told of.
#[derive(Serialize, Deserialize)]
struct Versioned<T> {
    toolgraft: u32,
    #[serde(flatten)]
    content: T,
}

/// The only version of such a file that there is.
const VERSION: u32 = 1;

/// Returns the content of a file with a version; the default if there is none.
///
/// # Errors
/// The file cannot be read: a message with its path and the reason.
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

/// Returns what a file with a version holds; warns with the `consequence` of one that cannot be read, which is `None`.
pub(crate) fn read_or_warn<T: DeserializeOwned + Default>(path: Option<&Path>, consequence: &str) -> Option<T> {
    let read = path.map_or_else(|| Ok(T::default()), read_versioned);
    read.inspect_err(|problem| output::warn(&format!("{problem}: {consequence}"))).ok()
}

/// Replaces a file with a version as a whole; only its owner may read it.
///
/// # Errors
/// The file cannot be written: a message with its path and the reason.
pub(crate) fn write_versioned<T: Serialize>(path: &Path, content: &T) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot write {}: {error}", path.display());
    let text = serde_json::to_string_pretty(&Versioned { toolgraft: VERSION, content });
    let text = text.map_err(|error| failed(error.into()))?;
    files::replace(path, format!("{text}\n").as_bytes(), Mode::Private).map_err(failed)
}
