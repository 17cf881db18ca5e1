//! Names of statuses, rejections and stop reasons as people read them. The terminal's boxes, the
//! pages' headings and the lines of text all take them from here, so that one thing has one name.

use toolgraft::Call;
use toolgraft::agent::{CallerWarning, StopReason};
use toolgraft::event::{Provenance, RejectedKind};
use toolgraft::model::ModelError;
use toolgraft::outcome::Status;

/// Returns the label of a rejected call, by its kind.
pub(crate) fn not_run(kind: RejectedKind) -> &'static str {
    match kind {
        RejectedKind::InReasoning => "draft, not run",
        RejectedKind::Quoted => "example, not run",
        RejectedKind::Invented => "invented, not run",
        _ => "rejected",
    }
}

/// Returns the label of a call's outcome, by its status.
pub(crate) fn status(status: Status) -> &'static str {
    match status {
        Status::Result => "result",
        Status::ToolError => "tool error",
        Status::Denied => "not run",
        Status::TimedOut => "timed out",
        Status::Cancelled => "cancelled",
        Status::Displayed => "displayed",
        other => other.as_str(),
    }
}

/// Returns `true` if a status means success.
pub(crate) fn is_good(status: Status) -> bool {
    matches!(status, Status::Result | Status::Displayed)
}

/// Returns the label of a call's provenance, if it requires approval; `None` otherwise. `untagged` is `true` if the
/// answer had no reasoning tag.
pub(crate) fn provenance(provenance: Provenance, untagged: bool) -> Option<&'static str> {
    Some(match provenance {
        Provenance::Plain => return None,
        Provenance::FencedFirst => "in a fence before prose: needs approval",
        Provenance::AfterProse => "after prose: needs approval",
        Provenance::BeforeProse => "before prose: needs approval",
        Provenance::Hedged => "in doubt by the text beside it: needs approval",
        Provenance::InALine => "in a line of text: needs approval",
        Provenance::FencedAfterProse => "in a fence after prose: needs approval",
        Provenance::InElement => "inside an unknown tag: needs approval",
        Provenance::Mended => "a value was guessed: needs approval",
        Provenance::Echoed => "echoed: needs approval",
        Provenance::InsteadOfRead => "instead of a read: needs approval",
        _ if untagged => "no reasoning tag came: needs approval",
        _ => "promoted from the reasoning: needs approval",
    })
}

/// Returns a line with the repairs of a call; `None` if it has none.
pub(crate) fn repaired(call: &Call) -> Option<String> {
    let repairs: Vec<String> = call.repairs.iter().map(ToString::to_string).collect();
    (!repairs.is_empty()).then(|| format!("repaired: {}", repairs.join(", ")))
}

/// Returns the reason that a turn ended without an answer, with the option that may help.
pub(crate) fn stopped(reason: &StopReason) -> String {
    match reason {
        StopReason::OutputLimit => format!("{reason}: raise the limit with --set max_tokens=N"),
        StopReason::ContextFull { .. } => format!("{reason} (--set tool_budget=N; /clear)"),
        StopReason::Repetition { .. } => {
            format!("{reason}: ask in other words, raise the temperature, or raise the limit with --set max_repeats=N")
        }
        StopReason::SameCalls { .. } => format!("{reason}: ask in other words, or use another model"),
        StopReason::MaxRounds { .. } => {
            format!("{reason}: raise the limit with --set max_rounds=N, or ask for less at once")
        }
        StopReason::ContextTooSmall { .. } | StopReason::ContextExceeded { .. } => {
            format!("{reason} (--set tool_budget=N, --set max_tokens=N)")
        }
        StopReason::ModelFailed(failure) if failure.source.as_deref().is_some_and(ModelError::refuses_tools) => {
            format!("{reason} (--set tools_mode=prompt)")
        }
        _ => reason.to_string(),
    }
}

/// Returns the text of a warning, with the option that may help.
pub(crate) fn warning(warning: &CallerWarning) -> String {
    match warning {
        CallerWarning::PromptCut { .. } | CallerWarning::HistoryLeftOut { .. } => {
            format!("{warning} (--set tool_budget=N)")
        }
        CallerWarning::ToolsRefused { .. } | CallerWarning::NativeFailed { .. } => {
            format!("{warning}; --set tools_mode=prompt does so from the start")
        }
        CallerWarning::ConstraintRefused { .. } => format!("{warning} (--set constrain=off)"),
        _ => warning.to_string(),
    }
}

/// Returns the progress that a server reports on a call as text, such as `2 of 5, reading`.
pub(crate) fn progress(progress: f64, total: Option<f64>, message: Option<&str>) -> String {
    let so_far = total.map_or_else(|| progress.to_string(), |total| format!("{progress} of {total}"));
    message.map_or_else(|| so_far.clone(), |message| format!("{so_far}, {message}"))
}

/// Returns a text with its first character in upper case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_its_numbers_and_the_option_that_helps() {
        let reason = StopReason::MaxRounds { rounds: 3 };
        assert_eq!(
            stopped(&reason),
            "no answer within the limit of 3 rounds: raise the limit with --set max_rounds=N, or ask for less at once"
        );
        let notice = CallerWarning::HistoryLeftOut { rounds: 2, questions: 0, results: 1, context: 4096, remedy: None };
        assert!(warning(&notice).ends_with(" (--set tool_budget=N)"), "{}", warning(&notice));
    }

    #[test]
    fn progress_has_its_total_and_message_where_the_server_says_them() {
        assert_eq!(progress(2.0, Some(5.0), Some("reading")), "2 of 5, reading");
        assert_eq!(progress(0.5, None, None), "0.5");
    }
}
