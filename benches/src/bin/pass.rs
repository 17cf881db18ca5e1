//! One pass of what `smoke` counts the instructions of: the same code as there, with the
//! allocator that programs have.

use std::process::ExitCode;

fn main() -> ExitCode {
    if toolgraft_benches::measure::run_child() {
        return ExitCode::SUCCESS;
    }
    eprintln!("`smoke` runs this under callgrind, with the name of a case");
    ExitCode::FAILURE
}
