//! The parser from outside: its laws and limits, what other engines read, and the way
//! back from what this crate writes. `tests/fixtures.rs` holds its answers.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod conformance;
mod context;
mod damage;
mod fixtures;
mod json_repair;
mod kept;
mod laws;
mod limits;
mod loaded;
mod neutralise;
mod objects;
mod parity;
mod place;
mod rejected_raw;
mod slips;
mod tables;
mod values;
mod written_calls;
