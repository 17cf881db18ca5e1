//! A child process as an rmcp transport: its environment, its group, its end.
//!
//! rmcp's child process ends nothing that its leader leaves running, waits three seconds for each step of its end, and
//! reports neither the exit status nor the standard error of a server that died.

use std::ffi::{OsStr, OsString};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

#[cfg(windows)]
use super::lookup;
use super::orphans::{self, ProcessMark, SIGKILL, SIGTERM};
use super::pipe::{Noise, Pipe};
use super::program::Program;
#[cfg(unix)]
use super::watcher::Watcher;
use crate::transport::log::{ErrorLines, Log};

/// Number of bytes of a server's standard error that are kept for error messages; older ones are
/// dropped.
pub const STDERR_TAIL: usize = 4 * 1024;

/// Time for a server's process to exit after its standard input is closed, and again after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// Time for the rest of a process group to exit after its leader has exited and SIGTERM was sent.
const GROUP_GRACE: Duration = Duration::from_millis(200);

/// Time to wait for the end of standard error, and for the exit status, of a server that has
/// exited.
pub(crate) const LAST_WORDS: Duration = Duration::from_millis(500);

/// Names of the environment variables that every server gets, as in the MCP SDKs; those named `LC_*` are added.
const INHERITED: &[&str] = &[
    "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER", // Windows
    "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATHEXT", "PROCESSOR_ARCHITECTURE", "PROGRAMFILES",
    "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "WINDIR",
];

/// The state of a child process, available also after its transport was moved to rmcp.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChildState {
    tail: watch::Sender<Vec<u8>>,
    exit: watch::Sender<Option<String>>,
    /// Count of the parts of the child's standard output that are not MCP, and the last of them.
    pub(crate) noise: Noise,
    /// Cancelled when the child's standard error has ended.
    stderr_ended: CancellationToken,
    /// Time of the child's last output on standard error; `None` before the first.
    pub(crate) heard: watch::Sender<Option<Instant>>,
    /// Cancelled when the child's standard output has ended, so that no response can arrive.
    pub(crate) gone: CancellationToken,
}

impl ChildState {
    /// Returns a message about how the child exited, with the end of its standard error, for which it waits at most
    /// [`LAST_WORDS`].
    pub(crate) async fn last_words(&self) -> String {
        // A grandchild may keep standard error open, so the wait is limited.
        let _ = tokio::time::timeout(LAST_WORDS, self.stderr_ended.cancelled()).await;
        self.words_so_far()
    }

    /// Returns the same message as [`last_words`](Self::last_words), but with the facts known now, without waiting.
    pub(crate) fn words_so_far(&self) -> String {
        let exit = self.exit.borrow().clone();
        let tail = String::from_utf8_lossy(&self.tail.borrow()).into_owned();
        let tail: String = tail.trim().chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        let exit = exit.map(|status| format!(" ({status})")).unwrap_or_default();
        let noise = self.noise.after(0).map(|noise| format!("; {noise}")).unwrap_or_default();
        match tail.is_empty() {
            true if noise.is_empty() && !exit.is_empty() => {
                format!("{exit}; it wrote nothing to stderr: run it by hand to see why")
            }
            true => format!("{exit}{noise}"),
            false => format!("{exit}{noise}; the end of its stderr:\n  {}", tail.replace('\n', "\n  ")),
        }
    }
}

/// Returns `true` if this environment variable is on the allow-list, so that every server that is started gets it.
pub fn is_inherited(name: &OsStr, value: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let name = if cfg!(windows) { name.to_uppercase() } else { name.to_owned() };
    // Such a value is a function that an old shell exported.
    let is_function = value.as_encoded_bytes().starts_with(b"()");
    (INHERITED.contains(&name.as_str()) || name.starts_with("LC_")) && !is_function
}

