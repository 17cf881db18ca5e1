//! Shared code of the benches: texts, cuts, cases, repetitions, and the two passes over them.

pub mod case;
pub mod corpus;
pub mod measure;
pub mod pass;
pub mod repetition;
pub mod served;
