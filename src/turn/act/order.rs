//! The order in which the calls of one message begin.
//!
//! Calls of one server run in the order written, since a later one may depend on an earlier one: each begins once all
//! before it are finished. After a call that did not succeed, calls that may change something do not begin
//! ([`Failures`](crate::turn::failures::Failures)). Two calls that are both marked read-only cannot affect each other
//! and run concurrently, and so do calls of a server that is configured so (`parallel`). Calls of different servers run
//! concurrently.

use crate::turn::event::ApprovalRequest;
use crate::turn::failures::Lane;

/// The calls of a message without an outcome, in the order written.
#[derive(Debug, Default)]
pub(in crate::turn) struct Order(Vec<QueuedCall>);

#[derive(Debug)]
struct QueuedCall {
    id: String,
    lane: Lane,
    state: QueuedState,
}

#[derive(Debug)]
enum QueuedState {
    /// The call needs approval first.
    Asked,
    /// The call may begin when its turn comes.
    Allowed(ApprovalRequest),
    Running,
}

impl Order {
    /// Adds a call that needs approval.
    pub(super) fn ask(&mut self, request: &ApprovalRequest, lane: Lane) {
        self.0.push(QueuedCall { id: request.id.clone(), lane, state: QueuedState::Asked });
    }

    /// Allows a call to run when its turn comes; one that was asked about keeps its position.
    pub(super) fn allow(&mut self, request: ApprovalRequest, lane: Lane) {
        match self.0.iter_mut().find(|place| place.id == request.id) {
            Some(place) => place.state = QueuedState::Allowed(request),
            None => self.0.push(QueuedCall { id: request.id.clone(), lane, state: QueuedState::Allowed(request) }),
        }
    }

    /// Returns the next call that may begin.
    pub(super) fn next(&mut self) -> Option<ApprovalRequest> {
        let may_begin = |at: usize| {
            let place = &self.0[at];
            matches!(place.state, QueuedState::Allowed(_))
                && self.0[..at].iter().all(|earlier| place.lane.is_free_of(&earlier.lane))
        };
        let at = (0..self.0.len()).find(|at| may_begin(*at))?;
        match std::mem::replace(&mut self.0[at].state, QueuedState::Running) {
            QueuedState::Allowed(request) => Some(request),
            QueuedState::Asked | QueuedState::Running => None,
        }
    }

    /// Removes the calls after this one that cannot run because it failed, and returns their ids.
    pub(super) fn stop_after(&mut self, id: &str) -> Vec<String> {
        let Some(at) = self.0.iter().position(|place| place.id == id) else { return Vec::new() };
        let failed = self.0[at].lane.clone();
        // A running call cannot be stopped any more.
        let is_stopped =
            |place: &mut QueuedCall| !matches!(place.state, QueuedState::Running) && place.lane.is_stopped_by(&failed);
        self.0.extract_if(at + 1.., is_stopped).map(|place| place.id).collect()
    }

    /// Removes a call that is finished or does not run.
    pub(super) fn leave(&mut self, id: &str) {
        self.0.retain(|place| place.id != id);
    }

    /// Returns `true` if any call is running.
    pub(in crate::turn) fn runs(&self) -> bool {
        self.0.iter().any(|place| matches!(place.state, QueuedState::Running))
    }

    /// Returns `true` if this call is running.
    pub(in crate::turn) fn is_running(&self, id: &str) -> bool {
        self.0.iter().any(|place| place.id == id && matches!(place.state, QueuedState::Running))
    }

    /// Removes all calls that are not running, so that no further call begins.
    pub(super) fn withdraw(&mut self) {
        self.0.retain(|place| matches!(place.state, QueuedState::Running));
    }
}
