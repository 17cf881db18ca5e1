//! What a message's calls come to: run, asked about, denied, shown.
//!
//! In come the calls of the history that nobody has answered, the answers to
//! questions and the outcomes; out go questions, calls to run and outcomes for
//! the history. Owns what was approved once, what runs and what is still to be
//! asked. Knows nothing of models and text.
//!
//! ```text
//!  pending call ─▶ refused by the choice? ─▶ policy ─┬─▶ deny ──────────────────────▶ outcome
//!                                                    ├─▶ ask ─▶ Approval ─▶ run, or ─▶ deny
//!                                                    └─▶ run ─▶ order ─▶ Call ─▶ Outcome
//!                                                         └─ a display-only tool ───▶ Display
//! ```

mod calls;
mod order;

pub(super) use calls::Act;
