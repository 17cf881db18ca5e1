//! Counters, the log, and what prompts cost.

pub(crate) mod counters;
pub(crate) mod log;
pub(crate) mod prompt_cost;
