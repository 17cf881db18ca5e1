//! What a round's answer is held to.

use std::sync::Arc;

use crate::constrain::{Constrain, Constrained, Constraint, Thinking};
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
    let config = &shared.setup.config;
    if config.constrain == Constrain::Off {
        return None;
    }
    let found = if native { answer(shared)? } else { due(model, shared)? };
    let is_due = !native && found.of != Constrained::BegunCalls;
    let required = config.constrain == Constrain::Require && is_due;
    Some(Arc::new(if required { found.require() } else { found }))
}

fn due(model: &RoundModel, shared: &Shared) -> Option<Constraint> {
    let needs_call = matches!(shared.choice, ToolChoice::Required | ToolChoice::Named(_));
    match shared.mending {
        Some(Mending::Output) => answer(shared),
        Some(Mending::Calls) => calls(model, shared),
        None if needs_call => calls(model, shared),
        None if !may_call(shared) => answer(shared),
        None => shared.setup.begun_calls(),
    }
}

fn answer(shared: &Shared) -> Option<Constraint> {
    shared.output.as_ref().map(|schema| Constraint::answer(schema.schema().clone()))
}

/// Whether a call of the next message would be dealt with.
fn may_call(shared: &Shared) -> bool {
    !(shared.choice == ToolChoice::None || shared.is_last_round() || shared.setup.catalog.is_empty())
}

fn calls(model: &RoundModel, shared: &Shared) -> Option<Constraint> {
    let thinking = match (model.reasoning, model.reasons) {
        (ReasoningMode::Open, _) => Thinking::Open,
        (ReasoningMode::Off, _) => Thinking::Off,
        (_, Some(true)) => Thinking::Marked,
        _ => Thinking::Off,
    };
    shared.setup.calls(&shared.choice, thinking)
}
