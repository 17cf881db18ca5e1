//! In which order the calls of one message begin.
//!
//! Calls of one server run in the order written, since a later one may need what an earlier
//! one did: each begins once all before it are over. After one that did not succeed, those that
//! may change something do not begin ([`Failures`](crate::turn::failures::Failures)). Two that
//! both call themselves read-only change nothing for each other and run together, and so do calls
//! of a server whose configuration says that they may (`parallel`). Servers run beside each other.

use crate::turn::event::ApprovalRequest;
use crate::turn::failures::Lane;

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

impl Order {
    /// Adds a call that somebody is asked about.
    pub(super) fn ask(&mut self, request: &ApprovalRequest, lane: Lane) {
        self.0.push(Place { id: request.id.clone(), lane, state: State::Asked });
    }

    /// Lets a call run once its turn comes; one that was asked about keeps its place.
    pub(super) fn allow(&mut self, request: ApprovalRequest, lane: Lane) {
        match self.0.iter_mut().find(|place| place.id == request.id) {
            Some(place) => place.state = State::Allowed(request),
            None => self.0.push(Place { id: request.id.clone(), lane, state: State::Allowed(request) }),
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

    /// Takes out the calls after this one that its failure stops, and returns their ids.
    pub(super) fn stop_after(&mut self, id: &str) -> Vec<String> {
        let Some(at) = self.0.iter().position(|place| place.id == id) else { return Vec::new() };
        let failed = self.0[at].lane.clone();
        let is_stopped =
            |place: &mut Place| !matches!(place.state, State::Running) && place.lane.is_stopped_by(&failed);
        self.0.extract_if(at + 1.., is_stopped).map(|place| place.id).collect()
    }

    /// Takes out a call that is over, or that does not run.
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
