//! Tags and tokens around calls.

/// Where tags or tokens around calls may stand: behind a call, and between a
/// group's opener and its closer.
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
