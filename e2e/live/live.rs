//! A real model: 135 million parameters, no training for tools, behind llama.cpp's own server.
//!
//! `make e2e SUITES=live` sets it up and runs these tests one after another; elsewhere they say that they
//! were skipped and pass. Nothing is asserted about what the model decides where nothing holds
//! it to a form: it is a worst case on purpose. What is asserted is ours: that every answer of
//! it ends a turn well, and what a constraint promises.

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
