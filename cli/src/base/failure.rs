//! The failure of a command: the message that is printed, and the exit code.

use std::fmt;
use std::process::ExitCode;

use regex::Regex;

use crate::base::stderr::{headed, tell_stderr};
use crate::screen::{excerpt::remark, wrap::wrapped};

/// The reason that a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An option, file or configuration is wrong: exit code 2.
    Usage(String),
    /// The command failed at its task: exit code 1.
    Job(String),
    /// The command failed and has already printed the reason: exit code 1.
    Reported,
    /// Ctrl-C stopped the command. The process then ends by SIGINT, so that a shell's loop stops. An empty message
    /// means a regular end, and nothing is printed.
    Interrupted(String),
    /// The reader of standard output has gone. The process then ends by SIGPIPE, as usual in a pipe.
    ReaderGone,
}

impl Failure {
    /// Creates the failure for a mistake in an option, file or configuration. The message names what, where and the
    /// remedy.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Failure::Usage(one(message))
    }

    /// Creates the failure of a task. The message names what, where and the remedy.
    pub(crate) fn job(message: impl fmt::Display) -> Self {
        Failure::Job(one(message))
    }

    /// Creates the failure of a command that `by` stopped, such as `Ctrl-C`.
    pub(crate) fn interrupted(by: &str) -> Self {
        Failure::Interrupted(format!("stopped by {by}"))
    }

    /// Creates the failure for several mistakes in options, files or the configuration.
    pub(crate) fn usages(messages: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        Failure::Usage(several(messages))
    }

    /// Creates the failure of a task for several reasons.
    pub(crate) fn jobs(messages: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        Failure::Job(several(messages))
    }

    /// Returns the message of the failure; empty if it was already printed.
    pub(crate) fn message(&self) -> &str {
        match self {
            Failure::Usage(message) | Failure::Job(message) | Failure::Interrupted(message) => message,
            Failure::Reported | Failure::ReaderGone => "",
        }
    }

    /// Prints the message to stderr and returns the exit code; or ends the process by a signal.
    pub(crate) fn report(self) -> ExitCode {
        let (code, message) = match &self {
            Failure::Usage(message) => (2, message),
            Failure::Job(message) => (1, message),
            // 128 and the number of the signal, as a shell reports it: SIGINT is 2, SIGPIPE (141) is 13.
            Failure::Interrupted(message) => (130, message),
            Failure::Reported => return ExitCode::from(1),
            Failure::ReaderGone => return ended_by("PIPE", 141),
        };
        // Each of several mistakes has its own line; the continuation of one is indented.
        for line in message.lines() {
            match line.is_empty() || line.starts_with(' ') {
                true => tell_stderr(wrapped(line)),
                false => tell_stderr(headed((ERROR, "error:"), line, wrapped)),
            }
        }
        match self {
            Failure::Interrupted(_) => ended_by("INT", code),
            _ => ExitCode::from(code),
        }
    }
}

/// Ends this process by a signal, on Unix by executing a shell that sends it to itself, which restores the signal's
/// default action. Returns the exit code if that is not possible.
fn ended_by(signal: &str, code: u8) -> ExitCode {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        use std::process::{Command, Stdio};
        // Whoever started this may have the signal ignored.
        let script = format!("kill -{signal} $$; exit {code}");
        let _ = Command::new("/bin/sh").args(["-c", &script]).stdin(Stdio::null()).exec();
    }
    ExitCode::from(code)
}

/// Returns a message as it is printed: continuation lines are indented, since it may contain untrusted text.
fn one(message: impl fmt::Display) -> String {
    remark(&without_codes(message.to_string()))
}

fn several(messages: impl IntoIterator<Item = impl fmt::Display>) -> String {
    messages.into_iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Removes the numbers of system errors from a message, since the text before each number says the same.
pub(crate) fn without_codes(message: String) -> String {
    let codes = Regex::new(r" \(os error \d+\)").expect("it is tested");
    codes.replace_all(&message, "").into_owned()
}

const ERROR: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_errors_are_left_out() {
        for (message, plain) in [
            ("cannot read x: No such file (os error 2)", "cannot read x: No such file"),
            ("a (os error 2): b (os error 13)", "a: b"),
            ("said (os error x)", "said (os error x)"),
            ("nothing", "nothing"),
        ] {
            assert_eq!(without_codes(message.to_owned()), plain);
        }
    }
}
