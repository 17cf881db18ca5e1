//! Ends a server if this program is killed and cannot do so itself.
//!
//! Each server has a small shell process that reads a pipe from this program. The first line is the
//! server's process group; the line `done` says that the server has ended. A pipe that closes
//! without that line means that this program was killed or has crashed: the group gets SIGTERM,
//! after two seconds SIGKILL, and on Linux so do processes with the server's
//! [mark](super::orphans), which may have left the group. On other systems those survive.
//!
//! It is a shell, because a program that embeds this library cannot start itself again, and because
//! nothing in a killed process can act. Without `/bin/sh` there is no watcher. On Windows a job
//! object has the same effect.

use std::process::Stdio;

use tokio::process::{Child, ChildStdin, Command};

/// Shell script of the watcher process; its argument `$1` is the environment variable, as `NAME=VALUE`, that marks the
/// server's processes. Signals of the terminal are ignored: only the pipe ends the script.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
group=
while read -r word; do
    case $word in
        done) exit 0 ;;
        *) group=$word ;;
    esac
done
marked() {
    [ -r /proc/self/environ ] && grep -lszxF -e "$1" /proc/[0-9]*/environ
}
signal() {
    [ -z "$group" ] || kill -s "$1" -- "-$group"
    for file in $(marked "$2"); do
        file=${file#/proc/}
        kill -s "$1" "${file%/environ}"
    done
}
lives() {
    { [ -n "$group" ] && kill -s 0 -- "-$group"; } || [ -n "$(marked "$1")" ]
}
signal TERM "$1"
tries=0
while [ $tries -lt 20 ] && lives "$1"; do
    sleep 0.1
    tries=$((tries + 1))
done
signal KILL "$1"
"#;

/// `PATH` of the watcher's script, independent of the servers' environment.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin";

/// A shell process that ends a server's processes if this program dies before it has ended them.
pub(super) struct Watcher {
    process: Child,
    pipe: Option<ChildStdin>,
}

impl Watcher {
    /// Starts a watcher for the server whose processes have the environment variable `marked`. `None` if there is no
    /// shell.
    pub(super) fn start(marked: &str) -> Option<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "toolgraft-watcher", marked]);
        // In the terminal's group it would get the terminal's signals; with the mark it would end
        // itself.
        shell.env_clear().env("PATH", PATH).current_dir("/").process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = shell.spawn().ok()?;
        let pipe = process.stdin.take();
        Some(Watcher { process, pipe })
    }

    /// Sends the id of the server's process group to the watcher.
    pub(super) fn watch(&mut self, group: u32) {
        self.tell(&group.to_string());
    }

    /// Ends the watcher process, because the server has ended.
    pub(super) fn dismiss(&mut self) {
        self.tell("done");
        self.pipe = None;
    }

    /// Waits until the process of a dismissed watcher has exited.
    pub(super) async fn gone(&mut self) {
        let _ = self.process.wait().await;
    }

    /// Writes a line to the watcher process. So few bytes always fit into the pipe, and a watcher that was killed needs
    /// none, so errors are ignored.
    fn tell(&self, word: &str) {
        if let Some(pipe) = &self.pipe {
            let _ = rustix::io::write(pipe, format!("{word}\n").as_bytes());
        }
    }
}