/// Starts the program of a server with the allowed part of `environment` and its own `env`. Its standard error goes to
/// `log`.
pub(crate) fn spawn(
    program: Program<'_>,
    environment: &[(OsString, OsString)],
    log: &Arc<Log>,
) -> Result<(StdioTransport, ChildState), String> {
    let Program { command, args, env, cwd } = program;
    #[cfg(windows)]
    let file = lookup::program_file(program, environment, |file| std::path::Path::new(file).is_file());
    #[cfg(not(windows))]
    let file = command;
    let mut process = Command::new(file);
    process.args(args).env_clear();
    process.envs(environment.iter().filter(|(name, value)| is_inherited(name, value)).map(|(n, v)| (n, v)));
    let mark = ProcessMark::new(orphans::VARIABLE);
    process.envs(env).env(orphans::VARIABLE, mark.value());
    process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    if let Some(cwd) = cwd {
        // The system reports a missing folder like a missing program.
        if !std::path::Path::new(cwd).is_dir() {
            return Err(format!("its \"cwd\" {cwd:?} is not a directory"));
        }
        process.current_dir(cwd);
    }
    // Started before the server, so that the server is never unwatched.
    #[cfg(unix)]
    let mut watcher = Watcher::start(&mark.variable());
    let mut wrapped = CommandWrap::from(process);
    #[cfg(unix)]
    wrapped.wrap(process_wrap::tokio::ProcessGroup::leader());
    // Both are needed to end the whole job even if this program is killed.
    #[cfg(windows)]
    wrapped.wrap(process_wrap::tokio::KillOnDrop).wrap(process_wrap::tokio::JobObject);
    let spawned = wrapped.spawn();
    #[cfg(unix)]
    if let Some(watcher) = &mut watcher {
        match spawned.as_ref().ok().and_then(|child| child.id()) {
            Some(group) => watcher.watch(group),
            None => watcher.dismiss(),
        }
    }
    let mut child = spawned.map_err(|e| spawn_error(command, &e))?;
    let state = ChildState::default();
    let inner = child.inner_mut();
    let pipes = (inner.stdin().take(), inner.stdout().take(), inner.stderr().take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err("its pipes could not be opened".to_owned());
    };
    tokio::spawn(drain(stderr, state.clone(), log.clone()));
    let pipe = Pipe::new(stdin, stdout, state.noise.clone());
    let transport = StdioTransport {
        pipe,
        child,
        mark,
        #[cfg(unix)]
        watcher,
        state: state.clone(),
        exited: None,
        closed: false,
    };
    Ok((transport, state))
}

fn spawn_error(command: &str, error: &std::io::Error) -> String {
    use std::io::ErrorKind;
    match error.kind() {
        ErrorKind::NotFound if command.starts_with('~') => {
            format!("cannot start {command:?}: `~` is not expanded: write ${{HOME}}")
        }
        // A path may contain spaces, but a space before a flag ends the program's name.
        ErrorKind::NotFound if command.contains(" -") || command.contains(' ') && !command.contains(['/', '\\']) => {
            let mut words = command.split_whitespace();
            let program = words.next().unwrap_or_default();
            let args = words.map(|word| format!("{word:?}")).collect::<Vec<_>>().join(", ");
            format!(
                "cannot start {command:?}: not found: put its arguments into \"args\", as in \"command\": {program:?}, \
                 \"args\": [{args}]"
            )
        }
        ErrorKind::NotFound if command.contains(['/', '\\']) => {
            format!("cannot start {command:?}: there is no such file: check \"command\"")
        }
        ErrorKind::NotFound => {
            format!("cannot start {command:?}: not found in PATH: install it, or write its full path as \"command\"")
        }
        // The standard library's error for arguments that cannot be passed to `cmd.exe` safely.
        ErrorKind::InvalidInput if cfg!(windows) => {
            format!("cannot start {command:?}: {error}: start the program that the batch file runs, such as \"node\"")
        }
        ErrorKind::PermissionDenied => format!("cannot start {command:?}: it is not an executable file"),
        _ => format!("cannot start {command:?}: {error}"),
    }
}

/// Reads a child's standard error to its end, so that the server never blocks on it, and keeps the last bytes for
/// messages and the lines for the log.
async fn drain(mut stderr: ChildStderr, state: ChildState, log: Arc<Log>) {
    let _ended = state.stderr_ended.clone().drop_guard();
    let mut lines = ErrorLines::default();
    let mut chunk = vec![0; STDERR_TAIL];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        state.heard.send_replace(Some(Instant::now()));
        lines.push(&chunk[..read], &log);
        state.tail.send_modify(|tail| {
            tail.extend_from_slice(&chunk[..read]);
            tail.drain(..tail.len().saturating_sub(STDERR_TAIL));
        });
    }
    lines.end(&log);
}

/// A child process as an rmcp transport.
pub(crate) struct StdioTransport {
    pub(crate) pipe: Pipe,
    child: Box<dyn ChildWrapper>,
    mark: ProcessMark,
    #[cfg(unix)]
    watcher: Option<Watcher>,
    state: ChildState,
    /// Time at which the exit of the process group's leader was noticed; `None` before.
    exited: Option<Instant>,
    closed: bool,
}

