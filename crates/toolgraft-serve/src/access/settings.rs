//! The part of the configuration that concerns clients: their names, origins and keys, and limits.

use std::time::Duration;

use super::budgets::Budgets;

/// Default maximum size of a request's body, in bytes.
pub const MAX_BODY: usize = 32 << 20;

/// Default of the longest time for which a client may send nothing before the head and body of its request are
/// complete.
pub const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The part of the configuration that concerns clients.
#[derive(Clone)]
pub(crate) struct AccessSettings {
    pub(crate) client_key: Option<String>,
    /// The secret that identifiers of calls are signed with.
    pub(crate) instance_key: Option<String>,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) max_body: usize,
    pub(crate) read_timeout: Duration,
    pub(crate) budgets: Budgets,
}

impl Default for AccessSettings {
    fn default() -> Self {
        AccessSettings {
            client_key: None,
            instance_key: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            max_body: MAX_BODY,
            read_timeout: READ_TIMEOUT,
            budgets: Budgets::default(),
        }
    }
}
