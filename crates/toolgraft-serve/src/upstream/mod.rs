//! The endpoint.

pub(crate) mod endpoint;
pub(crate) mod endpoint_facts;
pub(crate) mod redaction;
pub(crate) mod settings;
