//! Processes of a server that have left its process group: a daemon, a browser in a session of its
//! own.
//!
//! Each server gets an environment variable with a unique value, which its descendants inherit. On
//! Linux `/proc` shows the environment of a process; on other systems, and with a replaced
//! environment, such processes are not found.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep};

/// Name of the environment variable that marks a server's processes.
pub(super) const VARIABLE: &str = "TOOLGRAFT_SERVER";

/// Interval between two checks for processes that were signalled.
const LOOK: Duration = Duration::from_millis(10);

pub(super) const SIGTERM: i32 = 15;
pub(super) const SIGKILL: i32 = 9;

/// A unique environment variable that marks a started program. All its descendants inherit it, so that they are found
/// and ended after the program, on Linux.
#[derive(Debug, Clone)]
pub struct ProcessMark {
    name: &'static str,
    value: String,
}

impl ProcessMark {
    /// Creates a mark with this variable name and a value that no other mark has, in this program or another.
    pub fn new(name: &'static str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let value = format!("{}-{time}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        ProcessMark { name, value }
    }

    /// Returns the value of the mark's environment variable.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Ends every process with the mark: by SIGTERM, and after `grace` by SIGKILL. Returns `true`
    /// if there was one.
    pub async fn end(&self, grace: Duration) -> bool {
        let found = self.signal(SIGTERM);
        self.gone_within(grace).await;
        if self.signal(SIGKILL) {
            self.gone_within(grace).await;
        }
        found
    }

    /// Waits until no process has the mark, at most for the time `patience`.
    pub(super) async fn gone_within(&self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.lives() && Instant::now() < until {
            sleep(LOOK).await;
        }
    }

    /// Returns the mark's variable as `NAME=VALUE`, the form in a process's environment.
    #[cfg(unix)]
    pub(super) fn variable(&self) -> String {
        format!("{}={}", self.name, self.value)
    }

    /// Sends a signal to every process with the mark. Returns `false` if none could be signalled.
    #[cfg(target_os = "linux")]
    pub(super) fn signal(&self, signal: i32) -> bool {
        use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
        let Some(signal) = Signal::from_named_raw(signal) else { return false };
        let mut found = false;
        for pid in self.processes() {
            // The pid may be reused meanwhile; a descriptor stays with its process, whose mark is
            // checked again.
            if let Ok(process) = pidfd_open(pid, PidfdFlags::empty())
                && self.marks(pid)
            {
                found |= pidfd_send_signal(process, signal).is_ok();
            }
        }
        found
    }

    /// Returns `true` if a living process has the mark.
    #[cfg(target_os = "linux")]
    fn lives(&self) -> bool {
        self.processes().next().is_some()
    }

    #[cfg(target_os = "linux")]
    fn processes(&self) -> impl Iterator<Item = rustix::process::Pid> + '_ {
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter_map(rustix::process::Pid::from_raw).filter(|pid| self.marks(*pid))
    }

    #[cfg(target_os = "linux")]
    fn marks(&self, pid: rustix::process::Pid) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
        let variable = self.variable();
        environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes())
    }

    /// Returns `false`: processes with the mark cannot be found on this system.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn signal(&self, _: i32) -> bool {
        false
    }

    /// Returns `false`: processes with the mark cannot be found on this system.
    #[cfg(not(target_os = "linux"))]
    fn lives(&self) -> bool {
        false
    }
}
