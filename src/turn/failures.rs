//! What a failure stops: the later calls of its message on the same server that may change something.
//!
//! A model writes several calls in the belief that each does its work. After one that was rejected,
//! denied, failed or timed out, those that follow rest on something that is not so.

use super::displays::Displays;
use crate::event::{Rejected, RejectedKind};
use crate::tools::Catalog;

/// The server of a call, and how the call may run beside others of it.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    server: Option<String>,
    /// The call only reads ([`Catalog::is_read_only`]).
    pub(super) is_read: bool,
    parallel: bool,
}

impl Lane {
    pub(super) fn of(server: Option<&str>, tool: &str, catalog: &Catalog) -> Self {
        let found = catalog.find(server, tool).ok().map(|found| found.tool);
        let is_read = catalog.is_read_only(server, tool);
        let server = found.map_or_else(|| server.map(str::to_owned), |tool| tool.server.clone());
        let own = found.and_then(|tool| catalog.server_of(tool));
        let offers = own.or_else(|| catalog.servers().iter().find(|offers| offers.name == server));
        Lane { server, is_read, parallel: offers.is_some_and(|offers| offers.parallel) }
    }

    /// Returns `true` if the call may run while the earlier one runs.
    pub(super) fn is_free_of(&self, earlier: &Lane) -> bool {
        self.server != earlier.server || (self.is_read && earlier.is_read) || (self.parallel && earlier.parallel)
    }

    /// Returns `true` if the call must not follow a failure on this lane.
    pub(super) fn is_stopped_by(&self, failed: &Lane) -> bool {
        !self.is_read && self.server == failed.server
    }
}

/// The calls of a message that did not succeed, in the order written.
#[derive(Debug, Default)]
pub(super) struct Failures(Vec<Failure>);

#[derive(Debug)]
struct Failure {
    /// `None` where the name could not be read, so that it may be any server.
    lane: Option<Lane>,
    /// Empty where it could not be read.
    tool: String,
}

impl Failures {
    /// Adds a call that was denied, failed or timed out.
    pub(super) fn add(&mut self, lane: Lane, tool: &str) {
        self.0.push(Failure { lane: Some(lane), tool: tool.to_owned() });
    }

    /// Adds a rejected call, if the model meant it as a call: if it `is_told` of it, or if its kind
    /// says so. One that would only be shown changes nothing.
    pub(super) fn add_rejected(
        &mut self,
        rejected: &Rejected,
        is_told: bool,
        is_native: bool,
        displays: &Displays<'_>,
    ) {
        let is_meant = is_told || displays.row(rejected).meant;
        // After one that the text's end cut off come native calls alone, and some endpoints leave
        // in the text the beginning of what they read from it.
        let is_leftover = rejected.kind == RejectedKind::Truncated && !is_native;
        if !is_meant || is_leftover || displays.is_for_display(rejected) {
            return;
        }
        let catalog = &displays.setup.catalog;
        let tool = rejected.tool.clone().unwrap_or_default();
        let found = catalog.resolve(rejected.server.as_deref(), &tool).ok().map(|found| found.tool);
        let server = found.map(|tool| tool.server.as_deref());
        // A name that nobody has may be a misspelt one of any server.
        let known = || rejected.server.as_deref().filter(|name| catalog.server(name).is_some()).map(Some);
        let lane = server.or_else(known).map(|server| Lane::of(server, &tool, catalog));
        self.0.push(Failure { lane, tool });
    }

    /// Returns the tool of the first failure that stops a call of this lane; empty where its name
    /// could not be read.
    pub(super) fn stopping(&self, lane: &Lane) -> Option<&str> {
        let stops = |failure: &&Failure| match &failure.lane {
            Some(failed) => lane.is_stopped_by(failed),
            None => !lane.is_read,
        };
        self.0.iter().find(stops).map(|failure| failure.tool.as_str())
    }
}
