//! Code that the tests of toolgraft's crates share. It is not published.
//!
//! A package lists it in its `dev-dependencies`, by path and without a version, with the features
//! that its tests need. Without features it has the support for tests of the parser:
//!
//! | module | what it is |
//! |---|---|
//! | [`laws`] | the parser's laws, checked on any input |
//! | [`fixture`] | the expectations beside the parser's fixtures |
//! | [`corpus`], [`targets!`] | fuzz targets over what earlier walks found |
//! | [`oracle`] | digests of the parser's events, recorded before it was rebuilt |
//! | [`nasty`] | texts that were altered or misread on their way |
//! | [`same`] | when two JSON values amount to the same |
//! | [`english`] | English sentences in a text that should have none |
//! | [`files`] | files in memory, and a full disk |
//! | [`real`] | the MCP servers of other people that `make set-up` installs |
//!
//! | feature | module | what it is |
//! |---|---|---|
//! | `endpoint` | `endpoint` | an OpenAI-compatible endpoint that answers by script |
//! | `mcp` | `http_mcp`, `oauth_mcp`, `faulty_mcp`, `work_mcp` | MCP servers: over HTTP, with a login, with one fault, with git and a shell |
//! | `serve` | `client_histories` | histories as clients send them, and what an endpoint gets |
//! | `spans` | `spans` | a subscriber of `tracing` that keeps all spans |
//!
//! A unit test of `toolgraft` links a second copy of the library, whose types are different from
//! those of this crate. It can only use modules without such types, like [`nasty`].

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[cfg(feature = "serve")]
pub mod client_histories;
pub mod corpus;
#[cfg(feature = "endpoint")]
pub mod endpoint;
pub mod english;
#[cfg(feature = "mcp")]
pub mod faulty_mcp;
pub mod files;
pub mod fixture;
#[cfg(feature = "mcp")]
pub mod http_mcp;
mod json_prefix;
pub mod laws;
pub mod nasty;
#[cfg(feature = "mcp")]
pub mod oauth_mcp;
pub mod oracle;
pub mod real;
pub mod same;
#[cfg(feature = "spans")]
pub mod spans;
#[cfg(feature = "mcp")]
pub mod work_mcp;

use std::path::Path;

/// Returns the root of the repository.
fn root() -> &'static Path {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("this package stands two folders below it")
}
