//! A server as a child process.
//!
//! In: a [`Program`] and the variables that it may get. Out: a transport of rmcp, and a
//! [`ChildState`] that outlives it, with the exit status and the end of standard error.
//!
//! The child leads a process group of its own, so that the processes that it starts (`npx` and `sh
//! -c` start others) end with it. Closing takes three steps: close standard input, SIGTERM to the
//! group, SIGKILL. A transport that is dropped without being closed kills the group at once; if
//! this program itself is killed, a [watcher] ends the group. Processes that have left the group
//! are [orphans], found by a mark in their environment. On Windows a job object replaces the group,
//! and there is no second step.
//!
//! [`child`] starts and ends it, [`pipe`] transfers its bytes, [`lines`] splits them into messages.

mod child;
mod lines;
#[cfg(any(windows, test))]
mod lookup;
mod orphans;
mod pipe;
mod program;
#[cfg(unix)]
mod watcher;

pub(crate) use child::{ChildState, LAST_WORDS, StdioTransport, spawn};
pub use child::{STDERR_TAIL, is_inherited};
pub use orphans::ProcessMark;
pub(crate) use program::Program;
