//! toolgraft for Node: the native half of the package `toolgraft`.
//!
//! In come texts and JSON; out go texts and JSON, or a number where an event needs no more. The
//! other half (`js/index.js`) makes objects and classes of them: V8 reads a JSON text faster than
//! it takes an object field by field.

mod error;
pub mod parser;
pub mod tools;
pub mod turn;

use napi_derive::napi;
use toolgraft::Dialect;

/// The names of all dialects.
#[napi]
#[must_use]
pub fn dialects() -> Vec<String> {
    Dialect::ALL.iter().map(|dialect| dialect.name().to_owned()).collect()
}

/// The name of the dialect that a file describes.
#[napi]
pub fn load_dialect(file: String) -> error::Result<String> {
    toolgraft_bindings::load_dialect(&file).map(str::to_owned).map_err(error::thrown)
}

/// The version of this half, which has to be that of the other one.
#[napi]
#[must_use]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}
