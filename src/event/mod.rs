//! The events that the parser reports about a model's text, piece by piece and assembled.
//!
//! In come a model's bytes, as the parser reads them; out go [`Event`]s,
//! in stream order, which borrow their text, and what they come to. Nothing here reads
//! text or runs anything.
//!
//! ```text
//!  Parser ──▶ Event  borrowed, per chunk ──▶ OwnedEvent  the same, to keep and to send
//!               │                              holds: Call, or Rejected with its RejectedKind
//!               ▼                              JSON: docs/events.schema.json
//!           Collector  carries out what events take back; says what is settled
//!               │
//!               ▼
//!           Piece, Entry, Assembled  what the message says in the end
//! ```

mod assemble;
pub(crate) mod call;
mod decode;
pub(crate) mod stream;

pub use crate::json::Repair;
pub(crate) use assemble::CALL;
pub use assemble::{Assembled, Collector, Entry, Piece};
pub(crate) use call::{Call, call_of};
pub use call::{Provenance, QuotedIn, Reason, Rejected, RejectedKind};
pub use decode::DecodeError;
#[cfg(feature = "agent")]
pub(crate) use decode::{decode, decode_arguments};
pub(crate) use stream::Event;
pub use stream::{Destination, MarkerKind, OwnedEvent, Region, Span};
