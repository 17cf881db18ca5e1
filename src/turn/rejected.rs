//! The reactions of a turn to each kind of rejected call.

use crate::event::RejectedKind;

/// The reaction of a turn to a rejected call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reaction {
    /// The model is told about the mistake and may try again.
    Correct,
    /// The turn continues as if the call were not there.
    Ignore,
    /// The turn ends.
    Finish,
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// Kind of rejection.
    pub kind: RejectedKind,
    /// Reaction while corrections are left.
    pub reaction: Reaction,
    /// Reaction once they are used up, in a message without any valid call.
    pub used_up: Reaction,
    /// `true` if the model meant a call: text after it ends the message like text after a valid call, and does not
    /// enter the history.
    pub meant: bool,
    /// `true` if the reaction applies only once in a turn, and only to a call of a known tool that is the only one in
    /// its message and in a fence; otherwise the call is ignored.
    pub only_alone: bool,
}

/// The reaction of a turn to each kind of rejected call.
///
/// A message with a valid call is answered anyway: then corrections are sent together with the results, and `used_up`
/// does not apply.
///
/// | kind | first | corrections used up | text after it |
/// |---|---|---|---|
/// | `in_reasoning` | ignore | ignore | stays |
/// | `invented` | correct once, if nothing stands before it and the tool is known | ignore | dropped, with what it was invented in |
/// | `quoted` | correct once, if it stands in a fence, no call is beside it and the tool is known | ignore | stays |
/// | `behind_damage` | correct | finish | dropped |
/// | `limit` | correct | finish | dropped |
/// | `truncated` | correct | finish | there is none |
/// | `malformed` | correct | finish | dropped |
/// | `unknown_tool` | correct | finish | dropped |
/// | `invalid_arguments` | correct | finish | dropped |
/// | `near_call` | correct once, if no call is beside it | ignore | stays |
pub const TABLE: [Row; 10] = [
    Row {
        kind: RejectedKind::InReasoning,
        reaction: Reaction::Ignore,
        used_up: Reaction::Ignore,
        meant: false,
        only_alone: false,
    },
    once(RejectedKind::Invented),
    once(RejectedKind::Quoted),
    meant(RejectedKind::BehindDamage),
    meant(RejectedKind::Limit),
    meant(RejectedKind::Truncated),
    meant(RejectedKind::Malformed),
    meant(RejectedKind::UnknownTool),
    meant(RejectedKind::InvalidArguments),
    once(RejectedKind::NearCall),
];

const fn once(kind: RejectedKind) -> Row {
    Row { kind, reaction: Reaction::Correct, used_up: Reaction::Ignore, meant: false, only_alone: true }
}

const fn meant(kind: RejectedKind) -> Row {
    Row { kind, reaction: Reaction::Correct, used_up: Reaction::Finish, meant: true, only_alone: false }
}

/// Returns the reaction to a rejected call of a display-only tool: it is corrected like others, but text after it
/// belongs to the answer, as after a valid one, and once corrections are used up only the rest of the message counts.
pub(crate) fn display_row(kind: RejectedKind) -> Row {
    Row { used_up: Reaction::Ignore, meant: false, ..*row(kind) }
}

/// Returns the row of a kind.
pub fn row(kind: RejectedKind) -> &'static Row {
    TABLE.iter().find(|row| row.kind == kind).expect("every kind has its row")
}
