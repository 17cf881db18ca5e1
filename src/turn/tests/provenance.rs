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
fn a_call_that_may_be_an_example_is_asked_about_whatever_is_allowed() {
    for (text, expected) in [
        ("I look.\n[weather(city=\"Paris\")]", Some(AskReason::AfterProse)),
        ("[weather(city=\"Paris\")]", None),
        ("[weather(city=\"Paris\")]\nThat is all.", Some(AskReason::BeforeProse)),
        (&format!("I look.\n{}", paris()), None),
        (&format!("I look: {}", paris()), Some(AskReason::InALine)),
        (&format!("I look:\n```\n{}\n```", paris()), Some(AskReason::FencedAfterProse)),
    ] {
        let mut turn = started(TurnConfig { after_call: AfterCall::Drain, ..allowing() });
        says(&mut turn, text);
        let end = ends(&mut turn);
        assert_eq!((reason(&end), calls(&end).is_empty()), (expected, expected.is_some()), "{text}");
    }
    let mut turn = started(allowing());
    let end = says(&mut turn, "[weather(city=\"Paris\")]\nThat is all.");
    assert_eq!((cancels(&end), reason(&end)), (true, Some(AskReason::BeforeProse)));
}

#[test]
fn a_call_in_the_first_fence_is_one_with_approval_if_nothing_else_is() {
    let last_resort = || TurnConfig { fenced_calls: FencedCalls::LastResort, ..allowing() };
    let fenced = |arguments: Value| format!("```\n{}\n```\nThat tells the weather.", call("weather", &arguments));
    let mut turn = started(last_resort());
    says(&mut turn, &fenced(json!({"city": "Paris"})));
    let end = ends(&mut turn);
    let promoted = AgentEvent::Promoted { index: 0, id: "call_1".into(), provenance: Provenance::FencedFirst };
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

#[test]
fn where_nobody_can_be_asked_a_doubtful_call_is_asked_for_once_and_else_stays_text() {
    let unattended = || TurnConfig { unattended: true, after_call: AfterCall::Drain, ..allowing() };
    let list = "[weather(city=\"Paris\")]";
    for (text, found) in [
        (format!("I look.\n{list}"), "other text is before the call"),
        (format!("{list}\nThat is all."), "other text follows the call"),
        (format!("I look: {}", paris()), "other text is before the call on its line"),
        (format!("I look: {} or {}", paris(), paris()), "other text is before the call on its line"),
        (format!("I look:\n```\n{}\n```", paris()), "the call is in a code fence after other text"),
    ] {
        let mut turn = started(unattended());
        says(&mut turn, &text);
        let end = ends(&mut turn);
        let correcting = |action: &Action| match action {
            Action::Emit(AgentEvent::Correcting { kind, message }) => Some((*kind, message.clone())),
            _ => None,
        };
        let (kind, message) = end.iter().find_map(correcting).unwrap_or_else(|| panic!("{text}: {end:?}"));
        assert!(kind == Some(RejectedKind::Quoted) && message.starts_with(found), "{text}: {message}");
        assert!(calls(&end).is_empty() && reason(&end).is_none(), "{text}: {end:?}");

        says(&mut turn, &text);
        let end = ends(&mut turn);
        let answers = |action: &Action| match action {
            Action::Finish(finished) => Some(finished.answer.clone()),
            _ => None,
        };
        assert_eq!(end.iter().find_map(answers), Some(text.clone()));
        assert!(calls(&end).is_empty(), "{text}: {end:?}");
    }
}

#[test]
fn beside_a_call_that_runs_a_doubtful_one_is_told_of() {
    let mut turn = started(TurnConfig { unattended: true, ..allowing() });
    says(&mut turn, &format!("I look: {}\n{}", paris(), call("time", &json!({"city": "Paris"}))));
    let end = ends(&mut turn);
    assert_eq!(calls(&end), ["call_1"], "{end:?}");
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("noon") }).unwrap();
    let sent = actions(&mut turn).into_iter().find_map(|action| match action {
        Action::Send(request) => Some(request.messages.last().unwrap().content.clone()),
        _ => None,
    });
    let told = sent.unwrap();
    assert!(told.contains("call_1 Result: noon") && told.contains("quoted: other text is before"), "{told}");
}

#[test]
fn a_call_that_is_handed_to_a_client_may_stand_in_a_line() {
    let text = paris().replace("<server_name>demo</server_name>", "");
    for (hands_out, server, runs) in [(true, None, true), (true, Some("demo"), false), (false, None, false)] {
        let tool = Tool { server: server.map(str::to_owned), ..Tool::new("weather") };
        let config = TurnConfig { unattended: true, hands_out, ..allowing() };
        let validator = Arc::new(Validator::new(Arc::new(Catalog::from_tools([tool]))));
        let setup = Arc::new(Setup::new(config, validator, Arc::new(Plain)));
        let mut turn = Turn::new(setup, "Weather?".into(), Granted::new()).unwrap();
        actions(&mut turn);
        says(&mut turn, &format!("I look: {text}"));
        assert_eq!(!calls(&ends(&mut turn)).is_empty(), runs, "{hands_out} {server:?}");
    }
}

#[test]
fn a_client_gets_a_call_below_prose_that_is_made_again() {
    let tool = |server: Option<&str>| Tool { server: server.map(str::to_owned), ..Tool::new("weather") };
    let text = "I look.\n[weather(city=\"Paris\")]";
    for (hands_out, server, again, runs) in [
        (true, None, text, true),
        (true, None, "I look.\n[weather(city=\"Rome\")]", false),
        (true, Some("demo"), text, false),
        (false, None, text, false),
    ] {
        let config = TurnConfig { unattended: true, hands_out, ..allowing() };
        let validator = Arc::new(Validator::new(Arc::new(Catalog::from_tools([tool(server)]))));
        let setup = Arc::new(Setup::new(config, validator, Arc::new(Plain)));
        let mut turn = Turn::new(setup, "Weather?".into(), Granted::new()).unwrap();
        actions(&mut turn);
        says(&mut turn, text);
        assert!(calls(&ends(&mut turn)).is_empty(), "{server:?}");
        says(&mut turn, again);
        assert_eq!(!calls(&ends(&mut turn)).is_empty(), runs, "{hands_out} {server:?} {again}");
    }
}
