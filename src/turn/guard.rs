//! The guard against loops of calls: it compares calls *and* results.
//!
//! A call is refused only if nothing can have changed its result: the tool is marked read-only, only read-only calls
//! ran since the last equal one, and equal calls returned the same result several times in a row. Other calls may be
//! between them, so that cycles count as well. An equal call of any other tool may be intended (a counter, a retry): it
//! needs approval if there is an approver, and runs if there is none.
//!
//! This module is pure: calls and outcomes are passed in, and a verdict is returned. All drivers of a turn use it,
//! including those with a history of their own.

use std::borrow::Cow;

use crate::event::Call;
use crate::outcome::{Outcome, Status};

/// Limit on consecutive equal read-only calls that return the same result, unless configured otherwise.
pub const MAX_SAME_RESULTS: u32 = 8;

/// Longest cycle of calls that is recognised.
const LONGEST_CYCLE: usize = 3;

/// A call of this turn that ran, or that will run before the call in question.
#[derive(Debug, Clone, Copy)]
pub(super) struct Made<'a> {
    pub(super) call: &'a Call,
    is_read: bool,
    /// Outcome of the call; `None` while the call runs, and if it was stopped.
    outcome: Option<&'a Outcome>,
}

impl<'a> Made<'a> {
    /// Creates a record of the call with its outcome; `None` if the call did not run.
    pub(super) fn new(call: &'a Call, is_read: bool, outcome: Option<&'a Outcome>) -> Option<Self> {
        let outcome = match outcome.map(|outcome| outcome.status) {
            // A call that did not run repeats nothing.
            Some(Status::Denied | Status::Displayed) => return None,
            Some(Status::Cancelled) | None => None,
            Some(Status::Result | Status::ToolError | Status::TimedOut) => outcome,
        };
        Some(Made { call, is_read, outcome })
    }

    /// Returns the text of the call's result, if it has one.
    pub(super) fn said(&self) -> Option<Cow<'a, str>> {
        self.outcome.map(Outcome::said)
    }

    /// Returns `true` if the tool reported that the call failed.
    pub(super) fn failed(&self) -> bool {
        self.outcome.is_some_and(|outcome| outcome.status == Status::ToolError)
    }

    /// Returns `true` if the call has a result.
    pub(super) fn succeeded(&self) -> bool {
        self.outcome.is_some_and(|outcome| outcome.status == Status::Result)
    }

    fn repeats(&self, other: &Made<'_>) -> bool {
        is_equal(self.call, other.call) && self.outcome.zip(other.outcome).is_some_and(|(one, two)| is_same(one, two))
    }
}

/// Verdict of the guard against loops about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The call runs.
    Run,
    /// The call repeats one that may have changed something, and needs approval.
    Approve,
    /// The call does not run: equal calls returned the same result this many times in a row.
    Refuse { times: u32 },
}