/// Returns the leader of the child's process group, to wait for it alone. A job object would wait for all processes
/// that the leader has started.
fn leader(child: &mut Box<dyn ChildWrapper>) -> &mut dyn ChildWrapper {
    match cfg!(windows) {
        true => child.inner_mut(),
        false => &mut **child,
    }
}

impl StdioTransport {
    /// Waits for the leader of the process group and records its exit status. Returns `false` if it still runs after
    /// `limit`.
    async fn ended_within(&mut self, limit: Duration) -> bool {
        match tokio::time::timeout(limit, leader(&mut self.child).wait()).await {
            Ok(Ok(status)) => {
                self.state.exit.send_replace(Some(status.to_string()));
                true
            }
            Ok(Err(_)) => true,
            Err(_) => false,
        }
    }

    async fn end(&mut self) {
        if self.closed {
            return;
        }
        // A writer that is blocked by a full pipe holds the lock, so the wait is limited.
        let _ = tokio::time::timeout(GRACE, self.pipe.close()).await;
        let ended = self.ended_within(GRACE).await;
        #[cfg(unix)]
        let group = self.child.signal(SIGTERM).is_ok();
        #[cfg(not(unix))]
        let group = true;
        // Processes that have left the group are signalled, too.
        let others = self.mark.signal(SIGTERM) || group;
        // Windows has no SIGTERM to wait for. Where the leader has ended, the other processes get a moment.
        if !ended && cfg!(unix) {
            self.ended_within(GRACE).await;
        } else if ended && others {
            tokio::time::sleep(GROUP_GRACE).await;
        }
        self.kill();
        self.ended_within(GRACE).await;
        // These processes are not our children, so their exit has to be polled for.
        self.mark.gone_within(GRACE).await;
        self.closed = true;
        #[cfg(unix)]
        if let Some(watcher) = &mut self.watcher {
            watcher.dismiss();
            let _ = tokio::time::timeout(GRACE, watcher.gone()).await;
        }
    }

    fn kill(&mut self) {
        // Usually no process is left, which is no error.
        let _ = self.child.start_kill();
        self.mark.signal(SIGKILL);
    }
}

impl Transport<RoleClient> for StdioTransport {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.pipe.send(item)
    }

    /// Returns the child's next message. Before it returns `None`, the exit status is recorded.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let next = loop {
            if let Some(at) = self.exited {
                break tokio::time::timeout_at(at + LAST_WORDS, self.pipe.receive()).await.ok().flatten();
            }
            tokio::select! {
                biased;
                next = self.pipe.receive() => break next,
                // A process that it started may keep its output open, so the exit of the leader
                // counts too.
                _ = leader(&mut self.child).wait() => self.exited = Some(Instant::now()),
            }
        };
        if next.is_none() {
            self.ended_within(LAST_WORDS).await;
            self.state.gone.cancel();
        }
        next
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.end().await;
        self.state.gone.cancel();
        Ok(())
    }
}

impl Drop for StdioTransport {
    fn drop(&mut self) {
        self.state.gone.cancel();
        if !self.closed {
            self.kill();
            #[cfg(unix)]
            if let Some(watcher) = &mut self.watcher {
                watcher.dismiss();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn only_allowed_variables_reach_a_server() {
        let inherited = |name: &str, value: &str| is_inherited(OsStr::new(name), OsStr::new(value));
        for name in ["PATH", "HOME", "LC_ALL", "LANG"] {
            assert!(inherited(name, "x"), "{name}");
        }
        for name in ["OPENAI_API_KEY", "LD_PRELOAD", "AWS_SECRET_ACCESS_KEY", "PATHS", ""] {
            assert!(!inherited(name, "x"), "{name}");
        }
        assert!(!inherited("TERM", "() { :; }; echo"));
    }

    #[tokio::test]
    async fn a_missing_program_names_the_remedy() {
        let error = |command| {
            let program = Program { command, args: &[], env: &BTreeMap::new(), cwd: None };
            spawn(program, &[], &Arc::default()).err().unwrap()
        };
        assert!(error("no-such-program-here").contains("not found in PATH"));
        assert!(error("/no/such/program").contains("no such file"));
        assert!(error("npx -y thing").contains("\"args\""));
        assert!(error("~/bin/server").contains("${HOME}"));
    }
}
