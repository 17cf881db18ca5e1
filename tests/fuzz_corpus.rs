//! Every fuzz target over the inputs that earlier walks found (`fixtures/fuzz`), so that what
//! a fuzzer reached once is tried with every `cargo test`. `make fuzz-corpus` makes the files
//! anew (`fuzz/README.md`).

#![allow(clippy::explicit_auto_deref, reason = "without it the type of what is picked is not known")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

mod common;
#[path = "../fuzz/fuzz_targets/config.rs"]
mod config;
#[path = "../fuzz/fuzz_targets/cuts.rs"]
mod cuts;
#[path = "../fuzz/fuzz_targets/grammar/main.rs"]
mod grammar;
#[path = "../fuzz/fuzz_targets/json.rs"]
mod json;
#[path = "../fuzz/fuzz_targets/laws.rs"]
mod laws;
#[path = "../fuzz/fuzz_targets/recording.rs"]
mod recording;
#[path = "../fuzz/fuzz_targets/repair.rs"]
mod repair;
#[path = "../fuzz/fuzz_targets/validate.rs"]
mod validate;

/// Bytes of stack for a target.
const STACK: usize = 64 << 20;

/// Runs a target over its file: an input on each line, in Base64.
fn replay(target: &str, run: fn(&[u8])) {
    let file = format!("{}/fixtures/fuzz/{target}.base64", env!("CARGO_MANIFEST_DIR"));
    let lines = fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"));
    let mut inputs = 0;
    for (at, line) in lines.lines().enumerate() {
        let input = BASE64_STANDARD.decode(line).unwrap_or_else(|e| panic!("{file}, line {}: {e}", at + 1));
        // The target's own panic was printed before.
        let passed = catch_unwind(AssertUnwindSafe(|| run(&input))).is_ok();
        assert!(passed, "fixtures/fuzz/{target}.base64, line {}: {}", at + 1, input.escape_ascii());
        inputs += 1;
    }
    assert!(inputs > 0, "{file} holds no input");
}

macro_rules! targets {
    ($($target:ident)*) => {$(
        #[test]
        fn $target() {
            // A debug build's frames are large, and a schema may nest.
            let run = || replay(stringify!($target), $target::fuzz);
            let thread = thread::Builder::new().stack_size(STACK).spawn(run).expect("a thread can be started");
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
    )*};
}

targets!(config grammar json laws recording repair validate);
