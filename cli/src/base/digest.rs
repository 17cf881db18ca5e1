//! Names for contents.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 hash of bytes, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
