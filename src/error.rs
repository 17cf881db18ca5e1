//! One error for programs that pass the stages' errors on.

/// Any error of this crate. Each stage returns its own; `?` turns it into this one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that is no dialect's.
    #[error(transparent)]
    Dialect(#[from] crate::dialect::UnknownDialect),
    /// A conversation was used in a way that it does not allow.
    #[error(transparent)]
    Conversation(#[from] crate::conversation::ConversationError),
    /// A recording cannot be read.
    #[error(transparent)]
    Recording(#[from] crate::transcript::ReadError),
    /// Another program's recording cannot be read.
    #[error(transparent)]
    Import(#[from] crate::transcript::import::ImportError),
    /// A prompt cannot be written.
    #[cfg(feature = "prompt")]
    #[error(transparent)]
    Prompt(#[from] crate::prompt::PromptError),
    /// A turn cannot be started.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Agent(#[from] crate::agent::AgentError),
    /// A model failed.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// A model client cannot be set up.
    #[cfg(feature = "client")]
    #[error(transparent)]
    Client(#[from] crate::model::ClientError),
    /// The configuration of MCP servers is wrong.
    #[cfg(feature = "mcp")]
    #[error(transparent)]
    Config(#[from] crate::route::mcp::ConfigError),
}
