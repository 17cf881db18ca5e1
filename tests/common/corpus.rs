//! Fuzz targets over the inputs that earlier walks found (`fixtures/fuzz`).
//!
//! ```ignore
//! #[macro_use]
//! #[path = "common/corpus.rs"]
//! mod corpus;
//! ```

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

/// Bytes of stack for a target.
pub(crate) const STACK: usize = 64 << 20;

/// Runs a target over its file: an input on each line, in Base64.
pub(crate) fn replay(target: &str, run: fn(&[u8])) {
    let file = format!("fixtures/fuzz/{target}.base64");
    // The package stands at the repository's root or below it.
    let found =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join(&file)).find(|f| f.is_file());
    let lines = found.map(fs::read_to_string).unwrap_or_else(|| panic!("{file} is missing")).expect("it can be read");
    let mut inputs = 0;
    for (at, line) in lines.lines().enumerate() {
        let input = BASE64_STANDARD.decode(line).unwrap_or_else(|e| panic!("{file}, line {}: {e}", at + 1));
        // The target's own panic was printed before.
        let passed = catch_unwind(AssertUnwindSafe(|| run(&input))).is_ok();
        assert!(passed, "{file}, line {}: {}", at + 1, input.escape_ascii());
        inputs += 1;
    }
    assert!(inputs > 0, "{file} holds no input");
}

macro_rules! targets {
    ($($target:ident)*) => {$(
        #[test]
        fn $target() {
            // A debug build's frames are large, and a schema may nest.
            let run = || $crate::corpus::replay(stringify!($target), $target::fuzz);
            let thread = std::thread::Builder::new().stack_size($crate::corpus::STACK).spawn(run).expect("a thread can be started");
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    )*};
}
