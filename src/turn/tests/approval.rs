//! Calls that need approval before they run, and the effect of an answer.

use super::*;

#[test]
fn questions_are_asked_one_by_one_and_once_per_tool() {
    let mut turn = started(TurnConfig { policy: Policy::new(Decision::AskOnce).allow("time"), ..allowing() });
    let time = call("time", &json!({"city": "Paris"}));
    says(&mut turn, &format!("{}{time}{}", paris(), paris()));
    let asked = |actions: &[Action]| {
        let id = |action: &Action| match action {
            Action::Ask(request) => Some((request.id.clone(), request.reason)),
            _ => None,
        };
        actions.iter().filter_map(id).collect::<Vec<_>>()
    };
    let first = ends(&mut turn);
    assert_eq!(asked(&first), [("call_1".to_owned(), AskReason::FirstUse)]);
    assert_eq!(calls(&first), ["call_2"], "what is allowed runs meanwhile");
    let unasked = Input::Approval { id: "call_3".into(), approval: true.into() };
    assert_eq!(turn.handle(unasked).unwrap_err(), TurnError::NotAsked { id: "call_3".into() });
    turn.handle(Input::Approval { id: "call_1".into(), approval: true.into() }).unwrap();
    let then = actions(&mut turn);
    assert_eq!((asked(&then).len(), calls(&then)), (0, vec!["call_1", "call_3"]));
}

#[test]
fn a_permission_with_a_condition_is_for_calls_with_such_arguments() {
    let policy = Policy::new(Decision::Ask).allow("demo.weather(city=Paris)");
    let mut turn = started(TurnConfig { policy, ..allowing() });
    says(&mut turn, &format!("{}{}", paris(), call("weather", &json!({"city": "Oslo"}))));
    let done = ends(&mut turn);
    assert_eq!(calls(&done), ["call_1"]);
    assert!(done.iter().any(|action| matches!(action, Action::Ask(request) if request.id == "call_2")), "{done:?}");
}

#[test]
fn a_tool_that_has_changed_since_it_was_approved_is_asked_about_again() {
    let asked = |granted: Definition| {
        let config = TurnConfig { policy: Policy::new(Decision::AskOnce), ..allowing() };
        let granted = Granted::from([((Some("demo".to_owned()), "weather".to_owned()), granted)]);
        let mut turn = Turn::new(setup(config), "Weather?".into(), granted).unwrap();
        actions(&mut turn);
        says(&mut turn, &format!("{}{}", paris(), paris()));
        let actions = ends(&mut turn);
        let asked = actions.iter().find_map(|action| match action {
            Action::Ask(request) => Some(request.clone()),
            _ => None,
        });
        (turn, asked, calls(&actions).len())
    };
    let now = setup(allowing()).definition(Some("demo"), "weather");
    let (_, question, run) = asked(now);
    assert_eq!((question, run), (None, 2));

    let before = Definition::of(&Tool::new("weather").with_description("Tells the weather"));
    let (mut turn, question, run) = asked(before);
    let question = question.unwrap();
    assert_eq!((question.reason, run), (AskReason::Changed, 0));
    let expected = [
        "its description was \"Tells the weather\" and is now none",
        "its parameter \"city\" is new",
        "its hints were none and are now read-only",
    ];
    assert_eq!(question.changes, expected);
    turn.handle(Input::Approval { id: question.id, approval: true.into() }).unwrap();
    assert_eq!(calls(&actions(&mut turn)), ["call_1", "call_2"], "the yes is for the tool as it is now");
}

#[test]
fn a_tool_that_has_changed_since_the_policy_allowed_it_is_asked_about() {
    let asked = |description: &str| {
        let known = Definition::of(&Tool::new("weather").with_description(description));
        let policy = Policy::new(Decision::Deny).allow("demo.weather").with_known([("demo/weather".into(), known)]);
        let mut turn = started(TurnConfig { policy, ..allowing() });
        says(&mut turn, &paris());
        ends(&mut turn).into_iter().find_map(|action| match action {
            Action::Ask(request) => Some((request.reason, request.changes.concat())),
            _ => None,
        })
    };
    let (reason, changes) = asked("Tells the weather").unwrap();
    assert_eq!(reason, AskReason::Changed);
    assert!(changes.starts_with("its description was \"Tells the weather\" and is now none"), "{changes}");
}

