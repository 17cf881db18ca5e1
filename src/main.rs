//! The `toolgraft` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolgraft::cli::main()
}
