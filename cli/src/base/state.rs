//! Files that the program keeps for itself: `toolgraft` in the user's directory for state.

use std::path::PathBuf;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolgraft_files::{self as files, Lock, Mode};

/// A file of that name below `$XDG_STATE_HOME/toolgraft`, else `~/.local/state/toolgraft`;
/// `None` where there is no home.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(std::env::home_dir()?.join(".local/state")))?;
    Some(state.join("toolgraft").join(name))
}

/// What a file holds that costs nobody anything when it is lost: one that cannot be read is as good
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
