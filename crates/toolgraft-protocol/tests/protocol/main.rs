//! Tests of `toolgraft_protocol`: exchanges without HTTP.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod adapter;
mod templates;
