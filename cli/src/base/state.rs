//! Files that the program keeps for itself: `toolgraft` in the user's directory for state.

use std::path::PathBuf;

/// A file of that name below `$XDG_STATE_HOME/toolgraft`, else `~/.local/state/toolgraft`;
/// `None` where there is no home.
pub(crate) fn file(name: &str) -> Option<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let state = state.or_else(|| Some(std::env::home_dir()?.join(".local/state")))?;
    Some(state.join("toolgraft").join(name))
}
