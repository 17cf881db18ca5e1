//! What a round's answer is held to.

use std::sync::Arc;

use crate::constrain::{Constrain, Constraint, Thinking};
use crate::message::ReasoningMode;
use crate::model::ALTERNATIVES;
use crate::tools::ToolChoice;
use crate::turn::config::RoundModel;
use crate::turn::decide::Asking;
use crate::turn::shared::{Mending, Shared};

/// What the answer to the next request is held to, where a structure is due: it mends a call
/// or an answer, a call is required, or it can only be the answer after a schema. Elsewhere
/// the model decides, and calls that it begins are held to theirs.
///
/// Beside tools in the request the endpoint holds calls by itself; an answer after a schema
/// is asked for where it can stand beside them, and never required there.
///
/// A measured message is held to calls unless the endpoint is known to tell nothing of use then
/// (`is_told_under_grammar`).
pub(super) fn constraint(
    native: bool,
    model: &RoundModel,
    is_told_under_grammar: bool,
    shared: &Shared,
) -> Option<Arc<Constraint>> {
    if shared.setup.config.constrain == Constrain::Off {
        return None;
    }
    if native { answer(false, shared) } else { due(model, is_told_under_grammar, shared) }
}

fn due(model: &RoundModel, is_told_under_grammar: bool, shared: &Shared) -> Option<Arc<Constraint>> {
    let needs_call = matches!(shared.choice, ToolChoice::Required | ToolChoice::Named(_));
    let required = shared.setup.config.constrain == Constrain::Require;
    match &shared.asking {
        Asking::Held(choice) => return calls(choice, model, shared),
        Asking::Step => return one_call(model, shared),
        Asking::Narrowed(narrowed) => return shared.setup.narrowed(narrowed, thinking(model)),
        Asking::Answer if shared.output.is_some() => return answer(required, shared),
        Asking::Answer => return shared.setup.openers().are_tags().then(|| Arc::new(Constraint::prose())),
        Asking::Measured if is_told_under_grammar => {
            if let Some(calls) = calls(&shared.choice, model, shared) {
                let grammar = if may_answer(model, shared) { calls.or_prose() } else { calls.as_grammar() };
                if let Some(grammar) = grammar {
                    return Some(Arc::new(grammar));
                }
            }
        }
        Asking::Free | Asking::Measured => {}
    }
    match shared.mending {
        Some(Mending::Output) => answer(required, shared),
        Some(Mending::Calls) => calls(&shared.choice, model, shared),
        None if needs_call => calls(&shared.choice, model, shared),
        None if !shared.may_call() => answer(required, shared),
        None => shared.setup.begun_calls(),
    }
}

/// Returns `true` if a measured message may be the answer as well, which saves a request where no call is due. Not where
/// the request names what a tool is asked about; nor where a call is wanted that is less likely than one of the
/// alternatives which endpoints tell.
fn may_answer(model: &RoundModel, shared: &Shared) -> bool {
    let threshold = shared.call_threshold();
    let is_told = threshold.exp() > 1.0 / f64::from(ALTERNATIVES);
    is_told && shared.setup.openers().are_tags() && thinking(model) == Thinking::Off
}

fn answer(required: bool, shared: &Shared) -> Option<Arc<Constraint>> {
    let constraint = Constraint::answer(shared.output.as_ref()?.schema().clone());
    Some(Arc::new(if required { constraint.require() } else { constraint }))
}

pub(super) fn calls(choice: &ToolChoice, model: &RoundModel, shared: &Shared) -> Option<Arc<Constraint>> {
    shared.setup.calls(choice, thinking(model), usize::MAX)
}

/// One step at a time: a model that is held to several calls goes on behind the one that it knows.
fn one_call(model: &RoundModel, shared: &Shared) -> Option<Arc<Constraint>> {
    shared.setup.calls(&shared.choice, thinking(model), 1)
}

fn thinking(model: &RoundModel) -> Thinking {
    match (model.reasoning, model.reasons) {
        (ReasoningMode::Open, _) => Thinking::Open,
        (ReasoningMode::Off, _) => Thinking::Off,
        (_, Some(true)) => Thinking::Marked,
        _ => Thinking::Off,
    }
}
