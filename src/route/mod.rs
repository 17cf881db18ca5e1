//! Runs calls: toolboxes of in-process functions and of MCP servers.
//!
//! ```text
//! Invocation ─▶ Toolbox ─┬▶ Functions    functions of this program
//!                        ├▶ Hub          MCP servers (the crate `toolgraft-mcp`)
//!                        └▶ Toolboxes    several as one: the one that has the tool
//! Outcome    ◀───────────┘
//! ```
//!
//! An [`Invocation`] was validated and allowed before it arrives here: a toolbox runs it and decides nothing.
//! [`Toolbox::catalog`] lists its tools; a tool that fails, hangs or is gone gives an outcome that says so, and
//! dropping the future cancels the call. Out of scope: approval ([`Policy`](crate::Policy)) and arguments
//! ([`validate`](crate::validate)).

mod combined;
pub(crate) mod functions;

use std::sync::Arc;

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::event::{DecodeError, decode_arguments};
use crate::outcome::Outcome;
use crate::tools::Catalog;

pub use combined::Toolboxes;
#[cfg(test)]
pub(crate) use functions::Functions;
pub use functions::IntoOutcome;

/// Validated call that a toolbox is to run.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct Invocation {
    /// Identifier of the call, unique in the conversation.
    pub id: String,
    /// Name of the tool's server in the catalog; `None` if the call names no server.
    pub server: Option<String>,
    /// Name of the tool; [`ACCESS_RESOURCE`](crate::tools::ACCESS_RESOURCE) to read a resource.
    pub tool: String,
    /// Arguments of the call; they match the tool's schema.
    pub arguments: Map<String, Value>,
}

impl Invocation {
    /// Creates a call of the tool of this name, without identifier, server and arguments.
    pub fn new(tool: impl Into<String>) -> Self {
        Invocation { tool: tool.into(), ..Invocation::default() }
    }

    /// Sets the name of the tool's server.
    #[must_use]
    pub fn with_server(mut self, server: impl Into<String>) -> Self {
        self.server = Some(server.into());
        self
    }

    /// Sets the call's arguments; any value except a JSON object counts as no arguments.
    #[must_use]
    pub fn with_arguments(mut self, arguments: impl Into<Value>) -> Self {
        self.arguments = match arguments.into() {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        self
    }

    /// Decodes the call's arguments into a type of the program.
    ///
    /// # Errors
    /// [`DecodeError`] names the field that does not fit.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, DecodeError> {
        decode_arguments(&self.tool, &self.arguments)
    }
}

/// A set of tools that can be called.
///
/// A failure is an [`Outcome`], never a panic or an `Err`. Dropping the future
/// of a call cancels it.
pub trait Toolbox: Send + Sync {
    /// Returns the catalog of the tools that can be called now; it is a new one after each change of the tools.
    fn catalog(&self) -> Arc<Catalog>;

    /// Runs one call of a tool and returns its outcome.
    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Outcome>;
}

impl<T: Toolbox + ?Sized> Toolbox for Arc<T> {
    fn catalog(&self) -> Arc<Catalog> {
        (**self).catalog()
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Outcome> {
        (**self).call(invocation)
    }
}
