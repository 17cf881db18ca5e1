//! Drives a [`turn`](crate::turn) with a model and a toolbox.
//!
//! [`Agent::run`](crate::Agent::run) returns the events of one turn as a stream that owns all it needs: it may move to
//! another task, and dropping it cancels the model's stream and every running call. Nothing happens between two polls,
//! and no task is spawned. `docs/agent.md` is the guide.
//!
//! The input is a conversation and the events of a model; the output is the events of a turn. Everything that takes
//! time happens here; every decision is made by the turn.
//!
//! ```text
//!  AgentBuilder ─▶ Agent ─▶ run ─▶ Run, a stream of AgentEvents
//!                                    ▲
//!            Turn ── Action ──▶ driver ──┬──▶ model      deltas, calls, usage ──┐
//!             ▲                          ├──▶ toolbox    outcomes ──────────────┤
//!             │                          ├──▶ Approver   an answer ─────────────┤
//!             └───────── Input ──────────┴──── whichever comes first ◀──────────┘
//! ```
//!
//! ```
//! use toolgraft::{Agent, Functions};
//! use toolgraft::agent::StopReason;
//! use toolgraft::transcript::{Recorded, Round};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let agent = Agent::builder(Recorded::new([Round::text("Hello!")]), Functions::unnamed()).build();
//! let finished = agent.run("Hi")?.finish().await;
//! assert_eq!((finished.reason, finished.answer.as_str()), (StopReason::Answered, "Hello!"));
//! # Ok(())
//! # }
//! ```

mod approver;
mod builder;
mod call;
mod driver;
pub(crate) mod handle;
mod inner;
pub(crate) mod record;
mod run;

pub use approver::Approver;
pub use builder::{AgentBuilder, CALL_TIMEOUT};
pub use call::run_call;
#[cfg(test)]
pub(crate) use handle::Agent;
pub use handle::AgentError;
pub use record::TurnRecord;
pub use run::{Run, RunOptions};

pub use crate::turn::event::{Approval, ApprovalRequest, AskReason, DisplayCall, Finished, OutputError};
pub use crate::turn::stop::StopReason;
pub use crate::turn::warning::CallerWarning;

#[cfg(test)]
mod tests;
