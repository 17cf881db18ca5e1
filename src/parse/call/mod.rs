//! The interface between an open call and the shapes of calls.
//!
//! A shape reads the text of one open call, or of several that stand or fall
//! together. It is asked again and again for its next [`Step`], at any chunking,
//! and says nothing of fences, limits, policies and events: those are the open
//! call's (`text/open.rs`), which asks.
//!
//! ```text
//!   text ──▶ CallShape::step ──┬─ Next    the state changed: ask again
//!                              ├─ More    the window is read: ask with the next chunk
//!                              ├─ Call    one of several calls is there
//!                              ├─ End     the call is over: `resolve` says what it says
//!                              └─ Text    it is no call, and why
//! ```
//!
//! Arguments in JSON are read by [`CallJson`](json::CallJson), with the fence or
//! CDATA section around them, their preview and what ends them from outside.

mod opens;
mod out;
mod sections;
mod shape;

pub(crate) mod json;

pub(crate) use opens::{Markerless, Opened, Opening, Opens, Place, Stands, gated};
pub(crate) use out::{CallOut, SeriesPart};
pub(crate) use sections::{CDATA_CLOSE, CDATA_OPEN, COMMENT_CLOSE, COMMENT_OPEN, comment, joined_cdata};
pub(crate) use shape::{CallShape, CalledTool, CutCall, OpenValue, Step};
