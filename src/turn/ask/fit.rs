//! Selects as much of the history as fits the model's context.

use super::cost::count;
use crate::conversation::{Conversation, SHORT_RESULT_BYTES, Trim};
use crate::message::TokenCounter;
use crate::model::Request;
use crate::outcome::RESULT_BYTES;
use crate::turn::config::TurnConfig;
use crate::turn::measured::Measure;
use crate::turn::stop::StopReason;

/// Limit on the tokens that are reserved for a reply if its length is not configured.
const REPLY_TOKENS: usize = 8_192;

/// Divisor of a context's length: the smallest part that is reserved for the reply, if the endpoint reported the
/// context's length and no more is available.
const LEAST_REPLY: usize = 16;

/// Division of a context's tokens between prompt and reply, with the counter of tokens.
pub(super) struct ContextSpace {
    pub(super) context: usize,
    pub(super) reply: usize,
    counter: TokenCounter,
    measure: Measure,
}

impl ContextSpace {
    /// Returns the possible divisions of the context, the best first. An endpoint that reported its context accepts any
    /// prompt that fits, so a division with less space for the reply is better than none.
    pub(super) fn all(config: &TurnConfig, measure: Measure) -> Vec<ContextSpace> {
        let Some(context) = context(config, measure) else { return Vec::new() };
        let replies = match config.max_tokens {
            Some(tokens) => vec![tokens as usize],
            None if measure.context.is_some() => vec![context / 4, context / LEAST_REPLY],
            None => vec![context / 4],
        };
        let counter = config.tokens.clone().unwrap_or_default();
        let most = if config.max_tokens.is_some() { usize::MAX } else { REPLY_TOKENS };
        let window = |reply: usize| ContextSpace { context, reply: reply.min(most), counter: counter.clone(), measure };
        replies.into_iter().map(window).collect()
    }

    fn fits(&self, request: &Request) -> bool {
        self.count(request) + self.reply <= self.context
    }

    pub(super) fn count(&self, request: &Request) -> usize {
        self.measure.scaled(count(&self.counter, request))
    }

    pub(super) fn count_text(&self, text: &str) -> usize {
        self.measure.scaled(self.counter.count(text))
    }

    /// Returns the smallest trim of the history with which the request fits; `None` if it fits with none.
    fn trim(
        &self,
        history: &Conversation,
        write: &impl Fn(Trim) -> Result<Request, StopReason>,
    ) -> Result<Option<Trim>, StopReason> {
        let fits = |trim: Trim| Ok(self.fits(&write(trim)?));
        if let Some(steps) = least(history.trim_steps(), |steps| fits(history.trim(steps)))? {
            return Ok(Some(history.trim(steps)));
        }
        // The last results must stay, but may be shortened.
        let most = RESULT_BYTES - SHORT_RESULT_BYTES;
        let less = least(most, |less| fits(history.trim_all(RESULT_BYTES - less)))?;
        Ok(less.map(|less| history.trim_all(RESULT_BYTES - less)))
    }
}

/// Returns the number of tokens of the context: the configured one, or the endpoint's if that is lower.
pub(super) fn context(config: &TurnConfig, measure: Measure) -> Option<usize> {
    config.context.into_iter().chain(measure.context).min()
}

/// Returns the request with as much of the history as fits the first division of the context in which anything fits,
/// and the trim of the history; `None` if the request fits none.
pub(super) fn fitting(
    history: &Conversation,
    windows: &[ContextSpace],
    write: impl Fn(Trim) -> Result<Request, StopReason>,
) -> Result<Option<(Request, Trim)>, StopReason> {
    let whole = write(Trim::default())?;
    // Without a known context nothing is left out.
    if windows.first().is_none_or(|window| window.fits(&whole)) {
        return Ok(Some((whole, Trim::default())));
    }
    for window in windows {
        if let Some(trim) = window.trim(history, &write)? {
            return Ok(Some((write(trim.clone())?, trim)));
        }
    }
    Ok(None)
}

/// Returns the smallest number up to `most` that is enough; `None` if `most` is not. Every number above one that is
/// enough must be enough, too.
fn least(
    most: usize,
    mut is_enough: impl FnMut(usize) -> Result<bool, StopReason>,
) -> Result<Option<usize>, StopReason> {
    // The largest one is tried first: if it is not enough, no other is.
    if !is_enough(most)? {
        return Ok(None);
    }
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok(Some(high))
}
