//! A file in memory, of a limited size.

use std::io;
use std::sync::{Arc, Mutex};

use crate::base::lock;

/// Maximum number of bytes; a write beyond them is an error.
const MOST: usize = 16 << 20;

/// An in-memory writer of limited size. Clones share the same bytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    /// Returns all written bytes as text; invalid UTF-8 is replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0)).into_owned()
    }
}

impl io::Write for Written {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        let mut bytes = lock(&self.0);
        if bytes.len() + more.len() > MOST {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "the recording is larger than the limit"));
        }
        bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_file_in_memory_has_a_limit() {
        let mut file = Written::default();
        file.clone().write_all(&vec![b'x'; MOST]).unwrap();
        assert_eq!(file.text().len(), MOST);
        assert!(file.write_all(b"x").is_err());
        assert_eq!(file.text().len(), MOST, "what was written stays");
    }
}
