//! The error type for programs that pass on the errors of several stages.

/// Any error of this crate. Each stage returns its own; `?` turns it into this one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name is not the name of a dialect.
    #[error(transparent)]
    Dialect(#[from] crate::dialect::UnknownDialect),
    /// A dialect file cannot be used.
    #[error(transparent)]
    DialectFile(#[from] crate::dialect::DialectError),
    /// A word is not a keyword of a type.
    #[error(transparent)]
    Keyword(#[from] crate::message::UnknownKeyword),
    /// Bytes are not an image that models take.
    #[error(transparent)]
    Image(#[from] crate::message::ImageError),
    /// A name is not the name of a tool.
    #[error(transparent)]
    NotFound(#[from] crate::tools::NotFound),
    /// A pattern of a policy matches tools of several servers.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    AmbiguousPattern(#[from] crate::tools::AmbiguousPattern),
    /// The conditions of a pattern of a policy cannot be read.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    UnreadablePattern(#[from] crate::tools::UnreadablePattern),
    /// A budget has no room.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Exhausted(#[from] crate::budget::Exhausted),
    /// A conversation was used in a way that it does not allow.
    #[error(transparent)]
    Conversation(#[from] crate::conversation::ConversationError),
    /// A message of a client's history cannot be read.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    History(#[from] crate::wire::past::BadMessage),
    /// Arguments do not fit the program's type.
    #[error(transparent)]
    Decode(#[from] crate::event::DecodeError),
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
    /// A template does not compile, or cannot be filled.
    #[cfg(feature = "prompt")]
    #[error(transparent)]
    Template(#[from] crate::prompt::TemplateError),
    /// A schema that answers are to match cannot be used.
    #[cfg(feature = "validate")]
    #[error(transparent)]
    OutputSchema(#[from] crate::validate::OutputSchemaError),
    /// A value does not match the schema that was asked for.
    #[cfg(feature = "validate")]
    #[error(transparent)]
    Mismatch(#[from] crate::validate::Mismatch),
    /// A tool's schema cannot be used.
    #[cfg(feature = "validate")]
    #[error(transparent)]
    Schema(#[from] crate::validate::SchemaProblem),
    /// A turn cannot be started.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Agent(#[from] crate::agent::AgentError),
    /// A turn has no output of the wanted type.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Output(#[from] crate::agent::OutputError),
    /// A turn was driven in a way that it does not allow.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Turn(#[from] crate::turn::TurnError),
    /// A text that a turn needs cannot be written.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Wording(#[from] crate::turn::WordingError),
    /// A model failed.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// A PEM text has no usable certificate.
    #[cfg(feature = "client")]
    #[error(transparent)]
    Pem(#[from] crate::http::PemError),
    /// A PEM file has no usable certificate.
    #[cfg(feature = "client")]
    #[error(transparent)]
    Trust(#[from] crate::http::TrustError),
    /// A model client cannot be set up.
    #[cfg(feature = "client")]
    #[error(transparent)]
    Client(#[from] crate::model::ClientError),
}
