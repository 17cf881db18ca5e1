//! The sources that every command has: the environment and the file.

use super::file;
use super::keys::Settings;
use super::variables::variable;
use crate::base::Failure;

/// What counts where a flag says nothing: the environment, then the file.
///
/// # Errors
/// The file cannot be read, or holds what it may not.
pub(crate) fn defaults() -> Result<Settings, Failure> {
    let mut settings = environment();
    settings.over(&file::read()?);
    Ok(settings)
}

/// The values of environment variables.
pub(crate) fn environment() -> Settings {
    Settings { base_url: variable("OPENAI_BASE_URL"), ..Settings::default() }
}
