//! A file lock between processes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::{private, private_folder};

/// An exclusive lock between processes on a lock file; it is released when the value is dropped.
///
/// The operating system releases the lock when the process ends in any way, so that no lock outlives a crash. Dropping
/// the value also removes the lock file.
#[derive(Debug)]
pub struct Lock {
    /// The open lock file; the lock lasts as long as it is open.
    _file: File,
    path: PathBuf,
}

/// The process that holds a file lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// Id of the process that holds the lock; `None` if it cannot be read from the lock file.
    pub process: Option<u32>,
}

impl Lock {
    /// Acquires the lock of the lock file at this path without waiting. The inner `Err` is the process that holds it.
    ///
    /// # Errors
    /// The file cannot be opened, or the file system has no locks.
    pub fn take(path: &Path) -> io::Result<Result<Self, Holder>> {
        Lock::acquire(path, try_hold)
    }

    /// Waits without a time limit until the lock of the lock file at this path is free, and acquires it.
    ///
    /// # Errors
    /// Those of [`take`](Lock::take).
    pub fn wait(path: &Path) -> io::Result<Self> {
        loop {
            if let Ok(lock) = Lock::acquire(path, hold)? {
                return Ok(lock);
            }
        }
    }

    fn acquire(path: &Path, hold: impl Fn(&Path) -> io::Result<Option<File>>) -> io::Result<Result<Self, Holder>> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            private_folder(folder)?;
        }
        loop {
            let Some(mut file) = hold(path)? else { return Ok(Err(holder(path))) };
            // The previous holder may have removed the file after we opened it. Our lock would then
            // be on another file than the one that others lock.
            if is_at(&file, path) {
                file.set_len(0)?;
                write!(file, "{}", std::process::id())?;
                return Ok(Ok(Lock { _file: file, path: path.to_owned() }));
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Still locked, so this cannot remove the file of another holder. A file that remains is
        // not locked.
        let _ = fs::remove_file(&self.path);
    }
}

/// Reads the process id of a lock's holder from the lock file.
fn holder(path: &Path) -> Holder {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(20).read_to_string(&mut text));
    Holder { process: read.ok().and_then(|_| text.trim().parse().ok()) }
}

#[cfg(unix)]
fn opened(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create(true).truncate(false)).open(path)
}

#[cfg(unix)]
fn try_hold(path: &Path) -> io::Result<Option<File>> {
    let file = opened(path)?;
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(unix)]
fn hold(path: &Path) -> io::Result<Option<File>> {
    let file = opened(path)?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(Some(file))
}

/// Returns `true` if the path still leads to this open file (same device and inode).
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(held), Ok(named)) = (file.metadata(), fs::metadata(path)) else { return false };
    (held.dev(), held.ino()) == (named.dev(), named.ino())
}

/// Opens and locks a lock file on Windows; `None` if another process has locked it. Other processes can still read the
/// holder's id. The system removes the file when it is closed.
#[cfg(windows)]
fn try_hold(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;
    // FILE_SHARE_READ, FILE_FLAG_DELETE_ON_CLOSE, GENERIC_WRITE and DELETE
    // (learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew).
    const SHARE_READ: u32 = 1;
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    const WRITE_AND_DELETE: u32 = 0x4000_0000 | 0x0001_0000;
    let mut options = OpenOptions::new();
    options.write(true).access_mode(WRITE_AND_DELETE).create(true).truncate(false);
    options.share_mode(SHARE_READ).custom_flags(DELETE_ON_CLOSE);
    match private(&mut options).open(path) {
        Ok(file) => Ok(Some(file)),
        // ERROR_SHARING_VIOLATION; ERROR_ACCESS_DENIED, until a file that is being removed is gone.
        Err(error) if matches!(error.raw_os_error(), Some(32 | 5)) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(windows)]
fn hold(path: &Path) -> io::Result<Option<File>> {
    let found = try_hold(path)?;
    if found.is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Ok(found)
}

#[cfg(windows)]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_lock_has_one_holder_who_is_known_and_is_free_after_it() {
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("new/a.lock");
        let mine = Lock::take(&file).unwrap().unwrap();
        assert_eq!(Lock::take(&file).unwrap().unwrap_err().process, Some(std::process::id()));
        drop(mine);
        assert!(!file.exists());
        assert!(Lock::take(&file).unwrap().is_ok());
    }

    #[test]
    fn a_file_that_a_crash_left_is_free() {
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("a.lock");
        fs::write(&file, "999999999 and more").unwrap();
        let mine = Lock::take(&file).unwrap().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), std::process::id().to_string());
        drop(mine);
    }

    #[test]
    fn of_many_that_wait_one_has_it_at_a_time() {
        let here = tempfile::tempdir().unwrap();
        let file = here.path().join("a.lock");
        let (tell, told) = mpsc::channel();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                let (file, tell) = (file.clone(), tell.clone());
                scope.spawn(move || {
                    for _ in 0..20 {
                        let lock = Lock::wait(&file).unwrap();
                        tell.send(true).unwrap();
                        tell.send(false).unwrap();
                        drop(lock);
                    }
                });
            }
        });
        drop(tell);
        let heard: Vec<bool> = told.iter().collect();
        assert_eq!(heard.len(), 320);
        assert!(heard.chunks(2).all(|pair| pair == [true, false]), "two had it at once");
    }
}
