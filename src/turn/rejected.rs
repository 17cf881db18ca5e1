//! The reactions of a turn to each kind of rejected call.

use crate::event::RejectedKind;

/// The reaction of a turn to a rejected call.
///
/// A message with a valid call is answered anyway: then corrections are sent together with the results, whether or not
/// they are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reaction {
    /// The turn continues as if the rejected call were not there.
    Ignore,
    /// The model is told about the mistake as with `Correct`, but only once in a turn, and only for a call of a known
    /// tool that is the only one in its message and in a fence; otherwise as `Ignore`.
    CorrectOnce,
    /// The model is told about the mistake as with `Correct`, but text after the call belongs to the answer, and once
    /// corrections are used up the rest of the message is the answer; used for a call of a display-only tool.
    CorrectBeside,
    /// The model meant a call: it is told about the mistake and may try again; once corrections are used up, the turn
    /// ends. Text after the call ends the message like text after a valid call, and does not enter the history.
    Correct,
}

/// Returns the reaction of a turn to a kind of rejected call.
///
/// | kind | first | corrections used up | text after it |
/// |---|---|---|---|
/// | `in_reasoning` | ignore | ignore | stays |
/// | `invented` | correct once, if nothing is before it and the tool is known | ignore | dropped, with what it was invented in |
/// | `quoted` | correct once, if it is in a fence, no call is beside it and the tool is known | ignore | stays |
/// | `after_damage` | correct | finish | dropped |
/// | `limit` | correct | finish | dropped |
/// | `truncated` | correct | finish | there is none |
/// | `malformed` | correct | finish | dropped |
/// | `unknown_tool` | correct | finish | dropped |
/// | `invalid_arguments` | correct | finish | dropped |
/// | `near_call` | correct once, if no call is beside it | ignore | stays |
pub fn reaction(kind: RejectedKind) -> Reaction {
    match kind {
        RejectedKind::InReasoning => Reaction::Ignore,
        RejectedKind::Invented | RejectedKind::Quoted | RejectedKind::NearCall => Reaction::CorrectOnce,
        RejectedKind::AfterDamage
        | RejectedKind::Limit
        | RejectedKind::Truncated
        | RejectedKind::Malformed
        | RejectedKind::UnknownTool
        | RejectedKind::InvalidArguments => Reaction::Correct,
    }
}
