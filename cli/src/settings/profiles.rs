//! Model profiles and dialects by their names.

use std::path::Path;

use crate::base::input;
use toolgraft::Dialect;
use toolgraft::dialect::Profile;

/// Reads the name of a dialect; each can be taught.
pub(crate) fn taught_dialect(name: &str) -> Result<Dialect, String> {
    let found = Dialect::ALL.iter().copied().find(|dialect| dialect.name() == name);
    found.ok_or_else(|| input::expected_one_of(Dialect::ALL.iter().map(|dialect| dialect.name())))
}

/// Reads a dialect's file, for clap: the dialect is known by its name from then on.
pub(crate) fn dialect_file(path: &str) -> Result<Dialect, String> {
    let text = input::read_text(Path::new(path)).map_err(|failure| failure.message().to_owned())?;
    Dialect::from_json(input::without_bom(&text)).map_err(|error| error.to_string())
}

/// Reads a profile's name, for clap.
pub(crate) fn known_profile(name: &str) -> Result<&'static Profile, String> {
    Profile::named(name).ok_or_else(|| input::expected_one_of(Profile::all().iter().map(|p| p.name)))
}

/// Reads a profile's name, or a model's, which names its profile; for clap.
pub(crate) fn profile_of(name: &str) -> Result<&'static Profile, String> {
    match name.trim() {
        "" => Err("expected the name of a profile or of a model".to_owned()),
        name => Ok(Profile::named(name).unwrap_or_else(|| Profile::for_model(name))),
    }
}
