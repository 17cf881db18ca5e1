//! One error for programs that pass the stages' errors on.

/// Any error of this crate. Each stage returns its own; `?` turns it into this one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that is no dialect's.
    #[error(transparent)]
    Dialect(#[from] crate::dialect::UnknownDialect),
    /// A dialect's file that cannot be used.
    #[error(transparent)]
    DialectFile(#[from] crate::dialect::DialectError),
    /// A word that stands for none of a type's values.
    #[error(transparent)]
    Keyword(#[from] crate::message::UnknownKeyword),
    /// Bytes that are no image for a model.
    #[error(transparent)]
    Image(#[from] crate::message::ImageError),
    /// A name that is no tool's.
    #[error(transparent)]
    NotFound(#[from] crate::tools::NotFound),
    /// A pattern of a policy means tools of several servers.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    AmbiguousPattern(#[from] crate::tools::AmbiguousPattern),
    /// A budget has no room.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Exhausted(#[from] crate::budget::Exhausted),
    /// A conversation was used in a way that it does not allow.
    #[error(transparent)]
    Conversation(#[from] crate::conversation::ConversationError),
    /// A call does not fit into another interface's shape.
    #[error(transparent)]
    Wire(#[from] crate::wire::WireError),
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
    /// What a turn has to say cannot be said.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Wording(#[from] crate::turn::WordingError),
    /// A model failed.
    #[cfg(feature = "agent")]
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// A text has no certificate that can be trusted.
    #[cfg(feature = "client")]
    #[error(transparent)]
    Pem(#[from] crate::http::PemError),
    /// A file has no certificate that can be trusted.
    #[cfg(feature = "client")]
    #[error(transparent)]
    Trust(#[from] crate::http::TrustError),
    /// A model client cannot be set up.
    #[cfg(feature = "client")]
    #[error(transparent)]
    Client(#[from] crate::model::ClientError),
}
