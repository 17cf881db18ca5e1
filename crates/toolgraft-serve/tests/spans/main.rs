//! Tests of the server's spans. In a binary of its own: whether spans are recorded is decided once
//! per process, so every test here needs all of them.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod serve;
