//! Composes requests to the model: chooses the model, the texts, and the part of the history.
//!
//! The input is the history, the demands of the turn, and the endpoint's reports about tools, context and tokens; the
//! output is a request. The module owns the model of the round, the way in which it gets its tools, and the cost of the
//! requests. It does not read the model's answers.
//!
//! ```text
//!  choose_model ─▶ must_probe ─▶ send ─▶ request ─▶ fitting ─▶ Action::Send
//!                    (Probe)      ▲       words     (Trim)          │
//!                                 │                                 ▼
//!          send_without_tools, send_less ◀── refused ◀────── the endpoint
//! ```
//!
//! - `request`: the state, and the request of a round.
//! - `words`: the wordings of the prompt's templates, for tools in the prompt and in the request.
//! - `reading`: the answer to a model that reads on in a long result.
//! - `fit`: leaves out the oldest part of the history if the context is too short.
//! - `carry`: reasoning that is shown to the model again.
//! - `cost`: tokens, as the endpoint reports them or by an estimate.

mod carry;
mod constrain;
mod cost;
mod fit;
mod reading;
mod request;
mod words;

pub use cost::cut_to;
pub(super) use request::Ask;
pub use words::PromptWording;
