//! What goes to the model: which model, which words, how much of the history.
//!
//! In come the history, what is due, and what the endpoint says of its tools,
//! its context and its count of tokens; out goes a request. Owns the model of
//! the round, how it takes tools, and what the requests cost. Reads nothing of
//! what the model says.
//!
//! ```text
//!  choose_model ─▶ must_probe ─▶ send ─▶ request ─▶ fitting ─▶ Action::Send
//!                    (Probe)      ▲       words     (Trim)          │
//!                                 │                                 ▼
//!          send_without_tools, send_less ◀── refused ◀────── the endpoint
//! ```
//!
//! - `request`: the state, and the request of a round.
//! - `words`: the two wordings of the prompt's templates.
//! - `reading`: what is said to a model that reads on in a long result.
//! - `fit`: the oldest part is left out where the context is too short.
//! - `carry`: reasoning that goes back to the model.
//! - `cost`: tokens, as the endpoint counts them or as we do.

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
