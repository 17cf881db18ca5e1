//! Whether the model is to call or to answer, decided before it writes either.
//!
//! In come the tokens with which a message begins and what else could have stood there; out goes what the next request of the round is for ([`Asking`]).
//! Words, grammars and requests are `ask`'s, the message itself is `read`'s.
//!
//! ```text
//!  Asking::Measured ── unlikely, or not told ──▶ Asking::Free
//!        └─ likely ──▶ the same stream is the call
//! ```
//!
//! A measured message is held to calls by a grammar. The probabilities that the endpoint tells are those
//! of the model, so that they say how likely it would have called by itself, however unlikely that is; and
//! what is likely is there. Where the endpoint takes no grammar the message is free, and the call is asked
//! for once it is likely (`Asking::Held`); where it tells the probabilities of what the grammar lets
//! through, the message is measured without one.
//!
//! After results, where the way is measured: what comes next is held to a call. One that was answered
//! already says that nothing is left to do.
//!
//! ```text
//!  Asking::Step ── a new call ──▶ it runs
//!        └─ an answered one ──▶ Asking::Answer
//! ```
//!
//! Where each part of the request names things and the calls have used all of them, a change is the last
//! step, and the answer is asked for at once.
//!
//! - `openers`: what the taught call begins with, and what may stand before it.
//! - `probability`: how likely the message begins with one.
//! - `greeting`: what a person says who wants nothing done, or only to know something.
//! - `grounded`: calls that name what nobody spoke of.
//! - `fit`: members of calls that nobody spoke of.
//! - `mentions`: the things that a request names, and which of them no call has used.
//! - `zones`: time zones of places.
//! - `known`: what the endpoint is known not to give.

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
use crate::model::TokenChoice;
use crate::tools::ToolChoice;
use crate::turn::config::RoundModel;

pub(super) use fit::Fitted;
pub(super) use greeting::is_greeting;
pub(super) use greeting::is_question;
pub(super) use grounded::{Said, Ungrounded};
pub use known::KnownWays;
pub(crate) use known::Missing;
pub use margin::call_margin;
pub(super) use mentions::{Mentions, Used};
pub(super) use openers::Openers;
use probability::Probability;
pub(super) use zones::named_in as zones_named_in;

/// What a round's request is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Asking {
    /// A message as the model likes it.
    #[default]
    Free,
    /// A call, where the endpoint holds it to that, told with the probabilities of its first tokens.
    Measured,
    /// Calls that this choice admits, and nothing else.
    Held(ToolChoice),
    /// The call that comes after results, and nothing else.
    Step,
    /// The same, of some calls only: of those that read, where a question was asked; of those that name
    /// what is there, or that look it up, where the one that came names what nobody spoke of or what failed.
    Narrowed(Narrowed),
    /// The answer: what came next was answered already.
    Answer,
}

impl Asking {
    /// Returns `true` if the message is held to calls.
    pub(super) fn is_held(&self) -> bool {
        matches!(self, Asking::Held(_) | Asking::Step | Asking::Narrowed(_))
    }
}

/// What a message is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// A call or an answer, by this logarithm of the probability that it begins with a call; and whether
    /// it begins with one.
    Measured { call: bool, begins: bool, likely: f64 },
    /// The endpoint tells the probabilities of what the structure lets through.
    Masked,
    /// The endpoint does not tell enough.
    Untold,
}

/// How a round's message is decided about.
pub(super) struct Decide {
    /// How likely the message that streams begins with a call, while that is open.
    probability: Option<Probability>,
}

impl Decide {
    pub(super) fn new() -> Self {
        Decide { probability: None }
    }

    /// A request goes out: what its message is read for.
    pub(super) fn begin(&mut self, asking: &Asking, model: &RoundModel, openers: &Openers) {
        self.probability = (*asking == Asking::Measured).then(|| Probability::new(openers, model));
    }

    /// Takes tokens of the message's text; what it is to be, once that is decided.
    pub(super) fn tokens(
        &mut self,
        tokens: &[TokenChoice],
        openers: &Openers,
        threshold: f64,
        is_held: bool,
    ) -> Option<Verdict> {
        let found = self.probability.as_mut()?.push(tokens, openers)?;
        self.probability = None;
        // That a message which is held to nothing begins with a call says enough by itself.
        let likely = found.likely.or((found.calls && !is_held).then_some(0.0));
        Some(match likely {
            None => Verdict::Untold,
            Some(_) if is_held && found.is_masked => Verdict::Masked,
            Some(likely) => {
                let call = likely >= threshold;
                Verdict::Measured { call, begins: found.calls, likely }
            }
        })
    }

    /// Reasoning came in a field of its own, so the text behind it is none.
    pub(super) fn reasons_apart(&mut self) {
        if let Some(probability) = &mut self.probability {
            probability.reasons_apart();
        }
    }

    /// Whether text of the message is about to come whose probabilities nobody told.
    pub(super) fn is_untold(&self) -> bool {
        self.probability.as_ref().is_some_and(|probability| !probability.has_begun())
    }

    /// Nothing more is read of the message's probabilities.
    pub(super) fn ends(&mut self) {
        self.probability = None;
    }
}

/// How a round begins that may as well be answered as call: by the way that is wanted, and by what
/// the endpoint is known not to give.
///
/// After results small models do not tell by how they begin whether something is left to do: over 41 such
/// places the beginning of a call was as likely in either case (area under the curve 0.46, Qwen2.5-Coder of
/// half a billion parameters). What they would call next tells it: once the job is done they write a call
/// again that was answered.
pub(super) fn first(way: Way, missing: Missing, follows_results: bool) -> Asking {
    match way {
        _ if missing.structure => Asking::Free,
        Way::Measured | Way::Auto if follows_results => Asking::Step,
        Way::Measured | Way::Auto if !missing.probabilities => Asking::Measured,
        Way::Measured | Way::Auto | Way::Free => Asking::Free,
    }
}

/// The way that is taken, where one but a free one is wanted.
pub(super) fn taken(way: Way, missing: Missing) -> Option<Way> {
    let is_measured = || first(way, missing, false) == Asking::Measured;
    (way != Way::Free).then(|| if is_measured() { Way::Measured } else { Way::Free })
}
