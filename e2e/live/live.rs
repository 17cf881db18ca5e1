//! A real model with 135 million parameters, not trained for tools, served by llama.cpp's server.
//!
//! `make e2e SUITES=live` installs it and runs these tests one after another; otherwise they report
//! that they were skipped, and pass. The model's unconstrained decisions are not asserted, since it
//! is a worst case on purpose. Asserted is our part: every answer ends a turn properly, and
//! constraints hold.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of tests; skipped tests say so")]

#[path = "../../cli/tests/command/process.rs"]
mod process;
mod server;

mod calls;
mod chat;
mod results;
mod serve;
mod templates;
mod tools;
