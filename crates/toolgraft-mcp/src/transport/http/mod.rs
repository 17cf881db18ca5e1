//! Servers over HTTP.
//!
//! In: a URL, headers, messages. Out: a transport of rmcp, and what its failures mean for
//! whoever reads them. rmcp keeps the sessions of streamable HTTP; requests and bodies
//! are ours, so that they are read as over the other transports.
//!
//! [`client`] sends, [`events`] cuts a body into events, [`streamable`] and [`sse`] make
//! messages of them, [`session`] knows when a session is lost, [`failure`] explains in the words of [`words`].

mod client;
mod events;
mod failure;
mod session;
mod sse;
mod streamable;
mod words;

pub(crate) use failure::{explain, is_unreachable, wants_auth};
pub(crate) use sse::SseTransport;
pub(crate) use streamable::transport;
