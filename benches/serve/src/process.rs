//! Processes as `/proc` tells of them.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A process that says where it listens on its first line, and that ends with this.
pub(crate) struct Process {
    child: Child,
    pub(crate) said: String,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Result<Process, String> {
        let started = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = started.map_err(|e| format!("{:?} does not start: {e}", command.get_program()))?;
        let mut said = String::new();
        let out = child.stdout.take().ok_or("no standard output")?;
        BufReader::new(out).read_line(&mut said).map_err(|e| e.to_string())?;
        match said.trim() {
            "" => Err(format!("{:?} ended at once", command.get_program())),
            said => Ok(Process { child, said: said.to_owned() }),
        }
    }

    /// Time that it had on the processor, in the kernel too; the kernel counts hundredths of a second.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        // The fields follow the name, which may contain blanks.
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace()).into_iter().flatten();
        let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Its resident memory in KiB.
    pub(crate) fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
