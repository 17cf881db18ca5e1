//! What each kind of rejected call does to the turn.

use crate::event::RejectedKind;

/// What a rejected call does to the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reaction {
    /// The model is told what was wrong and may try again.
    Correct,
    /// The turn goes on as if the call were not there.
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
    /// Reaction once they are used up, in a message without any good call.
    pub used_up: Reaction,
    /// Whether the model meant to call: text after it ends the message as text
    /// after a good call does, and goes into no history.
    pub meant: bool,
    /// Whether the reaction holds only for a call of a known tool that stands
    /// alone in its message, in a fence, and once in a turn; otherwise the call is ignored.
    pub only_alone: bool,
}

/// What each kind of rejected call does to the turn.
///
/// A message with a good call is answered anyway: there, what is corrected goes
/// along with the results, and `used_up` does not apply.
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

/// What a rejected call of a display-only tool does to the turn: it is corrected
/// as others are, but text after it is answer as after a good one, and once
/// corrections are used up the rest of the message counts alone.
pub(crate) fn display_row(kind: RejectedKind) -> Row {
    Row { used_up: Reaction::Ignore, meant: false, ..*row(kind) }
}

/// The row of a kind.
pub fn row(kind: RejectedKind) -> &'static Row {
    TABLE.iter().find(|row| row.kind == kind).expect("every kind has its row")
}
