//! The endpoint of a server, as it is configured.

use std::time::Duration;

use super::endpoint_facts::{Learned, Learning};
use toolgraft::http::Trust;
use toolgraft::model::IDLE_TIMEOUT;

/// The part of the configuration that concerns the endpoint.
#[derive(Clone)]
pub(crate) struct UpstreamSettings {
    pub(crate) base_url: String,
    pub(crate) key: Option<String>,
    /// `true` if clients' keys are forwarded to the endpoint. They are not if the server has a key that clients must
    /// send, or a key for the endpoint.
    pub(crate) hands_on_key: bool,
    pub(crate) trust: Trust,
    pub(crate) https_proxy: Option<(String, String)>,
    pub(crate) idle_timeout: Duration,
    /// Number of tokens of the models' context; `None` to query the endpoint.
    pub(crate) context: Option<usize>,
    pub(crate) learned: Vec<Learned>,
    pub(crate) learning: Option<Learning>,
}

impl UpstreamSettings {
    /// Makes the settings for the endpoint at this URL, with all defaults.
    pub(crate) fn of(base_url: String) -> Self {
        UpstreamSettings {
            base_url,
            key: None,
            hands_on_key: true,
            trust: Trust::default(),
            https_proxy: None,
            idle_timeout: IDLE_TIMEOUT,
            context: None,
            learned: Vec::new(),
            learning: None,
        }
    }
}
