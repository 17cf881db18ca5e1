//! Logins at servers over HTTP: OAuth 2.1, as MCP wants it.
//!
//! In: a server's URL, what its entry says of a login, a folder for tokens. Out: a token for
//! requests to that server, or why there is none; and, with a person at a browser, a new one.
//! rmcp discovers, registers and exchanges; where tokens lie, where they go, and who is sent
//! where is decided here.
//!
//! ```text
//! Login::begin ─▶ discovery ─▶ client ─▶ authorization URL ─▶ (a browser)
//! Login::finish ◀─ listener (127.0.0.1) ◀─ code, state, iss ◀──────┘
//!   └─▶ Logins: one file for each resource and issuer
//!         └─▶ Access: the token of a request, refreshed before its end or after a 401
//! ```
//!
//! A token is kept with the resource that it is for and the issuer that gave it, sent to that
//! URL alone, and refreshed only where the server still names that issuer. Resource and
//! authorization server are spoken to over https, or both on this machine.
//!
//! [`resource`] says what a token is for, [`discovery`] asks the server who gives it,
//! [`store`] keeps it, [`access`] hands it out, [`login`] and [`listener`] get a new one, [`logout`]
//! takes it back; [`machine`] gets one without a person; [`token`] is one.

mod access;
mod audience;
mod discovery;
mod error;
mod listener;
mod login;
mod logout;
mod machine;
mod resource;
mod store;
mod token;

pub(crate) use access::Access;
pub use error::LoginError;
pub use login::Login;
pub(crate) use login::bearer_challenge;
pub use logout::LoggedOut;
pub use store::Logins;
pub(crate) use token::Denied;
