//! The error type for programs that pass on the errors of several stages.

/// Any error of this crate. Each stage has its own type; `?` converts it into this one, and `downcast_ref` recovers it.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
