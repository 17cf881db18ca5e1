//! `--set KEY=VALUE`: a key of the table for this time, in every command that has a use for it; and `/set`, the same in a
//! conversation.

use super::file::{self, one};
use super::keys::{KEYS, Key, Reader, Settings, keys_of, known};
use super::sources;
use crate::base::Failure;

/// Keys that are set for this time.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct SetArgs {
    /// Set a key for this run; --help-all lists the keys
    ///
    /// May be given several times; a list is written as in TOML.
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting)]
    set: Vec<Setting>,
}

/// A settings key with its value, from `--set`.
#[derive(Debug, Clone)]
struct Setting {
    key: String,
    value: Settings,
}

fn setting(text: &str) -> Result<Setting, String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as temperature=0.2")?;
    let key = key.trim().replace('-', "_");
    one(&key, value).map(|value| Setting { key, value }).map_err(|failure| failure.message().to_owned())
}

/// Returns `true` if a settings key has this name.
pub(crate) fn is_key(name: &str) -> bool {
    known(name).is_some()
}

/// Returns the help text on all settings keys, each with an example value and its effect, for `--help-all`.
pub(crate) fn keys_text() -> String {
    let of = |key: &super::keys::Key| {
        let does = key.does.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("  {}={}\n          {does}\n", key.name, key.example)
    };
    format!(
        "Keys of --set, each of which may be written as an option (--temperature 0.2), of config.toml, and in the \
         environment ({} and so on):\n{}",
        sources::variable_of("temperature"),
        KEYS.iter().map(of).collect::<String>()
    )
}

/// Returns the names of the settings keys that `/set` can change during a conversation.
pub(crate) fn changeable_keys() -> Vec<&'static str> {
    let at_start = keys_of(&[Reader::AtStart]);
    keys_of(&[Reader::Talk, Reader::Chat]).into_iter().filter(|key| !at_start.contains(key)).collect()
}

/// Reads a key and a value that `/set` sets during a conversation.
///
/// # Errors
/// The value is invalid for the key, or the key cannot change during a conversation; the message contains the remedy.
pub(crate) fn changed(key: &str, value: &str) -> Result<Settings, Failure> {
    if changeable_keys().contains(&key) {
        return one(key, value);
    }
    let Some(known) = known(key) else {
        return Err(Failure::usage(file::unknown(key)));
    };
    let remedy = match (key, known) {
        ("model", _) => "/model NAME chooses one".to_owned(),
        ("allow", _) => "/allow GLOB adds to it".to_owned(),
        (_, Key { read_by: [], .. }) => format!("`toolgraft config set {key} VALUE` sets it for all of them"),
        (_, known) if known.read_by.contains(&Reader::AtStart) => {
            format!("`toolgraft chat --{} VALUE` sets it at the start", key.replace('_', "-"))
        }
        _ => "no conversation has a use for it".to_owned(),
    };
    Err(Failure::usage(format!("/set cannot change {key} while a conversation goes on: {remedy}")))
}

impl SetArgs {
    /// Returns the settings of a command's options, filled in with those of `--set`. If a key is set twice, the later
    /// value applies.
    ///
    /// # Errors
    /// `--set` has a key that none of these readers uses.
    pub(crate) fn under(&self, mut options: Settings, readers: &[Reader]) -> Result<Settings, Failure> {
        let taken = keys_of(readers);
        if let Some(Setting { key, .. }) = self.set.iter().find(|setting| !taken.contains(&setting.key.as_str())) {
            let taken = taken.join(", ");
            return Err(Failure::usage(format!("--set {key}: this command does not use it; it uses {taken}")));
        }
        self.set.iter().rev().for_each(|setting| options.over(&setting.value));
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(settings: &[&str]) -> SetArgs {
        SetArgs { set: settings.iter().map(|text| setting(text).unwrap()).collect() }
    }

    #[test]
    fn the_later_value_counts_a_flag_counts_more_and_lists_add_up() {
        let set =
            given(&["temperature=0.2", "stop=User:", "stop=[\"A\", \"B\"]", "temperature=1", "dialect=type_marker"]);
        let options = Settings { dialect: Some(toolgraft::Dialect::ToolTag), ..Settings::default() };
        let Settings { temperature, dialect, stop, .. } = set.under(options, &[Reader::Talk]).unwrap();
        assert_eq!((temperature, dialect), (Some(1.0), Some(toolgraft::Dialect::ToolTag)));
        assert_eq!(stop, ["User:", "A", "B"]);
    }

    #[test]
    fn what_cannot_be_set_is_refused_with_what_can() {
        for (text, problem) in [
            ("temperature", "expected KEY=VALUE"),
            ("temprature=1", "did you mean \"temperature\"?"),
            ("temperature=3", "temperature: not from 0 to 2: write, for instance, temperature = 0.7"),
        ] {
            let told = setting(text).unwrap_err();
            assert!(told.contains(problem), "{told}");
        }
        let refused = given(&["max-time=9"]).under(Settings::default(), &[Reader::Parse]).unwrap_err();
        assert_eq!(refused.message(), "--set max_time: this command does not use it; it uses reasoning, fenced_calls");
    }
}
