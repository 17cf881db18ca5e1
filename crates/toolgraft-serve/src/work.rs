//! Limits above which work is done on a thread apart from those that serve, so that other requests
//! are answered meanwhile.

/// Size of a body in bytes from which on it is read on another thread. A smaller one takes less
/// than a millisecond, and each handover takes a part of that.
pub(super) const LARGE_BODY: usize = 64 << 10;

/// The same limit for a body with new tools, whose schemas have to be compiled.
pub(super) const LARGE_WITH_NEW_TOOLS: usize = 16 << 10;
