//! Executes a message's calls: they are run, asked about, denied or shown.
//!
//! The input is the calls of the history without an outcome, the answers to questions, and outcomes; the output is
//! questions, calls to run, and outcomes for the history. The module owns the approvals that were given, the running
//! calls and the open questions. It knows nothing about models and text.
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
