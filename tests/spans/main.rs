//! Spans of the agent. A program of its own: whether anybody wants a span is
//! remembered for the process, so every test here wants all of them.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod agent;
