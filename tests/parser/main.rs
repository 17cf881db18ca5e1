//! The parser from outside: its laws and limits, the texts of other engines, and parsing of the
//! calls that this crate writes. `tests/fixtures.rs` has the expected messages.

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
