//! Model profiles and dialects by their names.

use std::path::Path;

use crate::base::input;
use toolgraft::Dialect;
use toolgraft::dialect::Profile;

/// Returns the dialect with this name, or a message that lists the names.
pub(crate) fn taught_dialect(name: &str) -> Result<Dialect, String> {
    let found = Dialect::ALL.iter().copied().find(|dialect| dialect.name() == name);
    found.ok_or_else(|| input::expected_one_of(Dialect::ALL.iter().map(|dialect| dialect.name())))
}

/// Reads the definition file of a dialect, as a value parser of clap. The dialect is registered under its name.
pub(crate) fn dialect_file(path: &str) -> Result<Dialect, String> {
    let text = input::read_text(Path::new(path)).map_err(|failure| failure.message().to_owned())?;
    Dialect::from_json(input::without_bom(&text)).map_err(|error| error.to_string())
}

/// Returns the profile with this name, or a message that lists the names; a value parser of clap.
pub(crate) fn known_profile(name: &str) -> Result<&'static Profile, String> {
    Profile::named(name).ok_or_else(|| input::expected_one_of(Profile::all().iter().map(|p| p.name)))
}

/// Returns the profile with this name, or else the profile of the model with this name; a value parser of clap.
pub(crate) fn profile_of(name: &str) -> Result<&'static Profile, String> {
    match name.trim() {
        "" => Err("expected the name of a profile or of a model".to_owned()),
        name => Ok(Profile::named(name).unwrap_or_else(|| Profile::for_model(name))),
    }
}
