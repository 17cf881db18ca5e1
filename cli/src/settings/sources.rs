//! The sources that every command has: the environment and the file.

use super::file::{self, one};
use super::folder::Folder;
use super::keys::{KEYS, Settings};
use super::variables::variable;
use crate::base::Failure;

/// Returns what counts where an option says nothing: the environment, then the file.
///
/// # Errors
/// A variable has a value that its key may not have; the file cannot be read, or holds what it may not.
pub(crate) fn defaults() -> Result<Settings, Failure> {
    let mut settings = environment()?;
    settings.over(&file::read()?);
    Ok(settings)
}

/// Returns what counts in a conversation before the file: the environment, then what holds in this folder.
///
/// # Errors
/// As those of [`defaults`].
pub(crate) fn nearer() -> Result<Settings, Failure> {
    let mut settings = environment()?;
    settings.over(&Folder::here().settings()?);
    Ok(settings)
}

/// Returns the values of environment variables.
///
/// # Errors
/// A variable has a value that its key may not have.
pub(crate) fn environment() -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    for key in KEYS {
        let name = variable_of(key.name);
        if let Some(value) = variable(&name) {
            let wrong = |failure: Failure| Failure::usage(format!("{name}: {}", failure.message()));
            settings.over(&one(key.name, &value).map_err(wrong)?);
        }
    }
    Ok(settings)
}

/// Returns the name of the variable that sets a key.
pub(super) fn variable_of(key: &str) -> String {
    match key {
        "base_url" => "OPENAI_BASE_URL".to_owned(),
        key => format!("TOOLGRAFT_{}", key.to_uppercase()),
    }
}
