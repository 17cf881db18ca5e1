//! What a round's answer is held to.

use std::sync::Arc;

use crate::constrain::{Constrain, Constraint, Thinking};
use crate::message::ReasoningMode;
use crate::tools::ToolChoice;
use crate::turn::config::RoundModel;
use crate::turn::shared::{Mending, Shared};

/// What the answer to the next request is held to, where a structure is due: it mends a call
/// or an answer, a call is required, or it can only be the answer after a schema. Elsewhere
/// the model decides, and calls that it begins are held to theirs.
///
/// Beside tools in the request the endpoint holds calls by itself; an answer after a schema
/// is asked for where it can stand beside them, and never required there.
pub(super) fn constraint(native: bool, model: &RoundModel, shared: &Shared) -> Option<Arc<Constraint>> {
    if shared.setup.config.constrain == Constrain::Off {
        return None;
    }
    if native { answer(false, shared) } else { due(model, shared) }
}

fn due(model: &RoundModel, shared: &Shared) -> Option<Arc<Constraint>> {
    let needs_call = matches!(shared.choice, ToolChoice::Required | ToolChoice::Named(_));
    let required = shared.setup.config.constrain == Constrain::Require;
    match shared.mending {
        Some(Mending::Output) => answer(required, shared),
        Some(Mending::Calls) => calls(model, shared),
        None if needs_call => calls(model, shared),
        None if !may_call(shared) => answer(required, shared),
        None => shared.setup.begun_calls(),
    }
}

fn answer(required: bool, shared: &Shared) -> Option<Arc<Constraint>> {
    let constraint = Constraint::answer(shared.output.as_ref()?.schema().clone());
    Some(Arc::new(if required { constraint.require() } else { constraint }))
}

/// Whether a call of the next message would be dealt with.
fn may_call(shared: &Shared) -> bool {
    !(shared.choice == ToolChoice::None || shared.is_last_round() || shared.setup.catalog.is_empty())
}

fn calls(model: &RoundModel, shared: &Shared) -> Option<Arc<Constraint>> {
    let thinking = match (model.reasoning, model.reasons) {
        (ReasoningMode::Open, _) => Thinking::Open,
        (ReasoningMode::Off, _) => Thinking::Off,
        (_, Some(true)) => Thinking::Marked,
        _ => Thinking::Off,
    };
    shared.setup.calls(&shared.choice, thinking)
}
