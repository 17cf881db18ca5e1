//! Model profiles on the command line.

use toolgraft::dialect::Profile;

/// Reads a profile's name, for clap.
pub(crate) fn known_profile(name: &str) -> Result<&'static Profile, String> {
    Profile::named(name).ok_or_else(|| {
        let names: Vec<_> = Profile::all().iter().map(|p| p.name).collect();
        format!("expected one of {}", names.join(", "))
    })
}
