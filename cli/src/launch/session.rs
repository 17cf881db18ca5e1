//! A program from its start to its end: its files, its signals, its status.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::plan::LaunchPlan;
use crate::base::{Failure, output, secret::secret, signals::Signals};
use crate::terminal::tty::Tty;
use toolgraft_files as files;
use toolgraft_mcp::ProcessMark;

/// Time for the program to exit after it received a signal to do so.
const GRACE: Duration = Duration::from_secs(10);

/// Time for processes that the program left running to exit after a signal.
const LEFT_GRACE: Duration = Duration::from_secs(2);

/// Name of the environment variable that marks the program and its descendants.
const MARK: &str = "TOOLGRAFT_LAUNCH";

/// A private temporary directory for the files of a session, which is deleted when this value is dropped.
#[derive(Debug)]
pub(super) struct SessionFolder(PathBuf);

impl SessionFolder {
    /// Chooses the path of a temporary directory, which is created when a file is written.
    pub(super) fn new() -> Result<Self, Failure> {
        let name = secret()?;
        Ok(SessionFolder(std::env::temp_dir().join(format!("toolgraft-launch-{name}"))))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes the files of a plan.
    pub(super) fn fill(&self, plan: &LaunchPlan) -> Result<(), Failure> {
        for (name, text) in &plan.files {
            let path = self.0.join(name);
            files::replace(&path, format!("{text}\n").as_bytes(), files::Mode::Private)
                .map_err(|error| Failure::job(format!("cannot write {}: {error}", path.display())))?;
        }
        Ok(())
    }
}

impl Drop for SessionFolder {
    fn drop(&mut self) {
        // One that was never made has nothing in it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns a new mark: an environment variable that identifies the program and its descendants.
pub(super) fn mark() -> ProcessMark {
    ProcessMark::new(MARK)
}

/// Returns the command that starts the program of a plan with this environment and mark.
pub(super) fn command(
    program: &Path,
    plan: &LaunchPlan,
    environment: Vec<(OsString, OsString)>,
    mark: &ProcessMark,
) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(environment).env(MARK, mark.value());
    for name in ["NO_PROXY", "no_proxy"] {
        // A program with a proxy would ask it for this machine.
        let before = std::env::var(name).ok().filter(|hosts| !hosts.is_empty());
        command.env(name, before.map_or_else(|| "127.0.0.1".to_owned(), |hosts| format!("{hosts},127.0.0.1")));
    }
    // Last, so that the client's entry and `--env` override what is inherited.
    command.envs(plan.set.iter().map(|(name, value)| (name, value))).args(&plan.arguments).kill_on_drop(true);
    command
}

/// Ends processes that the program left running, such as a daemon that would keep the session's settings for the next
/// start.
pub(super) async fn end_left(mark: &ProcessMark, client: &str) {
    if mark.end(LEFT_GRACE).await {
        output::tell_stderr(format!("stopped the processes that {client} left running"));
    }
}

/// Waits for the program to exit, and forwards signals that it does not get itself. Returns its exit code.
pub(super) async fn ended(mut child: Child, signals: &Signals) -> Result<ExitCode, Failure> {
    // The terminal's settings are restored when this is dropped, even if the program has changed them.
    let tty = Tty::open();
    let (interrupts, ending) = (signals.take_interrupts(), signals.hold());
    let mut is_told = false;
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            // A terminal sends it to all programs in front of it.
            () = interrupts.next() => if tty.is_none() { send(&mut child, Signal::Interrupt) },
            () = ending.begins(), if !is_told => {
                is_told = true;
                send(&mut child, Signal::End);
            }
            () = tokio::time::sleep(GRACE), if is_told => {
                // That it has ended meanwhile shows at the next wait.
                let _ = child.start_kill();
            }
        }
    };
    let status = status.map_err(|error| Failure::job(format!("cannot wait for the program: {error}")))?;
    Ok(ExitCode::from(code(status)))
}

/// Returns the exit code of a program as a shell reports it: 128 plus the number of a signal.
fn code(status: std::process::ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    // A shell sees the lowest byte of a status; those of Windows have 32 bits.
    status.code().map_or(1, |code| u8::try_from(code & 0xff).unwrap_or(u8::MAX))
}

#[derive(Debug, Clone, Copy)]
enum Signal {
    Interrupt,
    End,
}

#[cfg(unix)]
fn send(child: &mut Child, signal: Signal) {
    use rustix::process::{Pid, kill_process};
    let signal = match signal {
        Signal::Interrupt => rustix::process::Signal::INT,
        Signal::End => rustix::process::Signal::TERM,
    };
    // One that has ended needs none.
    if let Some(pid) = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)) {
        let _ = kill_process(pid, signal);
    }
}

#[cfg(not(unix))]
fn send(child: &mut Child, signal: Signal) {
    // Ctrl-C comes to all programs of a console.
    if let Signal::End = signal {
        let _ = child.start_kill();
    }
}
