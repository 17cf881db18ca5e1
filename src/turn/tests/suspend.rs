use serde_json::json;

use crate::conversation::Conversation;
use crate::outcome::{Outcome, Status};
use crate::tools::{Decision, Policy};
use crate::turn::event::AskReason;
use crate::turn::tests::{actions, allowing, call, calls, ends, paris, says, setup, started};
use crate::turn::{Action, AgentEvent, Finished, Granted, Input, StopReason, Turn, TurnConfig};

fn asking() -> TurnConfig {
    TurnConfig { policy: Policy::new(Decision::AskOnce).allow("time"), ..allowing() }
}

fn suspend(turn: &mut Turn) -> Vec<Action> {
    turn.handle(Input::Suspend).unwrap();
    actions(turn)
}

fn answered(turn: &mut Turn, id: &str) -> Vec<Action> {
    turn.handle(Input::Outcome { id: id.into(), outcome: Outcome::new(Status::Result, "sunny") }).unwrap();
    actions(turn)
}

fn finished(actions: &[Action]) -> Finished {
    let Some(Action::Finish(finished)) = actions.last() else { panic!("{actions:?}") };
    (**finished).clone()
}

/// Returns the turn that continues a suspended conversation, after it was stored and loaded.
fn resumed(finished: &Finished, config: TurnConfig) -> Turn {
    let stored = serde_json::to_string(&finished.conversation).unwrap();
    let conversation: Conversation = serde_json::from_str(&stored).unwrap();
    assert_eq!(conversation, finished.conversation);
    Turn::new(setup(config), conversation, Granted::new()).unwrap()
}

fn asked(actions: &[Action]) -> Vec<(&str, AskReason)> {
    fn asked(action: &Action) -> Option<(&str, AskReason)> {
        match action {
            Action::Ask(request) => Some((&request.id, request.reason)),
            _ => None,
        }
    }
    actions.iter().filter_map(asked).collect()
}

#[test]
fn an_open_question_is_withdrawn_and_asked_again() {
    let mut turn = started(asking());
    says(&mut turn, &format!("{}{}", paris(), paris()));
    assert_eq!(asked(&ends(&mut turn)), [("call_1", AskReason::FirstUse)]);
    let ended = suspend(&mut turn);
    assert_eq!(ended[0], Action::Withdraw { id: "call_1".into() });
    let finished = finished(&ended);
    assert_eq!(finished.reason, StopReason::Suspended);
    assert_eq!(finished.conversation.pending().count(), 2);

    let mut turn = resumed(&finished, asking());
    let first = actions(&mut turn);
    assert_eq!((asked(&first), calls(&first)), (vec![("call_1", AskReason::FirstUse)], vec![]));
    turn.handle(Input::Approval { id: "call_1".into(), approval: true.into() }).unwrap();
    assert_eq!(calls(&actions(&mut turn)), ["call_1", "call_2"]);
    answered(&mut turn, "call_2");
    let sent = answered(&mut turn, "call_1");
    assert!(sent.contains(&Action::Emit(AgentEvent::RoundStarted { round: 1, model: None })), "{sent:?}");
}

#[test]
fn calls_that_run_are_waited_for() {
    let mut turn = started(asking());
    says(&mut turn, &format!("{}{}", call("time", &json!({"city": "Paris"})), paris()));
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);
    assert_eq!(suspend(&mut turn), [Action::Withdraw { id: "call_2".into() }]);
    assert!(suspend(&mut turn).is_empty(), "once is enough");
    let ended = finished(&answered(&mut turn, "call_1"));
    let pending: Vec<_> = ended.conversation.pending().map(|call| call.id.as_str()).collect();
    assert_eq!((ended.reason, pending), (StopReason::Suspended, vec!["call_2"]));
}

#[test]
fn results_that_are_all_there_are_sent_by_the_next_turn() {
    let mut turn = started(allowing());
    says(&mut turn, &paris());
    ends(&mut turn);
    suspend(&mut turn);
    let ended = finished(&answered(&mut turn, "call_1"));
    assert_eq!((ended.reason.clone(), ended.rounds), (StopReason::Suspended, 1));
    let mut turn = resumed(&ended, allowing());
    let sent = actions(&mut turn);
    let Action::Send(request) = &sent[0] else { panic!("{sent:?}") };
    assert!(request.messages.last().unwrap().content.contains("call_1 Result: sunny"));
}

#[test]
fn a_message_is_read_to_its_end_and_its_calls_do_not_begin() {
    let mut turn = started(allowing());
    says(&mut turn, "Let me look.\n");
    assert!(suspend(&mut turn).is_empty());
    says(&mut turn, &paris());
    let ended = ends(&mut turn);
    assert!(calls(&ended).is_empty());
    let ended = finished(&ended);
    assert_eq!((ended.reason.clone(), ended.conversation.pending().count()), (StopReason::Suspended, 1));
    assert_eq!(calls(&actions(&mut resumed(&ended, allowing()))), ["call_1"]);
}

#[test]
fn an_answer_that_was_under_way_is_an_answer() {
    let mut turn = started(allowing());
    suspend(&mut turn);
    says(&mut turn, "It is sunny.");
    assert_eq!(finished(&ends(&mut turn)).reason, StopReason::Answered);
}

#[test]
fn a_mistake_is_corrected_by_the_next_turn() {
    let mut turn = started(allowing());
    suspend(&mut turn);
    says(&mut turn, &call("wether", &json!({"city": "Paris"})));
    let ended = finished(&ends(&mut turn));
    assert_eq!(ended.reason, StopReason::Suspended);
    let sent = actions(&mut resumed(&ended, allowing()));
    let Action::Send(request) = &sent[0] else { panic!("{sent:?}") };
    assert!(request.messages.last().unwrap().content.contains("unknown_tool"), "{request:?}");
}

#[test]
fn a_call_that_no_longer_fits_its_tool_is_answered_and_does_not_run() {
    let mut turn = started(asking());
    says(&mut turn, &paris());
    ends(&mut turn);
    let mut stored = serde_json::to_value(&finished(&suspend(&mut turn)).conversation).unwrap();
    let call = stored["entries"][1]["parts"][0]["call"].as_object_mut().unwrap();
    call.insert("arguments".into(), json!({"town": "Paris"}));
    let conversation: Conversation = serde_json::from_value(stored).unwrap();
    let mut turn = Turn::new(setup(allowing()), conversation, Granted::new()).unwrap();
    let actions = actions(&mut turn);
    assert!(calls(&actions).is_empty());
    let Action::Emit(AgentEvent::Outcome { outcome, .. }) = &actions[0] else { panic!("{actions:?}") };
    assert!(outcome.status == Status::Denied && outcome.text.contains("city"), "{outcome:?}");
    assert!(matches!(actions[1], Action::Send(_)), "{actions:?}");
}

#[test]
fn a_suspended_turn_can_be_cancelled() {
    let mut turn = started(allowing());
    says(&mut turn, &paris());
    ends(&mut turn);
    suspend(&mut turn);
    turn.handle(Input::Cancel).unwrap();
    let ended = finished(&actions(&mut turn));
    assert_eq!((ended.reason, ended.conversation.pending().count()), (StopReason::Cancelled, 0));
}
