//! toolgraft for Node: the native half of the package `toolgraft`.
//!
//! Input and output are strings and JSON, or a number if an event needs no more. The other half
//! (`js/index.js`) creates objects and classes: V8 parses a JSON text faster than it copies an
//! object field by field.

mod error;
pub mod exchange;
pub mod parser;
pub mod tools;

use napi_derive::napi;
use toolgraft::Dialect;

/// Returns the names of all built-in dialects.
#[napi]
#[must_use]
pub fn dialects() -> Vec<String> {
    Dialect::ALL.iter().map(|dialect| dialect.name().to_owned()).collect()
}

/// Registers the dialect that a JSON text describes, and returns the dialect's name. Settings accept the name from then
/// on. Throws if the text cannot be used.
#[napi]
pub fn load_dialect(file: String) -> error::Result<String> {
    toolgraft_bindings::load_dialect(&file).map(str::to_owned).map_err(error::thrown)
}

/// Returns the version of this native module, which must equal the version of the JavaScript part of the package.
#[napi]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
