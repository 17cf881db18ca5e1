//! Settings of a hub for its servers: time limits, and the times of starts and restarts.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use super::elicit::Answers;
use super::states::States;
use crate::auth::Logins;
use crate::config::ServerConfig;
use crate::transport::wire::Wire;
use toolgraft::budget::{Budget, MAX_PIXELS_AT_ONCE};

/// Default maximum number of concurrent calls on one server; further calls wait. It is the number of calls that a
/// message may have ([`parse::MAX_CALLS`](toolgraft::parse::MAX_CALLS)), so that the calls of one message never wait
/// for each other.
pub const MAX_CALLS: NonZeroUsize = NonZeroUsize::new(64).expect("above zero");

/// Default time limit of a tool call that holds however much progress its server reports.
pub const MAX_CALL: Duration = Duration::from_secs(600);

/// Default time limit of a server's start, and again of the listing of its tools, resources and prompts. Output on
/// standard error extends the start ([`MAX_START`]).
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit of a server's start that is extended by output on standard error. It is only extended if the server's
/// entry sets no limit of its own.
pub const MAX_START: Duration = Duration::from_secs(600);

/// Default time limit of one tool call without progress.
pub const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// The settings of a hub for all its servers.
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) max_call: Duration,
    pub(crate) max_calls: NonZeroUsize,
    pub(crate) start: Start,
    pub(crate) retry: Retry,
    pub(crate) answers: Answers,
    /// Channel that reports the events of the servers.
    pub(crate) states: Arc<States>,
    /// `true` if outcomes get the images, audio and blobs of results as events.
    pub(crate) media: bool,
    /// Budget of pixels of images that are decoded at once.
    pub(crate) pixels: Budget,
    /// `true` if content of results for the user alone is removed from the text for the model.
    pub(crate) by_audience: bool,
    /// The store of the users' logins; `None` if there is none.
    pub(crate) logins: Option<Logins>,
    /// The receiver of all MCP messages in both directions; `None` if the program wants none.
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
    /// Returns the time limits of one server and its number of concurrent calls. The settings of its entry take
    /// precedence.
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

/// The time limits of one server, and its number of concurrent calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Time limit of the server's start and handshake, and again of the listing of its tools, resources and prompts.
    pub(super) connect: Duration,
    /// `true` if output on standard error extends the server's start.
    pub(super) extends: bool,
    /// Time limit of one tool call; it begins anew with each progress report.
    pub(super) call: Duration,
    /// Time limit of one tool call regardless of progress.
    pub(super) most: Duration,
    /// Maximum number of concurrent calls of the server's tools.
    pub(super) calls: NonZeroUsize,
}

/// The time at which a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Start {
    /// The server is started at once; the hub waits until each server is ready or has failed.
    #[default]
    Eager,
    /// The server is started with the first call that names it. Its tools are not known before, so they are in no
    /// prompt until then.
    Lazy,
}

/// Rules for restarting a server that has exited or could not be reached.
///
/// A restart is only attempted when a call needs the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// Wait before a restart after the first failure; it doubles with each consecutive failure.
    pub first: Duration,
    /// Maximum wait before a restart, up to which it doubles.
    pub longest: Duration,
    /// Number of consecutive failures after which no restart is attempted for the time `rest`; at least one.
    pub failures: u32,
    /// Time without attempts to start the server after `failures` consecutive failures, and after a refusal for lack of
    /// authorization that no user's login can provide.
    pub rest: Duration,
    /// Time that a server must have run so that its next failure begins a new count of failures.
    pub stable: Duration,
}

impl Default for Retry {
    /// Returns the default rules: waits from 0.5 s to 30 s; no attempts for five minutes after five failures; a new
    /// count of failures after a run of one minute.
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
    /// Returns the wait before the next start of a server after this number of consecutive failures.
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
