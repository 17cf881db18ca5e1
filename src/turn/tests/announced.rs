//! Messages that tell of an act and make no call.

use super::*;

/// Returns a turn with a tool `weather` that only reads and, with `changes`, a tool that may change something.
fn with(changes: bool, config: TurnConfig) -> Turn {
    let mut tools = vec![Tool {
        annotations: Some(Annotations::default().with_read_only_hint(true)),
        ..Tool::new("weather").with_schema(json!({"type": "object"}))
    }];
    tools.extend(changes.then(|| Tool::new("save").with_schema(json!({"type": "object"}))));
    let validator = Arc::new(Validator::new(Arc::new(Catalog::new([Server::new("demo").with_tools(tools)]))));
    let setup = Arc::new(Setup::new(config, validator, Arc::new(Plain)));
    let mut turn = Turn::new(setup, "Weather?".into(), Granted::new()).unwrap();
    actions(&mut turn);
    turn
}

/// Plays a message, and returns `true` if the model is asked again.
fn is_corrected(turn: &mut Turn, text: &str) -> bool {
    says(turn, text);
    let end = ends(turn);
    let told = Action::Emit(AgentEvent::Correcting { kind: None, message: "ActWithoutCall".into() });
    let sent = end.iter().any(|action| matches!(action, Action::Send(_)));
    assert_eq!(end.contains(&told), sent, "{end:?}");
    sent
}

#[test]
fn an_act_that_is_announced_is_corrected_once_and_its_call_runs() {
    let mut turn = with(false, allowing());
    assert!(is_corrected(&mut turn, "Let me look at the weather:"));
    says(&mut turn, &call("weather", &json!({})));
    assert_eq!(calls(&ends(&mut turn)), ["call_1"]);
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("sunny") }).unwrap();
    actions(&mut turn);
    assert!(!is_corrected(&mut turn, "Let me look once more."), "once in a turn");
}

#[test]
fn an_answer_may_follow_that_says_that_it_is_not_done() {
    let mut turn = with(false, allowing());
    assert!(is_corrected(&mut turn, "I will search the web. One moment please..."));
    says(&mut turn, "I have not searched.");
    let end = ends(&mut turn);
    let Some(Action::Finish(finished)) = end.last() else { panic!("{end:?}") };
    assert_eq!((&finished.reason, finished.answer.as_str()), (&StopReason::Answered, "I have not searched."));
}

#[test]
fn a_change_is_said_to_be_done_only_where_no_call_did_it_and_a_tool_could() {
    assert!(is_corrected(&mut with(true, allowing()), "I've saved your note."));
    assert!(!is_corrected(&mut with(false, allowing()), "I've saved your note."));
    let mut turn = with(true, allowing());
    says(&mut turn, &call("save", &json!({})));
    ends(&mut turn);
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("ok") }).unwrap();
    actions(&mut turn);
    says(&mut turn, "I've saved your note.");
    let end = ends(&mut turn);
    let Some(Action::Finish(finished)) = end.last() else { panic!("{end:?}") };
    let mut conversation = finished.conversation.clone();
    conversation.push_user("Did you save it?").unwrap();
    let mut turn = Turn::new(turn.setup(), conversation, Granted::new()).unwrap();
    actions(&mut turn);
    assert!(!is_corrected(&mut turn, "Yes, I've saved your note."), "the call is in an earlier turn");
}

#[test]
fn only_a_message_that_might_have_called_is_corrected() {
    let announces = "Let me look at the weather:";
    for config in [
        TurnConfig { tool_choice: ToolChoice::None, ..allowing() },
        TurnConfig { max_corrections: 0, ..allowing() },
        TurnConfig { max_rounds: 1, ..allowing() },
    ] {
        assert!(!is_corrected(&mut with(true, config.clone()), announces), "{config:?}");
    }
    let empty =
        Arc::new(Setup::new(allowing(), Arc::new(Validator::new(Arc::new(Catalog::default()))), Arc::new(Plain)));
    let mut turn = Turn::new(empty, "Weather?".into(), Granted::new()).unwrap();
    actions(&mut turn);
    assert!(!is_corrected(&mut turn, announces));
    // A draft of the reasoning is no call.
    let drafted = format!("<think>{}</think>{announces}", call("weather", &json!({})));
    assert!(is_corrected(&mut with(true, TurnConfig { reasons: Some(true), ..allowing() }), &drafted));
}
