//! The smallest shapes, which no dialect has: each shows what a further one needs.

pub(super) mod smallest;
pub(super) mod smallest_bare;
