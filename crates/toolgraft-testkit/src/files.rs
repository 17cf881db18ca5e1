//! Files in memory, for tests of output that is written during a run.
//!
//! ```text
//! use toolgraft_testkit::files::{Full, Shared};
//! let file = Shared::default();
//! writes_to(file.clone());
//! file.text();
//! writes_to(Full::after(100));      // the 101st byte finds no space
//! ```

use std::io;
use std::sync::{Arc, Mutex};

/// A file in memory that a test reads while it is written.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    /// Returns the text written so far.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer that fails like a full disk after a number of bytes.
pub struct Full(usize);

impl Full {
    /// Creates a full disk with space for this number of bytes.
    pub fn after(bytes: usize) -> Self {
        Full(bytes)
    }
}

impl io::Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("no space left"))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
