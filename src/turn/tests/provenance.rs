//! Calls that may be examples, and closing tags that stop strings took.

use super::*;
use crate::message::FencedCalls;

fn reason(actions: &[Action]) -> Option<AskReason> {
    actions.iter().find_map(|action| match action {
        Action::Ask(request) => Some(request.reason),
        _ => None,
    })
}

#[test]
fn a_call_behind_prose_without_a_marker_is_asked_about_whatever_is_allowed() {
    for (text, expected) in [
        ("I look.\n[weather(city=\"Paris\")]", Some(AskReason::BehindProse)),
        ("[weather(city=\"Paris\")]", None),
        (&format!("I look.\n{}", paris()), None),
    ] {
        let mut turn = started(allowing());
        says(&mut turn, text);
        let end = ends(&mut turn);
        assert_eq!((reason(&end), calls(&end).is_empty()), (expected, expected.is_some()), "{text}");
    }
}

#[test]
fn a_call_in_the_first_fence_is_one_with_approval_if_nothing_else_is() {
    let last_resort = || TurnConfig { fenced_calls: FencedCalls::LastResort, ..allowing() };
    let fenced = |arguments: Value| format!("```\n{}\n```\nThat tells the weather.", call("weather", &arguments));
    let mut turn = started(last_resort());
    says(&mut turn, &fenced(json!({"city": "Paris"})));
    let end = ends(&mut turn);
    let promoted = AgentEvent::Promoted { index: 0, provenance: Provenance::FencedFirst };
    assert!(end.contains(&Action::Emit(promoted)), "{end:?}");
    assert_eq!((reason(&end), calls(&end).len()), (Some(AskReason::FencedFirst), 0));
    turn.handle(Input::Approval { id: "call_1".into(), approval: true.into() }).unwrap();
    assert_eq!(calls(&actions(&mut turn)), ["call_1"]);

    // Arguments that are refused leave it the example that it is without the option.
    for (config, arguments) in [(last_resort(), json!({"town": "Paris"})), (allowing(), json!({"city": "Paris"}))] {
        let mut turn = started(config);
        says(&mut turn, &fenced(arguments));
        let end = ends(&mut turn);
        assert_eq!(reason(&end), None);
        assert!(!end.iter().any(|action| matches!(action, Action::Emit(AgentEvent::Promoted { .. }))), "{end:?}");
        let corrected = |action: &Action| {
            matches!(action, Action::Emit(AgentEvent::Correcting { kind: Some(RejectedKind::Quoted), .. }))
        };
        assert!(end.iter().any(corrected), "{end:?}");
    }
}

#[test]
fn stop_strings_go_with_the_request_and_take_no_call_away() {
    let stop = vec!["</use_mcp_tool>".to_owned(), "</weather>".to_owned()];
    let config = TurnConfig { stop: stop.clone(), ..allowing() };
    let mut turn = Turn::new(setup(config.clone()), "Weather?".into(), Granted::new()).unwrap();
    let sent = actions(&mut turn).into_iter().find_map(|action| match action {
        Action::Send(request) => Some(request),
        _ => None,
    });
    assert_eq!(sent.unwrap().stop, stop);
    says(&mut turn, "<weather><city>Paris</city>\n");
    let end = ends(&mut turn);
    assert_eq!(calls(&end), ["call_1"], "{end:?}");

    let mut turn = started(allowing());
    says(&mut turn, "<weather><city>Paris</city>\n");
    assert!(calls(&ends(&mut turn)).is_empty(), "nobody sent one");
}
