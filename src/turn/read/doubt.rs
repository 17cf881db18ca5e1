//! Handles doubtful calls, which need approval whatever the policy allows, if there is no approver.
//!
//! The provenance of a call may make it doubtful: it may be an example, or come from another text. If there is an
//! approver, it decides ([`AskReason`](crate::turn::event::AskReason)). Otherwise
//! ([`TurnConfig::unattended`](crate::turn::TurnConfig::unattended)) the model is asked once to write the call alone,
//! at the start of a line; from then on such a call stays text.

use crate::event::{Call, Entry, MarkerKind, Piece, Provenance, Region, Rejected, RejectedKind};
use crate::turn::displays::Displays;

/// Returns the call, or a rejection if it is doubtful and there is no approver (`unattended`).
pub(super) fn judged(call: Call, raw: &str, unattended: bool, displays: &Displays<'_>) -> Result<Call, Rejected> {
    // An approver decides instead. `doubts` leaves out calls that are only shown, and those that are the
    // client's to judge.
    let stays_text = unattended && is_doubtful(call.provenance) && displays.doubts(&call);
    if stays_text { Err(doubted(call, raw)) } else { Ok(call) }
}

/// Returns `true` if a call with this provenance stays text without an approver. A promoted draft does not: it is the
/// only content of its message, so it was probably meant.
fn is_doubtful(provenance: Provenance) -> bool {
    !matches!(provenance, Provenance::Plain | Provenance::Promoted)
}

/// Rejects the call as text, with advice for the model.
pub(super) fn doubted(call: Call, raw: &str) -> Rejected {
    if let Some(message) = copied(call.provenance) {
        return Rejected::of(call, RejectedKind::Quoted, raw, message);
    }
    let found = match call.provenance {
        Provenance::InALine => "other text is before the call on its line",
        Provenance::FencedAfterProse => "the call is in a code fence after other text",
        Provenance::FencedFirst => "the call is in a code fence with other text after it",
        Provenance::InElement => "the call is inside a tag of an unknown name",
        Provenance::BeforeProse => "other text follows the call",
        Provenance::Hedged => "the line before the call or after it puts the call in doubt",
        Provenance::AfterProse => "other text is before the call",
        _ => "nothing says for certain that the call is meant",
    };
    let message = format!("{found}, so it may be an example; put a call that is meant alone, at the start of a line");
    Rejected::of(call, RejectedKind::Quoted, raw, message)
}

/// Returns the advice for a call that cannot become the model's own by being repeated.
fn copied(provenance: Provenance) -> Option<&'static str> {
    match provenance {
        Provenance::Echoed => Some(
            "the call, or a text in it, is a copy from an earlier result, a file, the description of another \
             server or a message of the system; make a call of your own, or answer",
        ),
        Provenance::Mended => Some(
            "a value of the call is text without quotation marks; write the call again with its arguments as a JSON object",
        ),
        Provenance::InsteadOfRead => Some(
            "the call may change what your rejected call only wanted to read; write the call that reads again, \
             corrected, or answer",
        ),
        _ => None,
    }
}

/// Returns `true` if a call was rejected as doubtful.
pub(super) fn is_doubted(rejected: &Rejected) -> bool {
    let is_doubtful = |call: &Call| is_doubtful(call.provenance);
    // A call that the parser rejects as quoted has `quoted_in`; one that is rejected here has none.
    rejected.kind == RejectedKind::Quoted
        && rejected.quoted_in.is_none()
        && rejected.call.as_deref().is_some_and(is_doubtful)
}

/// Converts the syntax around calls that stay text into text, if only white space separates it from such a call.
pub(super) fn keep_syntax(pieces: &mut [Piece], entries: &[Entry]) {
    let is_text = |piece: &Piece| match piece {
        Piece::Call { index, .. } => {
            let entry = entries.iter().find(|entry| entry.index == *index);
            entry.is_some_and(|entry| entry.result.as_ref().is_err_and(is_doubted))
        }
        _ => false,
    };
    for at in 0..pieces.len() {
        if is_text(&pieces[at]) {
            let (before, after) = pieces.split_at_mut(at);
            // `all` stops at the first piece that is neither syntax nor white space.
            before.iter_mut().rev().all(as_text);
            after[1..].iter_mut().all(as_text);
        }
    }
}

/// Converts a piece of call syntax into text. Returns `true` if the piece is syntax or white space.
fn as_text(piece: &mut Piece) -> bool {
    match piece {
        Piece::Marker { kind: MarkerKind::Fence | MarkerKind::Wrapper | MarkerKind::CallLine, text, span } => {
            let (region, text, span) = (Region::Content, std::mem::take(text), span.clone());
            *piece = Piece::Text { region, text, span };
            true
        }
        Piece::Text { text, .. } => text.trim().is_empty(),
        _ => false,
    }
}
