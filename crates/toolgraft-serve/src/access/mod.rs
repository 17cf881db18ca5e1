//! Access: the checks that each request passes, and its share of the budgets.

pub(crate) mod admission;
pub(crate) mod budgets;
pub(crate) mod keys;
pub(crate) mod origins;
pub(crate) mod reservation;
pub(crate) mod settings;
