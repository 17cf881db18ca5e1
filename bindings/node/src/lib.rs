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

/// Returns the names of all dialects.
#[napi]
#[must_use]
pub fn dialects() -> Vec<String> {
    Dialect::ALL.iter().map(|dialect| dialect.name().to_owned()).collect()
}

/// Registers the dialect that a file describes, and returns its name.
#[napi]
pub fn load_dialect(file: String) -> error::Result<String> {
    toolgraft_bindings::load_dialect(&file).map(str::to_owned).map_err(error::thrown)
}

/// Returns the version of this half, which must be that of the other one.
#[napi]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
