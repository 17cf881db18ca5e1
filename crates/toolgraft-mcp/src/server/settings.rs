//! What a hub sets for its servers: limits, when they are started, and started anew.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::elicit::Answers;
use super::states::States;
use crate::auth::Logins;
use crate::config::{ServerConfig, seconds};
use crate::transport::wire::Wire;
use toolgraft::budget::{Budget, MAX_PIXELS_AT_ONCE};

/// Calls that run at once on one server where nothing else is set; more wait their
/// turn. As many as a message may hold ([`parse::MAX_CALLS`](toolgraft::parse::MAX_CALLS)),
/// so that one message's calls never wait for each other.
pub const MAX_CALLS: NonZeroUsize = NonZeroUsize::new(64).expect("above zero");

/// A call ends after this where the program sets nothing else, however much
/// progress its server reports.
pub const MAX_CALL: Duration = Duration::from_secs(600);

/// Limit of a server's start, and again of its listing, where the configuration sets none. What it
/// writes to standard error meanwhile extends its start ([`MAX_START`]).
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A start whose server sets no limit, and that writes to standard error, is given up after this.
pub const MAX_START: Duration = Duration::from_secs(600);

/// Limit of one call where the configuration sets none.
pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// What a hub sets for all its servers.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) max_call: Duration,
    pub(crate) max_calls: NonZeroUsize,
    pub(crate) start: Start,
    pub(crate) retry: Retry,
    pub(crate) answers: Answers,
    /// What happens to the servers.
    pub(crate) states: Arc<States>,
    /// Whether results keep their images, audio and blobs.
    pub(crate) media: bool,
    /// Pixels of pictures that are decoded at once.
    pub(crate) pixels: Budget,
    /// Whether what is for the person alone is kept from the model.
    pub(crate) by_audience: bool,
    /// Where logins are kept, if anywhere.
    pub(crate) logins: Option<Logins>,
    /// Who looks at what goes over the wire, if anybody.
    pub(crate) wire: Option<Wire>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            call_timeout: DEFAULT_CALL_TIMEOUT,
            max_call: MAX_CALL,
            max_calls: MAX_CALLS,
            start: Start::default(),
            retry: Retry::default(),
            answers: Answers::default(),
            states: Arc::default(),
            media: false,
            pixels: Budget::new("max_pixels", MAX_PIXELS_AT_ONCE),
            by_audience: false,
            logins: None,
            wire: None,
        }
    }
}

impl Settings {
    /// The limits of one server: its own come first.
    pub(super) fn limits(&self, server: &ServerConfig) -> Limits {
        Limits {
            connect: server.connect_timeout.unwrap_or(self.connect_timeout),
            extends: server.connect_timeout.is_none(),
            call: server.call_timeout.unwrap_or(self.call_timeout),
            most: self.max_call,
            calls: server.max_calls.unwrap_or(self.max_calls),
        }
    }
}

/// Limits of one server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Start and handshake; and again for the listing.
    pub(super) connect: Duration,
    /// Whether output on standard error extends the start.
    pub(super) extends: bool,
    /// One call; progress starts it anew.
    pub(super) call: Duration,
    /// One call, progress or not.
    pub(super) most: Duration,
    /// Calls at once.
    pub(super) calls: NonZeroUsize,
}

/// When a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Start {
    /// At once, and the hub waits until each server is ready or has failed.
    #[default]
    Eager,
    /// With the first call that names it. What it offers is not known before,
    /// so its tools are in no prompt until then.
    Lazy,
}

/// When a server that has gone, or could not be reached, is started anew.
///
/// An attempt is only made when a call needs the server. With serde its times are
/// seconds, and what is left out is as by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Retry {
    /// Wait after the first failure; it doubles with each further one in a row.
    #[serde(with = "seconds")]
    pub first: Duration,
    /// Longest wait.
    #[serde(with = "seconds")]
    pub longest: Duration,
    /// Failures in a row after which the server is left alone; at least one.
    pub failures: u32,
    /// How long it is left alone then, and where it wants an authorization:
    /// until calls may try it once more.
    #[serde(with = "seconds")]
    pub rest: Duration,
    /// A server that was there this long starts its count of failures anew.
    #[serde(with = "seconds")]
    pub stable: Duration,
}

impl Default for Retry {
    /// 0.5 s to 30 s; five failures, then five minutes; stable after one minute.
    fn default() -> Self {
        Retry {
            first: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            failures: 5,
            rest: Duration::from_secs(300),
            stable: Duration::from_secs(60),
        }
    }
}

impl Retry {
    /// The wait before the attempt that follows so many failures in a row.
    pub(super) fn wait(&self, failures: u32) -> Duration {
        let doubled = self.first.saturating_mul(1 << failures.saturating_sub(1).min(16));
        doubled.min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_its_limit() {
        let seconds: Vec<_> = (0..9).map(|n| Retry::default().wait(n).as_secs_f64()).collect();
        assert_eq!(seconds, [0.5, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
        assert_eq!(Retry::default().wait(u32::MAX), Duration::from_secs(30));
    }
}
