//! In which order the calls of one message begin.
//!
//! Calls of one server run in the order written, since a later one may need what an earlier
//! one did: each begins once all before it are over, whether they worked, failed or were
//! denied. Two that both call themselves read-only change nothing for each other and run
//! together, and so do calls of a server whose configuration says that they may (`parallel`).
//! Servers run beside each other.

use crate::tools::{ACCESS_RESOURCE, Catalog};
use crate::turn::event::ApprovalRequest;

/// Calls of a message that have no outcome, in the order written.
#[derive(Debug, Default)]
pub(super) struct Order(Vec<Place>);

#[derive(Debug)]
struct Place {
    id: String,
    lane: Lane,
    state: State,
}

#[derive(Debug)]
enum State {
    /// A person is asked first.
    Asked,
    /// May begin when its turn comes.
    Allowed(ApprovalRequest),
    Running,
}

/// What a call must not overtake.
#[derive(Debug)]
struct Lane {
    server: Option<String>,
    reads: bool,
    parallel: bool,
}

impl Lane {
    fn of(request: &ApprovalRequest, catalog: &Catalog) -> Self {
        let found = catalog.find(request.server.as_deref(), &request.tool).ok().map(|found| found.tool);
        let server = found.map_or(&request.server, |tool| &tool.server).clone();
        let reads = match found {
            Some(tool) => tool.annotations.as_ref().and_then(|hints| hints.read_only_hint) == Some(true),
            None => request.tool == ACCESS_RESOURCE,
        };
        let own = found.and_then(|tool| catalog.server_of(tool));
        let offers = own.or_else(|| catalog.servers().iter().find(|offers| offers.name == server));
        Lane { server, reads, parallel: offers.is_some_and(|offers| offers.parallel) }
    }

    fn is_free_of(&self, earlier: &Lane) -> bool {
        self.server != earlier.server || (self.reads && earlier.reads) || (self.parallel && earlier.parallel)
    }
}

impl Order {
    /// Puts a call that a person is asked about behind those before it.
    pub(super) fn ask(&mut self, request: &ApprovalRequest, catalog: &Catalog) {
        self.0.push(Place { id: request.id.clone(), lane: Lane::of(request, catalog), state: State::Asked });
    }

    /// A call may run: one that was asked about in its place, any other behind those before it.
    pub(super) fn allow(&mut self, request: ApprovalRequest, catalog: &Catalog) {
        match self.0.iter_mut().find(|place| place.id == request.id) {
            Some(place) => place.state = State::Allowed(request),
            None => {
                let lane = Lane::of(&request, catalog);
                self.0.push(Place { id: request.id.clone(), lane, state: State::Allowed(request) });
            }
        }
    }

    /// The next call to begin, if one may.
    pub(super) fn next(&mut self) -> Option<ApprovalRequest> {
        let may_begin = |at: usize| {
            let place = &self.0[at];
            matches!(place.state, State::Allowed(_))
                && self.0[..at].iter().all(|earlier| place.lane.is_free_of(&earlier.lane))
        };
        let at = (0..self.0.len()).find(|at| may_begin(*at))?;
        match std::mem::replace(&mut self.0[at].state, State::Running) {
            State::Allowed(request) => Some(request),
            State::Asked | State::Running => None,
        }
    }

    /// A call that ran is over; `false` where none of this id ran.
    pub(super) fn end(&mut self, id: &str) -> bool {
        let found = self.0.iter().position(|place| place.id == id && matches!(place.state, State::Running));
        found.map(|at| self.0.remove(at)).is_some()
    }

    /// A call that was asked about does not run.
    pub(super) fn leave(&mut self, id: &str) {
        self.0.retain(|place| place.id != id);
    }

    /// Whether a call runs.
    pub(super) fn runs(&self) -> bool {
        self.0.iter().any(|place| matches!(place.state, State::Running))
    }

    /// Whether this call runs.
    pub(super) fn is_running(&self, id: &str) -> bool {
        self.0.iter().any(|place| place.id == id && matches!(place.state, State::Running))
    }

    /// Nothing more begins.
    pub(super) fn withdraw(&mut self) {
        self.0.retain(|place| matches!(place.state, State::Running));
    }
}
