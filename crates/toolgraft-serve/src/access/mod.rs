//! Access: who may send a request, and what it may take.

pub(crate) mod admission;
pub(crate) mod budgets;
pub(crate) mod keys;
pub(crate) mod origins;
pub(crate) mod reservation;
pub(crate) mod settings;
