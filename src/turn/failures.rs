//! Decides which calls a failure stops: later calls of its message on the same server that may change something.
//!
//! A model that writes several calls assumes that each succeeds. After one that was rejected, denied, failed or timed
//! out, the following ones are based on a wrong assumption.

use super::displays::Displays;
use crate::event::{Rejected, RejectedKind};
use crate::tools::Catalog;

/// The server of a call, and the properties that decide whether it may run concurrently with others of it.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    server: Option<String>,
    /// `true` if the call only reads ([`Catalog::is_read_only`]).
    pub(super) is_read: bool,
    parallel: bool,
}

impl Lane {
    pub(super) fn of(server: Option<&str>, tool: &str, catalog: &Catalog) -> Self {
        let found = catalog.find(server, tool).ok().map(|found| found.tool);
        let is_read = catalog.is_read_only(server, tool);
        // A call may leave out its server; the lane is that of the tool that it means.
        let server = found.map_or_else(|| server.map(str::to_owned), |tool| tool.server.clone());
        let own = found.and_then(|tool| catalog.server_of(tool));
        let offers = own.or_else(|| catalog.servers().iter().find(|offers| offers.name == server));
        Lane { server, is_read, parallel: offers.is_some_and(|offers| offers.parallel) }
    }

    /// Returns `true` if the call may run while the earlier one runs.
    pub(super) fn is_free_of(&self, earlier: &Lane) -> bool {
        // Reads cannot affect each other, and a server may be configured to run all its calls together.
        self.server != earlier.server || (self.is_read && earlier.is_read) || (self.parallel && earlier.parallel)
    }

    /// Returns `true` if the call must not run after the call `failed` did not succeed.
    pub(super) fn is_stopped_by(&self, failed: &Lane) -> bool {
        !self.is_read && self.server == failed.server
    }
}

/// The calls of a message that did not succeed, in the order written.
#[derive(Debug, Default)]
pub(super) struct Failures(Vec<Failure>);

#[derive(Debug)]
struct Failure {
    /// Lane of the call; `None` if its tool's name could not be read, so that it may be any server's.
    lane: Option<Lane>,
    /// Name of the tool; empty if it could not be read.
    tool: String,
}

impl Failures {
    /// Adds a call that was denied, failed or timed out.
    pub(super) fn add(&mut self, lane: Lane, tool: &str) {
        self.0.push(Failure { lane: Some(lane), tool: tool.to_owned() });
    }

    /// Adds a rejected call if the model meant it as a call: if it `is_told` about it, or if the kind of rejection
    /// implies it. A display-only call changes nothing and is not added.
    pub(super) fn add_rejected(
        &mut self,
        rejected: &Rejected,
        is_told: bool,
        is_native: bool,
        displays: &Displays<'_>,
    ) {
        let is_meant = is_told || displays.is_meant(rejected);
        // After a call that the end of the text cut off, only native calls follow: some endpoints leave the beginning
        // of what they read from the text in it.
        let is_leftover = rejected.kind == RejectedKind::Truncated && !is_native;
        // Only a call that was meant, is not such a rest, and could change something stops others.
        if !is_meant || is_leftover || displays.is_for_display(rejected) {
            return;
        }
        let catalog = &displays.setup.catalog;
        let tool = rejected.tool.clone().unwrap_or_default();
        let found = catalog.resolve(rejected.server.as_deref(), &tool).ok().map(|found| found.tool);
        let server = found.map(|tool| tool.server.as_deref());
        // An unknown name may be a misspelling on any server.
        let known = || rejected.server.as_deref().filter(|name| catalog.server(name).is_some()).map(Some);
        let lane = server.or_else(known).map(|server| Lane::of(server, &tool, catalog));
        self.0.push(Failure { lane, tool });
    }

    /// Returns the tool of the first failure that stops a call of this lane; empty if the tool's name could not be
    /// read.
    pub(super) fn stopping(&self, lane: &Lane) -> Option<&str> {
        let stops = |failure: &&Failure| match &failure.lane {
            Some(failed) => lane.is_stopped_by(failed),
            None => !lane.is_read,
        };
        self.0.iter().find(stops).map(|failure| failure.tool.as_str())
    }
}
