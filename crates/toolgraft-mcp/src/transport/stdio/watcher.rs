//! What ends a server when this program is killed and cannot do it itself.
//!
//! Each server has a small shell process beside it that reads a pipe whose other end
//! this program holds. Its first line is the server's process group, the line `done`
//! says that the server has ended. A pipe that closes without that line means that
//! this program has died, by KILL or a crash: the group gets TERM, after two seconds
//! KILL, and on Linux so do processes with the server's [mark](super::orphans), which
//! may have left the group. Elsewhere those stay.
//!
//! It is a shell because a program that embeds the library cannot start itself again,
//! and because nothing in this process can act once it was killed. Without `/bin/sh`
//! servers go without it. On Windows a job object does the same.

use std::process::Stdio;

use tokio::process::{Child, ChildStdin, Command};

/// `$1` is the marked variable. Signals that end the terminal's other processes are
/// none for it: it goes when the pipe says so.
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

/// Where the programs of the script are, whatever the servers' environment says.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin";

/// A process that outlives this one for as long as it takes to end a server.
pub(super) struct Watcher {
    process: Child,
    pipe: Option<ChildStdin>,
}

impl Watcher {
    /// Starts one for the server whose processes have this variable. `None` where there
    /// is no shell.
    pub(super) fn start(marked: &str) -> Option<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "toolgraft-watcher", marked]);
        // A process of the terminal's group would get its signals; one with the mark
        // would end itself.
        shell.env_clear().env("PATH", PATH).current_dir("/").process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = shell.spawn().ok()?;
        let pipe = process.stdin.take();
        Some(Watcher { process, pipe })
    }

    /// Names the server's process group.
    pub(super) fn watch(&mut self, group: u32) {
        self.tell(&group.to_string());
    }

    /// The server has ended: there is nothing more to watch.
    pub(super) fn dismiss(&mut self) {
        self.tell("done");
        self.pipe = None;
    }

    /// Waits until a dismissed one has gone.
    pub(super) async fn gone(&mut self) {
        let _ = self.process.wait().await;
    }

    /// Writes a line. So few bytes always fit into the pipe, and a watcher that somebody
    /// has killed needs none.
    fn tell(&self, word: &str) {
        if let Some(pipe) = &self.pipe {
            let _ = rustix::io::write(pipe, format!("{word}\n").as_bytes());
        }
    }
}
