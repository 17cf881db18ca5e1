//! Series: calls that no marker announces and that stand next to each other are read all or
//! none. One shape reads those of one place (`shape/python`, `shape/message`); those of
//! several fences meet here, where they wait.

use super::not_a_call::Reason;
use super::pending::{Ended, Held};
use super::verdict::Verdict;
use crate::dialect::{Dialect, Shape};
use crate::event::{Rejected, RejectedKind};

/// Returns the error message for a series with a call that cannot be read.
pub(crate) fn unreadable(why: Reason) -> String {
    let why = match why {
        Reason::NoLiteral => {
            "a value is not a literal (a text is in quotes; names, expressions and calls have no value)"
        }
        Reason::NoKeyword => "a value has no keyword, and its tool has several parameters",
        Reason::Limit => "it is nested too deep, or follows more calls than are read",
        Reason::Damaged => "its JSON is malformed",
        _ => "it is not complete",
    };
    format!("the calls are next to each other and one cannot be read, so none is run: {why}")
}

/// Of calls of several fences none is one if one of them cannot be read or is cut off, nor if
/// one of a fence before them could not be read (`unread`).
pub(crate) fn all_or_none(held: &mut [Held], unread: bool) {
    let fails = |kind: RejectedKind| matches!(kind, RejectedKind::Truncated | RejectedKind::Malformed);
    let kinds = members(held).filter_map(|ended| ended.rejection());
    let before = unread.then_some(RejectedKind::Malformed);
    let Some(kind) = kinds.filter(|kind| fails(*kind)).chain(before).min() else { return };
    let message = match kind {
        RejectedKind::Truncated => "another call of the series is cut off, so none is run",
        _ => "another call of the series cannot be read, so none is run",
    };
    for ended in members(held).filter(|ended| ended.rejection().is_none_or(|known| known > kind)) {
        fail(&mut ended.read, kind, message);
    }
}

/// The calls among what is held that no marker announces and that are over.
fn members(held: &mut [Held]) -> impl Iterator<Item = &mut Ended> {
    held.iter_mut().filter_map(|held| match held {
        Held::Call(call) => call.ended.as_mut().filter(|ended| is_markerless(ended)),
        _ => None,
    })
}

/// Returns `true` if the held events include a finished call that no marker announces.
pub(crate) fn has_members(held: &[Held]) -> bool {
    let is_member = |held: &Held| matches!(held, Held::Call(call) if call.ended.as_ref().is_some_and(is_markerless));
    held.iter().any(is_member)
}

fn is_markerless(ended: &Ended) -> bool {
    let dialect: Dialect = match &ended.read {
        Ok(call) => call.dialect,
        Err(rejected) => rejected.dialect,
    };
    matches!(dialect.spec().shape, Shape::Python | Shape::Json(_) | Shape::React(_))
}

fn fail(verdict: &mut Verdict, kind: RejectedKind, message: &str) {
    let (dialect, server, tool) = match verdict {
        Ok(call) => (call.dialect, call.server.take(), Some(std::mem::take(&mut call.tool))),
        Err(rejected) => (rejected.dialect, rejected.server.take(), rejected.tool.take()),
    };
    *verdict = Err(Rejected { server, tool, ..Rejected::new(kind, dialect, "", message) });
}
