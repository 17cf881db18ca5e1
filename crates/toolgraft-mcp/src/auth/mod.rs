//! Logins at servers over HTTP: OAuth 2.1, as MCP specifies it.
//!
//! In: a server's URL, the OAuth settings of its entry, a folder for tokens. Out: the token for requests to
//! that server, or the reason that there is none; and, with a user at a browser, a new token. rmcp does
//! discovery, registration and the exchange; this module decides where tokens are stored, where they are
//! sent, and which addresses a server may lead to.
//!
//! ```text
//! Login::begin ─▶ discovery ─▶ client ─▶ authorization URL ─▶ (a browser)
//! Login::finish ◀─ listener (127.0.0.1) ◀─ code, state, iss ◀──────┘
//!   └─▶ Logins: one file for each resource and issuer
//!         └─▶ Access: the token of a request, refreshed before its end or after a 401
//! ```
//!
//! Parts that rmcp's authorization lacks, and are here for that reason: a store in files and its lock ([`store`]), the page
//! that the browser returns to ([`listener`]), revocation, which its crate for OAuth does over https alone
//! ([`logout`]), refusal of a server that names no S256 or leads to a nearer host ([`discovery`]), the secret of a
//! registered client, without which that client cannot refresh ([`login`]), and another token after a refusal
//! ([`access`]).
//!
//! A token is stored with the resource that it is for and the issuer that gave it. It is sent to that URL
//! alone, and refreshed only while the server still names that issuer. Resource and authorization server are
//! reached over https, or both on this machine.
//!
//! [`resource`] identifies what a token is for, [`discovery`] finds its issuer, [`store`] keeps it,
//! [`access`] provides it for requests, and obtains one without a user, [`login`] and [`listener`] obtain a new one,
//! [`logout`] revokes it, and [`token`] reads it.

mod access;
mod discovery;
mod error;
mod listener;
mod login;
mod logout;
mod resource;
mod store;
mod token;

pub(crate) use access::Access;
pub use error::LoginError;
pub use login::Login;
pub(crate) use login::bearer_challenge;
pub use logout::LoggedOut;
pub use store::Logins;
