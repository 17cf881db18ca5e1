//! Who is asked about calls, and what was granted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Approval, ApprovalRequest, Approver, AskReason};
use crate::turn::{Granted, Input, Remark, Setup};

/// One who is asked, with the tools that were approved once.
#[derive(Default)]
pub(super) struct Asking {
    approver: Option<Arc<dyn Approver>>,
    granted: Mutex<Granted>,
}

impl Asking {
    pub(super) fn new(approver: Option<Arc<dyn Approver>>) -> Self {
        Asking { approver, granted: Mutex::default() }
    }

    pub(super) fn granted(&self) -> MutexGuard<'_, Granted> {
        // Nothing is done under the lock that could panic half-way.
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks about a call.
pub(super) async fn ask(asking: Arc<Asking>, setup: Arc<Setup>, request: ApprovalRequest) -> Input {
    let id = request.id.clone();
    let tool = (request.server.clone(), request.tool.clone());
    let grants = request.reason.grants();
    let definition = setup.definition(request.server.as_deref(), &request.tool);
    let refusal = match request.reason {
        AskReason::NoReasoningTag => Remark::MayBeDraft,
        _ => Remark::NotAllowed,
    };
    let approval = match &asking.approver {
        Some(approver) => approver.approve(request).await,
        None => Approval::Denied { reason: Some(setup.voice().remark(refusal)) },
    };
    if grants && approval == Approval::Approved {
        asking.granted().insert(tool, definition);
    }
    Input::Approval { id, approval }
}