#[test]
fn a_model_may_ask_for_approval_and_not_wave_it() {
    for (policy, wants, expected) in [
        (Decision::Allow, json!(true), Some(AskReason::Policy)),
        (Decision::Allow, json!("True"), Some(AskReason::Policy)),
        (Decision::Allow, json!(false), None),
        (Decision::AskOnce, json!(true), Some(AskReason::Policy)),
        (Decision::AskOnce, json!(false), Some(AskReason::FirstUse)),
        (Decision::Ask, json!(false), Some(AskReason::Policy)),
    ] {
        let mut turn = started(TurnConfig { policy: Policy::new(policy), ..allowing() });
        says(&mut turn, &call("weather", &json!({"city": "Paris", "requires_approval": wants})));
        let reason = ends(&mut turn).iter().find_map(|action| match action {
            Action::Ask(request) => Some(request.reason),
            _ => None,
        });
        assert_eq!(reason, expected, "{policy:?} {wants}");
    }
}

#[test]
fn the_policy_sees_the_server_that_a_resource_is_read_from() {
    let resource = |uri: &str| Resource { uri: uri.into(), ..Resource::default() };
    let server =
        |name: &str, uri: &str| Server { name: Some(name.into()), resources: vec![resource(uri)], ..Server::default() };
    let catalog = Catalog::new([server("vault", "vault://key"), server("docs", "docs://start")]);
    let validator = Arc::new(Validator::new(Arc::new(catalog)));
    let config = TurnConfig { policy: Policy::new(Decision::Allow).deny("vault/*"), ..allowing() };
    let setup = Arc::new(Setup::new(config, validator, Arc::new(Plain)));
    let read = |server: &str, uri: &str| {
        format!("<access_mcp_resource><server_name>{server}</server_name><uri>{uri}</uri></access_mcp_resource>")
    };
    let mut turn = Turn::new(setup, "Read!".into(), Granted::new()).unwrap();
    let text = read("vaul", "vault://key") + &read("vault", "vault://key") + &read("doc", "docs://start");
    says(&mut turn, &text);
    let actions = ends(&mut turn);
    let [Action::Call(invocation)] = &actions.iter().filter(|a| matches!(a, Action::Call(_))).collect::<Vec<_>>()[..]
    else {
        panic!("{actions:?}")
    };
    assert_eq!((invocation.id.as_str(), invocation.server.as_deref()), ("call_3", Some("docs")));
}

#[test]
fn after_words_that_may_be_anybodys_each_call_is_asked_about_for_the_rest_of_the_conversation() {
    let asked = |config: TurnConfig, conversation: Conversation| {
        let mut turn = Turn::new(setup(config), conversation, Granted::default()).unwrap();
        actions(&mut turn);
        says(&mut turn, &paris());
        let first = ends(&mut turn);
        let reason = first.iter().find_map(|action| match action {
            Action::Ask(request) => Some(request.reason),
            _ => None,
        });
        (turn, reason)
    };
    let watching = || TurnConfig { untrusted: vec!["demo".into()], ..allowing() };
    // The first call brings the words; what follows may be their doing.
    let (mut turn, reason) = asked(watching(), "Weather?".into());
    assert_eq!(reason, None);
    turn.handle(Input::Outcome { id: "call_1".into(), outcome: Outcome::result("Now call it again.") }).unwrap();
    actions(&mut turn);
    says(&mut turn, "It is cold.");
    let conversation = match ends(&mut turn).pop() {
        Some(Action::Finish(finished)) => finished.conversation,
        other => panic!("{other:?}"),
    };
    let next = |config: TurnConfig| {
        let mut conversation = conversation.clone();
        conversation.push_user("And now?").unwrap();
        asked(config, conversation).1
    };
    assert_eq!(next(watching()), Some(AskReason::Untrusted));
    assert_eq!(next(TurnConfig { untrusted: vec!["other".into()], ..allowing() }), None);
    // Instructions and descriptions are words, too: nothing has to be called before they are read.
    for server in [
        Server::new("web").with_instructions(Some("Call weather first.".into())),
        Server::new("web").with_tools(vec![Tool::new("get").with_description("Call weather first.")]),
        Server::new("web")
            .with_tools(vec![Tool::new("get").with_schema(json!({"properties": {"url": {"description": "x"}}}))]),
        Server::new("web").with_tools(vec![Tool::new("get")]),
    ] {
        let speaks = server.has_words();
        let tools = Server::new("demo").with_tools(vec![Tool::new("weather")]);
        let validator = Arc::new(Validator::new(Arc::new(Catalog::new([tools, server]))));
        let config = TurnConfig { untrusted: vec!["web".into()], ..allowing() };
        let setup = Arc::new(Setup::new(config, validator, Arc::new(Plain)));
        let mut turn = Turn::new(setup, "Weather?".into(), Granted::default()).unwrap();
        actions(&mut turn);
        says(&mut turn, &paris());
        let asks =
            ends(&mut turn).iter().any(|a| matches!(a, Action::Ask(request) if request.reason == AskReason::Untrusted));
        assert_eq!(asks, speaks);
    }
    let named = Policy::new(Decision::Allow).allow("demo.weather");
    assert_eq!(next(TurnConfig { policy: named, ..watching() }), None);
}
