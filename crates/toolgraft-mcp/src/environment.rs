//! The environment of servers, before the allow-list is applied.

use std::ffi::OsString;

/// Returns the environment variables `own` and, if `inherited`, those of this process that `own` does not name.
pub(super) fn joined(own: Vec<(OsString, OsString)>, inherited: bool) -> Vec<(OsString, OsString)> {
    let mut joined = own;
    if inherited {
        // An exception to the rule that the library does not read the environment: the program asks
        // for it explicitly. `tests/project/architecture.rs` knows this file.
        let named = |name: &OsString| joined.iter().any(|(own, _)| own == name);
        let rest: Vec<_> = std::env::vars_os().filter(|(name, _)| !named(name)).collect();
        joined.extend(rest);
    }
    joined
}
