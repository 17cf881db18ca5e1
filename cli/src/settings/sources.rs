//! The sources that every command has: the environment, a folder and the file.

use super::file::{self, one};
use super::folder::Folder;
use super::keys::{KEYS, Settings};
use super::variables::variable;
use crate::base::{Failure, output};
use serde_json::Value;

/// A source of settings other than command-line options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Environment,
    /// The saved settings of the working directory.
    Folder,
    /// The user's configuration file, `config.toml`.
    File,
}

impl Source {
    /// All settings sources, in descending precedence.
    pub(crate) const ALL: [Source; 3] = [Source::Environment, Source::Folder, Source::File];

    /// The settings sources of commands other than chats, which ignore the settings of the working directory.
    pub(crate) const EVERYWHERE: [Source; 2] = [Source::Environment, Source::File];

    /// Reads the settings that this source sets.
    ///
    /// # Errors
    /// An environment variable has an invalid value, or the configuration file cannot be read or has faults.
    pub(crate) fn settings(self) -> Result<Settings, Failure> {
        match self {
            Source::Environment => environment(),
            Source::Folder => Folder::here().settings(),
            Source::File => Ok(file::read()?.settings),
        }
    }

    /// Returns the name of a settings key in this source, for messages.
    pub(super) fn name(self, key: &str) -> String {
        match self {
            Source::Environment => variable_of(key),
            Source::Folder => format!("{key} of this folder"),
            Source::File => format!("{key} of config.toml"),
        }
    }
}

impl Settings {
    /// Returns these settings, filled in from the sources, which are in descending precedence.
    ///
    /// # Errors
    /// An environment variable has an invalid value, or the configuration file cannot be read or has faults.
    pub(crate) fn resolve(mut self, sources: &[Source]) -> Result<Self, Failure> {
        for source in sources {
            self.over(&source.settings()?);
        }
        Ok(self)
    }
}

/// Returns the settings that environment variables set.
///
/// # Errors
/// An environment variable has a value that is invalid for its key.
fn environment() -> Result<Settings, Failure> {
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

/// Returns the name of the key in the first source whose value for it is this text, or a list with it; for messages.
pub(crate) fn source_of(key: &str, text: &str) -> Option<String> {
    let has = |source: &Source| match source.settings().unwrap_or_default().values().get(key) {
        Some(Value::Array(list)) => list.iter().any(|one| one == text),
        value => value.is_some_and(|value| value == text),
    };
    Source::ALL.into_iter().find(has).map(|source| source.name(key))
}

/// Warns of environment variables whose names resemble that of a settings key but for a typing error. Other unknown
/// ones may belong to other programs.
pub(crate) fn warn_of_variables() {
    for (name, _) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else { continue };
        let known: Vec<String> = KEYS.iter().map(|key| variable_of(key.name)).collect();
        if let Some(near) = known.iter().find(|known| is_slip(name, known)).filter(|_| !known.iter().any(|k| k == name))
        {
            output::warn(&format!("{name} is ignored: did you mean {near}?"));
        }
    }
}

/// Returns `true` if two names differ only within at most two neighbouring letters after the common prefix
/// `TOOLGRAFT_`.
fn is_slip(name: &str, known: &str) -> bool {
    let before = name.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
    let (name, known) = (&name.as_bytes()[before..], &known.as_bytes()[before..]);
    let after = name.iter().rev().zip(known.iter().rev()).take_while(|(a, b)| a == b).count();
    // With its first letter wrong, too, any word of three letters would be near `way`.
    before > PREFIX.len() && name.len().max(known.len()) - after <= 2
}

/// Prefix of the environment variables of most settings keys.
const PREFIX: &str = "TOOLGRAFT_";

/// Returns the name of the environment variable that sets a settings key.
pub(super) fn variable_of(key: &str) -> String {
    match key {
        "base_url" => "OPENAI_BASE_URL".to_owned(),
        key => format!("{PREFIX}{}", key.to_uppercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_another_purpose_is_no_slip() {
        let near = |name: &str| KEYS.iter().map(|key| variable_of(key.name)).find(|known| is_slip(name, known));
        for (name, meant) in [
            ("TOOLGRAFT_MODLE", Some("TOOLGRAFT_MODEL")),
            ("TOOLGRAFT_TEMPRATURE", Some("TOOLGRAFT_TEMPERATURE")),
            ("TOOLGRAFT_MAX_TOKEN", Some("TOOLGRAFT_MAX_TOKENS")),
            ("TOOLGRAFT_SERVER", None),
            ("TOOLGRAFT_LAUNCH", None),
            ("TOOLGRAFT_LAUNCH_KEY", None),
            ("TOOLGRAFT_UPSTREAM_KEY", None),
            ("TOOLGRAFT_TOOLS", None),
        ] {
            assert_eq!(near(name).as_deref(), meant, "{name}");
        }
    }
}
