//! What the endpoint has said of a model's context, and how its count compares with ours.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::ContextWindow;

/// Tokenisers differ, and templates add to a prompt; a count further from ours than this
/// is of something else: what was not cached, or a prompt that was cut.
const LEAST_SCALE: f64 = 0.65;
const MOST_SCALE: f64 = 4.0;

/// What is known of the models of an endpoint. Turns share it, so that what one was refused
/// the next does not ask for again.
#[derive(Debug, Default)]
pub(super) struct Measured {
    models: Mutex<HashMap<Option<String>, Measure>>,
    /// How a context gets longer, in the words of whatever serves the models.
    remedy: Mutex<Option<String>>,
}

/// What is known of one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measure {
    /// Tokens that its context has, if its endpoint says so or has refused more.
    pub(super) context: Option<usize>,
    /// The endpoint was asked for that.
    pub(super) asked: bool,
    /// The endpoint's tokens for one of ours.
    scale: f64,
}

impl Default for Measure {
    fn default() -> Self {
        Measure { context: None, asked: false, scale: 1.0 }
    }
}

impl Measure {
    /// So many tokens of our count, as the endpoint counts them.
    pub(super) fn scaled(&self, tokens: usize) -> usize {
        (tokens as f64 * self.scale).ceil() as usize
    }
}

impl Measured {
    pub(super) fn new(remedy: Option<String>) -> Self {
        Measured { models: Mutex::default(), remedy: Mutex::new(remedy) }
    }

    pub(super) fn of(&self, model: &Option<String>) -> Measure {
        self.known().get(model).copied().unwrap_or_default()
    }

    /// Takes what the endpoint says of the model's context.
    pub(super) fn said(&self, model: &Option<String>, window: Option<ContextWindow>) {
        let mut known = self.known();
        let measure = known.entry(model.clone()).or_default();
        measure.asked = true;
        if let Some(window) = window {
            measure.context = Some(measure.context.unwrap_or(usize::MAX).min(window.tokens));
            if window.remedy.is_some() {
                *self.remedy.lock().unwrap_or_else(PoisonError::into_inner) = window.remedy;
            }
        }
    }

    /// How a context gets longer, where that is known.
    pub(super) fn remedy(&self) -> Option<String> {
        self.remedy.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The endpoint read `read` tokens where we counted `own`.
    pub(super) fn counted(&self, model: &Option<String>, own: usize, read: u64) {
        let scale = read as f64 / own.max(1) as f64;
        if (LEAST_SCALE..=MOST_SCALE).contains(&scale) {
            self.known().entry(model.clone()).or_default().scale = scale;
        }
    }

    /// The endpoint refused a request of `own` tokens by our count, with `reply` tokens for
    /// the reply: it has `prompt` tokens, and the context `context`, as far as it says so.
    pub(super) fn refused(
        &self,
        model: &Option<String>,
        (own, reply): (usize, usize),
        prompt: Option<usize>,
        context: Option<usize>,
    ) {
        let mut known = self.known();
        let measure = known.entry(model.clone()).or_default();
        let scale = |tokens: usize| (tokens as f64 / own.max(1) as f64).min(MOST_SCALE);
        match (prompt, context) {
            (Some(prompt), _) => measure.scale = scale(prompt),
            // So much it has at least, or it would have fitted.
            (None, Some(context)) => measure.scale = measure.scale.max(scale(context.saturating_sub(reply))),
            (None, None) => {}
        }
        // Where nobody says how much it holds, it is less than this.
        let sent = prompt.unwrap_or_else(|| measure.scaled(own));
        let less = measure.context.unwrap_or(usize::MAX).min(sent / 4 * 3);
        measure.context = Some(context.unwrap_or(less));
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Option<String>, Measure>> {
        // Nothing is done under the lock that could panic half-way.
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: Option<String> = None;

    #[test]
    fn the_endpoints_count_scales_ours_unless_it_counts_something_else() {
        let measured = Measured::default();
        assert_eq!(measured.of(&MODEL).scaled(1_000), 1_000);
        measured.counted(&MODEL, 1_000, 1_250);
        assert_eq!(measured.of(&MODEL).scaled(1_000), 1_250);
        for other in [12, 400, 9_000] {
            measured.counted(&MODEL, 1_000, other);
            assert_eq!(measured.of(&MODEL).scaled(1_000), 1_250, "{other}");
        }
        assert_eq!(measured.of(&Some("other".into())), Measure::default());
    }

    #[test]
    fn a_refusal_tells_the_context_or_that_it_is_less() {
        for (prompt, context, expected) in [
            (Some(2_067), Some(2_048), (2_048, 2_067)),
            // At least what the context has left beside the reply.
            (None, Some(2_048), (2_048, 1_848)),
            (Some(2_000), None, (1_500, 2_000)),
            (None, None, (750, 1_000)),
        ] {
            let measured = Measured::default();
            measured.refused(&MODEL, (1_000, 200), prompt, context);
            let measure = measured.of(&MODEL);
            assert_eq!((measure.context.unwrap(), measure.scaled(1_000)), expected, "{prompt:?} {context:?}");
        }
    }
}
