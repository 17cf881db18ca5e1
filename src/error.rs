//! The error type for programs that pass on the errors of several stages.

/// Any error of this crate. Each stage returns its own; `?` turns it into this one, and `downcast_ref` gives it back.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
