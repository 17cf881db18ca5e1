//! Decides whether the model calls or answers, before it writes either.
//!
//! The input is the tokens at the beginning of a message with their alternatives; the output is the purpose of the
//! round's next request ([`Asking`]). Texts, grammars and requests belong to `ask`, the message itself to `read`.
//!
//! ```text
//!  Asking::Measured ── unlikely, or not told ──▶ Asking::Free
//!        └─ likely ──▶ the same stream is the call
//! ```
//!
//! A measured message is constrained to calls by a grammar; to a call or prose if the request names no identifier, path
//! or time, so that an unlikely call is not requested first and the same stream is the answer. The endpoint reports the model's own probabilities, so they
//! show how likely the model would have called by itself, however unlikely that is; and if a call is likely, it is
//! already being written. If the endpoint supports no grammar, the message is free, and a call is requested once it is
//! likely (`Asking::Held`); if the endpoint reports the probabilities after masking, the message is measured without a
//! grammar.
//!
//! After results, if messages are measured, the next message is constrained to a call. If it repeats an answered call,
//! nothing is left to do.
//!
//! ```text
//!  Asking::Step ── a new call ──▶ it runs
//!        ├─ a change with a copy of a result as its text ──▶ Asking::Text ──▶ the call with the text runs
//!        └─ an answered one ──▶ Asking::Answer
//! ```
//!
//! If the calls have used everything that the request names and left none of its steps, a change is the last step, and so
//! is a lookup that leads nowhere else; the answer is requested at once.
//!
//! - `openers`: the beginnings of the taught call, and the texts that may precede it.
//! - `probability`: the probability that the message begins with a call.
//! - `greeting`: messages that ask for nothing, or only for information.
//! - `grounded`: calls that name something that was not mentioned.
//! - `fit`: members of calls that were not mentioned.
//! - `margin`: how much sooner a message is a call, by what the request says.
//! - `mentions`: the things that a request names, and those that no call has used.
//! - `zones`: time zones of places.
//! - `known`: features that the endpoint does not support.

mod fit;
mod greeting;
mod grounded;
mod known;
mod margin;
mod mentions;
mod objects;
mod openers;
mod probability;
mod words;
mod zones;

use crate::constrain::{Narrowed, Way};
use crate::event::Call;
use crate::model::TokenChoice;
use crate::tools::ToolChoice;
use crate::turn::config::RoundModel;

pub(super) use fit::Fitted;
pub(super) use greeting::is_greeting;
pub(super) use greeting::is_question;
pub(super) use grounded::{ConversationText, Ungrounded, file_name, reads_file, texts};
pub use known::KnownWays;
pub(crate) use known::Missing;
pub use margin::call_margin;
pub(super) use mentions::{Mentions, Used};
pub(super) use openers::Openers;
use probability::Probability;
pub(super) use zones::named_in as zones_named_in;

/// Purpose of a round's request: the kind of message that it asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Asking {
    /// An unconstrained message.
    #[default]
    Free,
    /// A message whose first tokens decide by their probability whether it is a call. It is constrained to a call, or
    /// to a call or prose, if the endpoint can do that.
    Measured,
    /// A message that is constrained to calls that this tool choice allows.
    Held(ToolChoice),
    /// A message that is constrained to the next call, after results.
    Step,
    /// A message that is constrained to some calls: those that read, for a question; or those that use known values or
    /// look them up, if the last call named something that was not mentioned or that failed.
    Narrowed(Narrowed),
    /// The text for a member of this call, which the model only copied from a result, as a message of its own: a small
    /// model writes a text well in a message, and copies in a call.
    Text { call: Box<Call>, member: String },
    /// The answer, because nothing is left to call.
    Answer,
}

impl Asking {
    /// Returns `true` if the message is constrained to calls.
    pub(super) fn is_held(&self) -> bool {
        matches!(self, Asking::Held(_) | Asking::Step | Asking::Narrowed(_))
    }
}

/// Decision whether a message must be a call, from the probabilities of its first tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MessageDecision {
    /// `call` if the message must be a call, by the natural logarithm of the probability that it begins with one;
    /// `begins` if it begins with one.
    Measured { call: bool, begins: bool, likely: f64 },
    /// The endpoint reports probabilities after masking by the structure.
    Masked,
    /// The endpoint does not report enough probabilities for a decision.
    Untold,
}

/// Decides whether a round's message must be a call.
pub(super) struct Decide {
    /// The probability that the streaming message begins with a call, until it is decided.
    probability: Option<Probability>,
}

impl Decide {
    pub(super) fn new() -> Self {
        Decide { probability: None }
    }

    /// Prepares for reading the message of a request with this purpose.
    pub(super) fn begin(&mut self, asking: &Asking, model: &RoundModel, openers: &Openers) {
        self.probability = (*asking == Asking::Measured).then(|| Probability::new(openers, model));
    }

    /// Handles tokens of the message's text and returns the decision, once there is one.
    pub(super) fn tokens(
        &mut self,
        tokens: &[TokenChoice],
        openers: &Openers,
        threshold: f64,
        is_held: bool,
    ) -> Option<MessageDecision> {
        let found = self.probability.as_mut()?.push(tokens, openers)?;
        self.probability = None;
        // An unconstrained message that begins with a call needs no probability.
        let likely = found.likely.or((found.calls && !is_held).then_some(0.0));
        Some(match likely {
            None => MessageDecision::Untold,
            // Only a grammar masks alternatives; without one all of them may be calls.
            Some(_) if is_held && found.is_masked => MessageDecision::Masked,
            Some(likely) => {
                let call = likely >= threshold;
                MessageDecision::Measured { call, begins: found.calls, likely }
            }
        })
    }

    /// Records that reasoning arrived in a field of its own, so the text after it is the answer.
    pub(super) fn reasons_apart(&mut self) {
        if let Some(probability) = &mut self.probability {
            probability.reasons_apart();
        }
    }

    /// Returns `true` if text of the message arrives for which no probabilities were reported.
    pub(super) fn is_untold(&self) -> bool {
        self.probability.as_ref().is_some_and(|probability| !probability.has_begun)
    }

    /// Stops reading probabilities for this message.
    pub(super) fn ends(&mut self) {
        self.probability = None;
    }
}

/// Returns the purpose of the first request of a round in which the model may call or answer: by the configured
/// strategy and the features that the endpoint does not support.
///
/// After results the beginning of a small model's message does not show whether something is left to do: at 41 such
/// places the beginning of a call was equally likely in either case (area under the curve 0.46, Qwen2.5-Coder of half a
/// billion parameters). The next call shows it: once the job is done, the model repeats a call that was answered.
pub(super) fn first(way: Way, missing: Missing, follows_results: bool) -> Asking {
    match way {
        // A decision that the endpoint does not enforce costs a request and changes nothing.
        _ if missing.structure => Asking::Free,
        Way::Measured | Way::Auto if follows_results => Asking::Step,
        Way::Measured | Way::Auto if !missing.probabilities => Asking::Measured,
        Way::Measured | Way::Auto | Way::Free => Asking::Free,
    }
}

/// Returns the strategy for deciding whether to call that is actually used, if one other than the free one is
/// configured.
pub(super) fn taken(way: Way, missing: Missing) -> Option<Way> {
    let is_measured = || first(way, missing, false) == Asking::Measured;
    (way != Way::Free).then(|| if is_measured() { Way::Measured } else { Way::Free })
}
