//! The common base of all commands: failures, files and pipes, signals, the state folder.

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) mod browser;
pub(crate) mod chunk;
pub(crate) mod digest;
pub(crate) mod failure;
pub(crate) mod input;
pub(crate) mod media;
pub(crate) mod output;
pub(crate) mod programs;
pub(crate) mod reader;
pub(crate) mod secret;
pub(crate) mod signals;
pub(crate) mod state;
pub(crate) mod stderr;
pub(crate) mod table;
pub(crate) mod tokens;
pub(crate) mod trust;
pub(crate) mod version;
pub(crate) mod words;
pub(crate) mod written;

pub(crate) use failure::Failure;

/// Acquires a lock. A poisoned lock is used as it is, since no code that holds a lock of this program can panic
/// halfway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
