//! The endpoint's reports about a model's context, and the ratio of its token counts to ours.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::ContextWindow;

/// Lowest plausible ratio of the endpoint's token counts to ours; `MOST_SCALE` is the highest. Tokenizers differ, and
/// templates add to a prompt. A ratio outside these limits has another cause: uncached tokens only, or a cut prompt.
const LEAST_SCALE: f64 = 0.65;
const MOST_SCALE: f64 = 4.0;

/// Knowledge about the models of an endpoint. Turns share it, so that a request that was refused in one turn is not
/// repeated in the next.
#[derive(Debug, Default)]
pub(super) struct Measured {
    models: Mutex<HashMap<Option<String>, Measure>>,
    /// Advice on how to get a longer context, in the terms of the server.
    remedy: Mutex<Option<String>>,
}

/// Knowledge about one model: the length of its context, and the ratio of token counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measure {
    /// Number of tokens of the model's context, if the endpoint reports it or has refused a longer request.
    pub(super) context: Option<usize>,
    /// `true` if the endpoint was asked for the length of the model's context.
    pub(super) asked: bool,
    /// Ratio of the endpoint's number of tokens to ours.
    scale: f64,
}

impl Default for Measure {
    fn default() -> Self {
        Measure { context: None, asked: false, scale: 1.0 }
    }
}

impl Measure {
    /// Converts tokens of our count into the endpoint's count.
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

    /// Records the model's context as the endpoint reports it.
    pub(super) fn said(&self, model: &Option<String>, window: Option<ContextWindow>) {
        let mut known = self.known();
        let measure = known.entry(model.clone()).or_default();
        measure.asked = true;
        if let Some(window) = window {
            // A refusal may have shown that less fits than the endpoint reports.
            measure.context = Some(measure.context.unwrap_or(usize::MAX).min(window.tokens));
            if window.remedy.is_some() {
                *self.remedy.lock().unwrap_or_else(PoisonError::into_inner) = window.remedy;
            }
        }
    }

    /// Returns the advice on how to get a longer context, if it is known.
    pub(super) fn remedy(&self) -> Option<String> {
        self.remedy.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records that the endpoint read `read` tokens of a prompt that we counted as `own`.
    pub(super) fn counted(&self, model: &Option<String>, own: usize, read: u64) {
        let scale = read as f64 / own.max(1) as f64;
        if (LEAST_SCALE..=MOST_SCALE).contains(&scale) {
            self.known().entry(model.clone()).or_default().scale = scale;
        }
    }

    /// Records that the endpoint refused a request of `own` tokens by our count, with `reply` tokens for the reply.
    /// `prompt` and `context` are its own numbers, if it reports them.
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
            // The prompt has at least this many tokens, or it would have fitted.
            (None, Some(context)) => measure.scale = measure.scale.max(scale(context.saturating_sub(reply))),
            (None, None) => {}
        }
        // If the size of the context is not reported, it is less than what was sent.
        let sent = prompt.unwrap_or_else(|| measure.scaled(own));
        // Nothing says by how much, so a quarter less is tried.
        let less = measure.context.unwrap_or(usize::MAX).min(sent / 4 * 3);
        measure.context = Some(context.unwrap_or(less));
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Option<String>, Measure>> {
        // No code under the lock can panic half-way.
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
