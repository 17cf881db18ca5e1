//! Chooses the constraint on a round's answer.

use std::sync::Arc;

use crate::constrain::{Constrain, Constraint, Thinking};
use crate::message::ReasoningMode;
use crate::model::ALTERNATIVES;
use crate::tools::ToolChoice;
use crate::turn::config::RoundModel;
use crate::turn::decide::Asking;
use crate::turn::shared::{Mending, Shared};

/// Returns the constraint for the next request if its answer must have a structure: it corrects a call or an answer, a
/// call is required, or it can only be an answer that matches a schema. Otherwise the model decides, and only the calls
/// that it begins are constrained.
///
/// If the request carries tools, the endpoint constrains calls by itself; a schema for the answer is sent if it may
/// accompany tools, and is never required then.
///
/// A measured message is constrained to calls, or to a call or prose (`may_answer`), unless the endpoint is known to
/// report useless probabilities then (`is_told_under_grammar`).
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
        Asking::Text { .. } => return Some(Arc::new(Constraint::fenced())),
        Asking::Answer if shared.output.is_some() => return answer(required, shared),
        // Prose is constrained by leaving out `<`, so only calls that begin with a tag can be excluded.
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
        // Where no call may be made, the message can only be the answer.
        None if !shared.may_call() => answer(required, shared),
        None => shared.setup.begun_calls(),
    }
}

/// Returns `true` if a measured message may also be the answer, which saves a request if no call is needed. It may not
/// if a call is wanted even at a probability below that of the alternatives that endpoints report.
fn may_answer(model: &RoundModel, shared: &Shared) -> bool {
    let threshold = shared.call_threshold();
    let is_told = threshold.exp() > 1.0 / f64::from(ALTERNATIVES);
    // Prose excludes `<`, so reasoning in tags could not be written either.
    is_told && shared.setup.openers().are_tags() && thinking(model) == Thinking::Off
}

fn answer(required: bool, shared: &Shared) -> Option<Arc<Constraint>> {
    let constraint = Constraint::answer(shared.output.as_ref()?.schema().clone());
    Some(Arc::new(if required { constraint.require() } else { constraint }))
}

pub(super) fn calls(choice: &ToolChoice, model: &RoundModel, shared: &Shared) -> Option<Arc<Constraint>> {
    shared.setup.calls(choice, thinking(model), usize::MAX)
}

/// Returns the constraint to exactly one call: a model that may write several continues after the only one that it
/// knows.
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
