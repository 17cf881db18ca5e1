//! Spans of the agent. A separate program: whether a span is enabled is cached for the process, so
//! every test here enables all of them.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod agent;
