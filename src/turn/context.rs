//! A request that fits the model's context.

use super::usage::count;
use super::{AgentEvent, Notice, StopReason, Turn, VoiceError};
use crate::conversation::{SHORT_RESULT_BYTES, Trim};
use crate::model::Request;
use crate::outcome::RESULT_BYTES;
use crate::tokens::TokenCounter;

/// Most tokens that are kept for a reply to which nobody set a limit.
const REPLY_TOKENS: usize = 8_192;

/// Room for prompt and reply.
struct Window {
    context: usize,
    reply: usize,
    counter: TokenCounter,
}

impl Window {
    fn fits(&self, request: &Request) -> bool {
        count(&self.counter, request) + self.reply <= self.context
    }
}

impl Turn {
    /// The next request, with as much of the history as fits the context, and
    /// what is left out of it.
    pub(super) fn fitting_request(&self) -> Result<(Request, Trim), StopReason> {
        let whole = self.request(Trim::default())?;
        let Some(window) = self.window().filter(|window| !window.fits(&whole)) else {
            return Ok((whole, Trim::default()));
        };
        let history = &self.conversation;
        let fits = |trim: Trim| Ok(window.fits(&self.request(trim)?));
        let trim = match least(history.trim_steps(), |steps| fits(history.trim(steps)))? {
            Some(steps) => history.trim(steps),
            // The last results must be there, but not whole.
            None => {
                let most = RESULT_BYTES - SHORT_RESULT_BYTES;
                match least(most, |less| fits(history.trim_all(RESULT_BYTES - less)))? {
                    Some(less) => history.trim_all(RESULT_BYTES - less),
                    None => return Err(self.too_small(&window)?),
                }
            }
        };
        Ok((self.request(trim.clone())?, trim))
    }

    fn window(&self) -> Option<Window> {
        let config = &self.setup.config;
        let context = config.context?;
        let reply = config.max_tokens.map_or((context / 4).min(REPLY_TOKENS), |tokens| tokens as usize);
        Some(Window { context, reply, counter: config.tokens.clone().unwrap_or_default() })
    }

    fn too_small(&self, window: &Window) -> Result<StopReason, StopReason> {
        let shortest = self.request(self.conversation.trim_all(SHORT_RESULT_BYTES))?;
        let without_messages = Request { messages: Vec::new(), ..shortest.clone() };
        let system = self.system_text().map_err(|VoiceError(message)| StopReason::PromptFailed { message })?;
        Ok(StopReason::ContextTooSmall {
            context: window.context,
            reply: window.reply,
            system: window.counter.count(&system) + count(&window.counter, &without_messages),
            request: count(&window.counter, &shortest),
        })
    }

    /// Tells the caller what was left out, whenever it is more than before.
    pub(super) fn notice_trim(&mut self, trim: &Trim) {
        let Some(context) = self.setup.config.context.filter(|_| *trim != self.trim_told) else { return };
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
