//! The parser from outside: its laws and limits, what other engines read, and the way
//! back from what this crate writes. `tests/fixtures.rs` holds its answers.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

/// The command's own reader and comparer of expectations (`replay --check`).
#[allow(dead_code, reason = "what compares is used by the fixtures' own test")]
#[path = "../../cli/src/replay/check.rs"]
mod check;
#[path = "../common/mod.rs"]
mod common;
#[path = "../../cli/src/replay/expected.rs"]
mod expected;
#[path = "../common/fixture.rs"]
mod fixture;
#[path = "../common/same.rs"]
mod same;

mod conformance;
mod context;
mod damage;
mod fixtures;
mod json_repair;
mod laws;
mod limits;
mod neutralise;
mod objects;
mod parity;
mod place;
mod rejected_raw;
mod slips;
mod tables;
mod values;
mod written_calls;
