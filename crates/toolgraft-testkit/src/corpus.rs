//! Runs fuzz targets with the stored inputs (`fixtures/fuzz`).
//!
//! ```text
//! #[path = "../fuzz/fuzz_targets/laws.rs"]
//! mod laws;
//!
//! toolgraft_testkit::targets!(laws);   // a test `laws`
//! ```

use std::collections::BTreeSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::oracle;

/// Stack size, in bytes, of the thread that runs a fuzz target.
pub const STACK: usize = 64 << 20;

/// Names of the fuzz targets whose parses are compared with recorded digests.
const RECORDED: [&str; 2] = ["grammar", "laws"];

/// Runs a fuzz target with each input of its file, which has one per line, in Base64.
///
/// # Panics
/// Panics if the target fails for an input, if its file is missing or empty, or if a parse differs from its recorded
/// digest.
pub fn replay(target: &str, run: fn(&[u8])) {
    let file = format!("fixtures/fuzz/{target}.base64");
    let lines = fs::read_to_string(crate::root().join(&file)).unwrap_or_else(|e| panic!("{file}: {e}"));
    let (mut inputs, mut differences, mut keys) = (0, Vec::new(), BTreeSet::new());
    for (at, line) in lines.lines().enumerate() {
        let input = BASE64_STANDARD.decode(line).unwrap_or_else(|e| panic!("{file}, line {}: {e}", at + 1));
        // The target's own panic message is already printed.
        oracle::reset();
        let passed = catch_unwind(AssertUnwindSafe(|| run(&input))).is_ok();
        assert!(passed, "{file}, line {}: {}", at + 1, input.escape_ascii());
        if RECORDED.contains(&target) {
            let key = format!("{:016x}", oracle::digest_of(line.as_bytes()));
            let compared = oracle::compare(target, &key, oracle::digest());
            differences.extend(compared.err().map(|why| format!("line {}: {why}", at + 1)));
            keys.insert(key);
        }
        inputs += 1;
    }
    assert!(inputs > 0, "{file} holds no input");
    assert!(differences.is_empty(), "{file}: {} inputs differ\n{}", differences.len(), differences.join("\n"));
    if RECORDED.contains(&target) {
        assert_eq!(oracle::stale(target, &keys), [""; 0], "recorded, and in {file} no more");
    }
}

/// Creates a test for each fuzz target: a module with a function `fuzz`.
#[macro_export]
macro_rules! targets {
    ($($target:ident)*) => {$(
        #[test]
        fn $target() {
            // The stack frames of a debug build are large, and a schema may be nested.
            let run = || $crate::corpus::replay(stringify!($target), $target::fuzz);
            let thread = std::thread::Builder::new().stack_size($crate::corpus::STACK).spawn(run).expect("a thread can be started");
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    )*};
}
