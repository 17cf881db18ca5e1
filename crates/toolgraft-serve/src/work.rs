//! When work takes so long that it is done away from the threads that serve: other requests are answered meanwhile.

/// Bytes of a body from which on it is read elsewhere: below, that takes less than a millisecond, and
/// each handing over takes some of it.
pub(super) const LARGE_BODY: usize = 64 << 10;

/// The same where its tools are new, whose schemas are compiled.
pub(super) const LARGE_WITH_NEW_TOOLS: usize = 16 << 10;
