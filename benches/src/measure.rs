//! Instructions of one case by callgrind, which no other work on the machine changes.
//! An allocator that counts would cost time and instructions itself: it is in `smoke` alone,
//! and what is counted here is a run of the program `pass`, which has none.

use std::env;
use std::hint::black_box;
use std::process::Command;

use crate::case::{Case, chunk_name};
use crate::pass::cut;
use crate::repetition::Repetition;
use crate::served::{History, Served};

/// The program whose passes are counted.
const PASS: &str = "pass";

/// The option that makes a program run one pass for callgrind; see [`run_child`].
const CHILD: &str = "--pass";

/// The same for a repetition and its length.
const CHILD_OF_REPETITION: &str = "--repetition";

/// The same for an answer of the server.
const CHILD_OF_SERVED: &str = "--served";

/// The same for a request with a history.
const CHILD_OF_HISTORY: &str = "--history";

/// Runs one pass of the case that the command line names, if it names one by
/// `--pass NAME CHUNK`, or of a repetition by `--repetition NAME BYTES`.
pub fn run_child() -> bool {
    let mut args = env::args().skip(1);
    let child = args.next();
    if child.as_deref() == Some(CHILD_OF_REPETITION) {
        let name = args.next().expect("the parent names a repetition");
        let bytes = args.next().expect("the parent names a length").parse().expect("a length is a number");
        Repetition::named(&name).expect("the parent names a repetition").run(bytes);
        return true;
    }
    if child.as_deref() == Some(CHILD_OF_SERVED) {
        let name = args.next().expect("the parent names an answer");
        Served::named(&name).expect("the parent names an answer").run();
        return true;
    }
    if child.as_deref() == Some(CHILD_OF_HISTORY) {
        let name = args.next().expect("the parent names a history");
        History::named(&name).expect("the parent names a history").run();
        return true;
    }
    if child.as_deref() != Some(CHILD) {
        return false;
    }
    let case = args.next().and_then(|name| Case::named(&name)).expect("the parent names a case");
    let bytes = args.next().expect("the parent names a chunk").parse().ok();
    let text = case.text();
    black_box((case.pass)(&mut case.parser(), &cut(&text, bytes)));
    true
}

/// Instructions of one pass, as callgrind counts them. The parser is made before.
///
/// # Errors
/// As [`callgrind`].
pub fn instructions(case: &Case, bytes: Option<usize>) -> Result<u64, String> {
    callgrind(PASS, "*pass*parsed*", &[CHILD, case.name, &chunk_name(bytes)])
}

/// Instructions of one pass over a repetition of this length.
///
/// # Errors
/// As [`callgrind`].
pub fn instructions_of(repetition: &Repetition, bytes: usize) -> Result<u64, String> {
    callgrind(PASS, "*pass*parsed*", &[CHILD_OF_REPETITION, repetition.name, &bytes.to_string()])
}

/// Instructions of one answer of the server, without HTTP.
///
/// # Errors
/// As [`callgrind`].
pub fn instructions_of_answer(served: &Served) -> Result<u64, String> {
    callgrind(PASS, "*served*answered*", &[CHILD_OF_SERVED, served.name])
}

/// Instructions of the server's reading of a request with a history.
///
/// # Errors
/// As [`callgrind`].
pub fn instructions_of_history(history: &History) -> Result<u64, String> {
    callgrind(PASS, "*served*asked*", &[CHILD_OF_HISTORY, history.name])
}

/// Instructions of a function of this program, or of another in its folder, and of all that
/// the function calls, as callgrind counts them in a run with these arguments.
///
/// # Errors
/// The program was not built, valgrind is missing, or it did not count: says what it said.
pub fn callgrind(program: &str, function: &str, args: &[&str]) -> Result<u64, String> {
    let own = env::current_exe().map_err(|e| format!("this program has no path: {e}"))?;
    let program = own.with_file_name(format!("{program}{}", env::consts::EXE_SUFFIX));
    if !program.exists() {
        return Err(format!("{} is missing: cargo build --release --bins", program.display()));
    }
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={function}"))
        .arg(program)
        .args(args)
        .output()
        .map_err(|e| format!("cannot run valgrind: {e}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said.lines().filter_map(|line| line.split_once("Collected : ")).next_back();
    let count = collected.and_then(|(_, count)| count.trim().parse().ok());
    match count {
        Some(count) if output.status.success() && count > 0 => Ok(count),
        _ => Err(format!("valgrind counted nothing in {function} of {args:?}:\n{said}")),
    }
}
