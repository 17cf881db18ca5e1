//! Tests of `toolgraft_serve`: the server over real sockets.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod agents;
mod announced;
mod anthropic;
mod bad_input;
mod bounds;
mod constrain;
mod crowd;
mod doors;
mod forced;
mod foreign;
mod gemini;
mod histories;
mod http;
mod inspect;
mod log;
mod loops;
mod media;
mod native;
mod ollama;
mod questions;
mod refusals;
mod requests;
mod responses;
mod round_trip;
mod sessions;
mod shapes;
mod stale;
mod terms;
mod toolbox;
mod vendor;
mod ways;
