//! The hub with misbehaving servers, one fault at a time.
//!
//! The test program is also the server: started as `mcp_faults serve FAULT DIR` it speaks MCP over
//! its standard input and output and has that fault (`toolgraft_testkit::faulty_mcp`). After each
//! test the process table is searched for remaining processes (`case.rs`).

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod case;
mod faults;
mod http;
mod lifecycle;
mod order;
mod soak;
mod switches;

use std::io::Write;
use std::process::ExitCode;

use toolgraft_testkit::{faulty_mcp, spans};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["serve", fault, dir] => faulty_mcp::serve(fault, dir.as_ref(), "s"),
        ["serve", fault, dir, name] => faulty_mcp::serve(fault, dir.as_ref(), name),
        ["soak", seconds, dir] => {
            let told = seconds.parse().map_err(|_| format!("{seconds} is not a number of seconds"));
            let told = told.and_then(|seconds| soak::run(seconds, dir.as_ref()));
            let mut out = std::io::stdout().lock();
            let (text, code) = told.map_or_else(|e| (format!("FAILED: {e}"), 1), |told| (told, 0));
            writeln!(out, "{text}").unwrap();
            return ExitCode::from(code);
        }
        ["stateful", hints, dir, _] => order::serve(hints, dir.as_ref()),
        ["linger", _] => faulty_mcp::linger(),
        ["panic", dir] => lifecycle::panic_with_servers(dir.as_ref()),
        _ => {
            spans::wanted();
            let mut arguments = libtest_mimic::Arguments::from_args();
            // These tests mostly wait for servers, and use a tenth of a processor.
            arguments.test_threads.get_or_insert(8);
            return libtest_mimic::run(
                &arguments,
                lifecycle::trials()
                    .into_iter()
                    .chain(faults::trials())
                    .chain(http::trials())
                    .chain(order::trials())
                    .chain(switches::trials())
                    .collect(),
            )
            .exit_code();
        }
    }
    ExitCode::SUCCESS
}
