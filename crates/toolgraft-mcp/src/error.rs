//! One error type for programs that pass all errors on.

/// Any error of this crate, or of [toolgraft]. Each part returns its own type; `?` converts it into
/// this one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration of MCP servers is faulty.
    #[error(transparent)]
    Config(#[from] crate::ConfigError),
    /// The entry of one MCP server is faulty.
    #[error(transparent)]
    Entry(#[from] crate::EntryError),
    /// An MCP server, or the hub, cannot do what was requested.
    #[error(transparent)]
    Mcp(#[from] crate::McpError),
    /// A value that the user entered does not fit a field of a server's form.
    #[error(transparent)]
    Field(#[from] crate::FieldError),
    /// A login at an MCP server failed.
    #[error(transparent)]
    Login(#[from] crate::LoginError),
    /// The underlying toolgraft library failed.
    #[error(transparent)]
    Toolgraft(#[from] toolgraft::Error),
}
