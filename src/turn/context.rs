//! A request that fits the model's context.

use super::measured::Measure;
use super::usage::count;
use super::{AgentEvent, Notice, StopReason, Turn, TurnError, VoiceError};
use crate::conversation::{SHORT_RESULT_BYTES, Trim};
use crate::model::Request;
use crate::outcome::RESULT_BYTES;
use crate::tokens::TokenCounter;

/// Most tokens that are kept for a reply to which nobody set a limit.
const REPLY_TOKENS: usize = 8_192;

/// Least part of a context that the endpoint has named which is kept for the reply, where
/// no more can be had.
const LEAST_REPLY: usize = 16;

/// Room for prompt and reply.
struct Window {
    context: usize,
    reply: usize,
    counter: TokenCounter,
    measure: Measure,
}

impl Window {
    fn fits(&self, request: &Request) -> bool {
        self.count(request) + self.reply <= self.context
    }

    fn count(&self, request: &Request) -> usize {
        self.measure.scaled(count(&self.counter, request))
    }
}

impl Turn {
    /// The next request, with as much of the history as fits the context, and
    /// what is left out of it.
    pub(super) fn fitting_request(&self) -> Result<(Request, Trim), StopReason> {
        let whole = self.request(Trim::default())?;
        let windows = self.windows();
        let Some(usual) = windows.first().filter(|window| !window.fits(&whole)) else {
            return Ok((whole, Trim::default()));
        };
        for window in &windows {
            if let Some(trim) = self.trim_to(window)? {
                return Ok((self.request(trim.clone())?, trim));
            }
        }
        Err(self.too_small(usual)?)
    }

    /// The least trim with which the request fits.
    fn trim_to(&self, window: &Window) -> Result<Option<Trim>, StopReason> {
        let history = &self.conversation;
        let fits = |trim: Trim| Ok(window.fits(&self.request(trim)?));
        if let Some(steps) = least(history.trim_steps(), |steps| fits(history.trim(steps)))? {
            return Ok(Some(history.trim(steps)));
        }
        // The last results must be there, but not whole.
        let most = RESULT_BYTES - SHORT_RESULT_BYTES;
        let less = least(most, |less| fits(history.trim_all(RESULT_BYTES - less)))?;
        Ok(less.map(|less| history.trim_all(RESULT_BYTES - less)))
    }

    /// Tokens that the context has: as configured, or less, as its endpoint says.
    fn context(&self) -> Option<usize> {
        let told = self.setup.measured.of(&self.model.name).context;
        self.setup.config.context.into_iter().chain(told).min()
    }

    /// The room that there is, the best first. An endpoint that has refused a prompt takes
    /// any that fits, so rather than none it gets one that leaves a reply less.
    fn windows(&self) -> Vec<Window> {
        let config = &self.setup.config;
        let measure = self.setup.measured.of(&self.model.name);
        let Some(context) = self.context() else { return Vec::new() };
        let replies = match config.max_tokens {
            Some(tokens) => vec![tokens as usize],
            None if measure.context.is_some() => vec![context / 4, context / LEAST_REPLY],
            None => vec![context / 4],
        };
        let counter = config.tokens.clone().unwrap_or_default();
        let most = if config.max_tokens.is_some() { usize::MAX } else { REPLY_TOKENS };
        let window = |reply: usize| Window { context, reply: reply.min(most), counter: counter.clone(), measure };
        replies.into_iter().map(window).collect()
    }

    /// Tokens of a request by our own count.
    pub(super) fn estimate(&self, request: &Request) -> usize {
        count(&self.setup.config.tokens.clone().unwrap_or_default(), request)
    }

    /// The endpoint says that the prompt is too long. Less is sent once more, unless
    /// something of an answer came.
    pub(super) fn context_exceeded(
        &mut self,
        prompt: Option<usize>,
        context: Option<usize>,
        message: String,
    ) -> Result<(), TurnError> {
        let reply = self.setup.config.max_tokens.map_or(0, |tokens| tokens as usize);
        self.setup.measured.refused(&self.model.name, (self.asked.0, reply), prompt, context);
        let exceeded = StopReason::ContextExceeded { prompt, context, message };
        if std::mem::replace(&mut self.cut_again, true) || self.draft.has_begun() {
            return self.break_off(exceeded);
        }
        match self.fitting_request() {
            Ok((request, trim)) if trim != self.asked.1 => {
                self.hand_over(request, &trim);
                self.notice_trim(&trim);
                Ok(())
            }
            Ok(_) | Err(StopReason::ContextTooSmall { .. }) => self.break_off(exceeded),
            Err(reason) => self.break_off(reason),
        }
    }

    fn too_small(&self, window: &Window) -> Result<StopReason, StopReason> {
        let shortest = self.request(self.conversation.trim_all(SHORT_RESULT_BYTES))?;
        let without_messages = Request { messages: Vec::new(), ..shortest.clone() };
        let system = self.system_text().map_err(|VoiceError(message)| StopReason::PromptFailed { message })?;
        let system = window.measure.scaled(window.counter.count(&system)) + window.count(&without_messages);
        Ok(StopReason::ContextTooSmall {
            context: window.context,
            reply: window.reply,
            system,
            request: window.count(&shortest),
        })
    }

    /// Tells the caller what was left out, whenever it is more than before.
    pub(super) fn notice_trim(&mut self, trim: &Trim) {
        let Some(context) = self.context().filter(|_| *trim != self.trim_told) else { return };
        self.trim_told = trim.clone();
        let (rounds, questions, results) = (trim.rounds(), trim.questions(), trim.results());
        if rounds + questions + results > 0 {
            self.emit(AgentEvent::Notice { notice: Notice::HistoryLeftOut { rounds, questions, results, context } });
        }
    }
}

/// The least number up to `most` that is enough; `None` if not even `most` is.
/// A number above one that is enough is enough too.
fn least(
    most: usize,
    mut is_enough: impl FnMut(usize) -> Result<bool, StopReason>,
) -> Result<Option<usize>, StopReason> {
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
