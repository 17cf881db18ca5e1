//! The failure of a command: the message that is printed, and the exit code.

use std::fmt;
use std::process::ExitCode;

use regex::Regex;

use crate::base::stderr::{headed, tell_stderr};
use crate::screen::{excerpt::remark, wrap::wrapped};

/// The reason that a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A flag, file or configuration is wrong: exit code 2.
    Usage(String),
    /// The job found failures: exit code 1.
    Job(String),
    /// The job found failures and has reported them itself: exit code 1.
    Reported,
    /// Ctrl-C stopped the job. The program ends by SIGINT, too, so that a shell's loop stops. Without a message it was
    /// meant to end so.
    Interrupted(String),
    /// Nobody reads standard output any more. The program ends by SIGPIPE, as others do in a shell's pipe.
    ReaderGone,
}

impl Failure {
    /// A mistake in a flag, file or configuration. Names what, where and the remedy.
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Failure::Usage(one(message))
    }

    /// A job that failed. Names what, where and the remedy.
    pub(crate) fn job(message: impl fmt::Display) -> Self {
        Failure::Job(one(message))
    }

    /// A job that Ctrl-C stopped; `by` names that.
    pub(crate) fn interrupted(by: &str) -> Self {
        Failure::Interrupted(format!("stopped by {by}"))
    }

    /// Several mistakes in flags, files or the configuration.
    pub(crate) fn usages(messages: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        Failure::Usage(several(messages))
    }

    /// Several reasons why a job failed.
    pub(crate) fn jobs(messages: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        Failure::Job(several(messages))
    }

    /// Returns the whole message that is printed.
    pub(crate) fn message(&self) -> &str {
        match self {
            Failure::Usage(message) | Failure::Job(message) | Failure::Interrupted(message) => message,
            Failure::Reported | Failure::ReaderGone => "",
        }
    }

    /// Prints the message to stderr.
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

/// Ends this process by a signal, where there are signals: in a program that takes its place one that was listened for or
/// ignored does again what the system says. Returns the exit code that says the same where that cannot be.
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

/// Returns a message as it is printed: servers, models and files have a part in what is said.
fn one(message: impl fmt::Display) -> String {
    remark(&without_codes(message.to_string()))
}

fn several(messages: impl IntoIterator<Item = impl fmt::Display>) -> String {
    messages.into_iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Returns a message without the numbers of system errors: the system's text before each number says the same.
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
