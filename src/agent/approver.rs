//! Asks for approval of calls, and remembers the tools that were approved.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;

use crate::turn::event::{Approval, ApprovalRequest, AskReason};
use crate::turn::{Granted, Input, ModelNote, Setup};

/// Decides whether a call may run, for calls that the policy leaves open.
///
/// The answer may come at any time; the rest of the turn's calls run meanwhile.
/// Functions of a request that return a future of `bool` or [`Approval`] are approvers.
pub trait Approver: Send + Sync {
    /// Decides whether the call may run. Dropping the future withdraws the question.
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Approval>;
}

impl<F, Answer> Approver for F
where
    F: Fn(ApprovalRequest) -> Answer + Send + Sync,
    Answer: Future + Send + 'static,
    Answer::Output: Into<Approval>,
{
    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Approval> {
        let answer = self(request);
        Box::pin(async move { answer.await.into() })
    }
}

/// The approver of an agent, if it has one, with the tools whose approval also applies to later calls.
#[derive(Default)]
pub(super) struct ApproverState {
    approver: Option<Arc<dyn Approver>>,
    granted: Mutex<Granted>,
}

impl ApproverState {
    pub(super) fn new(approver: Option<Arc<dyn Approver>>) -> Self {
        ApproverState { approver, granted: Mutex::default() }
    }

    /// Returns `true` if there is an approver to ask.
    pub(super) fn is_attended(&self) -> bool {
        self.approver.is_some()
    }

    pub(super) fn granted(&self) -> MutexGuard<'_, Granted> {
        // Nothing is done under the lock that could panic half-way.
        self.granted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the approver about a call and returns its answer as the turn's input. Without an approver the call is denied,
/// with a note to the model that names the reason of the question.
pub(super) async fn ask(asking: Arc<ApproverState>, setup: Arc<Setup>, request: ApprovalRequest) -> Input {
    let id = request.id.clone();
    let tool = (request.server.clone(), request.tool.clone());
    let grants = request.reason.grants();
    let definition = setup.definition(request.server.as_deref(), &request.tool);
    let refusal = match request.reason {
        AskReason::NoReasoningTag => ModelNote::MayBeDraft,
        AskReason::AfterProse
        | AskReason::FencedFirst
        | AskReason::BeforeProse
        | AskReason::Hedged
        | AskReason::InALine
        | AskReason::FencedAfterProse
        | AskReason::InElement => ModelNote::MayBeExample,
        AskReason::Mended => ModelNote::Mended,
        AskReason::Echoed => ModelNote::Echoed,
        AskReason::InsteadOfRead => ModelNote::InsteadOfRead,
        AskReason::Ungrounded => ModelNote::Ungrounded,
        AskReason::Changed => ModelNote::Changed,
        _ => ModelNote::NotAllowed,
    };
    let approval = match &asking.approver {
        Some(approver) => approver.approve(request).await,
        None => Approval::Denied { reason: Some(setup.wording().note(refusal)) },
    };
    if grants && approval == Approval::Approved {
        asking.granted().insert(tool, definition);
    }
    Input::Approval { id, approval }
}
