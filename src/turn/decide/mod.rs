//! Whether the model is to call or to answer, decided before it writes either.
//!
//! In come the tokens with which a message begins and what else could have stood there, or a
//! message that names a tool; out goes what the next request of the round is for ([`Asking`]).
//! Words, grammars and requests are `ask`'s, the message itself is `read`'s.
//!
//! ```text
//!            measured                       chosen
//!  Asking::Measured ── unlikely ──▶ the same stream is the answer
//!        │    │
//!        │    └─ likely ──▶ Asking::Held(auto): calls under their grammar
//!        │ no probabilities
//!        ▼
//!  Asking::Choice ── "answer" ──▶ Asking::Free
//!        │    └─ a tool ──▶ Asking::Held(tool)
//!        │ no structure
//!        ▼
//!  Asking::Free
//! ```
//!
//! - `openers`: what the taught call begins with, and what may stand before it.
//! - `probability`: how likely the message begins with one.
//! - `copied`: calls that are an example's.
//! - `greeting`: what a person says who wants nothing done.
//! - `known`: what the endpoint is known not to give.

mod copied;
mod greeting;
mod known;
mod openers;
mod probability;

use std::sync::Arc;

use crate::constrain::{Constraint, Way};
use crate::model::TokenChoice;
use crate::tools::{Catalog, Tool, ToolChoice};
use crate::turn::config::{CALL_THRESHOLD, RoundModel};

pub(super) use copied::is_copied;
pub(super) use greeting::is_greeting;
pub use known::KnownWays;
pub(crate) use known::Missing;
pub use known::NativeFault;
pub(super) use openers::Openers;
use probability::Probability;

/// Stands for no tool among the names of a choice.
const ANSWER: &str = "answer";

/// Most bytes of a message that names a tool.
const MAX_CHOICE: usize = 4 << 10;

/// What a round's request is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Asking {
    /// A message as the model likes it.
    #[default]
    Free,
    /// The same, told with the probabilities of its first tokens.
    Measured,
    /// The name of a tool, or that none is wanted.
    Choice,
    /// Calls that this choice admits, and nothing else.
    Held(ToolChoice),
}

/// What a message is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    /// A call or an answer, by this logarithm of the probability that it begins with a call.
    Measured { call: bool, likely: f64 },
    /// The endpoint does not tell enough.
    Untold,
}

/// How a round's message is decided about.
pub(super) struct Decide {
    /// How likely the message that streams begins with a call, while that is open.
    probability: Option<Probability>,
    /// What the model writes that is to name a tool.
    choice: String,
}

impl Decide {
    pub(super) fn new() -> Self {
        Decide { probability: None, choice: String::new() }
    }

    /// A request goes out: what its message is read for.
    pub(super) fn begin(&mut self, asking: &Asking, model: &RoundModel, openers: &Openers) {
        self.choice.clear();
        self.probability = (*asking == Asking::Measured).then(|| Probability::new(openers, model));
    }

    /// Takes tokens of the message's text; what it is to be, once that is decided.
    pub(super) fn tokens(
        &mut self,
        tokens: &[TokenChoice],
        openers: &Openers,
        threshold: Option<f64>,
    ) -> Option<Verdict> {
        let found = self.probability.as_mut()?.push(tokens, openers)?;
        self.probability = None;
        Some(match found {
            None => Verdict::Untold,
            Some(likely) => Verdict::Measured { call: likely >= threshold.unwrap_or(CALL_THRESHOLD), likely },
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

    /// Takes text of a message that names a tool; says whether no more of it is wanted.
    pub(super) fn chooses(&mut self, text: &str) -> bool {
        self.choice.push_str(text);
        self.choice.len() > MAX_CHOICE
    }

    /// What the next request is for, by a message that names a tool; `None` where it names none.
    pub(super) fn chosen(&mut self, catalog: &Catalog) -> Option<Asking> {
        let written = std::mem::take(&mut self.choice);
        let named = serde_json::from_str::<serde_json::Value>(written.trim()).ok();
        let named = named.as_ref().map_or(Some(written.trim()), |value| value.as_str().or(value["name"].as_str()))?;
        if named == ANSWER {
            return Some(Asking::Free);
        }
        let found = catalog.offered().find(|tool| name(catalog, tool) == named)?;
        Some(Asking::Held(ToolChoice::Named(name(catalog, found))))
    }
}

/// What holds a message to the name of a tool, or that none is wanted; and the names.
pub(super) fn choice(catalog: &Catalog) -> (Arc<Constraint>, String) {
    let names: Vec<String> = catalog.offered().map(|tool| name(catalog, tool)).collect();
    let all = names.iter().map(String::as_str).chain([ANSWER]);
    (Arc::new(Constraint::choice(all)), names.join(", "))
}

/// The name by which a tool is chosen.
fn name(catalog: &Catalog, tool: &Tool) -> String {
    match &tool.server {
        Some(server) if catalog.is_ambiguous(&tool.name) || tool.name == ANSWER => format!("{server}.{}", tool.name),
        _ => tool.name.clone(),
    }
}

/// How a round begins that may as well be answered as call: by the way that is wanted, and by what
/// the endpoint is known not to give.
pub(super) fn first(way: Way, missing: Missing) -> Asking {
    match way {
        _ if missing.structure => Asking::Free,
        Way::Measured if !missing.probabilities => Asking::Measured,
        Way::Measured | Way::Chosen => Asking::Choice,
        Way::Free => Asking::Free,
    }
}

/// The way that is taken, where one but a free one is wanted.
pub(super) fn taken(way: Way, missing: Missing) -> Option<Way> {
    (way != Way::Free).then(|| match first(way, missing) {
        Asking::Measured => Way::Measured,
        Asking::Choice => Way::Chosen,
        Asking::Free | Asking::Held(_) => Way::Free,
    })
}
