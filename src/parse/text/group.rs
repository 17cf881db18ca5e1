//! Tags and tokens around calls.

/// The state of a group of calls, whose tags or tokens may be after a call, and between the group's opener and its
/// closer.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallGroup {
    /// Index of the dialect in [`Tables::named`](crate::parse::tables::Tables::named).
    pub(super) named: usize,
    /// The group's opener came, and its closer did not yet.
    pub(super) is_open: bool,
    /// Values in it are glued to their tags.
    pub(super) glued: bool,
    /// Only white space came since the call or the opener.
    pub(super) is_near: bool,
}
