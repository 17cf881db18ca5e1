//! One error for programs that pass errors on.

/// Any error of this crate, or of [toolgraft]. Each part returns its own; `?` turns
/// it into this one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration of MCP servers is wrong.
    #[error(transparent)]
    Config(#[from] crate::ConfigError),
    /// One MCP server's entry is wrong.
    #[error(transparent)]
    Entry(#[from] crate::EntryError),
    /// An MCP server, or the hub of them, cannot do what is wanted.
    #[error(transparent)]
    Mcp(#[from] crate::McpError),
    /// What somebody typed does not fit a field of a server's form.
    #[error(transparent)]
    Field(#[from] crate::FieldError),
    /// Nobody is logged in at an MCP server.
    #[error(transparent)]
    Login(#[from] crate::LoginError),
    /// The library below has failed.
    #[error(transparent)]
    Toolgraft(#[from] toolgraft::Error),
}
