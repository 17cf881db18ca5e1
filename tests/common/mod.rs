//! What several tests share.

pub(crate) mod json_prefix;
pub(crate) mod laws;
