//! How a command fails: what is printed, and the exit code.

use std::fmt;
use std::process::ExitCode;

use super::output::wrapped;
use super::screen::boxes::clean;

/// Why a command did not succeed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A flag, file or configuration is wrong: exit code 2.
    Usage(String),
    /// The job found failures: exit code 1.
    Job(String),
    /// The job found failures and has reported them itself: exit code 1.
    Reported,
}

impl Failure {
    /// A mistake in a flag, file or configuration. Names what, where and the remedy.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Failure::Usage(message.to_string())
    }

    /// A job that failed. Names what, where and the remedy.
    pub(crate) fn job(message: impl fmt::Display) -> Self {
        Failure::Job(message.to_string())
    }

    /// Prints the message to stderr.
    pub(super) fn report(self) -> ExitCode {
        let (code, message) = match self {
            Failure::Usage(message) => (2, message),
            Failure::Job(message) => (1, message),
            Failure::Reported => return ExitCode::from(1),
        };
        // Servers, models and files have a part in what is said. Of several mistakes each has its
        // line; what goes on with one is indented.
        for line in clean(&message).lines() {
            match line.starts_with([' ', '(']) {
                true => anstream::eprintln!("{}", wrapped(line)),
                false => {
                    let rows = wrapped(&format!("{HEAD} {line}"));
                    let line = rows.strip_prefix(HEAD).unwrap_or(&rows);
                    anstream::eprintln!("{}{HEAD}{}{line}", ERROR.render(), ERROR.render_reset());
                }
            }
        }
        ExitCode::from(code)
    }
}

const HEAD: &str = "error:";
const ERROR: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();
