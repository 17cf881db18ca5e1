//! The HTTP client of all transports over HTTP.

use std::collections::BTreeMap;
use std::time::Duration;

use reqwest::redirect::Policy;

use crate::config::{ServerTrust, header_map};
use toolgraft::Cause;

/// Time limit of a TCP and TLS connection attempt.
const CONNECT: Duration = Duration::from_secs(10);

/// Idle time after which TCP checks whether the peer still answers.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Number of redirects that are followed, all within one origin.
const MAX_REDIRECTS: usize = 5;

/// Returns a client for this URL that sends these headers with every request.
pub(crate) fn client(
    url: &str,
    headers: &BTreeMap<String, String>,
    trust: &ServerTrust,
) -> Result<reqwest::Client, String> {
    trust
        .client_builder(url)?
        .default_headers(header_map(headers).map_err(|e| e.to_string())?)
        .connect_timeout(CONNECT)
        .tcp_keepalive(KEEPALIVE)
        .redirect(same_origin())
        .build()
        .map_err(|e| format!("cannot set up HTTP: {}", Cause::chain(&e)))
}

/// Follows redirects within one origin only, so that no header reaches another host.
fn same_origin() -> Policy {
    Policy::custom(|attempt| {
        let first = attempt.previous().first();
        let stays = first.is_some_and(|first| first.origin() == attempt.url().origin());
        match stays && attempt.previous().len() <= MAX_REDIRECTS {
            true => attempt.follow(),
            false => attempt.stop(),
        }
    })
}
