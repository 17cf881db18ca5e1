//! Grammars of calls: what they allow is read, and what is written is allowed.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod gbnf;
mod grammar;
mod schemas;
