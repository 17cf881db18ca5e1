//! Processes of a server that have left its process group: a daemon that was forked
//! twice, a browser with a session of its own.
//!
//! Each server gets a variable that no other has, and what it starts inherits it.
//! On Linux `/proc` shows the variables that a process was started with; elsewhere
//! such processes are out of reach. So are those that were given another environment.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep};

/// The variable of a server.
pub(super) const VARIABLE: &str = "TOOLGRAFT_SERVER";

/// Wait between two looks at what was told to end.
const LOOK: Duration = Duration::from_millis(10);

/// What an orphan is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndSignal {
    /// TERM: it may clean up first.
    Term,
    /// KILL.
    Kill,
}

/// A variable in the environment of a program that is started, and of all that it starts in turn: by
/// it they are found and ended after the program, on Linux.
#[derive(Debug, Clone)]
pub struct ProcessMark {
    name: &'static str,
    value: String,
}

impl ProcessMark {
    /// A value of this variable that no other mark has, of this or another program.
    pub fn new(name: &'static str) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let value = format!("{}-{time}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        ProcessMark { name, value }
    }

    /// The variable's value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Ends every process that has the mark: by TERM, and after `grace` by KILL. Returns `true` if
    /// there was one.
    pub async fn end(&self, grace: Duration) -> bool {
        let found = self.signal(EndSignal::Term);
        self.gone_within(grace).await;
        if self.signal(EndSignal::Kill) {
            self.gone_within(grace).await;
        }
        found
    }

    /// Waits until no process has the mark, but not longer than this.
    pub(super) async fn gone_within(&self, patience: Duration) {
        let until = Instant::now() + patience;
        while self.lives() && Instant::now() < until {
            sleep(LOOK).await;
        }
    }

    /// The variable with its value, as it stands in a process's environment.
    #[cfg(unix)]
    pub(super) fn variable(&self) -> String {
        format!("{}={}", self.name, self.value)
    }

    /// Signals every process that has the mark; `false` if there is none.
    #[cfg(target_os = "linux")]
    pub(super) fn signal(&self, signal: EndSignal) -> bool {
        use rustix::process::{PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
        let signal = match signal {
            EndSignal::Term => Signal::TERM,
            EndSignal::Kill => Signal::KILL,
        };
        let mut found = false;
        for pid in self.processes() {
            // The number may be another's by now; a descriptor stays with its process.
            if let Ok(process) = pidfd_open(pid, PidfdFlags::empty())
                && self.marks(pid)
            {
                found |= pidfd_send_signal(process, signal).is_ok();
            }
        }
        found
    }

    /// Whether a process has the mark. One that is dead has none.
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

    /// Nothing is known of them here.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn signal(&self, _: EndSignal) -> bool {
        false
    }

    /// Nothing is known of them here.
    #[cfg(not(target_os = "linux"))]
    fn lives(&self) -> bool {
        false
    }
}
