//! The variables that servers may have, before the allow-list.

use std::ffi::OsString;

/// These variables, and those of this process of other names if they are `inherited`.
pub(super) fn joined(own: Vec<(OsString, OsString)>, inherited: bool) -> Vec<(OsString, OsString)> {
    let mut joined = own;
    if inherited {
        // An exception to the rule that the library reads no environment: the program asks
        // for it by name. `tests/project/architecture.rs` knows this file.
        let named = |name: &OsString| joined.iter().any(|(own, _)| own == name);
        let rest: Vec<_> = std::env::vars_os().filter(|(name, _)| !named(name)).collect();
        joined.extend(rest);
    }
    joined
}
