//! A server as a child process.
//!
//! In: a [`Program`] and the variables that it may have. Out: a transport of rmcp, and a
//! [`ChildState`] that outlives it: how the child ended, and the last that it wrote to
//! standard error.
//!
//! The child leads a process group of its own, so that what it started (`npx`
//! and `sh -c` start others) ends with it. Closing goes in three steps: its
//! standard input is closed, then the group gets TERM, then KILL. A transport
//! that is dropped without being closed kills the group at once, and where this
//! program itself is killed a [watcher] ends the group. Processes that have left the group
//! are [orphans], found by a mark in their environment. On Windows a job object stands for
//! the group; nothing there can be asked to end, so the second step is left out.
//!
//! [`child`] starts and ends it, [`pipe`] carries its bytes, [`lines`] makes messages of them.

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