/// Judges a call by the calls before it, the oldest first. With `max_same_results` 0 no call is refused.
pub(super) fn judge(made: &[Made<'_>], next: &Call, is_read: bool, max_same_results: u32) -> Verdict {
    if !is_read {
        return if is_repeated(made, next) { Verdict::Approve } else { Verdict::Run };
    }
    match same_results(made, next) {
        // 0 is no limit.
        times if max_same_results > 0 && times >= max_same_results => Verdict::Refuse { times },
        _ => Verdict::Run,
    }
}

/// Returns `true` if an earlier call already returned the result of this one: an equal call was made, and either its
/// tool `changes` something and it succeeded, or only `harmless` calls came since. It is used for calls that only the
/// program requested.
pub(super) fn is_answered(made: &[Made<'_>], next: &Call, changes: bool, harmless: &dyn Fn(&Call) -> bool) -> bool {
    let last = made.iter().rposition(|before| is_equal(before.call, next) && before.outcome.is_some());
    // A read-only command is repeated to see the effect of a change; one that failed has none. A failed change is repeated
    // because another change may have removed the cause.
    let changed = |since: &Made<'_>| !(since.is_read || since.failed() || harmless(since.call));
    let is_same_since = |last: usize| !made[last + 1..].iter().any(changed);
    last.is_some_and(|last| changes && !made[last].failed() || is_same_since(last))
}

/// Returns the number of consecutive calls equal to this one that returned the same result, up to the last one, with
/// only read-only calls between them.
pub(super) fn same_results(made: &[Made<'_>], call: &Call) -> u32 {
    let mut last = None;
    let mut times = 0;
    for before in made.iter().rev() {
        if is_equal(before.call, call) {
            // A call that runs or was stopped says nothing about the result.
            let Some(outcome) = before.outcome else { continue };
            if !is_same(last.unwrap_or(outcome), outcome) {
                break;
            }
            last = Some(outcome);
            times += 1;
        // A change in between may have changed the result.
        } else if !before.is_read {
            break;
        }
    }
    times
}

/// Returns `true` if the call equals the one just before it, or begins a cycle of two or three calls for the third
/// time, after two rounds with equal results.
fn is_repeated(made: &[Made<'_>], next: &Call) -> bool {
    (1..=LONGEST_CYCLE).any(|length| {
        let Some(first) = made.len().checked_sub(length) else { return false };
        let has_cycle = |first: usize| {
            let Some(start) = first.checked_sub(length) else { return false };
            made[start..first].iter().zip(&made[first..]).all(|(one, two)| one.repeats(two))
        };
        // `test` and `edit` in turn are no loop as long as their results differ.
        is_equal(made[first].call, next) && (length == 1 || has_cycle(first))
    })
}

/// Returns `true` if both calls have the same tool and arguments.
pub(super) fn is_equal(one: &Call, other: &Call) -> bool {
    (&one.server, &one.tool, &one.arguments) == (&other.server, &other.tool, &other.arguments)
}

fn is_same(one: &Outcome, other: &Outcome) -> bool {
    (one.status, &one.text, &one.structured) == (other.status, &other.text, &other.structured)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dialect::Dialect;

    /// Calls, each written as a word: one that starts with `r` is read-only, any other may write. The text after `=` is
    /// the result; a call without `=` has none yet.
    struct History(Vec<(Call, bool, Option<Outcome>)>);

    fn call(word: &str) -> (Call, bool) {
        (Call::new(Dialect::Json, "tool", json!({ "word": word })), word.starts_with('r'))
    }

    impl History {
        fn of(words: &[&str]) -> Self {
            let read = |word: &&str| {
                let (name, result) = word.split_once('=').map_or((*word, None), |(name, result)| (name, Some(result)));
                let (call, is_read) = call(name);
                let outcome = result.map(|result| match result {
                    "denied" => Outcome::new(Status::Denied, "no"),
                    result => Outcome::result(result),
                });
                (call, is_read, outcome)
            };
            History(words.iter().map(read).collect())
        }

        fn says(&self, next: &str) -> Verdict {
            let made: Vec<Made<'_>> = self.0.iter().filter_map(|(c, r, o)| Made::new(c, *r, o.as_ref())).collect();
            let (next, is_read) = call(next);
            judge(&made, &next, is_read, 3)
        }
    }

    #[test]
    fn a_read_is_refused_after_the_same_result_so_many_times() {
        let refused = Verdict::Refuse { times: 3 };
        for (made, said) in [
            (&["r=1", "r=1"][..], Verdict::Run),
            (&["r=1", "r=1", "r=1"], refused),
            (&["r=0", "r=1", "r=1", "r=1"], refused),
            (&["r=1", "r=1", "r=2"], Verdict::Run),
            (&["r=1", "r=2", "r=1", "r=2", "r=1", "r=2"], Verdict::Run),
            // Other reads change nothing: cycles of two and three.
            (&["r=1", "rb=1", "r=1", "rb=1", "r=1", "rb=1"], refused),
            (&["r=1", "rb=1", "rc=9", "r=1", "rb=2", "rc=9", "r=1", "rb=3", "rc=9"], refused),
            // What may write does, whatever it returned, and also while it runs.
            (&["r=1", "r=1", "r=1", "w=1"], Verdict::Run),
            (&["r=1", "r=1", "r=1", "w"], Verdict::Run),
            (&["r=1", "w=1", "r=1", "w=2", "r=1", "w=3", "r=1"], Verdict::Run),
            // One that did not run says nothing, and one without a result is none.
            (&["r=1", "r=1", "r=denied"], Verdict::Run),
            (&["r=1", "r=1", "r=1", "w=denied"], refused),
            (&["r=1", "r=1", "r"], Verdict::Run),
        ] {
            assert_eq!(History::of(made).says("r"), said, "{made:?}");
        }
        let made = History::of(&["r=1"; 20]);
        let made: Vec<Made<'_>> = made.0.iter().filter_map(|(c, r, o)| Made::new(c, *r, o.as_ref())).collect();
        assert_eq!(judge(&made, &call("r").0, true, 0), Verdict::Run, "0 refuses none");
    }

    #[test]
    fn another_call_is_asked_about_where_it_repeats_the_last_one_or_a_cycle() {
        for (made, said) in [
            (&[][..], Verdict::Run),
            (&["w=1"], Verdict::Approve),
            (&["w=1", "w=2"], Verdict::Approve),
            (&["w"], Verdict::Approve),
            (&["w=denied"], Verdict::Run),
            (&["w=1", "r=1"], Verdict::Run),
            (&["w=1", "e=1", "w=1", "f=1"], Verdict::Run),
            (&["w=1", "e=1", "w=2", "e=1"], Verdict::Run),
            (&["w=1", "e=1", "w=1", "e=1"], Verdict::Approve),
            (&["w=1", "r=1", "e=1", "w=1", "r=1", "e=1"], Verdict::Approve),
            (&["w=1", "r=1", "e=1", "w=1", "r=2", "e=1"], Verdict::Run),
            (&["w=1", "a=1", "b=1", "c=1", "w=1", "a=1", "b=1", "c=1"], Verdict::Run),
        ] {
            assert_eq!(History::of(made).says("w"), said, "{made:?}");
        }
    }
}
