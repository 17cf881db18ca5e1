//! Calls in turns that the model invented: they are dropped with what they stand in.

use super::*;
use crate::conversation::HistoryEntry as Said;

const USER: &str = "<|im_end|>\n<|im_start|>user\nAnd Rome? ";

fn finished(actions: &[Action]) -> &Finished {
    let Some(Action::Finish(finished)) = actions.last() else { panic!("{actions:?}") };
    finished
}

fn corrected(actions: &[Action]) -> Option<RejectedKind> {
    actions.iter().find_map(|action| match action {
        Action::Emit(AgentEvent::Correcting { kind, .. }) => *kind,
        _ => None,
    })
}

/// Returns the model's last message in the history.
fn kept(finished: &Finished) -> String {
    let last = finished.conversation.entries().iter().rev().find_map(|entry| match entry {
        Said::Assistant(said) => Some(said.written()),
        _ => None,
    });
    last.unwrap_or_default()
}

#[test]
fn a_turn_ends_with_what_stood_before_an_invented_one() {
    for (text, answer) in [
        (format!("Sunny.{USER}{}", paris()), "Sunny."),
        (format!("Sunny.<|im_end|>And {}", paris()), "Sunny."),
        (format!("Sunny.\n\nUser: And Rome?\n{}", paris()), "Sunny."),
    ] {
        let mut turn = started(allowing());
        says(&mut turn, &text);
        let end = ends(&mut turn);
        assert_eq!((calls(&end), corrected(&end)), (vec![], None), "{text}");
        let finished = finished(&end);
        assert_eq!(finished.reason, StopReason::Answered, "{text}");
        assert_eq!((finished.answer.as_str(), kept(finished).as_str()), (answer, answer), "{text}");
    }
}

#[test]
fn a_call_before_an_invented_turn_runs() {
    let config = TurnConfig { after_call: AfterCall::Drain, ..allowing() };
    let mut turn = started(config);
    says(&mut turn, &format!("{}{USER}{}", paris(), paris()));
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);
}

#[test]
fn an_invented_call_is_corrected_once_if_nothing_visible_stands_before_it() {
    let mut turn = started(allowing());
    for (round, expected) in [(1, Some(RejectedKind::Invented)), (2, None)] {
        says(&mut turn, &format!("<|im_start|>user\nWeather? {}", paris()));
        let end = ends(&mut turn);
        assert_eq!((calls(&end), corrected(&end)), (vec![], expected), "round {round}: {end:?}");
    }
    let mut turn = started(allowing());
    says(&mut turn, &format!("<|im_start|>user\n{}", call("clock", &json!({}))));
    assert_eq!(corrected(&ends(&mut turn)), None, "no such tool");
}
