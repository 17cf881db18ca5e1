//! Servers over HTTP.
//!
//! In: a URL, headers, messages. Out: a transport of rmcp, and messages about its failures. rmcp
//! manages the sessions of streamable HTTP; requests and bodies are handled here, so that they are
//! read in the same way as over the other transports.
//!
//! [`client`] sends, [`events`] splits a body into events, [`streamable`] and [`sse`] turn them
//! into messages, [`session`] recognises a lost session, [`failure`] explains errors with the
//! messages of [`words`].

mod client;
mod events;
mod failure;
mod session;
mod sse;
mod streamable;
mod words;

pub(crate) use client::HttpPlace;
pub(crate) use sse::SseTransport;
pub(crate) use streamable::transport;
